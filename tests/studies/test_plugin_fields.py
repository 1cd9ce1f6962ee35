"""A paper, a study or a case that is made of the wrong things is refused in one sentence when it is
made, and code of a study that errs is named with its line.
"""

import dataclasses

import pytest

import tutelage as tt
from tutelage.claims import Rate
from tutelage.studies.paper import Entry, Paper
from tutelage.studies.record import describe_setting
from tutelage.studies.study import Case, Plan, Preset, Study

SETTING = tt.Setting(tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2), 0.1, 5)
CLAIM = Rate("excess_risk", -1.0, id="rate", statement="it falls")
CASE = Case("one", "one", (SETTING,), (CLAIM,))
STUDY = Study(
    source="Theorem 1",
    statement="Something is learned.",
    equation="L = 1/T",
    presets={"quick": Preset(seconds=1.0)},
    cases=lambda plan, preset: [CASE],
    name="mine/x",
)
PAPER = Paper("mine", "A title", "Nobody", 2026, "@misc{mine}", {"x": Entry("A study")})


@pytest.mark.parametrize(
    ("value", "field", "wrong", "words"),
    [
        (PAPER, "title", 3, "`title` of a Paper must be a text"),
        (PAPER, "year", "2026", "`year` of a Paper must be a whole number"),
        (PAPER, "year", True, "whole number"),
        (PAPER, "studies", (), "must be a table by name"),
        (PAPER, "studies", {"x": STUDY}, "holds values of the type Entry"),
        (PAPER, "studies", {"../x": Entry("A study")}, "name of a study must be of letters"),
        (PAPER, "name", "a/b", "name of a paper must be of letters"),
        (PAPER, "name", "..", "names a folder. Got '..'"),
        (PAPER, "name", 1, "name of a paper"),
        (Entry("A study"), "title", None, "`title` of an? Entry"),
        (STUDY, "statement", 0.5, "`statement` of a Study must be a text"),
        (STUDY, "presets", {"quick": 3}, "holds values of the type Preset"),
        (STUDY, "presets", {}, "must have at least one preset"),
        (STUDY, "cases", [CASE], "`cases` of a Study must be a function"),
        (Preset(1.0), "seconds", "x", "must be a finite number"),
        (Preset(1.0), "seconds", float("inf"), "must be a finite number"),
        (Preset(1.0), "seconds", 10**400, "must be a finite number"),  # which no float holds
        (Preset(1.0), "seeds", 1.5, "`seeds` of a Preset"),
        (CASE, "claims", 0.5, "must be a tuple"),
        (CASE, "claims", ("a",), "holds values of the type Claim"),
        (CASE, "settings", (None,), "holds values of the type Setting"),
        (CASE, "name", 3, "`name` of a Case must be a text"),
    ],
)
def test_a_wrong_field_is_named(value, field, wrong, words):
    with pytest.raises(tt.Refused, match=words):
        dataclasses.replace(value, **{field: wrong})


@pytest.mark.parametrize("given", [[], [3], ["a"]])
def test_a_study_must_give_cases(given):
    with pytest.raises(tt.Refused, match="gives a list of values of the type Case"):
        dataclasses.replace(STUDY, cases=lambda plan, preset: given).plan(Plan())


def test_code_of_a_study_that_errs_is_named():
    def cases(plan, preset):
        return [CASE, 1 // 0]

    words = r"The cases of mine/x could not be made: ZeroDivisionError.*test_plugin_fields"
    with pytest.raises(tt.Refused, match=words):
        dataclasses.replace(STUDY, cases=cases).plan(Plan())


def test_no_memory_is_no_slip_of_a_study():
    def cases(plan, preset):
        raise MemoryError

    with pytest.raises(MemoryError):
        dataclasses.replace(STUDY, cases=cases).plan(Plan())


@pytest.mark.parametrize("rate", [[1, 2], None, "fast"])
def test_a_setting_with_an_odd_rate_is_described(rate):
    """It is refused when it is built; a study that holds one can be shown."""
    assert describe_setting(dataclasses.replace(SETTING, rate=rate)).endswith(f"rate={rate!r}")


def test_a_case_is_named_within_those_of_its_preset():
    """Also where the study makes only the cases that are asked for."""

    def cases(plan, preset):
        named = [dataclasses.replace(CASE, name=name) for name in ("one", "two", "three")]
        return [case for case in named if not plan.only or case.name in plan.only]

    preset = Preset(seconds=1.0, only=("one", "two"))
    study = dataclasses.replace(STUDY, presets={"quick": preset}, cases=cases)
    assert [case.name for case in study.plan(Plan(only=("two",)))[0]] == ["two"]
    assert [case.name for case in study.plan(Plan())[0]] == ["one", "two"]
    with pytest.raises(tt.Refused, match=r"no case of mine/x named 'three'.*Known: one, two"):
        study.plan(Plan(only=("three",)))
