"""The claims and measurements of `teacher-models/starts`, by kind of case."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from tutelage.claims import Claim, Constant, Curve, Measured, Rate, Ratio, Recovery
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.setup import THEOREM, claims_of_mixed_supports, cosine_claim
from tutelage.papers.teacher_models.starts import readings
from tutelage.papers.teacher_models.theory import decay
from tutelage.papers.teacher_models.theory.recursion import along
from tutelage.papers.teacher_models.theory.unequal_weights import (
    least_weight_plateau,
    support_spread,
)
from tutelage.run import Run
from tutelage.settings import Setting

SOURCE = "derived here (docs/derivations.md, section 13)"
RECURSION = "derived here (docs/derivations.md, section 4)"
SETTLED = 0.03  # the tolerance of a constant
TIED = "the decay is λ‖V*‖²s²/D exactly, s a least weight that two tokens of a column share"


def measured(
    name: str, read: Callable[[Run], float], of: str, *, certain: bool = False
) -> Measured:
    """One number per run, of which nothing is predicted; `certain` where no chance is in it."""
    return Measured(
        readings.each(read),
        of,
        certain=certain,
        id=name,
        statement=of,
        source="measured; nothing is predicted",
        hypotheses=theory.theorem_3_1,
    )


def rates_and_constants(
    plateau: Callable[[Setting], float] = least_weight_plateau,
) -> tuple[dict[str, Rate], dict[str, Constant]]:
    """Rates and constants of a teacher of the class, whatever its supports, its weights and the
    start; by the names of the laws.
    """
    return claims_of_mixed_supports(
        plateau=plateau,
        rate_source=f"{THEOREM}, there for equal weights from zero",
        hypotheses=theory.theorem_3_1,
    )


def law_claims() -> tuple[Claim, ...]:
    """The rate and the constant of each law in turn."""
    rates, constants = rates_and_constants()
    return tuple(claim for name in rates for claim in (rates[name], constants[name]))


def recursion_claim() -> Curve:
    """The plateau and all that follows, for equal K from zero."""
    return Curve(
        "excess_risk",
        _excess_of_recursion,
        1e-9,  # neither side approximates: what differs is the rounding of 10⁵ steps
        id="curve",
        statement="the excess is that of the recursion of two numbers, at every step",
        source=RECURSION,
        derived=True,
        hypotheses=theory.theorem_3_1,
    )


def _excess_of_recursion(
    setting: Setting, steps: Int[np.ndarray, "points"]
) -> Float[np.ndarray, "points"]:
    return along(setting, steps)["excess_risk"]


def settled_measure(certain: bool) -> Measured:
    return measured(
        "settled",
        readings.settled(SETTLED, least_weight_plateau),
        "the plateaus after which excess·ηT stays within 3% of the counting law",
        certain=certain,
    )


def decay_claim(
    statement: str = (
        "−½ d ln(excess)/d(ηT) → μ, the least curvature at the teacher that the start excites"
    ),
    tolerance: float = 0.03,
) -> Ratio:
    return Ratio(
        readings.decay,
        decay.decay,
        tolerance,
        "the decay of the excess",
        id="decay",
        statement=statement,
        source=SOURCE,
        hypotheses=theory.theorem_3_1,
    )


def least_weight_claim() -> Ratio:
    """The simplest formula of a decay, exact where two tokens share the least weight."""
    return Ratio(
        readings.decay,
        decay.least_weight_decay,
        0.03,
        "the decay of the excess",
        id="least-weight",
        statement=TIED,
        source=SOURCE,
        hypotheses=theory.theorem_3_1,
    )


def least_weight_measure(certain: bool) -> Measured:
    """How good that formula is elsewhere."""

    def read(run: Run) -> float:
        assert run.setting is not None
        return readings.decay(run) / decay.least_weight_decay(run.setting)

    return measured(
        "over-least-weight",
        read,
        "the decay of the excess over λ‖V*‖²s²/D, s the least weight of S*",
        certain=certain,
    )


def uniform_claims() -> tuple[Claim, ...]:
    """D = K from zero: one factor per step, exact; that of every row of V*, long or short; and
    attention that never moves.
    """
    # Nothing is asymptotic here, so what is left is rounding: 1e-16 of errors down to 1e-10, read
    # at 1e-6 below.
    exact = 1e-9
    return (
        Ratio(
            lambda run: float(run.curves["excess_risk"][1]),
            decay.first_excess,
            exact,
            "the excess after the first step",
            id="first",
            statement="the first step, at the kink, takes W_V to η(Q/D)((1+k)/2)²V*",
            source=SOURCE,
            derived=True,
            hypotheses=theory.theorem_3_1,
        ),
        decay_claim("each step multiplies the excess by (1 − ληQ/D)²", 1e-5),
        Ratio(
            readings.row_decay,
            decay.decay,
            exact,
            "the decay of the row of W_V − V* that is farthest from the others",
            id="rows",
            statement="each step multiplies the error of every row of W_V by 1 − ληQ/D",
            source=SOURCE,
            derived=True,
            hypotheses=theory.theorem_3_1,
        ),
        Recovery(
            "attention_error",
            0.0,
            1e-12,
            0,
            id="attention",
            statement="attention stays where it starts, at S*",
            source=SOURCE,
            derived=True,
            hypotheses=theory.theorem_3_1,
        ),
        cosine_claim(),
    )


def share_claims() -> tuple[Claim, ...]:
    """Columns of unequal weights: strangers share alike, and the support is served up to a 1/T."""
    return (
        Recovery(
            "stranger_spread",
            0.0,
            1e-9,  # exact by symmetry; 10⁵ steps of rounding are far below
            0,
            id="strangers",
            statement="tokens off the support of a column have equal weights, at every step",
            source=SOURCE,
            derived=True,
            hypotheses=theory.theorem_3_1,
        ),
        Rate(
            "support_spread",
            -1.0,
            plateau=least_weight_plateau,
            id="support-rate",
            statement="range of C·S − S* on a support = Θ(1/T)",
            source=SOURCE,
            hypotheses=theory.theorem_3_1,
        ),
    )


def share_constant() -> Constant:
    """How far the support is served, known for the identity."""
    return Constant(
        "support_spread",
        -1.0,
        support_spread,
        plateau=least_weight_plateau,
        id="support-constant",
        statement="range of C·S − S* on a support·ηT → (D−K)(1/s_min − 1/s_max)/(2‖V*‖²)",
        source=SOURCE,
        hypotheses=theory.theorem_3_1,
    )


def start_measures() -> tuple[Claim, ...]:
    """What a random start does before the law, and whether it gets there."""
    return (
        measured("halved", readings.halved, "the step at which the excess has halved"),
        measured("first-cosine", readings.first_cosine, "cos(W_V, V*) after the first step"),
        measured("aligned", readings.aligned, "the step from which on cos(W_V, V*) ≥ 0.99"),
        measured(
            "found",
            readings.found,
            "ηT from which on every weight of S* has at least half its size",
        ),
        measured(
            "missing",
            readings.missing,
            "the number of weights of S* that the student has at less than half their size in "
            "the end",
        ),
        measured(
            "missing-any",
            readings.missing_any,
            "the share of seeds that miss such a weight in the end",
        ),
        measured("over-law", readings.over_law, "the last excess·ηT over Σ_i K_i(D−K_i)/4"),
    )
