"""The student: linear attention of H heads with diagonal matrices and free position weights."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.numerics.streams import generator
from tutelage.papers.in_context_autoregression.parts.rotations import join, split
from tutelage.students.base import Student

DRAWS = ("normal", "published")


class LinearAttention(Student):
    r"""$f(X) = \sum_t p_t \sum_h B_h s_t \langle A_h s_{m-2}, s_t\rangle$ for m tokens, $A_h$ and
    $B_h$ diagonal. Feature i is $\sum_t p_t s_{ti}\sum_j C_{ij}\bar s_{m-2,j}s_{tj}$, $C=B^\top A$.
    """

    scores: Float[Array, "H d"]  # A
    values: Float[Array, "H d"]  # B
    positions: Float[Array, "R T"]  # P, whose row m − 2 weighs m tokens; others are not used

    @property
    def matrix(self) -> Float[Array, "d d"]:
        """C = BᵀA."""
        return self.values.T @ self.scores

    @property
    def weights(self) -> Float[Array, "R T"]:
        """The entries of P that are used, and zeros."""
        return jnp.where(used_entries(self.positions.shape[1]), self.positions, 0.0)

    def __call__(self, tokens: Float[Array, "reals m"]) -> Float[Array, "reals"]:
        given = join(tokens)
        count = given.shape[1]
        mixing = self.matrix.astype(given.dtype)
        matches = mixing @ (jnp.conj(given[:, count - 2])[:, None] * given)
        return split((given * matches) @ self.positions[count - 2, :count].astype(given.dtype))


def used_entries(tokens: int) -> np.ndarray:
    """Which entries of P weigh a token: row m − 2 has m of them, m = 2, …, T."""
    return np.tri(tokens - 1, tokens, 1, dtype=bool)


def draw_attention(
    seed: int, dim: int, tokens: int, heads: int, start: float, draw: str
) -> LinearAttention:
    """A, B and P of independent normal entries of size `start`."""
    draw_all = _draw_as_published if draw == "published" else _draw_normal
    scores, values, positions = draw_all(seed, dim, tokens, heads)
    return LinearAttention(start * scores, start * values, start * positions)


def _draw_normal(seed: int, dim: int, tokens: int, heads: int) -> tuple[Array, ...]:
    drawn = generator(seed, "linear attention")
    shapes = ((heads, dim), (heads, dim), (tokens - 1, tokens))
    return tuple(jnp.asarray(drawn.standard_normal(shape)) for shape in shapes)


def _draw_as_published(seed: int, dim: int, tokens: int, heads: int) -> tuple[Array, ...]:
    """The single-precision numbers that the published scripts draw from a seed: with the random
    bits of the JAX of that time, and a last row of P that nothing uses.
    """
    with jax.threefry_partitionable(False):
        keys = jax.random.split(jax.random.PRNGKey(seed), 4)[1:]
        shapes = ((heads, dim), (heads, dim), (tokens, tokens))
        drawn = [
            jax.random.normal(key, shape, jnp.float32)
            for key, shape in zip(keys, shapes, strict=True)
        ]
    scores, values, positions = (jnp.asarray(np.asarray(one, np.float64)) for one in drawn)
    return scores, values, positions[:-1]
