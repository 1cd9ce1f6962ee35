"""The cases about function gradients at the start: the unsaturated law of ∂f/∂u, its limit,
saturation, and the transformer's bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from tutelage.claims import Claim, Exponent, Number
from tutelage.claims.claim import no_ceiling
from tutelage.claims.exponent import fitted_exponent
from tutelage.claims.labels import ClaimedBy
from tutelage.papers.shallow_transformers.autoregressive.readings import (
    RECURRENCE,
    by_seed,
    gradient_in_u,
    lag_of,
    largest_gradient,
    last_slope,
)
from tutelage.papers.shallow_transformers.autoregressive.settings import (
    GRADIENTS,
    HERE,
    AutoregressivePreset,
    settings_at_start,
)
from tutelage.papers.shallow_transformers.readings import Point, setting_of
from tutelage.papers.shallow_transformers.theory.approximation import SOURCE
from tutelage.papers.shallow_transformers.theory.autoregressive import (
    any_start_hypotheses,
    drawn_square,
    recurrent_ceiling,
    recurrent_limit,
    recurrent_square,
    start_hypotheses,
    transformer_ceiling,
)
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Case, Plan

SLOPE = "the slope of log(‖∂f/∂u‖/T) in L between the two largest lags"
UNIT = 1.0  # the standard deviation of W_in where inputs are of unit size


def recurrent_starts(
    plan: Plan, preset: AutoregressivePreset, size: float, scale: float
) -> tuple[Setting, ...]:
    """IndRNNs with this |u| and this standard deviation of W_in."""
    student = Part("indrnn", heads=preset.wide, recurrent=size, scale=scale)
    return settings_at_start(plan, preset, student, (*GRADIENTS, "saturation"))


def law_claim(size: float) -> Claim:
    """Measured over predicted E‖∂f/∂u‖², the mean over the lags, one number per seed."""

    def ratio(own: list[Run]) -> float:
        ratios = [gradient_in_u(run) ** 2 / drawn_square(setting_of(run)) for run in own]
        return float(np.mean(ratios))

    return Number(
        values=lambda runs: by_seed(runs, ratio),
        value=1.0,
        of="measured over predicted, the mean over L,",
        tolerance=0.05,  # the held-out inputs are some hundreds
        id="law",
        statement=(
            f"E‖∂f/∂u‖² = (1/m)Σ c²W E[g gᵀ]Wᵀ with g = Σ k u^(k−1) x_(T−k), |u| = {size:g}, "
            "unsaturated"
        ),
        source=HERE,
        hypotheses=start_hypotheses,
    )


def growth_claim(settings: Sequence[Setting]) -> Claim:
    """The growth over the whole range, against that of theory's own values there."""

    def points(runs: Sequence[Run]) -> list[Point]:
        return [(math.exp(lag_of(r)), gradient_in_u(r), setting_of(r).seed) for r in runs]

    return Exponent(
        points=points,
        exponent=_law_exponent({math.exp(_lag(setting)): setting for setting in settings}),
        of="‖∂f/∂u‖ in e^L",
        id="growth",
        statement="log‖∂f/∂u‖ rises with L as its unsaturated law does, |u| = 1.5",
        source=HERE,
        hypotheses=start_hypotheses,
    )


def _law_exponent(by_axis: dict[float, Setting]) -> Callable[[Sequence[float]], float]:
    """The exponent of theory's own values at the points of a sweep."""
    return lambda axis: fitted_exponent(
        [(x, math.sqrt(recurrent_square(by_axis[x]))) for x in axis]
    )


def _lag(setting: Setting) -> float:
    return float(setting.teacher.options["lag"])


def growth_case(plan: Plan, preset: AutoregressivePreset) -> Case:
    settings = recurrent_starts(plan, preset, 1.5, preset.tiny)
    base = Number(
        values=lambda runs: by_seed(runs, last_slope),
        value=math.log(1.5),
        of=SLOPE,
        tolerance=0.02,
        scale="linear",
        id="base",
        statement="‖∂f/∂u‖/T grows like (σ₁|u|)^L, |u| = 1.5, unsaturated",
        source=SOURCE,
        claimed_by=ClaimedBy.PAPER,
        hypotheses=start_hypotheses,
    )
    claims = (law_claim(1.5), growth_claim(settings), base)
    return Case("growth", "|u| = 1.5, unsaturated", settings, claims)


def polynomial_case(plan: Plan, preset: AutoregressivePreset) -> Case:
    settings = recurrent_starts(plan, preset, 1.0, preset.tiny)

    def points(runs: Sequence[Run]) -> list[Point]:
        return [(lag_of(r), gradient_in_u(r), setting_of(r).seed) for r in runs]

    power = Exponent(
        points=points,
        exponent=_law_exponent({_lag(setting): setting for setting in settings}),
        of="‖∂f/∂u‖ in L",
        tolerance=0.1,  # how far the slow and the fast channels of one drawn W_in move it
        id="power",
        statement="|u| = 1, unsaturated: ‖∂f/∂u‖ is a power of L",
        source=HERE,
        hypotheses=start_hypotheses,
    )
    return Case("polynomial", "|u| = 1, unsaturated", settings, (law_claim(1.0), power))


