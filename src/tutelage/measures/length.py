"""A measure of how far from linear a student is, at one fixed random point of the ball that projected descent keeps it in."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.heads import Heads

RADIUS = 3.0  # ρ of c, U and W alike, as in the paper's experiments
BLOCKS = ("attention", "reading", "output")


def boundary(start: Heads) -> Heads:
    """A point whose every head has gone ρ/√m from the start in c, in U and in W; head i goes the same way whatever else there is."""

    # Drawn by NumPy when the program is made, and so constants of it: a generator inside would cost more to compile than all else.
    def away(path: Any, leaf: Float[Array, "m ..."]) -> Float[Array, "m ..."]:
        rows = np.random.default_rng(BLOCKS.index(path[-1].name)).standard_normal(leaf.shape)  # row by row: more heads begin with fewer
        length = np.sqrt(np.sum(rows**2, axis=tuple(range(1, leaf.ndim)), keepdims=True))
        return leaf + RADIUS / np.sqrt(len(leaf)) * rows / length

    return jax.tree_util.tree_map_with_path(away, start)


def boundary_gap(student: Any, objective: Any) -> Float[Array, "2"]:
    """sup_j and mean_j of |f(X_j) − f_lin(X_j)| over the training inputs, at that point of the boundary."""
    there = eqx.tree_at(lambda s: s.heads, student, boundary(student.start))
    gaps = jnp.abs(jax.vmap(lambda x: there(x) - there.linearised(x))(objective.tokens))
    return jnp.stack([jnp.max(gaps), jnp.mean(gaps)])


LENGTH = (boundary_gap,)
