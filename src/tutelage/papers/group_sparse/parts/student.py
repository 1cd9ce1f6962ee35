"""The student: a value vector, and attention by position alone."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.students.base import Student


class GroupAttention(Student):
    r"""$f(X) = \sum_j v^\top X\,\mathrm{softmax}(β^2 W e_j)$, from zero.

    The codes are orthogonal and equally long, so that in their own basis $p_i^\top W_{22} p_j = β^2
    W_{ij}$. Of the whole matrix W the other blocks are zero, and so is the part of v that reads
    codes.
    """

    value: Float[Array, "d"]
    matrix: Float[Array, "D D"]
    code_square: float = eqx.field(static=True)

    def attention(self) -> Float[Array, "D D"]:
        """S, one column per query."""
        return jax.nn.softmax(self.code_square * self.matrix, axis=0)

    def group_weights(self) -> Float[Array, "D"]:
        """w = S1: how much each group counts, D in all."""
        return jnp.sum(self.attention(), axis=1)

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, ""]:
        return self.value @ (tokens @ self.group_weights())