def bounded_case(plan: Plan, preset: AutoregressivePreset) -> Case:
    def ratio(own: list[Run]) -> float:
        setting = setting_of(own[-1])
        # The drawn W_in against the mean over all W_in, by theory; then the limit.
        drawn = drawn_square(setting) / recurrent_square(setting)
        return gradient_in_u(own[-1]) ** 2 / (drawn * recurrent_limit(setting))

    limit = Number(
        values=lambda runs: by_seed(runs, ratio),
        value=1.0,
        of="measured over its limit at the largest L",
        tolerance=0.1,
        id="limit",
        statement=("|u| = 0.5: E‖∂f/∂u‖² → s²[(1+r)/(1−r)³ + Σ_ω (1−2u cos ω+u²)^−2], r = u²"),
        source=HERE,
        hypotheses=start_hypotheses,
    )
    settings = recurrent_starts(plan, preset, 0.5, preset.tiny)
    return Case("bounded", "|u| = 0.5, unsaturated", settings, (law_claim(0.5), limit))


def ceiling_case(plan: Plan, preset: AutoregressivePreset) -> Case:
    def over_ceiling(run: Run) -> float:
        sup = float(run.curves["function_gradient_sup"][0, RECURRENCE])
        return sup / recurrent_ceiling(setting_of(run))

    claim = Number(
        values=lambda runs: [max(map(over_ceiling, runs))],
        value=1.0,
        of="the largest sup‖∂f/∂u‖ of any run over its bound",
        tolerance=0.0,
        side="at most",
        certain=True,
        id="bound",
        statement="|u| = 0.5, inputs of unit size: sup‖∂f/∂u‖ < 1/(1−|u|) at every L",
        source=SOURCE,
        claimed_by=ClaimedBy.PAPER,
        ceiling=no_ceiling,
        hypotheses=any_start_hypotheses,
    )
    settings = recurrent_starts(plan, preset, 0.5, UNIT)
    return Case("ceiling", "|u| = 0.5, inputs of unit size", settings, (claim,))


def saturated_case(plan: Plan, preset: AutoregressivePreset) -> Case:
    def gain(own: list[Run]) -> float:
        return float(own[-1].curves["saturation"][0, 2])

    claims = (
        Number(
            values=lambda runs: by_seed(runs, gain),
            value=0.0,
            of="the mean of log|u|σ′ over units, steps and inputs at the largest L",
            tolerance=0.0,
            side="at most",
            scale="linear",
            id="gain",
            statement=(
                "|u| = 1.5, inputs of unit size: saturation turns the mean of log|u|σ′ from log "
                "1.5 to below 0"
            ),
            source=HERE,
            hypotheses=any_start_hypotheses,
        ),
        Number(
            values=lambda runs: by_seed(runs, last_slope),
            value=0.0,
            of=SLOPE,
            tolerance=0.05,
            side="at most",
            scale="linear",
            id="flat",
            statement=(
                "|u| = 1.5, inputs of unit size: ‖∂f/∂u‖/T no longer grows (unsaturated: log 1.5 "
                "= 0.405)"
            ),
            source=HERE,
            hypotheses=any_start_hypotheses,
        ),
    )
    settings = recurrent_starts(plan, preset, 1.5, UNIT)
    return Case("saturated", "|u| = 1.5, inputs of unit size", settings, claims)


def saturated_control_case(plan: Plan, preset: AutoregressivePreset) -> Case:
    settings = recurrent_starts(plan, preset, 1.5, UNIT)
    broken = "unsaturated units: W_in of unit size drives them into the flat parts of tanh"
    claims = (growth_claim(settings),)
    return Case("saturated-control", "the law of growth, saturated", settings, claims, broken)


def transformer_case(plan: Plan, preset: AutoregressivePreset) -> Case:
    def over_ceiling(run: Run) -> float:
        return largest_gradient(run) / transformer_ceiling(setting_of(run))

    def power(own: list[Run]) -> float:
        return fitted_exponent([(lag_of(run), largest_gradient(run)) for run in own])

    claims = (
        Number(
            values=lambda runs: [max(map(over_ceiling, runs))],
            value=1.0,
            of="the largest sup‖∇f‖ of any run over its bound",
            tolerance=0.0,
            side="at most",
            certain=True,
            id="bound",
            statement="tokens of length 1: sup‖∇f‖ ≤ √(σ₀²+L₁²) at every L",
            source=SOURCE,
            claimed_by=ClaimedBy.PAPER,
            ceiling=no_ceiling,
            hypotheses=start_hypotheses,
        ),
        Number(
            values=lambda runs: by_seed(runs, power),
            value=0.0,
            of="the exponent of sup‖∇f‖ in L",
            tolerance=0.1,
            side="at most",
            scale="linear",
            id="no-growth",
            statement="tokens of length 1: sup‖∇f‖ does not grow with L",
            source=SOURCE,
            claimed_by=ClaimedBy.PAPER,
            hypotheses=start_hypotheses,
        ),
    )
    student = Part("shallow_transformer", heads=preset.heads)
    settings = settings_at_start(plan, preset, student, GRADIENTS, norms="unit")
    return Case("transformer", "transformer, tokens of length 1", settings, claims)
