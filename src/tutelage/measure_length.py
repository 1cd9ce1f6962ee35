"""A measure of how far from linear a student is, at one fixed random point of the ball that projected descent keeps it in."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.heads import Heads

RADIUS = 3.0  # ρ of c, U and W alike, as in the paper's experiments
BLOCKS = ("attention", "reading", "output")


def boundary(start: Heads) -> Heads:
    """A point whose every head has gone ρ/√m from the start in c, in U and in W; head i goes the same way whatever else there is."""

    def away(path: Any, leaf: Float[Array, "m ..."]) -> Float[Array, "m ..."]:
        key = jax.random.fold_in(jax.random.key(0), BLOCKS.index(path[-1].name))
        rows = jax.vmap(lambda i: jax.random.normal(jax.random.fold_in(key, i), leaf.shape[1:]))(jnp.arange(len(leaf)))
        length = jnp.sqrt(jnp.sum(rows**2, axis=tuple(range(1, leaf.ndim)), keepdims=True))
        return leaf + RADIUS / jnp.sqrt(float(len(leaf))) * rows / length

    return jax.tree_util.tree_map_with_path(away, start)


def boundary_gap(student: Any, objective: Any) -> Float[Array, "2"]:
    """sup_j and mean_j of |f(X_j) − f_lin(X_j)| over the training inputs, at that point of the boundary."""
    there = eqx.tree_at(lambda s: s.heads, student, boundary(student.start))
    gaps = jnp.abs(jax.vmap(lambda x: there(x) - there.linearised(x))(objective.tokens))
    return jnp.stack([jnp.max(gaps), jnp.mean(gaps)])


LENGTH = (boundary_gap,)
