"""Batches in processes of this machine: the runs of threads, and one process that dies ends no
other.
"""

import threading

import numpy as np
import pytest
from watchdog import give_up_after

import tutelage as tt
from tutelage.plugins import import_all
from tutelage.run import Outcome
from tutelage.running.engines.jobs import Jobs

BASE = tt.Setting(
    tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2),
    rate=0.1,
    steps=200,
    measures=("excess_risk",),
)
BY_HAND = tt.Setting(
    tt.Part("bilinear", value=np.eye(2), selection=np.eye(2)),
    rate=0.1,
    steps=50,
    measures=("excess_risk",),
)
DEADLY = """
import os, signal
import tutelage as tt
from tutelage.calculations import Calculated, Calculation


class Deadly(Calculation):
    def __init__(self, size):
        self.size = size

    def __call__(self, given):
        if self.size == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return Calculated.numbers(double=2 * self.size)


@tt.register("calculation", "deadly")
def made(*, size: int):
    return Deadly(size)
"""


def test_processes_give_the_runs_of_threads_and_save_them(tmp_path):
    """To 1e-13: a process with one core may compile a sum in another order than one with all."""
    settings = [BASE, BASE.change(seed=1), BY_HAND, BASE.change(**{"teacher.tokens": 6})]
    store = tt.Store(tmp_path)
    with give_up_after(60):
        found = {run.setting: run for run in tt.execute(settings, store=store, engine=Jobs(2))}
    assert set(found) == set(settings)
    for run in tt.execute(settings):
        np.testing.assert_allclose(
            found[run.setting].curves["excess_risk"], run.curves["excess_risk"], rtol=1e-13
        )
    assert all(store.holds(setting) for setting in settings)


def test_a_setting_that_kills_its_process_fails_alone(tmp_path):
    own = tmp_path / "deadly.py"
    own.write_text(DEADLY)
    import_all([str(own)])
    settings = [tt.Setting.of_calculation(tt.Part("deadly", size=n)) for n in range(3)]
    store = tt.Store(tmp_path / "runs")
    with give_up_after(60):
        runs = tt.execute(settings, store=store, engine=Jobs(2, [str(own)]), keep_going=True)
        found = {run.setting: run for run in runs}
    outcomes = [found[setting].outcome for setting in settings]
    assert outcomes == [Outcome.CALCULATED, Outcome.FAILED, Outcome.CALCULATED]
    assert "SIGKILL" in found[settings[1]].note
    assert found[settings[2]].curves["double"].tolist() == [4]


@pytest.mark.depth
def test_stopped_jobs_save_what_they_have_and_all_settings_are_accounted_for(tmp_path):
    """The second setting has not begun when the caller stops: there is one job. Sampled steps are
    taken one by one on any machine, for minutes.
    """
    slow = BASE.change(steps=10**8, objective=tt.Part("online", batch=100))
    long = [slow.change(seed=seed, **{"teacher.tokens": 4 + 2 * seed}) for seed in (0, 1)]
    stop, store = threading.Event(), tt.Store(tmp_path)
    threading.Timer(6.0, stop.set).start()
    with give_up_after(90):
        runs = list(tt.execute(long, store=store, engine=Jobs(1), stop=stop))
    assert [run.outcome for run in runs] == [Outcome.STOPPED] * 2
    assert {run.setting for run in runs} == set(long)


def test_jobs_need_a_store_and_at_least_one_process():
    with pytest.raises(tt.Refused, match="need a store"):
        list(tt.execute([BASE], engine=Jobs(1)))
    with pytest.raises(tt.Refused, match="`jobs` must be"):
        Jobs(0)
