"""Claims are judged where they apply: OUTSIDE, VACUOUS, looseness and whose claim it is."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tutelage.claims import Hypothesis, Number, Order, Rate, Status, check
from tutelage.claims.check import evaluate_hypotheses
from tutelage.claims.claim import no_ceiling
from tutelage.claims.labels import ClaimedBy
from tutelage.run import Outcome, Run
from tutelage.settings import Part, Setting

CONVOLUTION = Part("convolution", tokens=8, support=2, outputs=2, dim=3, activation="identity")


def run_like(slope: float, **options: object) -> Run:
    """A curve t^slope, as if made by a setting."""
    steps = np.unique(np.geomspace(1, 10**6, 300).astype(int))
    setting = Setting(CONVOLUTION.change(**options), rate=0.1, steps=10**6)
    curves = {"excess_risk": steps.astype(float) ** slope}
    return Run(steps, curves, None, Outcome.FINISHED, rate=0.1, setting=setting)


def few_tokens(setting: Setting) -> tuple[Hypothesis, ...]:
    tokens = int(setting.teacher.options["tokens"])
    return (
        Hypothesis("at most 8 tokens", tokens <= 8, f"D = {tokens}"),
        Hypothesis("η ≤ O(1)", None, "the constant is not stated"),
    )


def rate(claimed_by: ClaimedBy) -> Rate:
    return Rate(
        "excess_risk", -1.0, plateau=1.0, id="rate", claimed_by=claimed_by, hypotheses=few_tokens
    )


def test_a_papers_claim_is_outside_where_a_hypothesis_is_not_met():
    verdict = check(rate(ClaimedBy.PAPER), run_like(-0.5, tokens=16))
    assert verdict.status is Status.OUTSIDE
    assert "at most 8 tokens (D = 16)" in verdict.sentence
    assert not verdict.surprising


def test_a_papers_claim_fails_where_its_hypotheses_are_met():
    assert check(rate(ClaimedBy.PAPER), run_like(-0.5)).status is Status.FAILS
    assert check(rate(ClaimedBy.PAPER), run_like(-1.0)).status is Status.HOLDS


def test_an_unstated_constant_never_makes_a_claim_outside():
    (_, unstated) = check(rate(ClaimedBy.PAPER), run_like(-1.0)).hypotheses
    assert unstated.met is None


def test_claims_of_our_own_are_never_outside():
    for whose in (ClaimedBy.SHARPER, ClaimedBy.BEYOND):
        assert check(rate(whose), run_like(-0.5, tokens=16)).status is Status.FAILS


def test_a_control_is_judged_on_its_bare_prediction():
    verdict = check(rate(ClaimedBy.PAPER), run_like(-0.5, tokens=16), control="few tokens")
    assert verdict.status is Status.FAILS


def test_a_sweep_is_outside_if_one_of_its_points_is():
    runs = [run_like(-1.0), run_like(-1.0, tokens=16)]
    claim = rate(ClaimedBy.PAPER)
    first, _ = evaluate_hypotheses(claim, [run.setting for run in runs if run.setting is not None])
    assert (first.met, first.detail) == (False, "D = 16")
    assert check(claim, runs).status is Status.OUTSIDE


def bound(measured: float, ceiling: float | None) -> Number:
    return Number(
        values=lambda runs: [measured],
        value=1.0,
        of="the loss over its bound",
        tolerance=0.0,
        side="at most",
        certain=True,
        ceiling=None if ceiling is None else lambda runs: ceiling,
    )


def test_a_bound_no_smaller_than_the_trivial_ceiling_is_vacuous():
    run = run_like(-1.0)
    assert check(bound(0.01, ceiling=0.5), run).status is Status.VACUOUS
    assert check(bound(0.01, ceiling=1.0), run).status is Status.VACUOUS
    assert "trivial ceiling" in check(bound(0.01, ceiling=1.0), run).sentence
    assert check(bound(0.01, ceiling=20.0), run).status is Status.HOLDS


def test_a_bound_says_by_which_factor_it_is_loose():
    verdict = check(bound(0.08, ceiling=20.0), run_like(-1.0))
    assert verdict.looseness == 12.5
    assert "loose by a factor 12.5" in verdict.sentence


def test_a_bound_that_is_exceeded_fails_and_is_not_vacuous():
    assert check(bound(2.0, ceiling=0.5), run_like(-1.0)).status is Status.FAILS


def test_without_a_known_ceiling_no_bound_is_vacuous():
    runs: Sequence[Run] = [run_like(-1.0)]
    assert no_ceiling(runs) == math.inf


def test_a_claim_that_holds_prints_the_smallest_violation_that_it_would_have_rejected():
    """With a tolerance below it the same data no longer hold."""
    steps = np.unique(np.geomspace(1, 10**6, 300).astype(int))
    curve = (1 + 0.5 * steps**-0.5) / steps
    run = Run(steps, {"excess_risk": curve}, None, Outcome.FINISHED)
    wide = check(Rate("excess_risk", -1.0, 0.02, plateau=1.0), run)
    assert wide.status is Status.HOLDS
    assert 0 < wide.smallest_violation < 0.02
    narrow = check(Rate("excess_risk", -1.0, 0.9 * wide.smallest_violation, plateau=1.0), run)
    assert narrow.status is not Status.HOLDS


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("excess = Θ(1/T)", "excess = Θ(1/T) (judged by its slope)"),
        ("excess = O(1/T)", "excess = O(1/T) (judged by its slope)"),
        ("the slope tends to −1", "the slope tends to −1"),
    ],
)
def test_an_order_that_is_judged_by_its_slope_is_called_so(statement: str, said: str):
    claim = Rate("excess_risk", -1.0, plateau=1.0, statement=statement)
    assert check(claim, run_like(-1.0)).statement == said
    order = Order("excess_risk", -1.0, plateau=1.0, statement=statement)
    assert check(order, run_like(-1.0)).statement == statement


def test_a_bound_without_a_ceiling_says_its_factor_too():
    verdict = check(bound(0.08, ceiling=None), run_like(-1.0))
    assert verdict.looseness == 12.5
    assert verdict.sentence.endswith("It is loose by a factor 12.5.")


def test_a_verdict_says_what_it_excludes_and_what_it_assumes():
    verdict = check(Rate("excess_risk", -1.0, 0.02, plateau=1.0), run_like(-1.0))
    assert verdict.guarantee.startswith("The data exclude departures of more than ")
    assert "(0.02 is allowed)" in verdict.guarantee
    assert f"from step {verdict.begins:,.0f} on" in verdict.guarantee
    assert "the distance to the limit falls" in verdict.guarantee
    assert verdict.guarantee in verdict._repr_html_()
    assert "rule" not in verdict.guarantee
    slow = replace(verdict, contraction=1e-5).guarantee
    assert slow.endswith("the distance to the limit falls at least like t^-0.001.")
    assert replace(verdict, rule=2).guarantee.endswith("Judged by rule 2, an older one.")
    assert check(Rate("excess_risk", -2.0, plateau=1.0), run_like(-1.0)).smallest_violation is None
