"""The comparison of two trees: every difference is named, but for what no two runs share."""

import json

import pytest
from tools import compare

STUDY = "shallow-transformers/autoregressive"
(UNSTEADY,) = compare.read_unsteady(STUDY)


def verdict(name, status="HOLDS", measured=1.0, control=""):
    numbers = {"predicted": 1.0, "measured": measured, "tolerance": 0.1}
    ends = {"interval": [0.9, 1.1], "horizon": None, "spread": None}
    return {"id": name, "status": status, "control": control, **numbers, **ends}


@pytest.fixture
def found(monkeypatch, tmp_path):
    """What is found between the verdicts that were kept and those of now."""
    monkeypatch.setattr(compare, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(compare, "NOW", tmp_path / "now")

    def differences(kept, now):
        for folder, verdicts in ((compare.KEPT, kept), (compare.NOW, now)):
            (folder / STUDY).mkdir(parents=True)
            (folder / STUDY / "verdicts.json").write_text(json.dumps(verdicts))
        return compare.compare_study(STUDY)

    return differences


def test_a_status_or_number_that_differs_is_named(found):
    a, b = f"{STUDY}/a/x", f"{STUDY}/b/x"
    assert found([verdict(a), verdict(b)], [verdict(a, "FAILS"), verdict(b, measured=1.01)]) == [
        f"{a}: HOLDS is now FAILS",
        f"{b}: measured 1.0 is now 1.01",
    ]


def test_a_claim_on_the_memory_of_the_process_may_differ_in_number_and_status(found):
    name = f"{UNSTEADY}/x"
    assert found([verdict(name)], [verdict(name, "UNDECIDED", measured=2.0)]) == []


def test_a_claim_on_the_memory_of_the_process_is_still_there_and_of_its_kind(found):
    gone, turned = f"{UNSTEADY}/gone", f"{UNSTEADY}/turned"
    assert found([verdict(gone), verdict(turned)], [verdict(turned, control="a bound")]) == [
        f"{gone}: gone",
        f"{turned}: control '' is now 'a bound'",
    ]


def test_committed_statuses_are_compared_but_for_unsteady_ones(found):
    committed = list(
        compare.read_by_id(compare.find_results(STUDY) / "autoregressive.json").values()
    )
    turned = [{**one, "status": "UNDECIDED"} for one in committed]
    found(committed, turned)
    named = {line.partition(":")[0] for line in compare.compare_committed(STUDY)}
    steady = {one["id"] for one in committed if not one["id"].startswith(UNSTEADY)}
    assert len(steady) < len(committed)
    assert named == {one["id"] for one in committed if one["status"] != "UNDECIDED"} & steady


def test_a_study_that_was_not_kept_is_refused(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(compare, "KEPT", tmp_path)
    (tmp_path / STUDY).mkdir(parents=True)
    (tmp_path / STUDY / "study.json").write_text("{}")
    assert compare.main(["no/study"]) == 2
    assert "Got no/study" in capsys.readouterr().out
