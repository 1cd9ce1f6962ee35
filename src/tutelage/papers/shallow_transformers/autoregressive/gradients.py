"""The cases about function gradients at the start: the unsaturated law of ∂f/∂u, its limit,
saturation, and the transformer's bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tutelage.claims import Claim, Exponent, Number
from tutelage.claims.exponent import fitted_exponent
from tutelage.papers.shallow_transformers.autoregressive.settings import (
    ALL,
    GRADIENTS,
    HERE,
    NAME,
    RECURRENCE,
    SIZES,
    by_seed,
    gradient_in_u,
    lag_of,
    settings_of,
)
from tutelage.papers.shallow_transformers.theory.approximation import SOURCE
from tutelage.papers.shallow_transformers.theory.autoregressive import (
    any_start_hypotheses,
    drawn_square,
    recurrent_ceiling,
    recurrent_limit,
    recurrent_square,
    start_hypotheses,
    transformer_ceiling,
    window,
)
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Case, Plan


def gradient_cases() -> tuple[Callable[[Plan], Case], ...]:
    return (_growth, _polynomial, _bounded, _ceiling, _saturated, _saturated_control, _transformer)


def _start(plan: Plan, size: float, scale: float) -> tuple[Setting, ...]:
    preset = SIZES[plan.preset]
    student = Part("indrnn", heads=preset.wide, recurrent=size, scale=scale)
    return settings_of(
        plan,
        [student],
        preset.lags,
        max(4, preset.seeds),
        start=True,
        measures=(*GRADIENTS, "saturation"),
    )


def _claim(
    case: str,
    name: str,
    kind: Callable[..., Claim],
    statement: str,
    *,
    source: str = HERE,
    **given: Any,
) -> Claim:
    # What is said of the ceiling, and of saturation itself, does not ask for units that are not
    # saturated.
    hypotheses = any_start_hypotheses if case in ("ceiling", "saturated") else start_hypotheses
    return kind(
        id=f"{NAME}/{case}/{name}",
        statement=statement,
        source=source,
        hypotheses=hypotheses,
        **given,
    )


def _law(case: str, size: float) -> Claim:
    """Measured over predicted E‖∂f/∂u‖², the mean over the lags, a number a seed. 5%: the held-out
    inputs are some hundreds.
    """

    def ratio(own: list[Run]) -> float:
        return float(
            np.mean(
                [
                    gradient_in_u(run) ** 2 / drawn_square(run.setting)
                    for run in own
                    if run.setting is not None
                ]
            )
        )

    return _claim(
        case, "law", Number, "E‖∂f/∂u‖² = (1/m)Σ c²W E[g gᵀ]Wᵀ with g = Σ k u^(k−1) x_(T−k), "
f"|u| = {size:g}, unsaturated",
        values=lambda runs: by_seed(runs, ratio), value=1.0, of="measured over predicted, "
"the mean over L,", tolerance=0.05,
    )  # fmt: skip


def _base(case: str, settings: Sequence[Setting]) -> Claim:
    """The growth over the whole range, against that of theory's own values there."""
    once = {math.exp(lag_of(setting)): setting for setting in settings}

    def points(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
        return [
            (math.exp(lag_of(r.setting)), gradient_in_u(r), r.setting.seed)
            for r in runs
            if r.setting is not None
        ]

    def slope(axis: Sequence[float]) -> float:
        return fitted_exponent([(x, math.sqrt(recurrent_square(once[x]))) for x in axis])

    return _claim(
        case, "growth", Exponent, "log‖∂f/∂u‖ rises with L as its unsaturated law does, |u| = 1.5",
        points=points, exponent=slope, of="‖∂f/∂u‖ in e^L",
    )  # fmt: skip


def last_slope(own: list[Run]) -> float:
    """d log(‖∂f/∂u‖/T)/dL between the two largest lags: without the factor T the law is a pure
    power of |u|.
    """
    (short, low), (long, high) = [
        (window(r.setting), gradient_in_u(r)) for r in own[-2:] if r.setting is not None
    ]
    return (math.log(high / long) - math.log(low / short)) / (long - short)


def _growth(plan: Plan) -> Case:
    settings = _start(plan, 1.5, SIZES[plan.preset].tiny)

    base = _claim(
        "growth", "base", Number, "‖∂f/∂u‖/T grows like (σ₁|u|)^L, |u| "
"= 1.5, unsaturated", source=SOURCE,
        values=lambda runs: by_seed(runs, last_slope), value=math.log(1.5), tolerance=0.02,
        of="the slope of log(‖∂f/∂u‖/T) in L between the two largest lags",
    )  # fmt: skip
    return Case(
        "growth",
        "|u| = 1.5, unsaturated",
        settings,
        (_law("growth", 1.5), _base("growth", settings), base),
    )


def _polynomial(plan: Plan) -> Case:
    settings = _start(plan, 1.0, SIZES[plan.preset].tiny)
    once = {lag_of(setting): setting for setting in settings}
    power = _claim(
        "polynomial", "power", Exponent, "|u| = 1, unsaturated: ‖∂f/∂u‖ is a power of L",
        points=lambda runs: [(lag_of(r.setting), gradient_in_u(r), r.setting.seed) for r in runs if r.setting is not None],
        exponent=lambda axis: fitted_exponent([(x, math.sqrt(recurrent_square(once[x]))) for x in axis]),
        # how far the slow and the fast channels of one drawn W_in move it
        of="‖∂f/∂u‖ in L", tolerance=0.1,
    )  # fmt: skip
    return Case("polynomial", "|u| = 1, unsaturated", settings, (_law("polynomial", 1.0), power))


def _bounded(plan: Plan) -> Case:
    settings = _start(plan, 0.5, SIZES[plan.preset].tiny)

    def ratio(own: list[Run]) -> float:
        run = own[-1]
        assert run.setting is not None
        # The drawn W_in against the mean over all W_in, by theory; then the limit.
        return gradient_in_u(run) ** 2 / (
            drawn_square(run.setting) / recurrent_square(run.setting) * recurrent_limit(run.setting)
        )

    claims = (
        _law("bounded", 0.5),
        _claim(
            "bounded", "limit", Number, "|u| = 0.5: E‖∂f/∂u‖² → s²[(1+r)/(1−r)³ + Σ_ω (1−2u cos "
"ω+u²)^−2], r = u²",
            values=lambda runs: by_seed(runs, ratio), value=1.0, of="measured over its limit at "
"the largest L", tolerance=0.1,
        ),
    )  # fmt: skip
    return Case("bounded", "|u| = 0.5, unsaturated", settings, claims)


def _ceiling(plan: Plan) -> Case:
    settings = _start(plan, 0.5, 1.0)

    def largest(runs: Sequence[Run]) -> list[float]:
        each = [
            (float(run.curves["function_gradient_sup"][0, RECURRENCE]), run.setting)
            for run in runs
            if run.setting is not None
        ]
        return [max(sup / recurrent_ceiling(setting) for sup, setting in each)]

    claim = _claim(
        "ceiling", "bound", Number, "|u| = 0.5, inputs of unit size: sup‖∂f/∂u‖ < 1/(1−|u|) at "
"every L", source=SOURCE,
        values=largest, value=1.0, of="the largest sup‖∂f/∂u‖ of any "
"run over its bound", tolerance=0.0, side="at most", certain=True,
    )  # fmt: skip
    return Case("ceiling", "|u| = 0.5, inputs of unit size", settings, (claim,))


def _saturated(plan: Plan) -> Case:
    settings = _start(plan, 1.5, 1.0)
    claims = (
        _claim(
            "saturated", "gain", Number, "|u| = 1.5, inputs of unit size: saturation turns the "
"mean of log|u|σ′ from log 1.5 to below 0",
            values=lambda runs: by_seed(runs, lambda own: float(own[-1].curves["saturation"][0, 2])), value=0.0, tolerance=0.0,
            of="the mean of log|u|σ′ over units, steps and inputs at the largest L", side="at most",
        ),
        _claim(
            "saturated", "flat", Number, "|u| = 1.5, inputs of unit size: ‖∂f/∂u‖/T no longer "
"grows (unsaturated: log 1.5 = 0.405)",
            values=lambda runs: by_seed(runs, last_slope), value=0.0, tolerance=0.05, side="at most",
            of="the slope of log(‖∂f/∂u‖/T) in L between the two largest lags",
        ),
    )  # fmt: skip
    return Case("saturated", "|u| = 1.5, inputs of unit size", settings, claims)


def _saturated_control(plan: Plan) -> Case:
    settings = _start(plan, 1.5, 1.0)
    broken = "unsaturated units: W_in of unit size drives them into the flat parts of tanh"
    return Case(
        "saturated-control",
        "the law of growth, saturated",
        settings,
        (_base("saturated-control", settings),),
        broken,
    )


def _transformer(plan: Plan) -> Case:
    size = SIZES[plan.preset]
    student = Part("shallow_transformer", heads=size.heads)
    settings = settings_of(
        plan, [student], size.lags, max(4, size.seeds), start=True, norms="unit", measures=GRADIENTS
    )

    def sup(run: Run) -> float:
        return float(run.curves["function_gradient_sup"][0, ALL])

    def power(own: list[Run]) -> float:
        return fitted_exponent(
            [(lag_of(run.setting), sup(run)) for run in own if run.setting is not None]
        )

    claims = (
        _claim(
            "transformer", "bound", Number, "tokens of length 1: sup‖∇f‖ ≤ "
"√(σ₀²+L₁²) at every L", source=SOURCE,
            values=lambda runs: [max(sup(r) / transformer_ceiling(r.setting) for r in runs if r.setting is not None)],
            value=1.0, of="the largest sup‖∇f‖ of any run "
"over its bound", tolerance=0.0, side="at most", certain=True,
        ),
        _claim(
            "transformer", "no-growth", Number, "tokens of length 1: sup‖∇f‖ does "
"not grow with L", source=SOURCE,
            values=lambda runs: by_seed(runs, power),
            value=0.0, of="the exponent of sup‖∇f‖ in L", tolerance=0.1, side="at most",
        ),
    )  # fmt: skip
    return Case("transformer", "transformer, tokens of length 1", settings, claims)
