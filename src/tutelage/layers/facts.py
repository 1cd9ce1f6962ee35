r"""Ridge and pair: what the Jacobians of a layer say about it, as squared residuals.

The class is f_mq(X) = σ(v_mᵀ X s_q). Then ∂f_mq/∂X = σ'(·) v_m s_qᵀ: over inputs it keeps its
direction (*ridge*), the direction has rank one (*pair*), and it is the same v_m for all q and the
same s_q for all m (*shared*, in `heads.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

Jacobians = Float[np.ndarray, "n M Q d D"]


@dataclass(frozen=True)
class Probes:
    """Inputs at which a layer was looked at: X, Y = f(X) and ∂f/∂X."""

    tokens: Float[np.ndarray, "n d D"]
    labels: Float[np.ndarray, "n M Q"]
    jacobians: Jacobians
    sound: Bool[np.ndarray, "n M Q"]
    error: float  # of the slopes, relative to the largest

    @property
    def energy(self) -> Float[np.ndarray, "n M Q"]:
        """‖∂f_mq/∂X‖² where it is sound."""
        return np.where(self.sound, np.einsum("nmqij,nmqij->nmq", *[self.jacobians] * 2), 0.0)


@dataclass(frozen=True)
class Shares:
    """A residual and what it is a share of, summed over outputs, one number per probe."""

    left: Float[np.ndarray, "n"]
    total: Float[np.ndarray, "n"]

    @property
    def residual(self) -> float:
        return share(self.left, self.total)


def share(left: Float[np.ndarray, "..."], total: Float[np.ndarray, "..."]) -> float:
    """Σ left / Σ total; nothing is left of nothing."""
    whole = float(total.sum())
    return float(left.sum()) / whole if whole > 0 else 0.0


@dataclass(frozen=True)
class Ridge:
    """The direction along which each output moves, of length 1, and how much else it moves."""

    directions: Float[np.ndarray, "M Q d D"]  # zero where the output never moved
    slopes: Float[np.ndarray, "n M Q"]  # of each output along its direction, at each probe
    shares: Shares


def find_ridges(probes: Probes) -> Ridge:
    """The top right singular vector of the n Jacobians of each output, by their n×n Gram matrix;
    one step of power iteration takes the rounding of the eigenvectors out.
    """
    n, M, Q, d, D = probes.jacobians.shape
    rows = np.where(probes.sound[..., None, None], probes.jacobians, 0.0)
    rows = rows.reshape(n, M * Q, d * D).transpose(1, 0, 2)
    _, vectors = np.linalg.eigh(rows @ rows.transpose(0, 2, 1))
    along = np.einsum("pnk,pn->pk", rows, vectors[..., -1])
    for _ in range(2):
        norms = np.linalg.norm(along, axis=1, keepdims=True)
        along = np.divide(along, norms, out=np.zeros_like(along), where=norms > 0)
        slopes = np.einsum("pnk,pk->np", rows, along)
        along = np.einsum("pnk,np->pk", rows, slopes)
    norms = np.linalg.norm(along, axis=1, keepdims=True)
    along = np.divide(along, norms, out=np.zeros_like(along), where=norms > 0)
    slopes = np.einsum("pnk,pk->np", rows, along)
    left = np.sum((rows - slopes.T[..., None] * along[:, None, :]) ** 2, axis=(0, 2))
    total = np.sum(rows**2, axis=(0, 2))
    return Ridge(along.reshape(M, Q, d, D), slopes.reshape(n, M, Q), Shares(left, total))


@dataclass(frozen=True)
class Pair:
    """Each direction as the outer product of a direction of features and one of tokens."""

    features: Float[np.ndarray, "M Q d"]
    tokens: Float[np.ndarray, "M Q D"]
    shares: Shares


def find_pairs(ridge: Ridge) -> Pair:
    """The best rank-one matrix of each direction; what is left counts as much as the output moves.

    The left part is summed from the smaller singular values, so that it is exact where it is tiny.
    """
    M, Q, d, D = ridge.directions.shape
    left_vectors, values, right = np.linalg.svd(
        ridge.directions.reshape(M * Q, d, D), full_matrices=False
    )
    left = np.sum(values[:, 1:] ** 2, axis=1).reshape(M, Q)
    moved = ridge.slopes**2
    shares = Shares(np.einsum("nmq,mq->n", moved, left), moved.sum((1, 2)))
    return Pair(left_vectors[:, :, 0].reshape(M, Q, d), right[:, 0, :].reshape(M, Q, D), shares)
