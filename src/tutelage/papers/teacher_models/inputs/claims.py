"""The claims and measurements of `teacher-models/inputs`, and how its runs are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from tutelage.claims import Claim, Constant, Measured, Rate
from tutelage.papers.teacher_models.setup import THEOREM
from tutelage.papers.teacher_models.theory import LAW, slow_weights
from tutelage.papers.teacher_models.theory.bilinear import build_bilinear
from tutelage.run import Run
from tutelage.settings import Part, Setting

HERE = "derived here (docs/derivations.md, section 14)"
EXCESS, VALUE, ATTENTION = (LAW[name] for name in ("excess", "value", "attention"))


def read_off_weights(run: Run) -> Float[np.ndarray, "D Q"]:
    """S at the end of a run; not a number on the supports."""
    assert run.setting is not None
    on = np.asarray(build_bilinear(run.setting).selection) > 0
    return np.where(on, np.nan, np.asarray(run.student.attention()))


def read_inequality(run: Run) -> float:
    """The largest weight off the support over the smallest of the same column: 1 where columns have
    two values.
    """
    weights = read_off_weights(run)
    return float(np.max(np.nanmax(weights, 0) / np.nanmin(weights, 0)))


def read_least_cosine(run: Run) -> float:
    return float(run.curves["cosine"][1:].min())


def as_if_standard(constant: Callable[[Setting], float]) -> Callable[[Setting], float]:
    """A constant for Theorem 3.1's own inputs, with ‖V*‖² where tr(V*ΣV*ᵀ) belongs: wrong here,
    which is what a control is for.
    """
    return lambda setting: constant(replace(setting, inputs=Part("gaussian")))


def excess_rate() -> Rate:
    return Rate(
        "training_risk",
        EXCESS.exponent,
        plateau=slow_weights.plateau,
        id="excess-rate",
        statement="excess over what is trained on = Θ(1/T)",
        source=f"{THEOREM}, there for tokens N(0, I)",
        hypotheses=slow_weights.hypotheses,
    )


def constants() -> dict[str, Constant]:
    """What the curves tend to over their rates, by the claims' ids."""

    def constant(
        name: str,
        curve: str,
        exponent: float,
        value: Callable[[Setting], float],
        statement: str,
    ) -> Constant:
        return Constant(
            curve,
            exponent,
            value,
            plateau=slow_weights.plateau,
            id=name,
            statement=statement,
            source=HERE,
            hypotheses=slow_weights.hypotheses,
        )

    found = (
        constant(
            "excess-constant",
            "training_risk",
            EXCESS.exponent,
            slow_weights.counting_law,
            "the same·ηT → Σ_i K_i(D−K_i)/4",
        ),
        constant(
            "value-constant",
            VALUE.curve,
            VALUE.exponent,
            slow_weights.value_constant,
            "‖W_V − V*‖√(ηT) → that of the barrier",
        ),
        constant(
            "attention-constant",
            ATTENTION.curve,
            ATTENTION.exponent,
            slow_weights.attention_constant,
            "‖S − S*‖√(ηT) → that of the barrier",
        ),
        constant(
            "fresh-constant",
            EXCESS.curve,
            EXCESS.exponent,
            slow_weights.fresh_constant,
            "excess on fresh inputs·ηT → ½⟨E, H E⟩",
        ),
    )
    return {claim.id: claim for claim in found}


def measurements() -> tuple[Measured, ...]:
    """What is lost on other inputs than the theorem's."""

    def measured(name: str, read: Callable[[Run], float], of: str, statement: str) -> Measured:
        return Measured(
            lambda runs: [read(run) for run in runs],
            of,
            id=name,
            statement=statement,
            source="measured here",
            hypotheses=slow_weights.hypotheses,
        )

    return (
        measured("cosine", read_least_cosine, "the least cosine of W_V and V*", "least cosine"),
        measured(
            "two-values",
            read_inequality,
            "the largest over the smallest weight off a support",
            "weights off a support, largest over smallest",
        ),
    )


def every_claim() -> tuple[Claim, ...]:
    """Claims and measurements of one case; a case may have to leave some out."""
    return (excess_rate(), *constants().values(), *measurements())


def value_rate() -> Rate:
    return Rate(
        VALUE.curve,
        VALUE.exponent,
        plateau=slow_weights.plateau,
        id="value-rate",
        statement=VALUE.rate_text,
        source=THEOREM,
        hypotheses=slow_weights.hypotheses,
    )
