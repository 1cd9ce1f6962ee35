"""A run in pieces is the run in one piece: extended, stopped, or resumed by another process."""

import os
import threading
from functools import partial
from types import SimpleNamespace

import jax
import numpy as np
import optax
import pytest
from small_settings import SHALLOW

import tutelage as tt
from tutelage.run import Outcome
from tutelage.running import execute as execution
from tutelage.running import work
from tutelage.running.engines import Threads, Work
from tutelage.training import record as recording

CNN = tt.Setting(
    tt.Part("convolution", tokens=8, support=2, outputs=2, dim=3),
    rate=0.1,
    steps=1000,
    measures=("excess_risk", "support_mass"),
)
ONLINE = CNN.change(objective="online", rate=0.02, steps=300, **{"objective.batch": 8})
ADAM = CNN.change(optimiser=tt.Part("adam"), rate=0.01)
MOMENTUM = CNN.change(optimiser=tt.Part("momentum", decay=0.9), rate=0.02)


def assert_same(one, two, rtol=1e-10):
    """1e-10 relative, as promised for double precision; the excess of a run far down its curve has
    lost digits to its start.
    """
    assert one.outcome is two.outcome
    np.testing.assert_array_equal(one.steps, two.steps)
    for name, curve in two.curves.items():
        np.testing.assert_allclose(one.curves[name], curve, rtol=rtol, atol=1e-13, err_msg=name)
    jax.tree.map(
        partial(np.testing.assert_allclose, rtol=rtol, atol=1e-13), one.student, two.student
    )


@pytest.mark.brief(1)
@pytest.mark.parametrize("setting", [CNN, ONLINE, MOMENTUM], ids=["exact", "online", "momentum"])
def test_a_run_extended_in_pieces_equals_the_run_in_one(setting, tmp_path):
    (whole,) = tt.execute([setting])
    store = tt.Store(tmp_path)
    for steps in (37, 150, setting.steps):  # 37 and 150 are not on the grid of the longer run
        (run,) = tt.execute([setting.change(steps=steps)], store=store)
        assert run.steps[-1] == steps
    assert_same(run, whole)
    assert {int(entry.name.rpartition("/")[2]) for entry in store.entries()} == {
        37,
        150,
        setting.steps,
    }
    assert [piece["to"] for piece in tt.load(store.path(setting)).made] == [37, 150, setting.steps]


@pytest.mark.usefixtures("adam_allowed")
def test_an_optimiser_with_memory_goes_on_with_it(tmp_path):
    (whole,) = tt.execute([ADAM])
    store = tt.Store(tmp_path)
    for steps in (100, ADAM.steps):
        (run,) = tt.execute([ADAM.change(steps=steps)], store=store)
    assert_same(run, whole)


def test_train_goes_on_from_a_run_of_ones_own():
    problem = tt.build(CNN)
    go = partial(tt.train, problem.student, problem.objective, rate=0.1, optimiser=optax.sgd)
    assert_same(go(steps=500, begin=go(steps=60)), go(steps=500))


def test_an_extension_trains_only_what_is_missing(tmp_path):
    store = tt.Store(tmp_path)
    list(tt.execute([CNN.change(steps=900)], store=store))
    first = []
    list(tt.execute([CNN], store=store, watch=lambda setting, step, curves: first.append(step)))
    assert min(first) > 900


def test_a_shorter_horizon_does_not_touch_the_longer_run(tmp_path):
    store = tt.Store(tmp_path)
    list(tt.execute([CNN], store=store))
    (short,) = tt.execute([CNN.change(steps=100)], store=store)
    assert short.steps[-1] == 100
    assert store.find(CNN) is not None


def stopped_after(blocks, setting, store):
    """Runs a setting until its loop has been asked `blocks` times whether to stop."""
    stop, asked = threading.Event(), []

    def watch(*_):
        asked.append(1)
        if len(asked) >= blocks:
            stop.set()

    return next(Threads(1).run([[setting]], Work(store, watch, stop=stop)))


def test_a_stopped_run_is_saved_and_goes_on(tmp_path):
    long = CNN.change(steps=20_000)
    (whole,) = tt.execute([long])
    store = tt.Store(tmp_path)
    (run,) = stopped_after(2, long, store).runs
    assert run.outcome is Outcome.STOPPED
    assert 0 < run.rest.taken < long.steps
    assert store.find(long) is None
    assert not store.holds(long)
    assert_same(next(tt.execute([long], store=store)), whole)
    assert [entry.outcome for entry in store.entries()] == [
        "FINISHED"
    ]  # what it went on from is gone


def test_members_that_stopped_at_different_steps_go_on_together(tmp_path):
    store, long = tt.Store(tmp_path), [CNN.change(steps=2000, seed=seed) for seed in range(3)]
    whole = {run.setting: run for run in tt.execute(long)}
    list(tt.execute([long[0].change(steps=50)], store=store))
    list(tt.execute([long[1].change(steps=400)], store=store))
    for run in tt.execute(long, store=store):
        assert_same(run, whole[run.setting])


def test_a_diverged_run_answers_every_longer_horizon(tmp_path):
    store, wild = tt.Store(tmp_path), CNN.change(rate=50.0, steps=300)
    (run,) = tt.execute([wild], store=store)
    assert run.outcome is Outcome.DIVERGED
    (again,) = tt.execute([wild.change(steps=10**9)], store=store)
    assert again.outcome is Outcome.DIVERGED
    assert again.setting.steps == 10**9
    assert again.note == run.note


