"""The page of findings is that of the committed verdicts, and cannot be made where they do not
carry it.
"""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tools.committed import committed_studies, own_papers, respell_file
from tools.mathematics import write_formulas

from tutelage.claims import Exponent, Status, Verdict
from tutelage.claims.check import state_claim
from tutelage.claims.labels import ClaimedBy
from tutelage.claims.verdict import RULE
from tutelage.report.findings import Drifted, Finding, fill_numbers, state_count
from tutelage.studies.outputs import read_verdicts

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def made():
    sys.path.insert(0, str(DOCS))
    try:
        import make_findings
    finally:
        sys.path.remove(str(DOCS))
    return make_findings


@pytest.fixture(scope="module")
def pages(made):
    return made.make_pages()


def some(made, *, claimed_by=ClaimedBy.PAPER, **status):
    """A claim, a control and a measurement of a study that is not there."""
    given = {
        "claim": ("HOLDS", "", False),
        "control": ("FAILS", "K < D", False),
        "seen": ("MEASURED", "", True),
    }
    numbers = {"claim": 2.5, "control": 7.0, "seen": 0.125}
    verdicts = {
        f"a/b/{name}/x": Verdict(
            id=f"a/b/{name}/x",
            statement="",
            source="",
            predicted=None,
            measured=numbers[name],
            interval=(1.0, 3.0),
            tolerance=None,
            status=Status(status.get(name, kind)),
            sentence="So it was.",
            control=control,
            measurement=measurement,
            claimed_by=claimed_by,
        )
        for name, (kind, control, measurement) in given.items()
    }
    return made.Evidence(verdicts, {"a/b": DOCS / "results" / "b.md"})


CARRIED = {"HOLDS": ["a/b/cl*/x"], "CONTROL": ["a/b/control/x"], "MEASURED": ["a/b/seen/x"]}


def finding(made, carried=CARRIED, *, kind="holds", text="it is so"):
    return Finding(kind, text, carried)


def test_committed_pages_are_those_of_the_verdicts(pages):
    for path, text in pages.items():
        assert path.read_text() == text, f"{path.name} is old: python docs/make_findings.py"


def test_every_link_leads_to_a_verdict(made, pages):
    links = re.findall(r"\]\(([^)#]+/results/[^)#]+)#([^)]+)\)", pages[made.PAGE])
    assert len(links) > 100
    for page, anchor in links:
        assert f'<a id="{anchor}"></a>' in pages[(DOCS / page).resolve()]


def test_no_failure_is_left_out(made, pages):
    page = pages[made.PAGE]
    failed = [
        name
        for name, v in made.gather_evidence().verdicts.items()
        if v.status is Status.FAILS and not v.control
    ]
    assert failed
    assert all(f"[`{name}`]" in page.partition("## Every claim that fails")[2] for name in failed)


def test_every_undecided_claim_says_why_and_no_other_does(made):
    evidence = some(made, claim="UNDECIDED", control="UNDECIDED", seen="UNDECIDED")
    said = {"a/b/claim/x": made.Open("too few | seeds", "ten more")}
    page = "\n".join(made.list_open(said, evidence))
    row = "| paper | So it was. | too few \\| seeds | ten more |"
    assert f"[`a/b/claim/x`](results/b.md#claim-x) {row}" in page
    assert "a/b/control/x" not in page
    assert "[`a/b/seen/x`]" in page.partition("## Every measurement that is undecided")[2]
    with pytest.raises(Drifted, match="a/b/claim/x is undecided, and"):
        made.list_open({}, evidence)
    with pytest.raises(Drifted, match="a/b/claim/x has a line"):
        made.list_open(said, some(made))


def test_a_finding_is_carried_by_its_verdicts(made):
    assert made.list_carriers(finding(made), some(made)) == (
        "[`a/b/cl*/x`](results/b.md#claim-x) "
        "paper, HOLDS<br>[`a/b/control/x`](results/b.md#control-x) control, FAILS<br>"
        "[`a/b/seen/x`](results/b.md#seen-x) paper, MEASURED"
    )


@pytest.mark.parametrize(
    "drifted",
    [
        {"claim": "FAILS"},
        {"claim": "UNDECIDED"},
        {"claim": "OUTSIDE"},
        {"claim": "VACUOUS"},
        {"control": "HOLDS"},
        {"control": "UNDECIDED"},
        {"seen": "UNDECIDED"},
    ],
)
def test_a_finding_whose_verdict_changed_is_not_written(made, drifted):
    with pytest.raises(Drifted, match="it is so"):
        made.list_carriers(finding(made), some(made, **drifted))


def test_one_verdict_that_does_not_carry_its_sentence_is_enough_to_refuse_it(made):
    evidence = some(made, claim="UNDECIDED")
    beside = replace(evidence.verdicts["a/b/claim/x"], id="a/b/clear/x", status=Status.HOLDS)
    evidence = made.Evidence({**evidence.verdicts, beside.id: beside}, evidence.pages)
    with pytest.raises(Drifted, match="a/b/claim/x UNDECIDED"):
        made.list_carriers(finding(made), evidence)
    stated = finding(made, text="it is so {carried}")
    assert state_count(stated, evidence.verdicts) == "it is so (3 of 4 verdicts carry this)"


