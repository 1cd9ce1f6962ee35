"""Runs stop through an argument of `execute`, an event or a function, and can go on."""

import threading

import pytest

import tutelage as tt
from tutelage.run import Outcome

CNN = tt.Setting(
    tt.Part("convolution", tokens=8, support=2, outputs=2, dim=3),
    rate=0.1,
    steps=900_000,
    measures=("excess_risk",),
)


@pytest.mark.parametrize("form", ["event", "function"])
def test_a_run_that_is_stopped_is_yielded_saved_and_goes_on(tmp_path, form):
    event, store = threading.Event(), tt.Store(tmp_path)
    stop = event if form == "event" else event.is_set
    (run,) = tt.execute([CNN], store=store, stop=stop, watch=lambda *_: event.set())
    assert run.outcome is Outcome.STOPPED
    assert 0 < run.rest.taken < CNN.steps
    assert run.setting == CNN
    assert not store.holds(CNN)
    reached = store.begun(CNN)
    assert reached.rest.taken == run.rest.taken
    longer = CNN.change(steps=2 * run.rest.taken)
    (whole,) = tt.execute([longer], store=store)
    assert whole.outcome is Outcome.FINISHED


def test_every_setting_gives_a_run_and_none_begins_after_the_stop():
    event, watched = threading.Event(), set()

    def watch(setting, *_):
        watched.add(setting)
        event.set()

    settings = [CNN.change(**{"teacher.tokens": tokens}) for tokens in (4, 6, 8, 10, 12)]
    runs = list(tt.execute(settings, stop=event, watch=watch, threads=1))
    assert {run.setting for run in runs} == set(settings)
    assert {run.outcome for run in runs} == {Outcome.STOPPED}
    assert len(watched) <= 2
    unbegun = [run for run in runs if run.rest is None]
    assert len(unbegun) >= 3
    assert all("before its first step" in run.sentence for run in unbegun)


def test_what_was_stopped_before_is_not_even_built(monkeypatch):
    monkeypatch.setattr("tutelage.running.execute.build", lambda *_: pytest.fail("it was built"))
    (run,) = tt.execute([CNN], stop=lambda: True)
    assert run.outcome is Outcome.STOPPED
    assert len(run.steps) == 0


def test_the_callers_event_is_only_asked():
    event = threading.Event()
    (run,) = tt.execute([CNN.change(steps=20)], stop=event)
    assert run.outcome is Outcome.FINISHED
    assert not event.is_set()


def test_stored_runs_are_read_all_the_same(tmp_path):
    store, short = tt.Store(tmp_path), CNN.change(steps=20)
    list(tt.execute([short], store=store))
    (run,) = tt.execute([short], store=store, stop=lambda: True)
    assert run.outcome is Outcome.FINISHED
