"""Heads as the paper writes them, one sample and one head at a time, and sizes to try them at."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def bent(x: jax.Array) -> jax.Array:
    """An activation that is neither odd nor bounded."""
    return jnp.exp(0.5 * x) + 0.3 * x**2


def case(
    n: int, m: int = 3, d: int = 4, T: int = 5, seed: int = 0, dtype: Any = np.float64
) -> tuple[Any, ...]:
    """W, U, c, X, q, y at which no weight, no query and no attention is special."""
    draw = np.random.default_rng(seed)
    shapes = (m, d, d), (m, d), (m,), (n, d, T), (n, d), (n,)
    return tuple(draw.normal(size=shape).astype(dtype) for shape in shapes)


@partial(jax.jit, static_argnames="activation")
def plain(W: Any, U: Any, c: Any, X: Any, q: Any, activation: Any) -> Any:
    """f(X), written as in the paper for one sample and one head."""

    def head(w: Any, u: Any, x: Any, query: Any) -> Any:
        return activation(u @ (x @ jax.nn.softmax(x.T @ (w @ query))))

    heads = jax.vmap(jax.vmap(head, (0, 0, None, None)), (None, None, 0, 0))(W, U, X, q)
    return heads @ c / np.sqrt(len(c))
