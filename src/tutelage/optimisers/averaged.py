"""Plain gradient descent that also keeps an average of its iterates."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PyTree

from tutelage.optimisers.base import Rate


class Average(NamedTuple):
    """How many steps were taken, and the weighted mean of the iterates after them; before the first
    step, the start.
    """

    taken: Float[Array, ""]
    mean: PyTree


def averaged_descent(rate: Rate, *, degree: float) -> optax.GradientTransformation:
    r"""θ ← θ − η∇L, beside it θ̄_T = Σ_s w_s θ_s over the iterates θ_1 … θ_T, with w_s ∝
    s(s+1)…(s+degree−1), about s^degree.

    θ̄_T = θ̄_{T−1} + (1+degree)/(T+degree)·(θ_T − θ̄_{T−1}): one copy of the parameters serves
    every T (Shamir & Zhang 2013). Degree 0 is the plain mean; a larger one forgets the start
    sooner. The steps are those of plain descent: the average is read, never stepped from.
    """

    def init(parameters: PyTree) -> Average:
        number = next((leaf.dtype for leaf in jax.tree.leaves(parameters)), jnp.dtype(jnp.float64))
        return Average(jnp.zeros((), number), parameters)

    def update(gradient: PyTree, state: Average, parameters: PyTree) -> tuple[PyTree, Average]:
        taken = state.taken + 1.0
        moves = jax.tree.map(lambda g: -rate * g, gradient)
        weight = (1.0 + degree) / (taken + degree)
        mean = jax.tree.map(
            lambda m, p, step: m + weight * (p + step - m), state.mean, parameters, moves
        )
        return moves, Average(taken, mean)

    return optax.GradientTransformation(init, update)
