"""The teacher: the mean of the tokens in a subset that the input names."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.refuse import Refused, whole
from tutelage.teachers.base import Shape, Teacher

LARGEST = 2**53  # up to which a float holds every whole number


class SubsetAverage(Teacher):
    """f*(X, y) = (1/q) Σ_{i∈y} x_i, for each of some subsets y.

    An input has d rows of tokens and one row of marks per subset, which holds the q tokens of
    largest mark. With Gaussian marks every subset is equally likely.
    """

    dim: int = eqx.field(static=True)
    tokens: int = eqx.field(static=True)
    support: int = eqx.field(static=True)
    queries: int = eqx.field(static=True)

    def __init__(self, dim: int, tokens: int, support: int, queries: int = 1) -> None:
        self.dim = _count("dim", dim, reason="tokens have at least one feature")
        self.tokens = _count("tokens", tokens, least=2, reason="one must be left out of the subset")
        self.support = _count("support", support, reason="a subset has a mean")
        self.queries = _count("queries", queries, reason="a subset must be asked about")
        if self.support >= self.tokens:
            raise Refused(
                "`support` must be smaller than `tokens`, since there is nothing to select where "
                f"the subset is everything. Got support={support}, tokens={tokens}."
            )

    @property
    def shape(self) -> Shape:
        return Shape(self.dim, self.dim + self.queries, self.tokens, self.queries)

    def __call__(self, tokens: Float[Array, "r T"]) -> Float[Array, "d Q"]:
        return tokens[: self.dim] @ find_subsets(tokens[self.dim :], self.support) / self.support


def _count(name: str, value: object, *, reason: str, least: int = 1) -> int:
    beyond = "closed forms count in floating point, which skips whole numbers beyond it"
    return whole(name, value, least=least, reason=reason, most=LARGEST, beyond=beyond)


def find_subsets(marks: Float[Array, "Q T"], support: int) -> Float[Array, "T Q"]:
    """1 for the tokens of largest mark in each row, else 0."""
    _, chosen = jax.lax.top_k(marks, support)
    return jax.nn.one_hot(chosen, marks.shape[1], dtype=marks.dtype).sum(1).T


def neighbouring_subsets(tokens: int, support: int, queries: int) -> Float[Array, "T Q"]:
    """Subsets to look at: q neighbours each, the first tokens spread over the sequence."""
    first = (jnp.arange(queries) * tokens) // queries
    chosen = (first[:, None] + jnp.arange(support)[None]) % tokens
    return jax.nn.one_hot(chosen, tokens, dtype=float).sum(1).T
