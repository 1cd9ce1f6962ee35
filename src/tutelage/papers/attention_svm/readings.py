"""Curves that are read off a path of attention matrices beside the programmes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from tutelage.claims.claim import NoPrediction
from tutelage.numerics.least_norm import Infeasible
from tutelage.papers.attention_svm.setup import programme_of, sample_of
from tutelage.papers.attention_svm.theory.approach import offset_on_supports
from tutelage.papers.attention_svm.theory.programmes import MaxMargin
from tutelage.run import Run

Curves = Mapping[str, Float[np.ndarray, "points"]]


def final_programme(run: Run) -> MaxMargin:
    """W^mm of the selection that a run ends at."""
    assert run.setting is not None
    return programme_of(sample_of(run.setting), run.curves["selected"][-1].tolist())


def miss(
    matrices: Float[np.ndarray, "points d d"], target: Float[np.ndarray, "d d"]
) -> Float[np.ndarray, "points"]:
    """1 − corr(W, target) as half the squared distance of directions, which loses nothing."""
    lengths = np.linalg.norm(matrices, axis=(1, 2), keepdims=True)
    apart = matrices / np.where(lengths > 0, lengths, 1.0) - target / np.linalg.norm(target)
    return np.asarray(0.5 * np.sum(apart**2, axis=(1, 2)))


def read_selection(run: Run) -> Curves:
    """`wrong_selections`: sequences that do not attend to their best token; `locally_optimal`: 1
    where the selection at the end is one, at every point.
    """
    assert run.setting is not None
    sample = sample_of(run.setting)
    wrong = (run.curves["selected"] != sample.best).sum(1).astype(float)
    try:
        optimal = float(final_programme(run).locally_optimal)
    except Infeasible:
        optimal = 0.0
    return {"wrong_selections": wrong, "locally_optimal": np.full(len(wrong), optimal)}


def read_flow(run: Run) -> Curves:
    """Beside W^mm of the selection at the end: `constant_ratio`, (L − L_α)·t over ‖W^mm‖²;
    `direction_miss`, 1 − corr(W, W^mm); `law_distance`, ‖W − (W^mm log t + W̃)‖/‖W‖ with the part
    of W̃ that the support vectors give.
    """
    solved = final_programme(run)
    times, matrices = run.curves["log_time"], run.curves["matrix"]
    ratio = np.exp(run.curves["log_excess"] + times) / solved.square
    try:
        offset = offset_on_supports(solved)
    except NoPrediction:  # the run has not come to a locally optimal selection
        offset = np.full_like(solved.matrix, np.inf)
    predicted = solved.matrix * times[:, None, None] + offset
    apart = np.linalg.norm(matrices - predicted, axis=(1, 2))
    return {
        **read_selection(run),
        "constant_ratio": np.nan_to_num(ratio),  # below L_α, on the way, there is no excess
        "direction_miss": miss(matrices, solved.matrix),
        "law_distance": apart / np.linalg.norm(matrices, axis=(1, 2)),
    }
