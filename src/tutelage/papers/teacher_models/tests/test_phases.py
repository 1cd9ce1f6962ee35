"""The verdicts of teacher-models/phases on a part of its quick preset, one seed each."""

import math

import numpy as np
import pytest
from answers import Answers

from tutelage.claims import Status
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.phases.plateau import SWEEPS, crossing
from tutelage.papers.teacher_models.phases.stability import make_setting, stable_rates
from tutelage.papers.teacher_models.setup import RUNS
from tutelage.papers.teacher_models.theory import recursion, slow_manifold
from tutelage.problem.build import build
from tutelage.refuse import Refused
from tutelage.studies.answering import run_cases
from tutelage.studies.discovery import find_study
from tutelage.studies.study import Plan

STUDY = find_study("teacher-models/phases")

CURVES = ("gcn-relu", "token-selection")
STABILITY = (
    "values-0.98",
    "values-1.02",
    "values-1.3",
    "scores-0.98",
    "scores-1.02",
    "symmetric-1.3",
    "edge",
)
CONTROLS = ("random-start", "momentum")
ONLY = (*CURVES, "closed-form", "closed-form-error", "V", "eta", *STABILITY, *CONTROLS)


@pytest.fixture(scope="module")
def answered():
    return Answers(STUDY.name, STUDY, lambda case: Plan(seeds=1, only=(case,)))


def statuses(answered, case):
    return {v.id.split("/")[-1]: v.status for v in answered[case].verdicts}


@pytest.mark.parametrize("case", CURVES)
def test_the_curves_are_those_of_the_recursion(answered, case):
    assert statuses(answered, case) == dict.fromkeys(
        ("value-scale", "score-gap", "support-mass", "excess-risk"), Status.HOLDS
    )
    assert all(
        v.measured < 1e-12 for v in answered[case].verdicts
    )  # far inside the tolerance of 1e-10


def test_the_phases_come_in_order_and_the_scale_ends_above_one(answered):
    for case in CURVES:
        run = answered[case].runs[0]
        times = recursion.times(run.setting)
        assert 0 < times.settled < times.halving < times.attention < run.steps[-1]
        at_first_end = run.curves["support_mass"][run.steps <= times.settled][-1].mean()
        assert at_first_end < 1.1 * run.curves["support_mass"][0].mean()  # p ≈ 1/D while C₁ rises
        late = run.curves["value_scale"][run.steps > times.attention]
        assert (np.diff(late) < 0).all()
        assert late[-1] > 1


def test_the_elementary_curve_and_its_times_hold(answered):
    assert statuses(answered, "closed-form") == dict.fromkeys(
        ("curve", "halving", "twice", "gap-curve"), Status.HOLDS
    )
    assert statuses(answered, "closed-form-error") == {"order": Status.HOLDS}


@pytest.mark.parametrize("sweep", ["V", "eta"])
def test_the_plateau_is_that_of_every_theory(answered, sweep):
    assert set(statuses(answered, sweep).values()) == {Status.HOLDS}
    assert "attention-printed" in statuses(answered, sweep)


def test_the_times_themselves_not_only_their_exponents(answered):
    for run in answered["V"].runs:
        assert crossing(run, "halving") == pytest.approx(
            slow_manifold.halving_time(run.setting), rel=0.02
        )
        assert crossing(run, "attention") == pytest.approx(
            1.195 * theory.printed_plateau(run.setting), rel=0.02
        )  # the formula at D = 20, K = 2


@pytest.mark.depth
def test_below_the_limits_the_rate_holds_and_above_it_stalls(answered):
    for case in ("values-0.98", "scores-0.98"):
        assert statuses(answered, case) == {"excess-rate": Status.HOLDS}
    for case in ("values-1.02", "values-1.3", "scores-1.02"):
        (verdict,) = answered[case].verdicts
        assert verdict.control
        assert verdict.status is Status.FAILS
        assert "stalled" in verdict.sentence
    assert statuses(answered, "edge") == {"sharpness": Status.HOLDS}


