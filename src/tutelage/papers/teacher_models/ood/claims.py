"""The claims of `teacher-models/ood` about one run: foreign inputs, one noisy batch, and tokens
exchanged. Beside each its curves, as a run is read for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tutelage.claims import Bound, Claim, Constant, Number, Rate
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.ood.readings import (
    choose_points,
    fill_curve,
    read_noisy_batch,
    read_permuted_change,
    read_terms,
)
from tutelage.papers.teacher_models.theory.foreign import predict_batch_limit, predict_limits
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Curves

THEOREM_3_2 = "Zhang et al. 2026, Theorem 3.2"
SHARP = "derived here (docs/derivations.md, section 7)"
FIGURE = "Zhang et al. 2026, Fig. 2b, as its experiment is described"
EXPONENTIAL = Part("independent", law="exponential")
BATCH, DRAWS = 100, 400  # the paper's batch, and how many times its label noise is drawn


def rate_claim(
    name: str,
    curve: str,
    exponent: float,
    statement: str,
    claimed_by: ClaimedBy = ClaimedBy.BEYOND,
) -> Rate:
    return Rate(
        curve,
        exponent,
        plateau=theory.plateau,
        approach=theory.APPROACH,
        id=name,
        statement=statement,
        source=SHARP,
        claimed_by=claimed_by,
        hypotheses=theory.theorem_3_1,
    )


def bound_claim(name: str, curve: str, statement: str) -> Bound:
    """O(1/√T), what Theorem 3.2 says."""
    return Bound(
        curve,
        -0.5,
        plateau=theory.plateau,
        approach=theory.APPROACH,
        id=name,
        statement=statement,
        source=THEOREM_3_2,
        claimed_by=ClaimedBy.PAPER,
        source_text=SourceText.PARTLY_READ,
        hypotheses=theory.theorem_3_1,
    )


def constant_claim(
    name: str,
    curve: str,
    exponent: float,
    value: Callable[[Setting], float],
    statement: str,
    tolerance: float = 0.03,
    claimed_by: ClaimedBy = ClaimedBy.BEYOND,
) -> Constant:
    return Constant(
        curve,
        exponent,
        value=value,
        tolerance=tolerance,
        plateau=theory.plateau,
        approach=theory.APPROACH,
        id=name,
        statement=statement,
        source=SHARP,
        claimed_by=claimed_by,
        hypotheses=theory.theorem_3_1,
    )


def foreign_curves(law: Part, count: int) -> Callable[[Run], Curves]:
    """The excess under the teacher's labels, and under Ỹ = f* ∓ V*X̃O, where the student loses or
    wins at order 1/√t.
    """

    def curves(run: Run) -> Curves:
        chosen = choose_points(run)
        own, lean = read_terms(run, law, count, chosen)
        return {
            "own_labels": fill_curve(chosen, own),
            "leaning_labels": fill_curve(chosen, own + lean),
            "reversed_labels": fill_curve(chosen, lean - own),  # the gain over the teacher
        }

    return curves


def own_claims(law: Part, count: int) -> tuple[Claim, ...]:
    """With the teacher's own labels: slope −1, and the constant from the limit error."""

    def own(setting: Setting) -> float:
        return predict_limits(replace(setting, steps=1), law, count).own

    return (
        rate_claim(
            "own-rate",
            "own_labels",
            -1.0,
            "teacher's labels: excess = Θ(1/T)",
            ClaimedBy.SHARPER,
        ),
        constant_claim(
            "own-constant",
            "own_labels",
            -1.0,
            own,
            "teacher's labels: excess·ηT → ½c²E‖σ′⊙V*X̃N‖²",
            claimed_by=ClaimedBy.SHARPER,
        ),
    )


def leaning_claims(law: Part, count: int) -> tuple[Claim, ...]:
    """With labels that lean on the limit error: slope −½, both signs, and the theorem's bound."""

    def lean(setting: Setting) -> float:
        return predict_limits(replace(setting, steps=1), law, count).lean

    return (
        bound_claim("leaning-bound", "leaning_labels", "leaning labels: excess = O(1/√T)"),
        rate_claim(
            "leaning-rate",
            "leaning_labels",
            -0.5,
            "leaning labels: excess = Θ(1/√T), the bound is attained",
            ClaimedBy.SHARPER,
        ),
        constant_claim(
            "leaning-constant",
            "leaning_labels",
            -0.5,
            lean,
            "leaning labels: excess·√(ηT) → cE⟨V*X̃O, σ′⊙V*X̃N⟩",
            claimed_by=ClaimedBy.SHARPER,
        ),
        rate_claim(
            "reversed-rate",
            "reversed_labels",
            -0.5,
            "signs reversed: the student beats its teacher by Θ(1/√T)",
        ),
    )


def noisy_curves(noise: float) -> Callable[[Run], Curves]:
    """The excess on one batch with label noise, and on which share of draws it is negative."""

    def curves(run: Run) -> Curves:
        chosen = choose_points(run)
        excess = read_noisy_batch(run, EXPONENTIAL, BATCH, DRAWS, noise, chosen)
        return {
            "noisy_batch": fill_curve(chosen, np.sqrt(np.mean(excess**2, axis=0))),
            "student_ahead": fill_curve(chosen, (excess < 0).mean(0)),
        }

    return curves


