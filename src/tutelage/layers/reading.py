"""Which tokens each query reads, and whether that depends on what they hold."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from tutelage.layers.facts import Jacobians, Probes, share


def find_reading(jacobians: Jacobians) -> Float[np.ndarray, "n D Q"]:
    """‖∂f_q/∂x_j‖ at each input: how much query q moves with token j."""
    return np.sqrt(np.einsum("nmqij,nmqij->njq", jacobians, jacobians))


def positional_share(probes: Probes) -> float:
    """How positional a layer is: 1 if it reads the same tokens for every input, in the same
    proportions; about 1/D if it reads a different token for each.

    It is the share of Σ‖reading‖² that one fixed pattern per query explains, its strength left
    free at each input, so that a gate that is off counts for nothing.
    """
    kept = np.where(probes.sound[..., None, None], probes.jacobians, 0.0)
    rows = find_reading(kept).transpose(2, 0, 1)  # per query, inputs × tokens
    values = np.linalg.svd(rows, compute_uv=False) ** 2
    return 1.0 - share(values[:, 1:], values)


def is_piecewise_linear(here: Jacobians, nearby: Jacobians, tolerance: float) -> bool:
    """Whether slopes stay the same after a small step, at more than half of all inputs and outputs
    that move: a layer of linear pieces changes only across their edges.
    """
    moved = np.sum((nearby - here) ** 2, axis=(-2, -1))
    size = np.sum(here**2, axis=(-2, -1))
    alive = size > 1e-12 * size.max() if size.size else size > 0
    if not alive.any():
        return True
    return float(np.median(moved[alive] / size[alive])) <= tolerance
