"""The teacher: a sample whose sequences are each best served by one token."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.papers.attention_svm.parts.sample import Sample
from tutelage.teachers.base import Shape, Teacher


class LabelledSequences(Teacher):
    """f*(X, z) = max_t vᵀx_t: the answer of attention that selects the best token, of a sequence
    with a positive label. The last column of what is given is the query z.
    """

    head: Float[Array, "d"]
    sample: Sample = eqx.field(static=True)

    def __init__(self, sample: Sample) -> None:
        self.head, self.sample = jnp.asarray(sample.head), sample

    @property
    def shape(self) -> Shape:
        return Shape(1, self.sample.tokens.shape[2], self.sample.tokens.shape[1] + 1, 1)

    def __call__(self, tokens: Float[Array, "d T"]) -> Float[Array, ""]:
        return jnp.max(self.head @ tokens[:, :-1])
