"""How verdicts are counted: a control passes by failing, and groups are told apart."""

from tutelage.claims.labels import ClaimedBy
from tutelage.claims.verdict import Status, Verdict
from tutelage.report.wording import group_verdicts
from tutelage.studies.counts import Counts


def verdict(status: Status, control: str = "", claimed_by: ClaimedBy = ClaimedBy.BEYOND) -> Verdict:
    return Verdict(
        id="p/s/c/x",
        statement="it is so",
        source="",
        predicted=1.0,
        measured=1.0,
        interval=(1.0, 1.0),
        tolerance=0.1,
        status=status,
        sentence="",
        control=control,
        claimed_by=claimed_by,
    )


def test_an_undecided_control_has_not_passed():
    found = [verdict(status, "K < D") for status in (Status.FAILS, Status.UNDECIDED, Status.HOLDS)]
    counts = Counts.of(found)
    assert (counts.sound, counts.controls) == (1, 3)
    assert "1 of 3 negative controls fail, as expected; 1 is undecided: c/x; " in counts.sentence
    assert "1 does not fail: c/x HOLDS." in counts.sentence
    all_fail = Counts.of([verdict(Status.FAILS, "K < D")] * 4)
    said = "No claim was checked. All 4 negative controls fail, as expected."
    assert all_fail.sentence == said


def test_one_claim_is_one_claim():
    assert Counts.of([verdict(Status.HOLDS)]).sentence.startswith("1 claim: 1 HOLDS")


def test_outside_and_vacuous_are_counted_as_claims():
    counts = Counts.of([verdict(status) for status in (Status.OUTSIDE, Status.VACUOUS)])
    assert counts.claims == 2
    assert "0 HOLDS, 0 FAILS, 0 UNDECIDED, 1 OUTSIDE, 1 VACUOUS" in counts.sentence


def test_groups_are_told_apart():
    found = [
        verdict(Status.HOLDS, claimed_by=ClaimedBy.PAPER),
        verdict(Status.FAILS, claimed_by=ClaimedBy.SHARPER),
        verdict(Status.FAILS, "K < D", ClaimedBy.PAPER),
    ]
    counted = Counts.by_group(found)
    assert {group: (c.claims, c.holds, c.fails) for group, c in counted.items()} == {
        ClaimedBy.PAPER: (1, 1, 0),
        ClaimedBy.SHARPER: (1, 0, 1),
        ClaimedBy.BEYOND: (0, 0, 0),
    }
    claims, controls = group_verdicts(found)
    assert [bool(v.control) for v in claims.verdicts] == [False, False]
    assert [bool(v.control) for v in controls.verdicts] == [True]
