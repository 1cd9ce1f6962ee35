"""A convolutional network with one hidden layer, whose hidden layer is a teacher of the bilinear
class.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.activations import Activation
from tutelage.teachers.base import BilinearClass, Shape
from tutelage.teachers.convolution import pooling


class ImageCNN(BilinearClass):
    r"""f*(X) = σ(V* X S*), S* average pooling over groups of K consecutive patches; digits by
    softmax of readout·f*(X) + bias.

    The nine columns of f*(X) within a group are equal, so the classifier reads one of each: its
    readout is classes × M × D/K. Zhang et al. 2026, Section 4, the experiment with MNIST.
    """

    value: Float[Array, "M d"]
    readout: Float[Array, "classes M G"]
    bias: Float[Array, "classes"]
    support: int = eqx.field(static=True)
    activation: Activation = eqx.field(static=True)
    data: str = eqx.field(static=True)  # the images it was trained on

    @property
    def selection(self) -> Float[Array, "D D"]:
        """S*."""
        return jnp.asarray(pooling(self.shape[2], self.support))

    @property
    def noise(self) -> Float[Array, ""]:
        """Its labels are what it says."""
        return jnp.zeros(())

    @property
    def shape(self) -> Shape:
        """(M, d, D, Q): outputs, features, tokens, queries."""
        tokens = self.readout.shape[-1] * self.support
        outputs, dim = self.value.shape[-2:]
        return Shape(outputs, dim, tokens, tokens)

    def groups(self, tokens: Float[Array, "d D"]) -> Float[Array, "M G"]:
        """The distinct columns of f*(X), one a pooling group."""
        pooled = tokens.reshape(tokens.shape[0], -1, self.support).mean(-1)
        return self.activation(self.value @ pooled)

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "M D"]:
        return jnp.repeat(self.groups(tokens), self.support, axis=1)

    def logits(self, tokens: Float[Array, "d D"]) -> Float[Array, "classes"]:
        return jnp.tensordot(self.readout, self.groups(tokens), 2) + self.bias
