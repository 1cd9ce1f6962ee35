"""What is committed of a study: each claim at the largest preset that is there."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from tools.committed import CommittedStudy, committed_studies

from tutelage.claims import Status, Verdict
from tutelage.refuse import Refused
from tutelage.studies.discovery import find_study
from tutelage.studies.outputs import read_verdicts, write_verdicts
from tutelage.studies.study import Plan, Preset


@pytest.fixture
def study(tmp_path):
    (tmp_path / "results").mkdir()
    return CommittedStudy(SimpleNamespace(name="paper", folder=tmp_path), "short", None)


def write(study, stem, preset, **statuses):
    verdicts = [
        Verdict(
            id=f"paper/short/case/{claim}",
            statement="",
            source="",
            predicted=None,
            measured=None,
            interval=None,
            tolerance=0.0,
            status=Status(status),
            sentence="",
        ).plain()
        | {"preset": preset}
        for claim, status in statuses.items()
    ]
    write_verdicts(study.results.with_stem(stem), verdicts)


def statuses(study):
    return {v["id"].rsplit("/", 1)[1]: (v["status"], v["preset"]) for v in study.plain_verdicts}


def test_a_larger_preset_takes_the_place_of_the_quick_one_claim_by_claim(study):
    write(study, "short", "quick", a="HOLDS", b="UNDECIDED")
    write(study, "short-larger", "larger", b="FAILS", c="HOLDS")
    write(study, "short-confirm", "confirm", a="FAILS")  # other sizes: a file of its own
    assert statuses(study) == {
        "a": ("HOLDS", "quick"),
        "b": ("FAILS", "larger"),
        "c": ("HOLDS", "larger"),
    }
    assert study.preset == "quick"
    assert study.presets == "quick, larger"


def test_the_papers_size_takes_the_place_of_all(study):
    write(study, "short", "quick", a="UNDECIDED", b="UNDECIDED")
    write(study, "short-paper", "paper", a="FAILS")
    write(study, "short-larger", "larger", a="HOLDS", b="HOLDS")
    assert statuses(study) == {"a": ("FAILS", "paper"), "b": ("HOLDS", "larger")}
    assert study.presets == "quick, larger, paper"


def test_without_one_the_quick_preset_stands_alone(study):
    write(study, "short", "quick", a="UNDECIDED")
    assert statuses(study) == {"a": ("UNDECIDED", "quick")}
    assert study.presets == "quick"


def test_further_files_have_verdicts_of_their_own_preset():
    for study in committed_studies().values():
        for preset, path in study.further_results.items():
            assert {verdict["preset"] for verdict in read_verdicts(path)} == {preset}, path


def test_a_preset_may_have_some_cases_only():
    study = find_study("teacher-models/rates")
    few = replace(study.presets["quick"], only=("no-zeros", "gcn-relu"))
    cases, _ = replace(study, presets={"quick": few}).plan(Plan())
    assert [case.name for case in cases] == ["gcn-relu", "no-zeros"]
    wrong = replace(few, only=("gcn-rleu",))
    with pytest.raises(Refused, match="gcn-relu"):
        replace(study, presets={"quick": wrong}).plan(Plan())
    assert Preset(seconds=1.0).only == ()
