r"""Normalised gradient descent, step by step: each factor moves by η in the direction of its own
gradient.

Two arithmetics. In log domain the gradient is taken in units of its largest softmax weight, which a
normalised step does not see, and nothing underflows. The plain one is what a script has: automatic
differentiation of a softmax in double precision, and a division by ‖g‖ + 2.2·10⁻¹⁶.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from tutelage.calculations.base import Calculated, Calculation, Ingredients
from tutelage.numerics.grids import log_spaced
from tutelage.papers.attention_svm.parts.path import describe_path
from tutelage.papers.attention_svm.parts.starts import read_parts, start_at_selection
from tutelage.refuse import one_of, positive, whole

ARITHMETICS = ("log", "plain")
EPSILON = 2.2e-16  # added to the norm of the gradient by the published code
MOST_EXPONENT = 600.0  # of e^… in a ridge term, which is then far larger than the loss's own

Factors = tuple[Float[Array, "d d"], ...]


class NormalisedDescent(Calculation):
    """Some steps of size `rate`, measured at log-spaced ones; `ridge` is the ρ of a term
    ρ Σ‖factor‖² in the loss.

    With `selection` the start is `length` times W^mm of that selection, whatever the student's own.
    """

    def __init__(
        self,
        rate: float,
        steps: int,
        arithmetic: str,
        ridge: float,
        selection: Float[np.ndarray, "m"] | None = None,
        length: float = 1.0,
    ) -> None:
        self.selection = selection
        self.length = positive("length", length, reason="the start is that many times W^mm")
        self.rate = positive("rate", rate, reason="each factor moves by that much a step")
        self.steps = whole("steps", steps, least=1, reason="a run takes at least one step")
        self.plain = one_of("arithmetic", arithmetic, ARITHMETICS) == "plain"
        self.ridge = positive(
            "ridge", ridge, reason="the term ρ‖·‖² holds the factors back", zero=True
        )

    def __call__(self, given: Ingredients) -> Calculated:
        sample, student = read_parts(given)
        data = Data(
            jnp.asarray(sample.tokens), jnp.asarray(sample.queries), jnp.asarray(sample.scores)
        )
        factors = student.factors
        if self.selection is not None:
            start = start_at_selection(sample, student, self.selection, self.length)
            factors = (jnp.asarray(start),)
        axis = log_spaced(self.steps)
        path = [factors]
        for gap in np.diff(axis):
            path.append(
                take_steps(path[-1], data, self.rate, self.ridge, int(gap), plain=self.plain)
            )
        matrices = [np.asarray(_multiply(factors)) for factors in path]
        squares = [sum(float(jnp.sum(f**2)) for f in factors) for factors in path]
        return describe_path(sample, axis, matrices, {"factor_square": np.array(squares)})


class Data(NamedTuple):
    """A sample, as arrays of JAX."""

    tokens: Float[Array, "n T d"]
    queries: Float[Array, "n d"]
    scores: Float[Array, "n T"]


def _multiply(factors: Factors) -> Float[Array, "d d"]:
    return factors[0] if len(factors) == 1 else factors[0] @ factors[1].T


@partial(jax.jit, static_argnames="plain")
def take_steps(
    factors: Factors,
    data: Data,
    rate: float,
    ridge: float,
    count: Int[Array, ""] | int,
    *,
    plain: bool,
) -> Factors:
    """The factors after `count` steps; the number is data, so that nothing recompiles."""
    direction = _plain_direction if plain else _scaled_direction
    epsilon = EPSILON if plain else 0.0

    def step(_: Int[Array, ""], now: Factors) -> Factors:
        toward = direction(now, data, ridge)
        return tuple(
            factor + rate * move / (jnp.linalg.norm(move) + epsilon)
            for factor, move in zip(now, toward, strict=True)
        )

    return jax.lax.fori_loop(0, count, step, factors)


def _plain_direction(factors: Factors, data: Data, ridge: float) -> Factors:
    """Minus the gradient of the loss as it stands, by automatic differentiation."""

    def loss(factors: Factors) -> Float[Array, ""]:
        tokens, queries, scores = data
        attended = jnp.einsum("ntd,nd->nt", tokens, queries @ _multiply(factors).T)
        gained = jnp.sum(jax.nn.softmax(attended, axis=1) * scores, axis=1)
        penalty = sum(jnp.sum(factor**2) for factor in factors)
        return jnp.mean(jnp.log(1 + jnp.exp(-gained))) + ridge * penalty

    return tuple(-slope for slope in jax.grad(loss)(factors))


def _scaled_direction(factors: Factors, data: Data, ridge: float) -> Factors:
    """Minus the gradient over the largest softmax weight of a token that is not selected."""
    tokens, queries, scores = data
    attended = jnp.einsum("ntd,nd->nt", tokens, queries @ _multiply(factors).T)
    selected = jnp.argmax(attended, axis=1)
    rows = jnp.arange(len(queries))
    logs = jax.nn.log_softmax(attended, axis=1).at[rows, selected].set(-jnp.inf)
    unit = jnp.max(logs)
    chosen = scores[rows, selected]
    gaps = chosen[:, None] - scores
    gap = jnp.sum(jnp.exp(logs) * gaps, axis=1)
    pull = jnp.exp(logs - unit) * (gaps - gap[:, None])
    pull = pull * jax.nn.sigmoid(gap - chosen)[:, None] / len(queries)
    at = tokens[rows, selected]
    toward = (
        jnp.sum(pull, axis=1)[:, None] * at - jnp.einsum("nt,ntd->nd", pull, tokens)
    ).T @ queries
    if len(factors) == 1:
        moves: Factors = (toward,)
    else:
        moves = (toward @ factors[1], toward.T @ factors[0])
    held = 2 * ridge * jnp.exp(jnp.minimum(-unit, MOST_EXPONENT))
    return tuple(move - held * factor for move, factor in zip(moves, factors, strict=True))
