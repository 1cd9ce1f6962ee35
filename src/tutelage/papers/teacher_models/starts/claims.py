"""The claims and measurements of `teacher-models/starts`, by kind of case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tutelage.claims import Claim, Constant, Curve, Hypothesis, Measured, Rate, Ratio, Recovery
from tutelage.papers.teacher_models.graphs.study import CURVES
from tutelage.papers.teacher_models.phases.study import recursion
from tutelage.papers.teacher_models.rates.study import PAPER, SHARP, predicted
from tutelage.papers.teacher_models.starts import readings as read
from tutelage.papers.teacher_models.starts.patterns import plateau, support_spread
from tutelage.run import Run
from tutelage.settings import Setting

NAME = "teacher-models/starts"
SOURCE = "derived here (docs/derivations.md, section 13)"
RECURSION = "derived here (docs/derivations.md, section 4)"
SETTLED = 0.03  # the tolerance of a constant


def hypotheses(setting: Setting) -> Sequence[Hypothesis]:
    from tutelage.papers.teacher_models import theory

    return theory.theorem_3_1(setting)


def _about(case: str, name: str, statement: str, source: str = SOURCE) -> dict[str, Any]:
    return {
        "id": f"{NAME}/{case}/{name}",
        "statement": statement,
        "source": source,
        "hypotheses": hypotheses,
    }


def from_curvature(function: str) -> Callable[[Setting], float]:
    """A prediction of `decay.py` by name; it loads JAX only when it is asked."""

    def at(setting: Setting) -> float:
        from tutelage.papers.teacher_models.theory import decay

        return float(getattr(decay, function)(setting))

    return at


def measured(case: str, name: str, reading: Callable[[Run], float], of: str) -> Claim:
    return Measured(
        read.each(reading), of, **_about(case, name, of, "measured; nothing is predicted")
    )


def law_claims(case: str, plateau: Callable[[Setting], float] = plateau) -> dict[str, Claim]:
    """Rates and constants of a teacher of the class, whatever its supports, its weights and the
    start.
    """
    claims: dict[str, Claim] = {}
    for name, curve, exponent, constant, rate_statement, constant_statement in CURVES:
        claims[f"{name}-rate"] = Rate(
            curve,
            exponent,
            plateau=plateau,
            **_about(
                case, f"{name}-rate", rate_statement, f"{PAPER}, there for equal weights from zero"
            ),
        )
        claims[f"{name}-constant"] = Constant(
            curve,
            exponent,
            predicted(constant),
            plateau=plateau,
            **_about(case, f"{name}-constant", constant_statement, SHARP),
        )
    return claims


def cosine_claim(case: str) -> Claim:
    """W_V = C₁V*: rests on the zero start and on iid tokens, on nothing of S*."""
    return Recovery(
        "cosine",
        1.0,
        1e-9,
        1,
        **_about(case, "cosine", "cos(W_V, V*) = 1 from the first step", PAPER),
    )


def recursion_claim(case: str) -> Claim:
    """The plateau and all that follows, for equal K from zero."""
    # Neither side approximates: what differs is the rounding of 10⁵ steps.
    about = _about(
        case,
        "curve",
        "the excess is that of the recursion of two numbers, at every step",
        RECURSION,
    )
    return Curve("excess_risk", recursion("excess_risk"), 1e-9, **about)


def settled_measure(case: str) -> Claim:
    of = "the plateaus after which excess·ηT stays within 3% of the counting law"
    return measured(case, "settled", lambda run: read.settled(SETTLED, plateau)(run), of)


def decay_claim(
    case: str, tolerance: float = 0.03, value: str = "decay", statement: str = ""
) -> Claim:
    said = (
        statement
        or "−½ d ln(excess)/d(ηT) → μ, the least curvature at the teacher that the start excites"
    )
    name = {"decay": "decay", "least_weight_decay": "least-weight"}[value]
    return Ratio(
        read.decay,
        from_curvature(value),
        tolerance,
        "the decay of the excess",
        **_about(case, name, said),
    )


def least_weight_measure(case: str) -> Claim:
    """How good the simplest formula is."""

    def reading(run: Run) -> float:
        assert run.setting is not None
        return read.decay(run) / from_curvature("least_weight_decay")(run.setting)

    return measured(
        case,
        "over-least-weight",
        reading,
        "the decay of the excess over λ‖V*‖²s²/D, s the least weight of S*",
    )


def uniform_claims(case: str) -> tuple[Claim, ...]:
    """D = K from zero: one factor a step, exact; that of every row of V*, long or short; and
    attention that never moves.
    """
    # nothing is asymptotic here, so what is left is rounding: 1e-16 of errors down to 1e-10, read
    # at 1e-6 below
    exact = 1e-9
    return (
        Ratio(
            lambda run: float(run.curves["excess_risk"][1]),
            from_curvature("first_excess"),
            exact,
            "the excess after the first step",
            **_about(case, "first", "the first step, at the kink, takes W_V to η(Q/D)((1+k)/2)²V*"),
        ),
        decay_claim(case, 1e-5, statement="each step multiplies the excess by (1 − ληQ/D)²"),
        Ratio(
            read.row_decay,
            from_curvature("decay"),
            exact,
            "the decay of the row of W_V − V* that is farthest from the others",
            **_about(
                case, "rows", "each step multiplies the error of every row of W_V by 1 − ληQ/D"
            ),
        ),
        Recovery(
            "attention_error",
            0.0,
            1e-12,
            0,
            **_about(case, "attention", "attention stays where it starts, at S*"),
        ),
        cosine_claim(case),
    )


def share_claims(case: str, sharp: bool) -> tuple[Claim, ...]:
    """Columns of unequal weights: strangers share alike, and the support is served up to a 1/T; its
    constant for the identity.
    """
    strangers = Recovery(
        "stranger_spread",
        0.0,
        1e-9,  # exact by symmetry; 10⁵ steps of rounding are far below
        0,
        **_about(
            case,
            "strangers",
            "tokens off the support of a column have equal weights, at every step",
        ),
    )
    rate = Rate(
        "support_spread",
        -1.0,
        plateau=plateau,
        **_about(case, "support-rate", "range of C·S − S* on a support = Θ(1/T)"),
    )
    constant = Constant(
        "support_spread",
        -1.0,
        support_spread,
        plateau=plateau,
        **_about(
            case,
            "support-constant",
            "range of C·S − S* on a support·ηT → (D−K)(1/s_min − 1/s_max)/(2‖V*‖²)",
        ),
    )
    return (strangers, rate, constant) if sharp else (strangers, rate)


def start_measures(case: str) -> tuple[Claim, ...]:
    """What a random start does before the law, and whether it gets there."""
    return (
        measured(case, "halved", read.halved, "the step at which the excess has halved"),
        measured(case, "first-cosine", read.first_cosine, "cos(W_V, V*) after the first step"),
        measured(case, "aligned", read.aligned, "the step from which on cos(W_V, V*) ≥ 0.99"),
        measured(
            case,
            "found",
            read.found,
            "ηT from which on every weight of S* has at least half its size",
        ),
        measured(
            case,
            "missing",
            read.missing,
            "the number of weights of S* that the student has at less than half their size in "
            "the end",
        ),
        measured(
            case,
            "missing-any",
            read.missing_any,
            "the share of seeds that miss such a weight in the end",
        ),
        measured(case, "over-law", read.over_law, "the last excess·ηT over Σ_i K_i(D−K_i)/4"),
    )


def effective_law(setting: Setting) -> float:
    """The counting law with 1/‖s*_i‖² in the place of K_i: wrong where weights are unequal, which
    is what a control is for.
    """
    from tutelage.papers.teacher_models.theory import facts

    f = facts(setting)
    supports = 1 / np.sum(f.weights**2, axis=0)
    return float(np.sum(supports * (f.tokens - supports)) / 4)
