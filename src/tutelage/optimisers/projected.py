"""Projected gradient descent: every head stays in a ball around where it started."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PyTree

from tutelage.optimisers.base import Rate


class Iterates(NamedTuple):
    """What projected descent remembers: the start, how many iterates a gradient was taken at, their
    mean, and the least loss among them.
    """

    start: PyTree
    taken: Float[Array, ""]
    mean: PyTree
    least: Float[Array, ""]


def projected_descent(
    rate: Rate, *, radii: Mapping[str, float]
) -> optax.GradientTransformationExtraArgs:
    r"""θ ← Π(θ − η∇L), where Π brings each head back into its ball ‖Δ‖_F ≤ ρ/√m, block by block.

    `radii` gives ρ by the name of the block, a field of the student's heads; every block has one
    row a head. The mean is over the iterates that a gradient was taken at, θ₀ … θ_{t−1}, as in the
    theorem, and so is the least loss. A loss that is a draw (one sample) is not that of an iterate:
    such steps pass `value=inf`.
    """

    def init(parameters: PyTree) -> Iterates:
        # Typed, as an update returns it: a weakly typed infinity would compile the whole loop a
        # second time.
        number = next((leaf.dtype for leaf in jax.tree.leaves(parameters)), jnp.dtype(jnp.float64))
        return Iterates(
            parameters, jnp.zeros((), number), parameters, jnp.full((), jnp.inf, number)
        )

    def update(
        gradient: PyTree,
        state: Iterates,
        parameters: PyTree,
        *,
        value: Float[Array, ""] | float,
        **_: PyTree,
    ) -> tuple[PyTree, Iterates]:
        taken = state.taken + 1.0
        mean = jax.tree.map(lambda m, p: m + (p - m) / taken, state.mean, parameters)
        stepped = jax.tree.map(lambda p, g: p - rate * g, parameters, gradient)
        there = project(stepped, state.start, radii)
        moves = jax.tree.map(lambda new, old: new - old, there, parameters)
        return moves, Iterates(state.start, taken, mean, jnp.minimum(state.least, value))

    return optax.GradientTransformationExtraArgs(init, update)


def project(point: PyTree, centre: PyTree, radii: Mapping[str, float]) -> PyTree:
    """The nearest point whose every head lies, block by block, within ρ/√m of the centre's.

    A ball is convex, so that this is idempotent and never moves two points apart.
    """

    def block(
        path: tuple[jax.tree_util.GetAttrKey, ...],
        leaf: Float[Array, "m ..."],
        middle: Float[Array, "m ..."],
    ) -> Float[Array, "m ..."]:
        radius = radii[path[-1].name] / jnp.sqrt(float(len(leaf)))
        away = leaf - middle
        length = jnp.sqrt(jnp.sum(away**2, axis=tuple(range(1, leaf.ndim)), keepdims=True))
        inside = length <= radius
        # Inside, the point itself to the last bit and not centre + (point − centre).
        return jnp.where(inside, leaf, middle + away * (radius / jnp.where(inside, 1.0, length)))

    return jax.tree_util.tree_map_with_path(block, point, centre)