def test_a_sentence_that_most_of_its_verdicts_do_not_carry_is_not_written(made):
    evidence = some(made, claim="UNDECIDED", control="UNDECIDED")
    stated = finding(made, {"CONTROL": ["a/b/control/x"]}, text="it is so {carried}")
    with pytest.raises(Drifted, match="carried by 0 of 1"):
        state_count(stated, evidence.verdicts)


def test_what_is_ours_is_not_filed_as_the_papers(made):
    ours = some(made, claimed_by=ClaimedBy.BEYOND)
    with pytest.raises(Drifted, match="rests on a/b/claim/x"):
        made.list_carriers(finding(made), ours)
    assert made.list_carriers(finding(made, kind="silent"), ours)
    with pytest.raises(Drifted, match="'Beyond the paper'"):
        made.list_carriers(finding(made, kind="silent"), some(made))


def test_controls_that_do_not_fail_are_listed_as_open(made):
    said = made.list_controls(some(made, control="UNDECIDED"))[-1]
    assert said.startswith("0 of 1 negative controls fail")
    assert "`a/b/control/x`" in said
    assert "Open" not in made.list_controls(some(made))[-1]


def test_the_page_says_which_text_was_not_available(made, pages):
    for paper in own_papers():
        if paper.unavailable:
            assert write_formulas(paper.unavailable) in pages[made.PAGE]
    assert any(paper.unavailable for paper in own_papers())


def test_a_finding_without_its_claim_is_not_written(made):
    for need, pattern in (
        ("HOLDS", "a/b/gone/x"),
        ("HOLDS", "a/b/control/x"),
        ("CONTROL", "a/b/claim/x"),
    ):
        with pytest.raises(Drifted, match="it is so"):
            made.list_carriers(finding(made, {need: [pattern]}), some(made))


def test_numbers_come_from_the_verdicts(made):
    text = (
        "{measured:.1f:a/b/claim/x}, {measured:g:a/b/*/x}, {interval:.0f:a/b/seen/x}, "
        "{measured:.0f:a/b/control/x}, {count::a/b/*/x}"
    )
    assert fill_numbers(text, some(made).verdicts) == "2.5, 0.125 to 2.5, [1, 3], 7, 2"


def test_every_study_has_a_finding(made):
    """Or else a study was run for nothing."""
    carried = [
        pattern
        for findings in made.read_findings().values()
        for one in findings
        for patterns in one.carried.values()
        for pattern in patterns
    ]
    for name in committed_studies():
        assert any(pattern.startswith(f"{name}/") for pattern in carried), name


def test_committed_verdicts_say_what_their_claims_say_now(monkeypatch):
    """`python -m tools.committed` respells them."""
    # Planning this study draws twenty samples to know its step sizes, which are not looked at here.
    monkeypatch.setattr("tutelage.papers.teacher_models.inputs.study.with_stable_steps", tuple)
    for study in committed_studies().values():
        claims = study.claims()
        said = {v["id"]: (v["statement"], v["source"]) for v in study.plain_verdicts}
        assert said == {name: (state_claim(c), c.source) for name, c in claims.items()}


def test_words_of_a_verdict_follow_its_claim_and_numbers_stay(tmp_path):
    claim = Exponent(
        id="x", points=list, exponent=2.0, of="the limit of ‖S − S*‖", statement="‖S − S*‖ ∝ D²"
    )
    older = Verdict(
        id="a/b/c/x",
        statement="‖S−S*‖ ∝ D²",
        source="",
        predicted=2.0,
        measured=2.01,
        interval=(1.99, 2.02),
        tolerance=0.02,
        status=Status.HOLDS,
        sentence="Over 2 runs the limit of ‖S−S*‖ has exponent 2.01.",
    ).plain()
    path = tmp_path / "b.json"
    path.write_text(json.dumps([older]), encoding="utf-8")
    assert respell_file(path, {"a/b/c/x": claim}) == 1
    (now,) = read_verdicts(path)
    assert now["statement"] == "‖S − S*‖ ∝ D²"
    assert now["sentence"] == "Over 2 runs the limit of ‖S − S*‖ has exponent 2.01."
    words = ("statement", "sentence", "evidence", "claimed_by", "source_text", "history")
    numbers = json.loads(json.dumps({k: v for k, v in older.items() if k not in words}))
    assert {k: v for k, v in now.items() if k not in words} == numbers
    assert respell_file(path, {"a/b/c/x": claim}) == 0


def test_verdicts_of_the_first_presets_are_of_todays_rule():
    """Pages say by which rule verdicts were reached, and it is this one."""
    older = {
        study.name
        for study in committed_studies().values()
        if any(verdict["rule"] != RULE for verdict in read_verdicts(study.results))
    }
    assert older == set()
