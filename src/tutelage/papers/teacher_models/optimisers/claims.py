"""What is asked of each optimiser: laws where they are predicted, measurements where not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tutelage.claims import Claim, Constant, Level, Measured, Rate, Ratio, Recovery, Slope
from tutelage.claims.claim import Predicted
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.optimisers import readings
from tutelage.papers.teacher_models.optimisers.runs import RUNS
from tutelage.papers.teacher_models.setup import THEOREM, cosine_claim
from tutelage.papers.teacher_models.theory import optimisers as predictions
from tutelage.run import Run

SOURCE = "derived here (docs/derivations.md, section 12)"
EXCESS = theory.LAW["excess"]


def excess_rate(exponent: float, statement: str, plateau: Predicted | None = None) -> Claim:
    return Rate(
        EXCESS.curve,
        exponent,
        plateau=plateau,
        approach=theory.APPROACH,
        id="excess-rate",
        statement=statement,
        source=SOURCE,
        hypotheses=theory.theorem_3_1,
    )


def excess_constant(value: Predicted, statement: str, plateau: Predicted | None = None) -> Constant:
    return Constant(
        EXCESS.curve,
        EXCESS.exponent,
        value,
        plateau=plateau,
        approach=theory.APPROACH,
        id="excess-constant",
        statement=statement,
        source=SOURCE,
        hypotheses=theory.theorem_3_1,
    )


def two_values() -> Claim:
    return Recovery(
        "two_value_distance",
        0.0,
        # Roundings of 10⁵ steps, each of a weight of at most ⅓; what is not exact here is of order
        # 0.1.
        1e-9,
        1,
        id="two-values",
        statement="every column of S has two values",
        source=THEOREM,
        hypotheses=theory.theorem_3_1,
    )


def momentum_claims() -> list[Claim]:
    """Plain descent (β = 0) and momentum: its laws with time η T/(1−β)."""
    claims = [excess_rate(EXCESS.exponent, EXCESS.rate_text, predictions.plateau)]
    for law in theory.LAWS:
        scaled, limit = law.constant_text.split(" → ")
        share = "(1−β)" if law.exponent == -1 else "√(1−β)"
        claims.append(
            Constant(
                law.curve,
                law.exponent,
                predictions.with_momentum(law),
                plateau=predictions.plateau,
                approach=theory.APPROACH,
                id=f"{law.name}-constant",
                statement=f"{scaled} → {share}{limit}",
                source=SOURCE,
                hypotheses=theory.theorem_3_1,
            )
        )
    return claims


def decaying_claims(power: float) -> list[Claim]:
    """Time is Σ η_t: the law in that time, and the exponent that follows for steps ∝ T^-power."""
    law = Constant(
        "excess_by_time",
        0.0,
        predictions.with_momentum(EXCESS),
        plateau=predictions.plateau,
        id="law",
        statement="excess·Σ_t η_t → Σ_i K_i(D−K_i)/4",
        source=SOURCE,
        hypotheses=theory.theorem_3_1,
    )
    if power >= 1:  # time is log T, and the excess no power of T
        return [law]
    said = f"excess risk = Θ(T^-{1 - power:g})"
    return [law, excess_rate(power - 1, said, predictions.plateau)]


def normalised_claims() -> list[Claim]:
    """Normalised descent with constant steps ends to and fro at its edge."""
    return [
        Ratio(
            readings.hover,
            predictions.normalised_level,
            0.03,
            "the mean excess from T/3 on",
            id="hover",
            statement="normalised descent ends at an excess of hη²/8 + Ch/(2T)",
            source=SOURCE,
            hypotheses=theory.theorem_3_1,
        )
    ]


def self_tuned_claims() -> list[Claim]:
    """Normalised descent with decaying steps has those of plain descent at its edge."""
    said = "excess·ηT → hη/2·Σ_i K_i(D−K_i)/4: plain descent at the step 2/h"
    return [
        excess_rate(EXCESS.exponent, EXCESS.rate_text),
        excess_constant(predictions.self_tuned_law, said),
    ]


def fall_claim() -> Claim:
    """Normalised descent before its edge."""
    return Ratio(
        readings.fall,
        predictions.normalised_fall,
        0.03,
        "d log excess/d(ηT)",
        id="fall",
        statement="normalised descent falls like e^(−ηT/√C) before its edge",
        source=SOURCE,
        hypotheses=theory.theorem_3_1,
    )


def measured(name: str, values: Callable[[Sequence[Run]], Sequence[float]], of: str) -> Claim:
    """A number of which nothing is predicted."""
    return Measured(
        values,
        of,
        id=name,
        statement=of,
        source="measured",
        hypotheses=theory.theorem_3_1,
    )


def slope() -> Claim:
    return Slope(
        EXCESS.curve,
        id="slope",
        statement="the slope of the excess",
        source="measured",
        hypotheses=theory.theorem_3_1,
    )


def level() -> Claim:
    return Level(
        EXCESS.curve,
        EXCESS.exponent,
        id="level",
        statement="excess·ηT",
        source="measured",
        hypotheses=theory.theorem_3_1,
    )


def end_excess() -> Claim:
    return measured("end-excess", readings.end_excesses, "the excess at the end over its start")


def hover_exponent() -> Claim:
    return measured(
        "hover-exponent", readings.hover_exponents, "the exponent in η of the excess at the end"
    )


def hover_claims() -> list[Claim]:
    """Where constant steps stop the fall, and along what the first step goes."""
    return [
        measured("hover-level", readings.hover_levels, "the excess at the end over η²"),
        measured(
            "worst-cosine",
            readings.worst_cosines,
            "the least cosine of W_V and V* from the first step on",
        ),
        Ratio(
            readings.first_cosine,
            predictions.sign_cosine,
            # Adam adds 1e-8 to the size of every gradient before it divides by it: here below a
            # millionth of it.
            1e-6,
            "the cosine after the first step",
            id="first-cosine",
            statement="the first step of W_V is along the signs of V*: cos = ‖V*‖₁/(√(Md)‖V*‖)",
            source=SOURCE,
            derived=True,
            hypotheses=theory.theorem_3_1,
        ),
    ]


def rotated_claims() -> list[Claim]:
    """What is left of two values where W_KQ is kept in another basis."""
    return [
        measured(
            "two-value-distance",
            readings.worst_distances,
            "the largest distance of a column of S from two values",
        ),
        measured("end-distance", readings.end_distances, "the same at the end of a run"),
        end_excess(),
    ]


def _power(name: str) -> float:
    return float(RUNS[name].optimiser.options["power"])


ALIGNED = [two_values(), cosine_claim()]
CLAIMS: dict[str, list[Claim]] = {  # all that is asked of each optimiser
    "plain": [*momentum_claims(), *ALIGNED],
    "heavy-ball": [*momentum_claims(), *ALIGNED],
    "nesterov": [*momentum_claims(), *ALIGNED],
    "decaying-quarter": [*decaying_claims(_power("decaying-quarter")), *ALIGNED],
    "decaying-one": [*decaying_claims(_power("decaying-one")), *ALIGNED],
    "normalised": [*normalised_claims(), *ALIGNED],
    "normalised-decaying": [*self_tuned_claims(), *ALIGNED],
    "sign": [hover_exponent(), *hover_claims(), two_values()],
    "sign-decaying": [
        excess_rate(-1.0, "excess risk = Θ(η_T²) = Θ(1/T)"),
        level(),
        two_values(),
    ],
    "adam": [hover_exponent(), *hover_claims(), two_values()],
    "adam-decaying": [slope(), end_excess(), two_values()],
    "lion": [*hover_claims(), two_values()],
    "adagrad": [slope(), level(), two_values()],
}
