"""What is read off linear attention on its way."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.papers.in_context_autoregression.parts.attention import LinearAttention
from tutelage.papers.in_context_autoregression.parts.loss import (
    NextTokenLoss,
    pairing,
    sort_weights,
)
from tutelage.refuse import Refused
from tutelage.students.base import Student


def prefix_loss(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, ""]:
    """The loss, as a mean over prefixes."""
    return objective(student) / objective.rows


def level(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, ""]:
    """c, the mean of the diagonal of BᵀA."""
    return jnp.mean(jnp.diagonal(_linear(student).matrix))


def head_overlap(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, ""]:
    """The share of BᵀA, in norm, beside its diagonal: 0 where heads are orthogonal."""
    return _share_outside(student, jnp.eye(len(_linear(student).matrix)))


def block_overlap(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, ""]:
    """The share of BᵀA, in norm, outside of the blocks of a feature and its partner."""
    dim = len(_linear(student).matrix)
    return _share_outside(student, jnp.eye(dim) + pairing(dim))


def _share_outside(student: LinearAttention, kept: Float[Array, "d d"]) -> Float[Array, ""]:
    matrix = student.matrix
    outside = jnp.where(kept > 0, 0.0, matrix)
    length = jnp.linalg.norm(matrix)
    return jnp.linalg.norm(outside) / jnp.where(length > 0, length, 1.0)


def newest_miss(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, ""]:
    """The largest |p_n c − 1| over prefixes, with p_n the weight of the newest token."""
    return jnp.max(jnp.abs(sort_weights(student).newest * level(student, objective) - 1))


def older_weight(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, ""]:
    """The largest |p c| of a token that is not the newest."""
    weights = sort_weights(student)
    largest = jnp.maximum(jnp.max(jnp.abs(weights.query)), jnp.max(jnp.abs(weights.older)))
    return largest * jnp.abs(level(student, objective))


def partner_ratios(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, "d"]:
    """C_{iī}/C_ii: 1 for a block c[[1,1],[1,1]]."""
    matrix = _linear(student).matrix
    return jnp.sum(matrix * pairing(len(matrix)), axis=1) / jnp.diagonal(matrix)


def lag_ratios(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, "R"]:
    """p_ℓ/p_n: the weight of the token of the query over that of the newest."""
    weights = sort_weights(_linear(student))
    return weights.query / weights.newest


def balance(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, ""]:
    """½(‖A‖² + ‖B‖²) − ‖P‖², which gradient flow conserves."""
    student = _linear(student)
    factors = 0.5 * (jnp.sum(student.scores**2) + jnp.sum(student.values**2))
    return factors - jnp.sum(student.weights**2)


def _linear(student: Student) -> LinearAttention:
    """The student, if it has A, B and P: a matrix of another student means another thing."""
    if not isinstance(student, LinearAttention):
        raise Refused(
            "This measure reads A, B and P of the student 'linear_attention'. Got "
            f"{type(student).__name__}."
        )
    return student
