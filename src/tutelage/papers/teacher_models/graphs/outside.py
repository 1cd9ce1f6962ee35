"""The claims of `teacher-models/graphs` about teachers outside the class: where training ends, how
it gets there, what is learned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from tutelage.claims import Claim, Constant, Hypothesis, Number, Rate
from tutelage.run import Run
from tutelage.settings import Setting

SOURCE = "derived here (docs/derivations.md, section 11)"


def outside(function: str, share: float = 1.0) -> Callable[[Setting], float]:
    """A share of a prediction of `outside.py` by name; it loads JAX only when it is asked."""

    def at(setting: Setting) -> float:
        from tutelage.papers.teacher_models.theory import outside

        return share * float(getattr(outside, function)(setting))

    return at


def over_gap(run: Run) -> Mapping[str, Float[np.ndarray, "points"]]:
    """The excess less the gap: what is left to learn."""
    assert run.setting is not None
    return {"excess_over_gap": run.curves["excess_risk"] - outside("gap")(run.setting)}


def learned(run: Run) -> tuple[float, Float[np.ndarray, "D Q"]]:
    """⟨W_V, V*⟩/‖V*‖² and S at the end of a run."""
    from tutelage.problem.build import build_teacher

    assert run.setting is not None
    value = np.asarray(build_teacher(run.setting).value)
    return float(np.sum(np.asarray(run.student.value) * value) / np.sum(value**2)), np.asarray(
        run.student.attention()
    )


def column_cosines(
    attention: Float[np.ndarray, "D Q"], selection: Float[np.ndarray, "D Q"]
) -> Float[np.ndarray, "Q"]:
    """The cosine of each column with the teacher's."""
    return (attention * selection).sum(0) / (
        np.linalg.norm(attention, axis=0) * np.linalg.norm(selection, axis=0)
    )


def least_cosine(setting: Setting) -> float:
    """Of the best student's columns with those of S*."""
    from tutelage.papers.teacher_models.theory import facts
    from tutelage.papers.teacher_models.theory.outside import best

    return float(column_cosines(best(setting).attention, facts(setting).weights).min())


def _measured_cosine(run: Run) -> float:
    from tutelage.problem.build import build_teacher

    assert run.setting is not None
    return float(
        column_cosines(learned(run)[1], np.asarray(build_teacher(run.setting).selection)).min()
    )


def _distance(run: Run) -> float:
    from tutelage.papers.teacher_models.theory.outside import best

    assert run.setting is not None
    return float(np.abs(learned(run)[1] - best(run.setting).attention).max())


def _of_gap(read: Callable[[Float[np.ndarray, "points"]], float]) -> Callable[[Run], float]:
    def over(run: Run) -> float:
        assert run.setting is not None
        return read(run.curves["excess_risk"] / outside("gap")(run.setting))

    return over


def outside_claims(
    prefix: str,
    plateau: Callable[[Setting], float],
    hypotheses: Callable[[Setting], Sequence[Hypothesis]],
    share: float = 1.0,
) -> dict[str, Claim]:
    """What the best column-stochastic student says of a run; `share` is 1, or less in a control of
    the constant.
    """

    def about(name: str, statement: str) -> dict[str, Any]:
        return {
            "id": f"{prefix}/{name}",
            "statement": statement,
            "source": SOURCE,
            "hypotheses": hypotheses,
        }

    def number(
        name: str,
        read: Callable[[Run], float],
        value: Any,
        of: str,
        tolerance: float,
        statement: str,
        side: str = "equal",
    ) -> Claim:
        def values(runs: Sequence[Run]) -> list[float]:
            return [read(run) for run in runs]

        return Number(values, value, of, tolerance, side, certain=True, **about(name, statement))

    curve, law = "excess_over_gap", "(excess − gap)·ηT → Σ_i A_i(D−A_i)"
    return {
        # Nothing is below an infimum but by rounding, of which 10⁵ terms leave far less than 1e-9.
        "floor": number(
            "floor",
            _of_gap(np.min),
            1.0,
            "the least excess over the gap",
            1e-9,
            "excess ≥ gap at every step",
            "at least",
        ),
        "gap": number(
            "gap",
            _of_gap(lambda c: float(c[-1])),
            1.0,
            "the last excess over the gap",
            0.01,
            "training ends at the gap",
        ),
        "gap-rate": Rate(
            curve, -1.0, plateau=plateau, **about("gap-rate", "excess − gap = Θ(1/T)")
        ),
        "gap-constant": Constant(
            curve,
            -1.0,
            outside("rate_constant", share),
            plateau=plateau,
            **about("gap-constant", law if share == 1 else f"{law}/4"),
        ),
        "scale": number(
            "scale",
            lambda run: learned(run)[0],
            outside("scale"),
            "⟨W_V, V*⟩/‖V*‖²",
            0.005,
            "W_V → c V*",
        ),
        "attention": number(
            "attention", _distance, 0.0, "the largest |S − S_best|", 0.01, "S → the best attention"
        ),
        "columns": number(
            "columns",
            _measured_cosine,
            least_cosine,
            "the least cosine of a column with S*",
            0.002,
            "columns as predicted",
        ),
    }