def noisy_claims(noise: float, exponent: float) -> tuple[Claim, ...]:
    """Of one noisy batch: weak noise leaves the exponent −1, strong noise makes it −½."""
    strong = exponent == -0.5

    def constant(setting: Setting) -> float:
        own = predict_batch_limit(replace(setting, steps=1), EXPONENTIAL, BATCH)
        return noise * math.sqrt(2 * own / BATCH) if strong else own

    said = f"one batch, label noise {noise:g}: excess (rms over draws)"
    limit = "τ√(2C/N)" if strong else "½c²mean‖σ′⊙V*X̃N‖² = C"
    rate = rate_claim("rate", "noisy_batch", exponent, f"{said} = Θ(T^{exponent:g})")
    level = constant_claim(
        "constant",
        "noisy_batch",
        exponent,
        constant,
        f"{said}·(ηT)^{-exponent:g} → {limit}",
        tolerance=0.1,  # the root mean square of 400 draws is itself known to 3.5%
    )
    if not strong:
        return rate, level
    half = Number(
        lambda runs: [float(run.curves["student_ahead"][-1]) for run in runs],
        0.5,
        "the share of noise draws on which the student ends ahead of its teacher",
        0.1,
        id="half-negative",
        statement="strong noise: on half of the batches the student beats its teacher",
        source=SHARP,
        hypotheses=theory.theorem_3_1,
    )
    return rate, level, half


def figure_curves(noise: float) -> Callable[[Run], Curves]:
    """What Fig. 2b measures: the student's loss on one exponential batch less its teacher's, both
    with the same label noise.
    """

    def curves(run: Run) -> Curves:
        chosen = choose_points(run)
        (excess,) = read_noisy_batch(run, EXPONENTIAL, BATCH, 1, noise, chosen)
        return {"exponential_batch": fill_curve(chosen, excess)}

    return curves


def read_slope(run: Run, first: float, last: float) -> float:
    """The slope of the excess on the exponential batch between two multiples of the plateau."""
    assert run.setting is not None
    plateaus = run.steps / theory.plateau(run.setting)
    excess = run.curves["exponential_batch"]
    inside = (plateaus >= first) & (plateaus <= last) & np.isfinite(excess)
    if inside.sum() < 3 or (excess[inside] <= 0).any():
        return math.nan
    return float(np.polyfit(np.log(plateaus[inside]), np.log(excess[inside]), 1)[0])


def read_late_slopes(runs: Sequence[Run]) -> list[float]:
    return [read_slope(run, 100.0, 1000.0) for run in runs]


def read_flattening(runs: Sequence[Run]) -> list[float]:
    return [read_slope(run, 100.0, 1000.0) - read_slope(run, 10.0, 100.0) for run in runs]


def figure_claims() -> tuple[Claim, ...]:
    """The slope that Fig. 2b shows, over the last factor of ten; and that it is one in passing. Not
    the paper's claims: it states neither its label noise nor its horizon.
    """
    half = Number(
        read_late_slopes,
        -0.5,
        "the slope over the last factor of ten",
        0.1,  # read off a plot
        id="figure-slope",
        statement=(
            "trained online, the excess on one exponential batch of 100 falls like T^-½ over the "
            "last factor of ten of 1,000 plateaus"
        ),
        source=FIGURE,
        source_text=SourceText.PARTLY_READ,
    )
    passing = Number(
        read_flattening,
        0.0,
        "its slope over the last factor of ten less that over the one before",
        0.0,
        "at least",
        id="flattens",
        statement="it flattens: the slope is one in passing, on the way to the floor of its noise",
        source="derived here (docs/derivations.md, section 6)",
    )
    return half, passing


def permuted_curves(inside: bool) -> Callable[[Run], Curves]:
    """The change of the student's output when tokens are exchanged, inside one pooling group or
    across two.
    """

    def curves(run: Run) -> Curves:
        assert run.setting is not None
        tokens, support = (run.setting.teacher.options[name] for name in ("tokens", "support"))
        order, chosen = np.arange(tokens), choose_points(run)
        if inside:
            order[:support] = np.roll(order[:support], 1)
        else:
            order[[0, support]] = order[[support, 0]]
        change = read_permuted_change(run, order, chosen)
        return {"permuted_change": fill_curve(chosen, change)}

    return curves


def no_change_claim() -> Claim:
    return Number(
        read_largest_change,
        0.0,
        "the change",
        1e-20,
        "at most",
        certain=True,
        id="change",
        statement="E‖TF(XΠ)−TF(X)‖² = 0 for Π inside a pooling group, at every step",
        source=SHARP,
        derived=True,
        hypotheses=theory.theorem_3_1,
    )


def read_largest_change(runs: Sequence[Run]) -> list[float]:
    seen = [run.curves["permuted_change"][choose_points(run)] for run in runs]
    return [float(changes.max()) if len(changes) else math.nan for changes in seen]


def change_rate_claim(exponent: float, statement: str) -> Claim:
    return rate_claim("change-rate", "permuted_change", exponent, statement)
