"""Several heads of attention by position, summed before the activation."""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from tutelage.activations import Activation
from tutelage.refuse import positive, whole
from tutelage.students.base import Student
from tutelage.students.starts import draw_normals
from tutelage.teachers.base import Teacher


class MultiHeadPosition(Student):
    r"""TF(X) = σ(Σ_h W_h X S_h), S_h = softmax by columns of Z_h/√D: with one head the student of
    Zhang et al. 2026, eq. (2.4).

    `scores` are Z_h = PᵀW_KQ P in the basis of orthonormal codes, as in `PositionAttention`.
    """

    values: Float[Array, "H M d"]
    scores: Float[Array, "H D Q"]
    activation: Activation = eqx.field(static=True)

    @classmethod
    def random(
        cls, teacher: Teacher, *, heads: int, scale: float, key: Key[Array, ""]
    ) -> MultiHeadPosition:
        """All entries iid N(0, scale²); from equal heads nothing would ever tell them apart."""
        outputs, dim, tokens, queries = teacher.shape
        heads = whole("heads", heads, least=1, reason="a head is what attends")
        spread = positive("scale", scale, reason="heads that start alike stay alike")
        shapes = ((heads, outputs, dim), (heads, tokens, queries))
        values, scores = draw_normals(shapes, spread, key)
        return cls(values, scores, teacher.output_activation)

    def attention(self) -> Float[Array, "H D Q"]:
        """S_h for each head."""
        return jax.nn.softmax(self.scores / math.sqrt(self.scores.shape[-2]), axis=-2)

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "M Q"]:
        return self.activation(jnp.sum(self.values @ tokens @ self.attention(), axis=0))
