"""Convolution followed by max pooling: what average pooling stands in for in the bilinear class."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import ArrayLike

from tutelage.activations import Activation, LeakyReLU
from tutelage.refuse import matrix
from tutelage.teachers.base import Shape, Teacher
from tutelage.teachers.convolution import pooling


class MaxPooling(Teacher):
    r"""f*(X)_{mi} = max_{j ∈ g(i)} relu(v_m·x_j), g(i) the pooling group that holds i, as in
    `convolution`.
    """

    value: Float[Array, "M d"]
    support: int = eqx.field(static=True)
    tokens: int = eqx.field(static=True)
    activation: Activation = eqx.field(static=True)

    def __init__(self, kernels: ArrayLike, *, tokens: int, support: int) -> None:
        self.value = jnp.asarray(
            matrix("kernels", kernels, reason="V* maps d features to M outputs")
        )
        self.tokens, self.support = len(pooling(tokens, support)), int(support)
        self.activation = LeakyReLU(0.0)

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "M D"]:
        kept = self.activation(self.value @ tokens)
        groups = kept.reshape(len(kept), self.tokens // self.support, self.support).max(-1)
        return groups[:, np.arange(self.tokens) // self.support]

    @property
    def output_activation(self) -> Activation:
        return self.activation

    @property
    def shape(self) -> Shape:
        """(M, d, D, D)."""
        outputs, dim = self.value.shape[-2:]
        return Shape(outputs, dim, self.tokens, self.tokens)
