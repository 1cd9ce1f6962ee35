"""The studies of attention-svm: readings on made-up runs, small plans, and presets to confirm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tutelage.claims import Status, check
from tutelage.papers.attention_svm import paper, readings
from tutelage.papers.attention_svm.factored.study import CONSTANT as FACTORED
from tutelage.papers.attention_svm.local_optima.study import draw_selections
from tutelage.papers.attention_svm.max_margin.study import DIRECTION, LIMIT, SLOWER, cases, study
from tutelage.papers.attention_svm.normalised.study import PUBLISHED_SIZES, RATE_CLAIM, exponents
from tutelage.papers.attention_svm.parts.sample import draw_sample
from tutelage.papers.attention_svm.recipe.study import FARTHER, ROUNDING_MARGIN
from tutelage.papers.attention_svm.setup import (
    W_FROM_UNIFORM,
    SvmPreset,
    build_settings,
    descent_part,
    nuclear_of,
    programme_of,
    sample_of,
)
from tutelage.papers.attention_svm.theory.approach import miss_of_direction
from tutelage.run import Outcome, Run
from tutelage.settings import Part, Setting
from tutelage.studies.answering import run_cases
from tutelage.studies.study import Plan

SMALL = SvmPreset(seconds=1, sequences=3, tokens=4, dim=5)
STEPS = np.array([0, 100, 500, 1000, 4000, 5000, 6000, 8000])


def made_run(setting: Setting, **curves: np.ndarray) -> Run:
    return Run(STEPS, curves, None, Outcome.CALCULATED, setting=setting)


def descent_settings(arithmetic: str = "log") -> tuple[Setting, ...]:
    plan = Plan(seeds=3)
    return build_settings(plan, SMALL, descent_part(8000, arithmetic), W_FROM_UNIFORM)


def made_descents(rate: float, power: float) -> list[Run]:
    """Runs at the best tokens whose excess falls by `rate` of what is predicted."""
    made = []
    for setting in descent_settings():
        sample = sample_of(setting)
        slope = -rate * 0.1 / np.sqrt(programme_of(sample, sample.best.tolist()).square)
        made.append(
            made_run(
                setting,
                selected=np.tile(sample.best.astype(float), (len(STEPS), 1)),
                log_excess=slope * STEPS,
                direction_miss=np.maximum(STEPS, 1.0) ** power,
            )
        )
    return made


@pytest.mark.parametrize(
    ("rate", "status"), [(1.0, Status.HOLDS), (1.019, Status.HOLDS), (1.03, Status.FAILS)]
)
def test_the_rate_is_read_off_the_last_half(rate: float, status: Status):
    assert check(RATE_CLAIM, made_descents(rate, -2.0)).status is status


def test_a_run_that_still_switches_is_left_out():
    runs = made_descents(1.0, -2.0)
    runs[0].curves["selected"][:6] = (runs[0].curves["selected"][-1] + 1) % 4
    assert exponents(runs) == pytest.approx([-2.0, -2.0])


def test_pairs_of_arithmetics_are_compared_by_their_seed():
    away = {"log": 1e-4, "plain": 8e-4}
    runs = [
        made_run(setting, direction_miss=np.full(len(STEPS), away[arithmetic]))
        for arithmetic in ("log", "plain")
        for setting in descent_settings(arithmetic)
    ]
    verdict = check(FARTHER, runs)
    assert verdict.measured == pytest.approx(8.0)
    assert verdict.status is Status.HOLDS
    assert pytest.approx(36.0437, abs=1e-4) == ROUNDING_MARGIN


def made_flow(matrices: np.ndarray, log_excess: np.ndarray, log_time: np.ndarray) -> Run:
    setting = Setting.of_calculation(
        Part("attention_flow", decades=16),
        teacher=Part("labelled_sequences", sequences=3, tokens=4, dim=5, design="orthonormal"),
        student=Part("matrix_attention"),
    )
    sample = sample_of(setting)
    curves = {
        "matrix": matrices,
        "selected": np.tile(sample.best.astype(float), (len(matrices), 1)),
        "log_time": log_time,
        "log_excess": log_excess,
    }
    steps = np.rint(np.exp(log_time)).astype(np.int64)
    return Run(steps, curves, None, Outcome.CALCULATED, setting=setting)


SAMPLE = draw_sample(0, 3, 4, 5, "orthonormal")
SOLVED = programme_of(SAMPLE, SAMPLE.best.tolist())


def lawful_flow(factor: float = 1.0) -> Run:
    """A path that is the law itself, its constant off by a factor."""
    from tutelage.papers.attention_svm.theory.approach import predicted_matrix

    log_time = np.log(10.0) * np.linspace(4, 15, 100)
    matrices = np.array([predicted_matrix(SOLVED, s) for s in log_time])
    return made_flow(matrices, np.log(factor * SOLVED.square) - log_time, log_time)


@pytest.mark.parametrize(
    ("factor", "status"), [(1.0, Status.HOLDS), (1.02, Status.HOLDS), (0.95, Status.FAILS)]
)
def test_the_constant_of_flow_is_read_beside_its_programme(factor: float, status: Status):
    run = lawful_flow(factor)
    run = replace(run, curves={**run.curves, **readings.read_flow(run)})
    assert run.curves["constant_ratio"] == pytest.approx(factor)
    assert run.curves["law_distance"].max() < 1e-12
    assert check(LIMIT, run).status is status
    assert check(DIRECTION, run).status is Status.HOLDS
    assert check(SLOWER, run).status is Status.FAILS


def test_the_constant_of_factors_is_read_beside_the_nuclear_programme():
    nuclear = nuclear_of(SAMPLE, SAMPLE.best.tolist())
    tau, log_time = np.array([50.0, 200.0]), np.array([20.0, 40.0])
    matrices = tau[:, None, None] * nuclear.matrix
    log_excess = np.log(nuclear.norm * (1 + 1 / tau + 2 / tau**2) / (2 * tau)) - log_time
    run = made_flow(matrices, log_excess, log_time)
    run = replace(run, curves={**run.curves, **readings.read_factored(run)})
    assert run.curves["factored_ratio"] == pytest.approx([1.0, 1.0], rel=1e-5)
    assert run.curves["nuclear_miss"].max() < 1e-12
    assert check(FACTORED, run).status is Status.HOLDS


def test_the_miss_loses_nothing_near_zero():
    target = np.eye(3)
    tilted = target.copy()
    tilted[0, 1] = 1e-9
    found = readings.miss(tilted[None], target)
    assert found[0] == pytest.approx(0.5 * 1e-18 / 3, rel=1e-6)


def test_selections_are_of_the_kind_asked_for():
    sample = draw_sample(5, 3, 4, 5, "sphere")
    for optimal in (True, False):
        found = draw_selections(sample, 5, optimal, 2)
        assert 0 < len(found) <= 2
        assert all(programme_of(sample, one).locally_optimal == optimal for one in found)


@pytest.mark.parametrize("short", list(paper.studies))
def test_what_is_to_confirm_is_of_other_seeds_and_sizes(short: str):
    found = paper_study(short)
    quick, confirm = found.presets["quick"], found.presets["confirm"]
    assert confirm.first_seed >= 1000 > quick.first_seed + quick.seeds
    sizes = [(p.sequences, p.tokens, p.dim) for p in (quick, confirm)]
    assert sizes[0] != sizes[1]


def test_numbers_of_the_published_figure_are_asked_at_its_sizes_alone():
    found = {case.name: case for case in paper_study("normalised").plan(Plan("confirm"))[0]}
    asked = {name: [claim.id for claim in found[name].claims] for name in ("laws", "published")}
    assert asked == {
        "laws": ["rate", "exponent", "unsettled"],
        "published": ["correlation", "nuclear", "saturated"],
    }
    for name, sizes in (("laws", (5, 10, 12)), ("published", PUBLISHED_SIZES)):
        for setting in found[name].settings:
            options = setting.teacher.options
            assert tuple(options[key] for key in ("sequences", "tokens", "dim")) == sizes
            assert setting.seed >= 1000
    (quick, *_) = paper_study("normalised").plan(Plan())[0]
    assert [claim.id for claim in quick.claims][:2] == ["rate", "exponent"]
    assert len(quick.claims) == 6


def paper_study(short: str):
    from tutelage.studies.discovery import find_study

    return find_study(f"attention-svm/{short}")


@pytest.mark.depth
def test_a_short_plan_of_the_law_is_answered():
    preset = replace(study.presets["quick"], seeds=2, decades=10, sequences=3, tokens=4, dim=5)
    answered = run_cases("law", cases(Plan(), preset))
    found = {v.id: v.status for a in answered for v in a.verdicts}
    assert found["law/orthonormal/constant"] is Status.HOLDS
    assert found["law/orthonormal/direction"] is Status.HOLDS
    assert found["law/equal-scores/selection"] is Status.HOLDS
    assert found["law/one-over-log/direction"] is Status.FAILS
    assert found["law/factored-student/limit"] is Status.FAILS


@pytest.mark.depth
@pytest.mark.parametrize("short", ["local-optima", "normalised", "recipe"])
def test_figures_are_drawn_from_a_short_plan(short: str, tmp_path):
    found = paper_study(short)
    small = {"seeds": 3, "sequences": 3, "tokens": 4, "dim": 5, "steps": 600}
    extra = {"samples": 2, "each": 1} if short == "local-optima" else {}
    preset = replace(found.presets["quick"], **small, **extra)
    answered = run_cases(short, found.cases(Plan(), preset))
    drawn = {path.stem for path in found.figures(answered, tmp_path)}
    assert drawn == set(found.captions)


def test_theory_predicts_the_miss_at_whole_times():
    setting = lawful_flow().setting
    times = np.array([10**6, 10**9])
    found = DIRECTION.theory(setting, times)
    np.testing.assert_allclose(found, miss_of_direction(SOLVED, np.log(times)), rtol=1e-14)
