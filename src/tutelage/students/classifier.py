"""A student with a classifier behind it: attention in the place of a network's hidden layer."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.students.base import Student
from tutelage.students.position_attention import PositionAttention


class AttentionClassifier(Student):
    r"""readout · pool(TF(X)) + bias, TF a layer of position-only attention, pool the mean over the
    queries of each group.

    A teacher's columns are equal within a group, so that this pool leaves them as they are; a
    student's are only nearly so.
    """

    body: PositionAttention
    readout: Float[Array, "classes M G"]
    bias: Float[Array, "classes"]

    @property
    def fixed(self) -> tuple[str, ...]:
        return self.body.fixed

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "M Q"]:
        """The hidden layer, which a teacher's hidden layer teaches."""
        return self.body(tokens)

    def logits(self, tokens: Float[Array, "d D"]) -> Float[Array, "classes"]:
        return read_out(self.body(tokens), self.readout, self.bias)


def read_out(
    hidden: Float[Array, "M Q"], readout: Float[Array, "classes M G"], bias: Float[Array, "classes"]
) -> Float[Array, "classes"]:
    """The logits that a classifier of pooled groups makes of a hidden layer with a column for each
    query.
    """
    pooled = hidden.reshape(hidden.shape[0], readout.shape[-1], -1).mean(-1)
    return jnp.tensordot(readout, pooled, 2) + bias
