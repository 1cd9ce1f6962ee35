r"""Second derivatives of the excess at the teacher, for any inputs and activation.

To first order TF(X) − f*(X) = σ′(V*XS*) ⊙ (dW X S* + V* X dS), so that near the teacher

    excess ≈ ½ Σ_mq E[ σ′(b_mq)² (dw_m X s*_q + v_m X ds_q)² ],      b_mq = v_m X s*_q,

over the population or over a fixed sample. Rows of W_V meet no other rows, columns of S no other
columns; a row meets every column.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.activations import Activation, Identity, LeakyReLU
from tutelage.claims.claim import NoPrediction
from tutelage.inputs import Gaussian, Independent
from tutelage.inputs.base import Inputs

# Of the normal law beyond ±9 there is 1e-19. The rule converges exponentially, and 4001 nodes are
# far more than it needs.
REACH, NODES = 9.0, 4001
Given = np.ndarray | Array  # a matrix of NumPy or of JAX


class Curvature(NamedTuple):
    """The blocks of the second derivative: of each row of W_V, of each column of S, and of each row
    with each column.
    """

    rows: Float[np.ndarray, "M d d"]
    columns: Float[np.ndarray, "Q D D"]
    cross: Float[np.ndarray, "M Q d D"]

    def whole(self) -> Float[np.ndarray, "n n"]:
        """One matrix over (dW, dS), dW row by row and then dS column by column."""
        M, Q, d, D = self.cross.shape
        both = np.zeros((M * d + Q * D, M * d + Q * D))
        for m in range(M):
            both[m * d : (m + 1) * d, m * d : (m + 1) * d] = self.rows[m]
        for q in range(Q):
            here = M * d + q * D
            both[here : here + D, here : here + D] = self.columns[q]
            for m in range(M):
                both[m * d : (m + 1) * d, here : here + D] = self.cross[m, q]
                both[here : here + D, m * d : (m + 1) * d] = self.cross[m, q].T
        return both

    def excess(self, value: Float[np.ndarray, "M d"], attention: Float[np.ndarray, "D Q"]) -> float:
        """½⟨(dW, dS), H (dW, dS)⟩."""
        moved = np.concatenate([value.ravel(), attention.T.ravel()])
        return float(0.5 * moved @ self.whole() @ moved)


def on_sample(
    activation: Activation,
    value: Float[Given, "M d"],
    selection: Float[Given, "D Q"],
    tokens: Float[Given, "n d D"],
) -> Curvature:
    """Over a fixed sample of inputs, each with the same weight."""
    V, S, X = (np.asarray(given) for given in (value, selection, tokens))
    read, seen = X @ S, V @ X
    weight = derivative(activation, V @ read) ** 2 / len(X)
    return Curvature(
        np.einsum("nmq,naq,nbq->mab", weight, read, read, optimize=True),
        np.einsum("nmq,nmi,nmj->qij", weight, seen, seen, optimize=True),
        np.einsum("nmq,naq,nmi->mqai", weight, read, seen, optimize=True),
    )


def of_population(
    activation: Activation,
    value: Float[Given, "M d"],
    selection: Float[Given, "D Q"],
    inputs: Inputs,
) -> Curvature:
    """Over the whole law of the inputs, as far as the population risk itself is known."""
    if isinstance(inputs, Gaussian):
        return _gaussian(activation, value, selection, inputs)
    if isinstance(inputs, Independent) and isinstance(activation, Identity):
        return _moments(value, selection, inputs)
    raise NoPrediction(
        "The curvature over the population is known for Gaussian tokens or the identity. Got "
        f"{type(inputs).__name__}."
    )


def _gaussian(
    activation: Activation,
    value: Float[Given, "M d"],
    selection: Float[Given, "D Q"],
    inputs: Gaussian,
) -> Curvature:
    r"""With x and y jointly normal with b, E[σ′(b)² x y] = λ_⊥ E[xy] + (λ_∥ − λ_⊥) E[xb]E[yb]/B:
    along b the slope is weighed by b².
    """
    v = np.asarray(inputs.whiten_rows(jnp.asarray(value)))
    s = np.asarray(inputs.whiten_columns(jnp.asarray(selection)))
    across, along = slope_moments(activation, np.sqrt(np.outer((v**2).sum(1), (s**2).sum(0))))
    left = np.eye(v.shape[1]) if inputs.feature_root is None else np.asarray(inputs.feature_root)
    right = np.eye(len(s)) if inputs.position_root is None else np.asarray(inputs.position_root)
    row, column = _unit(v), _unit(s.T)
    lengths, widths = (v**2).sum(1), (s**2).sum(0)
    more = along - across
    rows = (across @ widths)[:, None, None] * np.eye(v.shape[1]) + (more @ widths)[
        :, None, None
    ] * np.einsum("ma,mb->mab", row, row)
    columns = (lengths @ across)[:, None, None] * np.eye(len(s)) + (lengths @ more)[
        :, None, None
    ] * np.einsum("qi,qj->qij", column, column)
    cross = np.einsum("mq,ma,iq->mqai", along, v @ left, right @ s)
    return Curvature(left @ rows @ left, right @ columns @ right, cross)


def _moments(
    value: Float[Given, "M d"], selection: Float[Given, "D Q"], inputs: Independent
) -> Curvature:
    """Identity, iid entries with mean m and variance s²: E[X_ai X_bj] = s²δ_ab δ_ij + m²."""
    V, S, square, mean = (
        np.asarray(value),
        np.asarray(selection),
        float(inputs.variance),
        float(inputs.mean),
    )
    (M, d), (D, Q) = V.shape, S.shape
    rows = square * np.sum(S**2) * np.eye(d) + mean**2 * np.sum(S.sum(0) ** 2)
    columns = square * np.sum(V**2) * np.eye(D) + mean**2 * np.sum(V.sum(1) ** 2)
    cross = (
        square * np.einsum("ma,iq->mqai", V, S)
        + mean**2 * np.multiply.outer(V.sum(1), S.sum(0))[:, :, None, None]
    )
    return Curvature(np.broadcast_to(rows, (M, d, d)), np.broadcast_to(columns, (Q, D, D)), cross)


def slope_moments(
    activation: Activation, deviation: Float[np.ndarray, "*shape"]
) -> tuple[Float[np.ndarray, "*shape"], Float[np.ndarray, "*shape"]]:
    """λ_⊥ = E[σ′(b)²] and λ_∥ = E[σ′(b)² b²]/B for b ~ N(0, B): both (1+k²)/2 for leaky ReLU, both
    1 for the identity.
    """
    if isinstance(activation, Identity | LeakyReLU):
        lam = 1.0 if isinstance(activation, Identity) else 0.5 * (1 + activation.slope**2)
        return np.full_like(deviation, lam), np.full_like(deviation, lam)
    x = np.linspace(-REACH, REACH, NODES)
    weight = np.exp(-0.5 * x**2)
    weight /= weight.sum()
    square = derivative(activation, deviation[..., None] * x) ** 2
    return square @ weight, square @ (weight * x**2)


def derivative(
    activation: Activation, x: Float[np.ndarray, "*shape"]
) -> Float[np.ndarray, "*shape"]:
    """σ′(x)."""
    at = jnp.asarray(x)
    return np.asarray(jax.jvp(activation, (at,), (jnp.ones_like(at),))[1])


def _unit(rows: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n k"]:
    """Each row over its length; a row of zeros has no direction."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1.0)
