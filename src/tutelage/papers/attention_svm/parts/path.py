"""What is read off a path of attention matrices: the same curves for flow and for descent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, Int

from tutelage.calculations.base import Calculated
from tutelage.papers.attention_svm.parts.attention import log_excess, weigh
from tutelage.papers.attention_svm.parts.sample import Sample


def describe_path(
    sample: Sample,
    axis: Int[np.ndarray, "points"],
    matrices: Sequence[Float[np.ndarray, "d d"]],
    more: Mapping[str, Float[np.ndarray, "points ..."]] | None = None,
) -> Calculated:
    """`matrix`; `selected`, the token that each sequence attends to most; `top_weight`, the mean
    over sequences of its weight; `log_excess`, log(L − L_α) for the selection at the end of the
    path.
    """
    selected = np.array([sample.attended(matrix).argmax(1) for matrix in matrices])
    curves = {
        "matrix": np.array(matrices),
        "selected": selected,
        "top_weight": np.array([_mean_top_weight(sample, matrix) for matrix in matrices]),
        "log_excess": np.array([log_excess(sample, matrix, selected[-1]) for matrix in matrices]),
    }
    return Calculated(axis, {**curves, **(more or {})})


def _mean_top_weight(sample: Sample, matrix: Float[np.ndarray, "d d"]) -> float:
    return float(np.mean(1 - np.exp(weigh(sample, matrix).logs).sum(1)))
