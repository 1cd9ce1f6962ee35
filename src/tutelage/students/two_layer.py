"""A two-layer network on the flattened input: it is told nothing of tokens, positions or
sharing.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from tutelage.refuse import whole
from tutelage.students.base import Student


class TwoLayer(Student):
    """f(X) = B relu(A vec X + b) + c, read as M×Q; vec X lays the d features of each of the D
    tokens side by side.
    """

    inner: Float[Array, "h dD"]
    inner_shift: Float[Array, "h"]
    outer: Float[Array, "MQ h"]
    outer_shift: Float[Array, "MQ"]
    shape: tuple[int, int] = eqx.field(static=True)  # M, Q

    @classmethod
    def random(
        cls, shape: tuple[int, int, int, int], hidden: int, *, key: Key[Array, ""]
    ) -> TwoLayer:
        """Weights N(0, 2/inputs) inside (He et al. 2015) and N(0, 1/h) outside, no shifts; `shape`
        is (M, d, D, Q).
        """
        hidden = whole("hidden", hidden, least=1, reason="a network has at least one hidden unit")
        outputs, dim, tokens, queries = shape
        inner_key, outer_key = jax.random.split(key)
        return cls(
            inner=jax.random.normal(inner_key, (hidden, dim * tokens))
            * (2 / (dim * tokens)) ** 0.5,
            inner_shift=jnp.zeros(hidden),
            outer=jax.random.normal(outer_key, (outputs * queries, hidden)) * hidden**-0.5,
            outer_shift=jnp.zeros(outputs * queries),
            shape=(outputs, queries),
        )

    @property
    def size(self) -> int:
        """How many numbers are trained."""
        return sum(
            leaf.size for leaf in (self.inner, self.inner_shift, self.outer, self.outer_shift)
        )

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "M Q"]:
        hidden = jnp.maximum(self.inner @ tokens.ravel() + self.inner_shift, 0.0)
        return (self.outer @ hidden + self.outer_shift).reshape(self.shape)
