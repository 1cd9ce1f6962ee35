"""Curves that are read off a path of attention matrices beside the programmes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from tutelage.claims.claim import NoPrediction
from tutelage.numerics.least_norm import Infeasible
from tutelage.papers.attention_svm.setup import nuclear_of, programme_of, sample_of
from tutelage.papers.attention_svm.theory.approach import offset_on_supports
from tutelage.papers.attention_svm.theory.nuclear import factored_excess
from tutelage.papers.attention_svm.theory.programmes import MaxMargin, margins
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


def value_at(run: Run, curve: str, step: int) -> float:
    """A curve at the measured step nearest to one."""
    return float(run.curves[curve][np.abs(run.steps - step).argmin()])


def is_settled(run: Run, since: int) -> bool:
    """Whether the selection has not changed from a step on."""
    selected = run.curves["selected"][run.steps >= since]
    return bool((selected == selected[-1]).all())


def read_descent(run: Run) -> Curves:
    """`direction_miss` of the selection at the end, `best_miss` of the best tokens, both beside
    W^mm; `smallest_margin`, by how much W scores the selected tokens above others, at least.
    """
    solved = final_programme(run)
    sample, matrices = solved.sample, run.curves["matrix"]
    best = programme_of(sample, sample.best.tolist())
    least = [margins(sample, matrix, solved.selected).min() for matrix in matrices]
    return {
        **read_selection(run),
        "direction_miss": miss(matrices, solved.matrix),
        "best_miss": miss(matrices, best.matrix),
        "smallest_margin": np.array(least),
    }


def read_published(run: Run) -> Curves:
    """The same, and `nuclear_miss`: 1 − corr(W, W_⋆) of the selection at the end."""
    solved = final_programme(run)
    nuclear = nuclear_of(solved.sample, solved.selected.tolist())
    return {**read_descent(run), "nuclear_miss": miss(run.curves["matrix"], nuclear.matrix)}


def read_factored(run: Run) -> Curves:
    """Beside both programmes of the selection at the end: `nuclear_miss` and `direction_miss`, 1 −
    corr with W_⋆ and with W^mm; `smallest_margin`; and of a flow `factored_ratio`, (L −
    L_α)·2tτ/‖W_⋆‖_nuc over 1 + 1/τ + 2/τ², with τ the smallest margin.
    """
    solved = final_programme(run)
    nuclear = nuclear_of(solved.sample, solved.selected.tolist())
    matrices = run.curves["matrix"]
    least = np.array([margins(solved.sample, m, solved.selected).min() for m in matrices])
    found = {
        **read_selection(run),
        "nuclear_miss": miss(matrices, nuclear.matrix),
        "direction_miss": miss(matrices, solved.matrix),
        "smallest_margin": least,
        "duality_gap": np.full(len(least), nuclear.gap),
    }
    if "log_time" in run.curves:
        tau = np.where(least > 0, least, np.nan)  # before a selection is made there is no margin
        level = np.exp(run.curves["log_excess"] + run.curves["log_time"]) * 2 * tau / nuclear.norm
        found["factored_ratio"] = np.nan_to_num(level / factored_excess(tau))
    return found


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
