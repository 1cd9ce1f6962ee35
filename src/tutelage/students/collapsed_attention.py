"""The position-only student of a collapsed teacher: one score for each distinct weight of each kind
of column.
"""

from __future__ import annotations

import math
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.activations import Activation
from tutelage.refuse import Refused, positive
from tutelage.students.base import BilinearStudent
from tutelage.teachers.collapsed import CollapsedTeacher


class CollapsedAttention(BilinearStudent):
    r"""The part of `PositionAttention` that moves from zero: z_gc, the one score of n_gc tokens in
    each of m_c columns.

    `key_query` is W_KQ itself, in the orthonormal basis E_gc/√(m_c n_gc), E_gc the matrix with ones
    where S* has its weight (g, c) and zeros elsewhere: y_gc = √(m_c n_gc)·z_gc. Gradient descent in
    y with the step size of the whole run is the whole run.
    """

    value: Float[Array, "M d"]
    key_query: Float[Array, "G C"]
    attention_scale: Float[Array, ""]
    token_counts: Float[Array, "G C"]
    query_counts: Float[Array, "C"]
    activation: Activation = eqx.field(static=True)

    key_codes: ClassVar[None] = None  # orthonormal, and so not there
    query_codes: ClassVar[None] = None

    @classmethod
    def zeros(
        cls, teacher: CollapsedTeacher, *, attention_scale: float | None = None
    ) -> CollapsedAttention:
        """W_V = 0 and W_KQ = 0, the one start that has the symmetry; the scale is 1/√D, D the
        number of all tokens.
        """
        scale = 1.0 / math.sqrt(teacher.shape[2]) if attention_scale is None else attention_scale
        return cls(
            value=jnp.asarray(np.zeros(teacher.value.shape)),
            key_query=jnp.asarray(np.zeros(teacher.selection.shape)),
            attention_scale=jnp.asarray(
                positive("attention_scale", scale, reason="scores are multiplied by it")
            ),
            token_counts=teacher.token_counts,
            query_counts=teacher.query_counts,
            activation=teacher.activation,
        )

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "M Q"]:
        raise Refused(
            "A collapsed student has no output of its own, since it knows its tokens only up to "
            "their order. Leave the teacher whole to look at its student's output."
        )

    @property
    def fixed(self) -> tuple[str, ...]:
        return "attention_scale", "token_counts", "query_counts"

    def scores(self) -> Float[Array, "G C"]:
        """z: the score of each token that an entry stands for, before the scale and the softmax."""
        many = self.query_counts[None] * self.token_counts
        return self.key_query / jnp.sqrt(jnp.where(many > 0, many, 1.0))

    def attention(self) -> Float[Array, "G C"]:
        """S: the weight of each token that an entry stands for, e^{cz_g}/Σ_h n_h e^{cz_h}; 0 where
        there is none.
        """
        scaled = jnp.where(self.token_counts > 0, self.attention_scale * self.scores(), -jnp.inf)
        weights = jnp.exp(scaled - jax.lax.stop_gradient(jnp.max(scaled, axis=0, keepdims=True)))
        return weights / jnp.sum(self.token_counts * weights, axis=0, keepdims=True)
