"""Measures of the tangent kernel of students with heads, and of what they say on their sample.

The kernel is looked at on the first inputs of the sample, as many as `PROBE`: enough to see it
fluctuate and move, and small enough to be kept whole at every measured step.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.numerics.tangent_kernel import gram
from tutelage.objectives.squared_loss import SquaredLoss
from tutelage.students.base import Student
from tutelage.students.shallow_transformer import ShallowTransformer

PROBE = 32


def outputs(student: Student, objective: SquaredLoss) -> Float[Array, "n"]:
    """f(X_j) on every training input."""
    return jax.vmap(student)(objective.tokens)


def probe_kernel(student: ShallowTransformer, objective: SquaredLoss) -> Float[Array, "entries"]:
    """K_c, K_u and K_w of the kernel ⟨∇f(X_i), ∇f(X_j)⟩ at this iterate, i and j among the first
    inputs; row after row.

    `probed` gives them their shape back.
    """
    tokens, heads = objective.tokens[:PROBE], student.heads
    queries = jax.vmap(student.ask)(tokens)
    parts = gram(
        heads.attention,
        heads.reading,
        tokens,
        queries,
        activation=student.activation,
        output=heads.output,
        parts=True,
    )
    return jnp.stack(parts).ravel()


def probed(curve: Float[np.ndarray, "points entries"]) -> Float[np.ndarray, "points 3 p p"]:
    """The curve `probe_kernel` as matrices."""
    side = math.isqrt(curve.shape[1] // 3)
    return curve.reshape(len(curve), 3, side, side)


KERNEL = (outputs, probe_kernel)
