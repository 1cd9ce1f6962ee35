"""The quick preset of teacher-models/rates, and two seeds of one case: what its table shows."""

import numpy as np
import pytest
from answers import Answers

from tutelage.claims import Constant, Status
from tutelage.run import Outcome
from tutelage.studies.answering import run_cases
from tutelage.studies.discovery import find_study
from tutelage.studies.study import Plan
from tutelage.training.method import Method

STUDY = find_study("teacher-models/rates")

RUNS = (
    "cnn-relu",
    "gcn-relu",
    "gcn-leaky",
    "token-selection",
    "group-sparse",
)  # every teacher and both activations
TWICE = "token-selection"


@pytest.fixture(scope="module")
def answered():
    method = Method(literal=STUDY.presets["quick"].literal)

    def plan(case):
        # The one with two seeds goes a hundredth of the way, which is enough to decide it.
        if case == TWICE:
            return Plan(seeds=2, steps=10**8, only=(case,))
        return Plan(seeds=1, only=(case,))

    return Answers(STUDY.name, STUDY, plan, method)


def test_the_preset_has_the_six_runs_five_controls_and_the_limit_of_small_steps():
    cases, left_out = STUDY.plan(Plan())
    assert left_out == []
    assert {case.name for case in cases} == {
        *RUNS,
        "cnn-leaky",
        "all-tokens",
        "no-zeros",
        "no-zeros-order",
        "large-step",
        "anisotropic",
        "small-steps",
    }
    assert all(len(case.settings) == 1 for case in cases[:6])


def verdict(answered, case, claim):
    _, found = answered[case].find(claim)
    return found


@pytest.mark.depth
@pytest.mark.parametrize("case", RUNS)
def test_the_runs_have_slope_minus_one_and_the_sharp_constants(answered, case):
    for claim in (
        "excess-rate",
        "excess-constant",
        "value-rate",
        "value-constant",
        "attention-rate",
        "attention-constant",
        "cosine",
    ):
        assert verdict(answered, case, claim).status is Status.HOLDS, claim


@pytest.mark.depth
@pytest.mark.parametrize("case", RUNS)
def test_constants_are_within_three_percent_at_the_end_itself(answered, case):
    """Without extrapolation, without a rule: the last measured point over the prediction."""
    for run in answered[case].runs:
        for claim in answered[case].case.claims:
            if isinstance(claim, Constant):
                ratio = run.curves[claim.curve][-1] / (
                    claim.value(run.setting) * run.time[-1] ** claim.exponent
                )
                assert abs(ratio - 1) < 0.03, claim.id


@pytest.mark.depth
def test_controls_get_the_right_other_answer(answered):
    for case in ("all-tokens", "no-zeros", "no-zeros-order", "large-step", "anisotropic"):
        (only,) = answered[case].verdicts
        assert only.control
        assert only.status is Status.FAILS
    assert "faster and faster" in answered["all-tokens"].verdicts[0].sentence
    assert "faster and faster" in answered["no-zeros"].verdicts[0].sentence
    assert "stalled" in answered["large-step"].verdicts[0].sentence


def test_all_tokens_is_exponential_with_the_predicted_factor(answered):
    """D = K: excess falls by (1 − λη)² a step, λ = ½."""
    run = answered["all-tokens"].runs[0]
    assert run.outcome is Outcome.CONVERGED
    excess, early = run.curves["excess_risk"], (run.steps >= 10) & (run.steps <= 200)
    measured = np.polyfit(run.steps[early], np.log(excess[early]), 1)[0]
    assert measured == pytest.approx(2 * np.log(1 - 0.5 * run.setting.rate), rel=1e-6)


@pytest.mark.depth
def test_small_steps_meet(answered):
    assert verdict(answered, "small-steps", "collapse").status is Status.HOLDS


@pytest.mark.depth
@pytest.mark.parametrize("case", RUNS)
def test_every_seed_is_counted_and_nothing_fails(answered, case):
    assert not [v.id for v in answered[case].verdicts if v.status is Status.FAILS]
    assert len(verdict(answered, case, "excess-rate").seeds) == (2 if case == TWICE else 1)


@pytest.mark.paper_size
def test_the_papers_size_decides_every_claim():
    cases, _ = STUDY.plan(Plan(preset="paper"))
    statuses = {
        v.id: v.status for a in run_cases(STUDY.name, cases) for v in a.verdicts if not v.control
    }
    assert set(statuses.values()) == {Status.HOLDS}, statuses
