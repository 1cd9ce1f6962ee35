"""The page of findings is that of the committed verdicts, and cannot be made where they do not
carry it.
"""

import re
import sys
import tomllib
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def made():
    sys.path.insert(0, str(DOCS))
    try:
        import make_findings
    finally:
        sys.path.remove(str(DOCS))
    return make_findings


def some(**status):
    """A claim, a control and a measurement of a study that is not there."""
    given = {
        "claim": ("HOLDS", "", False),
        "control": ("FAILS", "K < D", False),
        "seen": ("MEASURED", "", True),
    }
    numbers = {"claim": 2.5, "control": 7.0, "seen": 0.125}
    return {
        f"a/b/{name}/x": {
            "id": f"a/b/{name}/x",
            "status": status.get(name, kind),
            "control": control,
            "measurement": measurement,
            "measured": numbers[name],
            "predicted": None,
            "interval": [1.0, 3.0],
            "sentence": "So it was.",
        }
        for name, (kind, control, measurement) in given.items()
    }


FINDING = {
    "text": "it is so",
    "carried": {"HOLDS": ["a/b/cl*/x"], "CONTROL": ["a/b/control/x"], "MEASURED": ["a/b/seen/x"]},
}


def test_committed_pages_are_those_of_the_verdicts(made):
    for path, text in made.pages().items():
        assert path.read_text() == text, f"{path.name} is old: python docs/make_findings.py"


def test_every_link_leads_to_a_verdict(made):
    pages = made.pages()
    links = re.findall(r"\(results/([^)#]+)#([^)]+)\)", pages[DOCS / "findings.md"])
    assert len(links) > 100
    for page, anchor in links:
        assert f'<a id="{anchor}"></a>' in pages[DOCS / "results" / page]


def test_no_failure_is_left_out(made):
    page = made.pages()[DOCS / "findings.md"]
    failed = [
        name for name, v in made.committed().items() if v["status"] == "FAILS" and not v["control"]
    ]
    assert failed
    assert all(f"[`{name}`]" in page.partition("## Every claim that fails")[2] for name in failed)


def test_a_finding_is_carried_by_its_verdicts(made):
    assert made.carriers(FINDING, some()) == (
        "[`a/b/cl*/x`](results/a-b.md#claim-x) "
        "HOLDS<br>[`a/b/control/x`](results/a-b.md#control-x) control, FAILS<br>"
        "[`a/b/seen/x`](results/a-b.md#seen-x) MEASURED"
    )


@pytest.mark.parametrize(
    "drifted",
    [{"claim": "FAILS"}, {"claim": "UNDECIDED"}, {"control": "HOLDS"}, {"seen": "UNDECIDED"}],
)
def test_a_finding_whose_verdict_changed_is_not_written(made, drifted):
    with pytest.raises(made.Drifted, match="it is so"):
        made.carriers(FINDING, some(**drifted))


def test_a_finding_without_its_claim_is_not_written(made):
    for need, pattern in (
        ("HOLDS", "a/b/gone/x"),
        ("HOLDS", "a/b/control/x"),
        ("CONTROL", "a/b/claim/x"),
    ):
        with pytest.raises(made.Drifted, match="it is so"):
            made.carriers({"text": "it is so", "carried": {need: [pattern]}}, some())


def test_numbers_come_from_the_verdicts(made):
    text = (
        "{measured:.1f:a/b/claim/x}, {measured:g:a/b/*/x}, {interval:.0f:a/b/seen/x}, "
        "{measured:.0f:a/b/control/x}, {count::a/b/*/x}"
    )
    assert made.filled(text, some()) == "2.5, 0.125 to 2.5, [1, 3], 7, 2"


def test_every_study_has_a_finding():
    """Or else a study was run for nothing."""
    with (DOCS / "findings.toml").open("rb") as file:
        carried = {
            p
            for f in tomllib.load(file)["finding"]
            for patterns in f["carried"].values()
            for p in patterns
        }
    for path in (DOCS / "results").glob("*.json"):
        assert any(
            p.replace("/", "-").startswith(path.stem.removesuffix("-full")) for p in carried
        ), path.stem
