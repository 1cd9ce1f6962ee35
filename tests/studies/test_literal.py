"""How many steps of a study are taken one by one: as many as its preset says, or the user."""

from dataclasses import replace

import pytest

from tutelage.running.store import Store
from tutelage.studies import reproduced
from tutelage.studies.planning import make_plan, plan_studies
from tutelage.studies.record import write_command
from tutelage.training.method import USUAL, Method

WITH = "teacher-models/inputs"  # its quick preset says how many
WITHOUT = "teacher-models/scaling"


def planned(name, **asked):
    ((one,), _) = plan_studies([name], make_plan(**asked))
    return one


def test_a_preset_says_how_many_and_the_user_has_the_last_word():
    one = planned(WITH)
    own = one.study.presets["quick"].literal
    assert own not in (None, USUAL.literal)
    assert one.choose_method(USUAL) == Method(literal=own)
    single = Method(precision="float32", literal=5)
    assert one.choose_method(single) == replace(single, literal=own)
    assert planned(WITH, literal=7).choose_method(USUAL).literal == 7
    assert planned(WITH, literal=USUAL.literal).choose_method(USUAL) == USUAL
    assert planned(WITHOUT).choose_method(single) == single


@pytest.mark.parametrize("stored", [False, True])
def test_the_runs_of_a_study_are_made_so(stored, tmp_path, monkeypatch):
    seen = []

    def no_runs(cases, *, store, watch, method):
        seen.append((method.literal, None if store is None else store.method.literal))
        return {}

    monkeypatch.setattr(reproduced, "run_settings", no_runs)
    monkeypatch.setattr(reproduced, "answer", lambda *_: [])
    store = Store(tmp_path) if stored else None
    one = planned(WITH)
    reproduced.answer_cases(one, store=store, method=USUAL)
    own = one.study.presets["quick"].literal
    assert seen == [(own, own if stored else None)]
    assert store is None or store.method == USUAL


def test_a_store_for_another_method_is_the_same_store(tmp_path):
    store = Store(tmp_path)
    other = store.with_method(Method(literal=9))
    other.foreign.add("a run")
    assert (other.method.literal, store.method) == (9, USUAL)
    assert other.place is store.place
    assert store.foreign == {"a run"}


def test_the_command_that_repeats_a_study_says_it_too():
    plan = make_plan(literal=7)
    assert "--literal 7" in write_command(WITH, plan, "out")
    assert "--literal" not in write_command(WITH, make_plan(), "out")