@pytest.mark.depth
def test_the_symmetric_start_never_meets_the_limit_of_the_scores(answered):
    assert statuses(answered, "symmetric-1.3") == {"excess-rate": Status.HOLDS}
    attention = np.asarray(answered["symmetric-1.3"].runs[0].student.attention())
    assert len(np.unique(attention.round(12))) == 2


def test_the_limits_are_those_of_the_risk():
    for kind in ("values", "scores"):
        setting = make_setting(kind, 1.0)
        problem = build(setting)
        assert setting.rate == pytest.approx(
            problem.objective.stable_rate(problem.student), rel=1e-12
        )
        assert setting.rate == min(stable_rates(setting.teacher.options["norm"]))


@pytest.mark.depth
def test_a_random_start_leaves_the_recursion(answered):
    (verdict,) = answered["random-start"].verdicts
    assert verdict.status is Status.FAILS
    assert verdict.measured > 1e-3


def test_with_momentum_the_gap_is_ahead_of_its_curve(answered):
    """By the logarithm of two: attention forms twice as fast."""
    (verdict,) = answered["momentum"].verdicts
    assert verdict.control
    assert verdict.status is Status.FAILS
    assert verdict.measured > 0.1
    run = answered["momentum"].runs[0]
    ahead = run.curves["score_gap"][-1].mean() / math.sqrt(36)
    behind = slow_manifold.gap_curve(run.setting, run.steps[-1:])[0] / math.sqrt(36)
    assert behind < ahead < behind + math.log(2)


@pytest.mark.depth
def test_too_short_is_undecided_with_what_would_decide():
    cases, _ = STUDY.plan(
        Plan(steps=40, seeds=1, only=("closed-form", "eta", "values-0.9", "edge"))
    )
    for answered in run_cases(STUDY.name, cases):
        for verdict in answered.verdicts:
            assert verdict.status is Status.UNDECIDED, verdict.id
            assert "decide" in verdict.sentence


def test_changes_reach_the_six_runs_alone():
    cases, left_out = STUDY.plan(Plan(changes={"D": 24, "K": 6}))
    assert {case.name for case in cases} == {"cnn-relu", "cnn-leaky", "token-selection"}
    assert left_out == ["gcn-relu", "gcn-leaky", "group-sparse"]
    assert all(s.teacher.options["tokens"] == 24 for case in cases for s in case.settings)
    with pytest.raises(Refused, match="nonsense"):
        STUDY.plan(Plan(changes={"nonsense": 1}))


def test_a_change_that_the_recursion_cannot_follow_is_undecided():
    cases, _ = STUDY.plan(
        Plan(seeds=1, steps=30, changes={"activation": "erf"}, only=("cnn-relu",))
    )
    (answered,) = run_cases(STUDY.name, cases)
    assert {v.status for v in answered.verdicts} == {Status.UNDECIDED}
    assert "identity, ReLU and leaky ReLU" in answered.verdicts[0].sentence


def test_the_preset_has_every_case_and_every_sweep():
    cases, left_out = STUDY.plan(Plan())
    names = [case.name for case in cases]
    assert left_out == []
    assert names[:6] == list(RUNS)
    assert {sweep.name for sweep in SWEEPS} <= set(names)
    assert sum(bool(case.control) for case in cases) == 9


@pytest.mark.depth
def test_the_figures_draw_what_was_measured(answered, tmp_path):
    paths = STUDY.figures([answered[case] for case in ONLY], tmp_path)
    assert {p.stem for p in paths} == {"phases", "closed-form", "plateau", "stability"}
    header, first = (tmp_path / "phases.csv").read_text().splitlines()[:2]
    assert header.startswith("token selection: step,")
    assert np.isfinite([float(x) for x in first.split(",")]).all()
