"""Verdicts as sentences: near what is predicted, above or below a bound, or not."""

from dataclasses import replace

import pytest

from tutelage.claims.verdict import Hypothesis, Status, Verdict
from tutelage.report.wording import group_verdicts, list_unmet, say_claim, say_outcome, say_status

LIMIT = Verdict(
    id="a/b/cnn/excess",
    statement="excess·ηT → Σ_i K_i(D−K_i)/4",
    source="",
    predicted=1152.0,
    measured=1152.5,
    interval=(1149.0, 1154.0),
    tolerance=0.03,
    status=Status.HOLDS,
    sentence="Its limit is claimed to be 1 ± 0.03.",
)
AT_MOST = "the loss over its bound is 0.28, against at most 1 ± 0."
AT_LEAST = "cos(W_V, V*) is 0.99, against at least 0.9 ± 0."


def test_a_limit_is_near_its_number():
    """The interval reaches 3 below 1152, which is 0.26%, and rounded up."""
    assert say_claim(LIMIT) == "excess·ηT → Σ_i K_i(D−K_i)/4 = 1152"
    assert say_outcome(LIMIT) == "measured 1152.5, within 0.3%"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"predicted": 1.0, "measured": 0.28, "tolerance": 0.0}, "measured 0.28 ≤ 1"),
        (
            {"predicted": 1.0, "measured": 9.1, "tolerance": 0.0, "status": Status.FAILS},
            "measured 9.1 > 1",
        ),
        (
            {
                "predicted": 0.2,
                "measured": 0.1,
                "interval": (-0.2, 0.5),
                "tolerance": 0.1,
                "status": Status.UNDECIDED,
            },
            "measured 0.1 in [−0.2, 0.5], claimed ≤ 0.3",
        ),
    ],
)
def test_a_bound_reads_as_one(changes, said):
    assert say_outcome(replace(LIMIT, sentence=AT_MOST, **changes)) == said


def test_a_lower_bound_reads_as_one():
    lower = replace(LIMIT, sentence=AT_LEAST, predicted=0.9, measured=0.99, tolerance=0.0)
    assert say_outcome(lower) == "measured 0.99 ≥ 0.9"
    assert say_outcome(replace(lower, measured=0.5, status=Status.FAILS)) == "measured 0.5 < 0.9"
    assert say_claim(lower) == lower.statement


def test_an_exact_identity_says_what_it_may_depart_by():
    exact = replace(LIMIT, predicted=0.0, measured=2e-14, tolerance=1e-10)
    assert say_outcome(exact) == "measured 2e−14 ≤ 1e−10"
    exponent = replace(LIMIT, predicted=0.0, measured=1e-4, interval=(-2e-3, 2e-3), tolerance=0.02)
    assert say_outcome(exponent) == "measured 0.0001, within 0.02 of 0"
    near = replace(LIMIT, predicted=1.0, measured=1 - 3e-7, tolerance=1e-9, status=Status.FAILS)
    assert say_outcome(near) == "off by 3e-07, allowed 1e−09"


def test_what_was_not_read_says_so():
    assert say_outcome(replace(LIMIT, measured=None)) == "no number could be read"
    assert say_outcome(replace(LIMIT, measured=float("nan"))) == "no number could be read"


def test_a_control_says_whether_it_passed():
    control = replace(LIMIT, control="K < D")
    assert say_status(replace(control, status=Status.FAILS)) == "fails, as expected"
    assert "has not passed" in say_status(replace(control, status=Status.UNDECIDED))
    assert say_status(control) == "holds, a broken control"


def test_cases_of_one_claim_are_one_sentence():
    other = replace(LIMIT, id="a/b/gcn/excess", predicted=100.0, measured=99.0)
    failed = replace(other, id="a/b/gat/excess", status=Status.FAILS, measured=50.0)
    (group,) = group_verdicts([LIMIT, other, failed])
    assert group.statuses == {Status.FAILS: 1, Status.HOLDS: 2}
    assert group.sentence == (
        "excess·ηT → Σ_i K_i(D−K_i)/4: holds in 2 of 3 cases, measured over predicted 0.5 to 1"
    )
    assert len(group_verdicts([LIMIT, replace(other, control="K < D")])) == 2


def test_hypotheses_that_are_not_met_are_listed_but_not_those_a_control_breaks():
    hypotheses = (Hypothesis("K < D", False, "K = 8"), Hypothesis("iid tokens", True))
    assert list_unmet(replace(LIMIT, hypotheses=hypotheses)) == ["K < D (not met: K = 8)"]
    assert list_unmet(replace(LIMIT, hypotheses=hypotheses, control="K < D")) == []