def test_bad_beginnings_are_refused():
    problem = tt.build(CNN)
    go = partial(tt.train, problem.student, problem.objective, rate=0.1)
    run = go(steps=60)
    with pytest.raises(tt.Refused, match="later step than it has reached"):
        go(steps=60, begin=run)
    with pytest.raises(tt.Refused, match="measures it began with"):
        go(steps=90, begin=run, measures=tt.measures.STANDARD[:1])
    other = tt.build(CNN.change(**{"teacher.activation": "identity"}))
    with pytest.raises(tt.Refused, match="without diverging"):
        go(steps=90, begin=tt.train(other.student, other.objective, rate=100.0, steps=200))


def test_a_setting_that_another_client_holds_is_waited_for(tmp_path, monkeypatch):
    store, other = tt.Store(tmp_path), tt.Store(tmp_path)
    long, trained, waited = CNN.change(steps=20_000), [], []
    assert other.leases.take(long.identity())

    def wait(seconds):
        waited.append(len(trained))
        other.leases.release(long.identity())

    monkeypatch.setattr(execution, "time", SimpleNamespace(sleep=wait))
    (run,) = tt.execute([long], store=store, watch=lambda *_: trained.append(1))
    assert run.outcome is Outcome.FINISHED
    assert run.steps[-1] == long.steps
    assert waited == [0]  # once, and nothing was trained before


def test_the_lease_of_a_client_that_died_is_taken_over(tmp_path, monkeypatch):
    monkeypatch.setattr(execution, "SECONDS_BETWEEN_LOOKS", 0.05)
    store, dead = tt.Store(tmp_path), tt.Store(tmp_path)
    assert dead.leases.take(CNN.identity())
    dead.leases.held.clear()  # no sign of life any more
    os.utime(tmp_path / ".leases" / CNN.identity(), (0, 0))
    (run,) = tt.execute([CNN], store=store)
    assert run.outcome is Outcome.FINISHED


def test_a_run_that_converged_at_its_horizon_ends_there_when_extended(tmp_path, monkeypatch):
    """On a point of the longer grid, where a run in one piece looks too; elsewhere that one would
    only find out later.
    """
    monkeypatch.setattr(recording, "ROUNDING", 0.3 / np.finfo(float).eps)  # a tenth of the start
    (whole,) = tt.execute([CNN.change(steps=5000)])
    assert whole.outcome is Outcome.CONVERGED
    end = int(whole.steps[-1])
    for first in (end, end - 1, end + 1):
        store = tt.Store(tmp_path / str(first))
        for steps in (first, 5000):
            (run,) = tt.execute([CNN.change(steps=steps)], store=store)
        assert_same(run, whole)


HEADS = SHALLOW.change(steps=300, measures=("excess_risk", "least_loss", "averaged_loss"))


@pytest.mark.depth
def test_projected_descent_goes_on_with_its_mean_and_its_least(tmp_path):
    (whole,) = tt.execute([HEADS])
    store = tt.Store(tmp_path)
    for steps in (37, HEADS.steps):
        (run,) = tt.execute([HEADS.change(steps=steps)], store=store)
    assert_same(run, whole)


def test_runs_under_way_are_saved_now_and_then(tmp_path, monkeypatch):
    monkeypatch.setattr(work, "CHECKPOINT_SECONDS", 0.0)
    store, seen = tt.Store(tmp_path), []
    long = CNN.change(steps=20_000)
    next(
        tt.execute(
            [long],
            store=store,
            watch=lambda *_: seen.extend(entry.outcome for entry in store.entries()),
        )
    )
    assert "STOPPED" in seen
    assert [entry.outcome for entry in store.entries()] == ["FINISHED"]


def test_a_disk_that_fails_costs_only_the_runs_it_did_not_take(tmp_path, monkeypatch, caplog):
    settings, store, real = (
        [CNN.change(steps=50, seed=seed) for seed in range(4)],
        tt.Store(tmp_path),
        tt.Store.save,
    )

    def full(self, run):
        if run.setting.seed == 2:
            raise OSError(28, "No space left on device")
        return real(self, run)

    monkeypatch.setattr(tt.Store, "save", full)
    runs = {run.setting.seed: run for run in tt.execute(settings, store=store, keep_going=True)}
    assert {runs[seed].outcome for seed in range(4)} == {Outcome.FINISHED}
    assert ["No space left" in runs[seed].note for seed in range(4)] == [False, False, True, False]
    assert len(store.unsaved) == 1
    monkeypatch.setattr(work, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(
        tt.Store,
        "save",
        lambda self, run: full(self, run) if run.outcome is Outcome.STOPPED else real(self, run),
    )
    (run,) = tt.execute([CNN.change(steps=20_000, seed=2)], store=store)
    assert run.outcome is Outcome.FINISHED
    assert "The work goes on" in caplog.text


def test_numbers_of_numpy_are_numbers():
    plain = CNN.change(seed=3, rate=0.5, **{"teacher.norm": 20})
    assert (
        CNN.change(seed=np.int64(3), rate=np.float32(0.5), **{"teacher.norm": 20.0}).identity()
        == plain.identity()
    )
    assert tt.Setting.from_plain(CNN.change(seed=np.int64(3)).plain()).seed == 3
    with pytest.raises(tt.Refused, match="numbers, words and arrays"):
        CNN.change(seed=object()).identity()
