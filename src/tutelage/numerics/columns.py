"""Sums and largest entries of columns, in blocks of rows.

XLA writes a reduction over few rows as one straight line of vector operations, and over many as a
loop that goes down one column after the other, ten times slower. So blocks of rows are reduced
first, and then their results.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

BLOCK, FEW = 32, 48  # rows


def column_sum(x: Float[Array, "D Q"]) -> Float[Array, "1 Q"]:
    """Σ_i x_ij."""
    return _reduced(x, jnp.sum, jnp.add)


def column_max(x: Float[Array, "D Q"]) -> Float[Array, "1 Q"]:
    """max_i x_ij. Unlike `jnp.max` it may pass over a NaN, which is a quarter of the work."""

    def larger(a: Float[Array, "*s"], b: Float[Array, "*s"]) -> Float[Array, "*s"]:
        return jax.lax.select(a > b, a, b)

    def largest(x: Float[Array, "*s"], axis: int) -> Float[Array, "*t"]:
        return jax.lax.reduce(x, jnp.asarray(-jnp.inf, x.dtype), larger, (axis,))

    return _reduced(x, largest, larger)


def _reduced(
    x: Float[Array, "D Q"], reduce: Callable[..., Array], join: Callable[[Array, Array], Array]
) -> Float[Array, "1 Q"]:
    rows, queries = x.shape
    if rows <= FEW:
        return reduce(x, axis=0)[None]
    whole = rows - rows % BLOCK
    # The barrier keeps the two reductions from being made one again (`training.COMPILER`).
    blocks = jax.lax.optimization_barrier(reduce(x[:whole].reshape(-1, BLOCK, queries), axis=1))
    total = _reduced(blocks, reduce, join)
    return total if whole == rows else join(total, reduce(x[whole:], axis=0)[None])
