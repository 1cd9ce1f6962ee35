"""The claims of `teacher-models/graphs` about teachers outside the class: where training ends, how
it gets there, what is learned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from jaxtyping import Float

from tutelage.claims import Claim, Constant, Hypothesis, Number, Rate
from tutelage.claims.claim import Predicted
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.theory import outside
from tutelage.papers.teacher_models.theory.bilinear import build_bilinear
from tutelage.run import Run
from tutelage.settings import Setting

SOURCE = "derived here (docs/derivations.md, section 11)"


def over_gap(run: Run) -> Mapping[str, Float[np.ndarray, "points"]]:
    """The excess less the gap: what is left to learn."""
    assert run.setting is not None
    return {"excess_over_gap": run.curves["excess_risk"] - outside.gap(run.setting)}


def learned(run: Run) -> tuple[float, Float[np.ndarray, "D Q"]]:
    """⟨W_V, V*⟩/‖V*‖² and S at the end of a run."""
    assert run.setting is not None
    value = np.asarray(build_bilinear(run.setting).value)
    scale = np.sum(np.asarray(run.student.value) * value) / np.sum(value**2)
    return float(scale), np.asarray(run.student.attention())


def column_cosines(
    attention: Float[np.ndarray, "D Q"], selection: Float[np.ndarray, "D Q"]
) -> Float[np.ndarray, "Q"]:
    """The cosine of each column with the teacher's."""
    return (attention * selection).sum(0) / (
        np.linalg.norm(attention, axis=0) * np.linalg.norm(selection, axis=0)
    )


def least_cosine(setting: Setting) -> float:
    """Of the best student's columns with those of S*."""
    best, weights = outside.best(setting).attention, theory.facts(setting).weights
    return float(column_cosines(best, weights).min())


def _measured_cosine(run: Run) -> float:
    assert run.setting is not None
    selection = np.asarray(build_bilinear(run.setting).selection)
    return float(column_cosines(learned(run)[1], selection).min())


def _distance(run: Run) -> float:
    assert run.setting is not None
    return float(np.abs(learned(run)[1] - outside.best(run.setting).attention).max())


def _excess_by_gap(run: Run) -> Float[np.ndarray, "points"]:
    assert run.setting is not None
    return run.curves["excess_risk"] / outside.gap(run.setting)


def outside_claims(
    plateau: Callable[[Setting], float],
    hypotheses: Callable[[Setting], Sequence[Hypothesis]],
) -> dict[str, Claim]:
    """What the best column-stochastic student says about a run, by their ids."""

    def number(
        name: str,
        read: Callable[[Run], float],
        value: Predicted,
        of: str,
        tolerance: float,
        statement: str,
        side: str = "equal",
    ) -> Number:
        return Number(
            lambda runs: [read(run) for run in runs],
            value,
            of,
            tolerance,
            side,
            certain=True,
            id=name,
            statement=statement,
            source=SOURCE,
            hypotheses=hypotheses,
        )

    claims = (
        # Nothing is below an infimum but by rounding, of which 10⁵ terms leave far less than 1e-9.
        number(
            "floor",
            lambda run: float(_excess_by_gap(run).min()),
            1.0,
            "the least excess over the gap",
            1e-9,
            "excess ≥ gap at every step",
            "at least",
        ),
        number(
            "gap",
            lambda run: float(_excess_by_gap(run)[-1]),
            1.0,
            "the last excess over the gap",
            0.01,
            "training ends at the gap",
        ),
        Rate(
            "excess_over_gap",
            -1.0,
            plateau=plateau,
            id="gap-rate",
            statement="excess − gap = Θ(1/T)",
            source=SOURCE,
            hypotheses=hypotheses,
        ),
        gap_constant(plateau, hypotheses),
        number(
            "scale",
            lambda run: learned(run)[0],
            outside.scale,
            "⟨W_V, V*⟩/‖V*‖²",
            0.005,
            "W_V → c V*",
        ),
        number(
            "attention", _distance, 0.0, "the largest |S − S_best|", 0.01, "S → the best attention"
        ),
        number(
            "columns",
            _measured_cosine,
            least_cosine,
            "the least cosine of a column with S*",
            0.002,
            "columns as predicted",
        ),
    )
    return {claim.id: claim for claim in claims}


def gap_constant(
    plateau: Callable[[Setting], float],
    hypotheses: Callable[[Setting], Sequence[Hypothesis]],
    *,
    quarter: bool = False,
) -> Constant:
    """The law of what is left to learn; with `quarter` the law that holds inside the class, which
    is a control here.
    """
    return Constant(
        "excess_over_gap",
        -1.0,
        outside.quarter_constant if quarter else outside.rate_constant,
        plateau=plateau,
        id="gap-constant",
        statement=f"(excess − gap)·ηT → Σ_i A_i(D−A_i){'/4' if quarter else ''}",
        source=SOURCE,
        hypotheses=hypotheses,
    )
