"""The published recipe beside the same descent in log domain: its stall is arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tutelage.claims import Measured, Number
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.papers.attention_svm.readings import read_descent, value_at
from tutelage.papers.attention_svm.recipe import figures
from tutelage.papers.attention_svm.setup import (
    DERIVED,
    FRESH,
    FROM_CODE,
    W_FROM_UNIFORM,
    SvmPreset,
    build_settings,
    descent_part,
    expect_calculation,
    local_hypotheses,
)
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.study import Case, Plan, Study, at_setting

# The margin at which the weight of a token that is not selected is one rounding of 1.
ROUNDING_MARGIN = -math.log(float(np.finfo(float).eps))
PLAIN, LOGS = "plain", "log"
TIMES_FARTHER = 5.0  # at least, of the plain recipe at the end
AGREE_UNTIL = 500


@dataclass(frozen=True, kw_only=True)
class RecipePreset(SvmPreset):
    steps: int


def arithmetic_of(run: Run) -> str:
    assert run.setting is not None
    return str(run.setting.part("calculation").options["arithmetic"])


def last_margins(runs: Sequence[Run]) -> list[float]:
    return [float(run.curves["smallest_margin"][-1]) for run in runs]


def pairs(runs: Sequence[Run]) -> list[tuple[Run, Run]]:
    """The plain run and that in log domain of each seed."""
    by_seed: dict[int, dict[str, Run]] = {}
    for run in runs:
        assert run.setting is not None
        by_seed.setdefault(run.setting.seed, {})[arithmetic_of(run)] = run
    return [(pair[PLAIN], pair[LOGS]) for pair in by_seed.values()]


def ratios_at_end(runs: Sequence[Run]) -> list[float]:
    """1 − corr of the plain run over that in log domain, at the last step."""
    return [
        float(a.curves["direction_miss"][-1] / b.curves["direction_miss"][-1])
        for a, b in pairs(runs)
    ]


def early_ratios(runs: Sequence[Run]) -> list[float]:
    return [
        value_at(a, "direction_miss", AGREE_UNTIL) / value_at(b, "direction_miss", AGREE_UNTIL)
        for a, b in pairs(runs)
    ]


def rises(runs: Sequence[Run]) -> list[float]:
    """1 − corr at the end over its least value on the way; 1 where it never rises."""
    found = [run.curves["direction_miss"] for run in runs]
    return [float(curve[-1] / curve.min()) for curve in found]


STALL = Number(
    last_margins,
    ROUNDING_MARGIN,
    "the smallest margin at the end",
    4.0,
    id="stall",
    statement="the margin stops where weights are one rounding of 1, at −log 2.2·10⁻¹⁶ = 36",
    source=f"{FROM_CODE}; the stall: {DERIVED}",
    hypotheses=local_hypotheses,
)
FARTHER = Number(
    ratios_at_end,
    TIMES_FARTHER,
    "1 − corr(W, W^mm) of the recipe over that in log domain, at the end,",
    0.0,
    "at least",
    id="farther",
    statement="the recipe ends at least five times farther from W^mm than in log domain",
    source=f"{FROM_CODE}; the comparison: {DERIVED}",
    hypotheses=local_hypotheses,
)
SAME = Number(
    early_ratios,
    1.0,
    "1 − corr(W, W^mm) of the recipe over that in log domain, after 500 steps,",
    0.001,
    id="same",
    statement="until weights saturate both arithmetics are the same descent",
    source=f"{FROM_CODE}; the comparison: {DERIVED}",
    hypotheses=local_hypotheses,
    claimed_by=ClaimedBy.BEYOND,
    source_text=SourceText.PARTLY_READ,
)
RISES = Measured(
    rises,
    of="1 − corr(W, W^mm) at the end over its least value on the way",
    id="rises",
    statement="how far 1 − corr(W, W^mm) has risen again by the end; 1 where it never does",
    source=DERIVED,
)


def cases(plan: Plan, preset: RecipePreset) -> list[Case]:
    """The recipe, the same in log domain, and both together; the controls swap them."""
    steps = plan.steps or preset.steps
    plain, logs = (
        build_settings(plan, preset, descent_part(steps, name), W_FROM_UNIFORM)
        for name in (PLAIN, LOGS)
    )

    def case(
        name: str,
        label: str,
        claims: tuple[Number | Measured, ...],
        arithmetics: str,
        control: str = "",
    ) -> Case:
        settings = {"plain": plain, "log": logs, "both": plain + logs}[arithmetics]
        return Case(name, label, settings, claims, control, derived=read_descent)

    main = [
        case("recipe", "the published recipe", (STALL, RISES), "plain"),
        case("log-domain", "in log domain", (RISES,), "log"),
        case("both", "both", (SAME, FARTHER), "both"),
    ]
    if plan.changes:
        return main
    return [
        *main,
        case(
            "no-rounding",
            "in log domain",
            (STALL,),
            "log",
            "plain double precision: in log domain the margin goes on growing",
        ),
        case(
            "before-saturation",
            "both",
            (replace(FARTHER, values=early_ratios),),
            "both",
            "saturated weights: after 500 steps the two are the same",
        ),
    ]


def case_at(setting: Setting) -> Case:
    """Whether descent in plain arithmetic stalls, and how often its excess rises. That it agrees
    with log domain before takes two settings.
    """
    expect_calculation(setting, "normalised_attention_descent")
    assert setting.calculation is not None
    plain = setting.calculation.options.get("arithmetic") == PLAIN
    return at_setting(setting, (STALL, RISES) if plain else (RISES,), derived=read_descent)


study = Study(
    source=FROM_CODE,
    statement=(
        "The published recipe differentiates a softmax in double precision and divides by ‖g‖ + "
        "2.2·10⁻¹⁶. Its gradient is lost once the weights of tokens that are not selected are "
        "below one rounding of 1. W then stops growing, and its direction drifts on rounding "
        "errors. The same steps in log domain go on to W^mm."
    ),
    equation="s_t (γ_t − Σ s_τ γ_τ) is rounding where s_t < 2⁻⁵², that is at margins above 36.04",
    choices=(
        "W trained, U(±1/√d), rate 0.1; 8000 steps, where the published figure shows 1000: it ends "
        "before the stall begins in most runs.",
        "Our own program of the recipe, in JAX: the published one is in PyTorch and was read, not "
        "copied.",
    ),
    presets={
        "quick": RecipePreset(seconds=20.0, seeds=24, steps=8_000),
        "confirm": RecipePreset(seconds=40.0, seeds=48, steps=8_000, **FRESH),
        "paper": RecipePreset(seconds=60.0, seeds=100, steps=8_000),
    },
    cases=cases,
    case_at=case_at,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/attention_svm/parts/descent.py",
)
