"""Curves of `teacher-models/codes` computed from measured ones: increments of W_KQ beside W_svm,
and the excess beside its floors.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.theory import equivariance, max_margin
from tutelage.run import Run

# An increment spans half a decade: long enough to be a mean, short enough to forget the start.
HALF_DECADE = np.sqrt(10.0)


def beside_margin(run: Run) -> Mapping[str, Float[np.ndarray, "points"]]:
    """`increment_error`: ‖ΔW_KQ/Δlog t − W_svm‖/‖W_svm‖, which is 1 while there is no increment;
    not a number without a W_svm.
    """
    assert run.setting is not None
    try:
        target = max_margin.matrix(run.setting)
    except NoPrediction:
        return {"increment_error": np.full(len(run.steps), np.nan)}
    return {"increment_error": np.array([_distance(w, target) for w in increments(run)])}


def increments(run: Run) -> Float[np.ndarray, "points p r"]:
    """(W_KQ(t) − W_KQ(t₀))/log(t/t₀) with t₀ the last measured step at or before t/√10; zero where
    there is none.

    A quotient W_KQ/log t still carries W's constant part, which dies like 1/log t; in an increment
    it cancels.
    """
    scores = _score_matrices(run)
    taken = np.zeros_like(scores)
    for now, step in enumerate(run.steps):
        before = int(np.searchsorted(run.steps, step / HALF_DECADE, side="right")) - 1
        if before >= 1:
            taken[now] = (scores[now] - scores[before]) / np.log(step / run.steps[before])
    return taken


def found(run: Run) -> bool:
    """Whether every query scores each of its own tokens above every other, at the end."""
    assert run.setting is not None
    keys, asks = max_margin.codes_of(run.setting)
    on = theory.facts(run.setting).on
    scores = keys.T @ _score_matrices(run)[-1] @ asks
    return bool((np.where(on, scores, np.inf).min(0) > np.where(on, -np.inf, scores).max(0)).all())


def beside_floor(run: Run) -> Mapping[str, Float[np.ndarray, "points"]]:
    """The excess beside the floor of codes that cannot separate the supports."""
    assert run.setting is not None
    return {**beside_silence(run), **_beside(run, max_margin.floor(run.setting))}


def beside_symmetry(run: Run) -> Mapping[str, Float[np.ndarray, "points"]]:
    """The excess beside the floor of permutation-equivariant predictors."""
    assert run.setting is not None
    return {**beside_silence(run), **_beside(run, equivariance.floor(run.setting))}


def beside_silence(run: Run) -> Mapping[str, Float[np.ndarray, "points"]]:
    """`relative_excess`: the excess over that of predicting zero."""
    assert run.setting is not None
    return {"relative_excess": run.curves["excess_risk"] / equivariance.silence(run.setting)}


def _beside(run: Run, floor: float) -> Mapping[str, Float[np.ndarray, "points"]]:
    """`over_floor`: the excess over its floor; `below_floor`: by how much of the floor it is below,
    if it is.
    """
    over = run.curves["excess_risk"] / floor
    return {"over_floor": over, "below_floor": np.maximum(0.0, 1 - over)}


def _score_matrices(run: Run) -> Float[np.ndarray, "points p r"]:
    return run.curves["score_matrix"].reshape(len(run.steps), *run.student.key_query.shape)


def _distance(ours: Float[np.ndarray, "p r"], theirs: Float[np.ndarray, "p r"]) -> float:
    return float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))
