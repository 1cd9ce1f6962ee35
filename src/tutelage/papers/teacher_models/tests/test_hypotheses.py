"""The verdicts of teacher-models/hypotheses on a part of its quick preset: inside the theorem's
step size, and beside it.
"""

from dataclasses import replace

import pytest

from tutelage.claims import Status
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.hypotheses.study import CNN, RUNS, inside
from tutelage.papers.teacher_models.setup import claims_of_theorem
from tutelage.problem.build import build
from tutelage.refuse import Refused
from tutelage.settings import Setting
from tutelage.studies.answering import run_cases
from tutelage.studies.discovery import find_study
from tutelage.studies.study import Plan
from tutelage.training.method import Method

STUDY = find_study("teacher-models/hypotheses")

ONLY = ("group-sparse", "group-sparse-practical", "crowded", "all-tokens", "anisotropic")


@pytest.fixture(scope="module")
def answered():
    cases, _ = STUDY.plan(Plan(seeds=1, only=ONLY))
    # By flow from 50,000 steps on: its finite steps are off by 1e-5 at most.
    answers = run_cases(STUDY.name, cases, method=Method(literal=50_000))
    return {a.case.name: a for a in answers}


def hypothesis(verdict, text):
    (found,) = [h for h in verdict.hypotheses if text in h.text]
    return found


@pytest.mark.depth
@pytest.mark.parametrize("case", ONLY[:3])
def test_every_claim_of_the_theorem_holds(answered, case):
    statuses = {v.id.split("/")[-1]: v.status for v in answered[case].verdicts}
    assert statuses == dict.fromkeys(claims_of_theorem(), Status.HOLDS)


@pytest.mark.depth
def test_inside_means_the_literal_step_size(answered):
    for run in answered["group-sparse"].runs:
        assert run.setting.rate == 1 / 8**2.5  # M = 1, D = 8
    verdict = answered["group-sparse"].verdicts[0]
    assert hypothesis(verdict, "η ≤").met is None  # met up to an unstated constant
    assert "is 1 times 1/(M D^5/2)" in hypothesis(verdict, "η ≤").detail
    assert hypothesis(verdict, "poly").detail.endswith("D ≥ (MK)^a for every a")
    assert all(h.met is not False for h in verdict.hypotheses)
    practical = hypothesis(answered["group-sparse-practical"].verdicts[0], "η ≤")
    assert practical.met is None  # the constant is not stated, for the theorem or against it
    assert "9.05 times" in practical.detail
    assert hypothesis(answered["crowded"].verdicts[0], "poly").detail.endswith("D = (MK)^0.6")


@pytest.mark.depth
def test_the_constants_inside_are_those_at_practical_steps(answered):
    pairs = zip(
        answered["group-sparse"].verdicts, answered["group-sparse-practical"].verdicts, strict=True
    )
    for ours, theirs in pairs:
        if ours.id.endswith("-constant"):
            assert ours.measured == pytest.approx(theirs.measured, rel=2e-3)


@pytest.mark.depth
def test_controls_fail_inside_the_condition_too(answered):
    for case in ("all-tokens", "anisotropic"):
        (verdict,) = answered[case].verdicts
        assert verdict.control
        assert verdict.status is Status.FAILS
        assert hypothesis(verdict, "η ≤").met is None
    assert "faster and faster" in answered["all-tokens"].verdicts[0].sentence


def test_the_claims_are_those_of_rates_but_for_their_names():
    (ours,), _ = STUDY.plan(Plan(only=("cnn-relu",)))
    (theirs,), _ = find_study("teacher-models/rates").plan(Plan(only=("cnn-relu",)))
    shared = theirs.claims[:-1]  # rates also asks for the order
    assert theirs.claims[-1].id == "excess-order"
    for claim, beside in zip(ours.claims, shared, strict=True):
        assert type(claim) is type(beside)
        assert (claim.id, claim.statement, claim.source, claim.tolerance) == (
            beside.id,
            beside.statement,
            beside.source,
            beside.tolerance,
        )


@pytest.mark.depth
def test_verdicts_are_named_by_study_and_case(answered):
    assert [v.id for v in answered["crowded"].verdicts] == [
        f"teacher-models/hypotheses/crowded/{name}" for name in claims_of_theorem()
    ]


def test_practical_steps_are_stable_and_far_outside():
    for run in RUNS.values():
        setting = Setting(run.teacher, run.rate, steps=1)
        problem = build(setting)
        assert run.rate < 0.25 * problem.objective.stable_rate(problem.student)
        assert run.rate > 5 * theory.theorem_rate(setting)


def test_the_sweep_goes_from_inside_to_far_outside():
    cases, _ = STUDY.plan(Plan(seeds=1, only=("step-sizes",)))
    rates_of = [s.rate for s in cases[0].settings]
    first = inside(Setting(CNN, 1.0, steps=1)).rate
    assert rates_of == [m * first for m in (0.25, 1.0, 4.0, 16.0, 64.0)]
    problem = build(cases[0].settings[-1])
    assert rates_of[-1] < problem.objective.stable_rate(problem.student)
    # As many steps as to reach the same ηT.
    assert all(
        s.steps * s.rate == pytest.approx(cases[0].settings[0].steps * rates_of[0], rel=1e-3)
        for s in cases[0].settings
    )


@pytest.mark.depth
def test_a_short_sweep_is_undecided_and_says_what_would_decide():
    cases, _ = STUDY.plan(Plan(seeds=1, steps=300, only=("step-sizes",)))
    (answered,) = run_cases(STUDY.name, cases)
    assert {v.status for v in answered.verdicts} == {Status.UNDECIDED}
    assert "would decide" in answered.verdicts[0].sentence


def test_the_step_size_is_not_for_change_and_follows_what_is():
    for key in ("eta", "rate", "T"):
        with pytest.raises(Refused, match="sets the step size itself"):
            STUDY.plan(Plan(changes={key: 1}))
    cases, left_out = STUDY.plan(Plan(seeds=1, changes={"M": 3}))
    assert {case.name for case in cases} == {
        "cnn-relu",
        "cnn-relu-practical",
        "gcn-leaky",
        "gcn-leaky-practical",
    }
    assert len(left_out) == 4
    assert cases[0].settings[0].rate == 1 / (3 * 8**2.5)


@pytest.mark.depth
def test_the_figure_draws_what_was_measured(answered, tmp_path, shaded):
    (sweep,), _ = STUDY.plan(Plan(seeds=1, only=("step-sizes",)))
    coarse = replace(sweep, settings=sweep.settings[-1:], claims=())  # the least steps of all
    paths = STUDY.figures([*answered.values(), *run_cases(STUDY.name, [coarse])], tmp_path)
    setting = coarse.settings[0]
    # The last two decades, where they begin beyond a hundred plateaus.
    first = max(100 * theory.plateau(setting), setting.steps / 100)
    assert shaded == [pytest.approx((first * setting.rate, setting.steps * setting.rate))]
    assert [p.suffix for p in paths] == [".png", ".csv"]
    assert "group-sparse: excess-constant" in paths[1].read_text().splitlines()[0]
