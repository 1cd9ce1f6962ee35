"""Gaussian tokens pulled back into a ball."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from tutelage.inputs.base import Inputs
from tutelage.numerics.compiling import soon
from tutelage.refuse import positive


class ClippedGaussian(Inputs):
    """x_t = g·min(1, radius/‖g‖) with g ~ N(0, scale²·I), iid over the tokens: what Arda et al.
    2026 train on, at radius 1.
    """

    scale: Float[Array, ""]
    radius: Float[Array, ""]

    def __init__(self, scale: float = 1.0, radius: float = 1.0) -> None:
        self.scale = jnp.asarray(positive("scale", scale, reason="it is a standard deviation"))
        self.radius = jnp.asarray(positive("radius", radius, reason="no token is longer than it"))

    def sample(self, tokens: int, dim: int, *, key: Key[Array, ""]) -> Float[Array, "d T"]:
        """One input, a column a token."""
        free = self.scale * jax.random.normal(key, (tokens, dim)).T
        return free * jnp.minimum(1.0, self.radius / jnp.linalg.norm(free, axis=0))[None]

    def check_shapes(self, tokens: int, dim: int) -> None:
        """Tokens are iid, so any shape will do."""


DRAWN = 128  # inputs at a time, so that one compiled program draws any number of them


def draw_inputs(
    law: Inputs, count: int, tokens: int, dim: int, *, key: Key[Array, ""]
) -> Float[Array, "n d T"]:
    """`count` inputs of a law. Input i has a key of its own: a larger sample begins with the
    smaller one.
    """
    parts = [
        np.asarray(_drawn(law, tokens, dim, key, jnp.asarray(first)))
        for first in range(0, count, DRAWN)
    ]
    return jnp.asarray(np.concatenate(parts)[:count])


@soon
def _drawn(
    law: Inputs, tokens: int, dim: int, key: Key[Array, ""], first: Int[Array, ""]
) -> Float[Array, "some d T"]:
    return jax.vmap(lambda i: law.sample(tokens, dim, key=jax.random.fold_in(key, i)))(
        first + jnp.arange(DRAWN)
    )
