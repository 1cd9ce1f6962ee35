"""The claims of `teacher-models/noise`: what theory says about each number that is read."""

from __future__ import annotations

from tutelage.claims import Claim, Constant, Number, Rate
from tutelage.claims.claim import Predicted
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.noise import readings
from tutelage.papers.teacher_models.noise.readings import Read
from tutelage.papers.teacher_models.setup import THEOREM
from tutelage.papers.teacher_models.theory import LAW, noise

DERIVED = "derived here (docs/derivations.md, section 17)"
LEVEL = 0.1  # relative; the floor is the limit of late times and of small fluctuations
SLOPE = 0.05
LAST = "over the last factor of ten of the steps"


def number(
    name: str,
    read: Read,
    value: Predicted,
    of: str,
    tolerance: float,
    statement: str,
    side: str = "equal",
) -> Number:
    """A number per run and what theory says about it."""
    return Number(
        readings.each(read),
        value,
        of,
        tolerance,
        side,
        id=name,
        statement=statement,
        source=DERIVED,
        hypotheses=theory.theorem_3_1,
    )


def rate(name: str, curve: str, tolerance: float, statement: str, source: str = DERIVED) -> Rate:
    """A curve like 1/T, as the excess on the exact risk."""
    return Rate(
        curve,
        LAW["excess"].exponent,
        tolerance,
        plateau=theory.plateau,
        id=name,
        statement=statement,
        source=source,
        hypotheses=theory.theorem_3_1,
    )


def same_path(statement: str) -> Number:
    """Rounding apart the two runs are one, hence 1e-12."""
    return Number(
        readings.largest_differences,
        0.0,
        "the largest relative difference of the excess from the run without label noise",
        1e-12,
        "at most",
        certain=True,
        id="same-path",
        statement=statement,
        source=DERIVED,
        derived=True,
        hypotheses=theory.theorem_3_1,
    )


def exact_claims() -> tuple[Claim, ...]:
    """Label noise and the population risk."""
    return (
        same_path("on the population risk a run with label noise is the run without it"),
        Number(
            readings.risk_differences,
            1.0,
            "the difference of the two risks over ½MQτ²",
            1e-12,
            certain=True,
            id="risk",
            statement="L_opt = ½MQτ²: noise lifts the risk by a constant",
            source=DERIVED,
            derived=True,
            hypotheses=theory.theorem_3_1,
        ),
    )


def constant_claims() -> tuple[Claim, ...]:
    """Constant steps: the rate before the floor, the crossing, the floor; and the average of the
    same iterates.
    """
    return (
        number(
            "rate-before",
            readings.slope_in(readings.before_crossing),
            readings.expected_slope_in(readings.before_crossing),
            "the slope between 30 plateaus and a tenth of the crossing",
            SLOPE,
            "before the crossing the excess falls as on the exact risk, like 1/T",
        ),
        number(
            "crossing",
            readings.read_crossing,
            1.0,
            "the step at which the excess is twice the exact one, over the predicted one",
            LEVEL,
            "the run leaves the exact one at ηT ≈ C/floor",
        ),
        number(
            "after",
            readings.ratio_in(readings.after_crossing, "excess_risk", noise.expected),
            1.0,
            "excess over (exact + floor) after the crossing",
            LEVEL,
            "after it the excess is exact(t) + floor",
        ),
        number(
            "averaged",
            readings.ratio_in(readings.last_decade, "averaged_excess", noise.expected_average),
            1.0,
            f"averaged excess over (averaged exact path + averaged noise) {LAST}",
            LEVEL,
            "the averaged iterate has no floor: its path's average, and noise "
            "(k+1)²/(2k+1)·τ²p/(2NT)",
        ),
        rate(
            "averaged-rate",
            "averaged_excess",
            SLOPE,
            "averaged excess = Θ(1/T), beyond the floor",
        ),
    )


def decay_claims(power: float) -> tuple[Claim, ...]:
    """η_T = η/(1+T/t₀)^a: exact(Ση) falls like T^(a−1) and the floor like T^(−a)."""
    end = 0.0 - min(power, 1 - power)
    return (
        number(
            "sum-law",
            readings.ratio_in(readings.last_decade, "excess_risk", noise.expected),
            1.0,
            f"excess over (exact(Ση) + floor(η_T)) {LAST}",
            LEVEL,
            "excess ≈ exact(Ση_s) + floor(η_T)",
        ),
        number(
            "exponent",
            readings.slope_in(readings.last_decade),
            readings.expected_slope_in(readings.last_decade),
            f"the slope {LAST}",
            SLOPE,
            f"a = {power:g}: the slope of exact(Ση) + floor(η_T), on its way to "
            f"−min(a, 1−a) = {end:g}",
        ),
    )


def cost_claims() -> tuple[Claim, ...]:
    """The average of an exact run: what averaging costs where there is no noise."""
    return (
        rate(
            "rate",
            "averaged_excess",
            0.02,
            "averaged excess = Θ(1/T) on the exact risk",
            THEOREM,
        ),
        Constant(
            "averaged_excess",
            LAW["excess"].exponent,
            noise.averaged_constant,
            plateau=theory.plateau,
            id="constant",
            statement=("averaged excess·ηT → Σ_i K_i(D−K_i)/4 · [e^(1/(k+1)) + ((D−K)/K)(A−B)²]"),
            source=DERIVED,
            hypotheses=theory.theorem_3_1,
        ),
    )


def averaged_noise_claim() -> Number:
    return number(
        "averaged-noise",
        readings.read_averaged_noise,
        1.0,
        "averaged excess·T over its prediction",
        LEVEL,
        "noise leaves (k+1)²/(2k+1)·τ²p/(2NT) in the average, whatever η and the curvatures",
    )


def averaged_bias_claim() -> Number:
    return number(
        "averaged-bias",
        readings.read_bias,
        1.0,
        "averaged excess over ½‖V*‖²Q[Kχ² + (D−K)q²] + noise",
        0.25,
        "the averaged iterate ends at a bias of second order in ητ²/N",
    )
