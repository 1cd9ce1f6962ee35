"""The students: one softmax head as a whole, and the two numbers of it that move from zero."""

from __future__ import annotations

import abc
import math
from itertools import combinations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.papers.token_selection.parts.codes import Codes
from tutelage.papers.token_selection.parts.estimates import MOST_SUBSETS
from tutelage.papers.token_selection.parts.teacher import (
    SubsetAverage,
    find_subsets,
    neighbouring_subsets,
)
from tutelage.refuse import Refused
from tutelage.students.base import Student


class SubsetHead(Student):
    """A head that is asked about subsets: what its risk and its measures need."""

    @abc.abstractmethod
    def miss(self) -> Float[Array, ""]:
        """E Σ_i ‖s_i V − (1/q)1[i ∈ y] I‖²_F, s_i the weights of the tokens."""

    @property
    @abc.abstractmethod
    def value_scale(self) -> Float[Array, ""]:
        """α, of V = αI."""

    @property
    @abc.abstractmethod
    def score_gap(self) -> Float[Array, ""]:
        """C, by which the subset is scored higher."""

    @abc.abstractmethod
    def chosen_weight(self) -> Float[Array, ""]:
        """The mean attention that the subset gets."""


class SubsetAttention(SubsetHead):
    """f(X, y) = V X softmax(M 1_y): codes are fixed and orthonormal, and M is the code block of W
    in their basis. Its risk goes over all subsets.
    """

    value: Float[Array, "d d"]
    scores: Float[Array, "T T"]
    subsets: Float[Array, "S T"]  # all of them, as rows of 0 and 1
    support: int = eqx.field(static=True)
    queries: int = eqx.field(static=True)

    @classmethod
    def zeros(cls, teacher: SubsetAverage) -> SubsetAttention:
        many = math.comb(teacher.tokens, teacher.support)
        if many > MOST_SUBSETS:
            raise Refused(
                f"A whole head goes over all subsets in every step, at most {MOST_SUBSETS}. Got "
                f"{many:,} of {teacher.support} in {teacher.tokens} tokens; the student "
                "'selection_head' has no such limit."
            )
        return cls(
            value=jnp.zeros((teacher.dim, teacher.dim)),
            scores=jnp.zeros((teacher.tokens, teacher.tokens)),
            subsets=jnp.asarray(list_subsets(teacher.tokens, teacher.support)),
            support=teacher.support,
            queries=teacher.queries,
        )

    def __call__(self, tokens: Float[Array, "r T"]) -> Float[Array, "d Q"]:
        dim = len(self.value)
        chosen = find_subsets(tokens[dim:], self.support)
        return self.value @ tokens[:dim] @ jax.nn.softmax(self.scores @ chosen, axis=0)

    @property
    def fixed(self) -> tuple[str, ...]:
        return ("subsets",)

    @property
    def value_scale(self) -> Float[Array, ""]:
        return jnp.mean(jnp.diag(self.value))

    @property
    def score_gap(self) -> Float[Array, ""]:
        """The mean of M on the diagonal less that beside it."""
        tokens = len(self.scores)
        along = jnp.trace(self.scores)
        return (along - (jnp.sum(self.scores) - along) / (tokens - 1)) / tokens

    def _weights(self) -> Float[Array, "S T"]:
        return jax.nn.softmax(self.subsets @ self.scores.T, axis=1)

    def miss(self) -> Float[Array, ""]:
        targets = self.subsets / self.support
        unit = jnp.eye(len(self.value), dtype=self.value.dtype)[None, None]
        weights = self._weights()[..., None, None]
        apart = weights * self.value[None, None] - targets[..., None, None] * unit
        return jnp.mean(jnp.sum(apart**2, axis=(1, 2, 3)))

    def chosen_weight(self) -> Float[Array, ""]:
        return jnp.mean(jnp.sum(self._weights() * self.subsets, axis=1))

    def attention(self) -> Float[Array, "T Q"]:
        """The weights for each of the subsets of `neighbouring_subsets`."""
        shown = neighbouring_subsets(len(self.scores), self.support, self.queries)
        return jax.nn.softmax(self.scores @ shown, axis=0)


class SelectionHead(SubsetHead):
    """The part of a head that moves from zero: V = αI and scores C·(overlaps of the codes).

    What is trained is √d·α and √N·C: the lengths of V and W, so that descent on these two numbers
    with the step size of the whole head is that of the whole head.
    """

    value_length: Float[Array, ""]
    score_length: Float[Array, ""]
    dim: Float[Array, ""]
    modes: Float[Array, ""]
    overlaps: Float[Array, "draws groups"]
    counts: Float[Array, "groups"]
    targets: Float[Array, "groups"]

    @classmethod
    def zeros(cls, dim: int, codes: Codes) -> SelectionHead:
        return cls(
            value_length=jnp.zeros(()),
            score_length=jnp.zeros(()),
            dim=jnp.asarray(float(dim)),
            modes=jnp.asarray(codes.modes),
            overlaps=jnp.asarray(codes.overlaps),
            counts=jnp.asarray(codes.counts),
            targets=jnp.asarray(codes.targets),
        )

    def __call__(self, tokens: Float[Array, "r T"]) -> Float[Array, "d Q"]:
        raise Refused(
            "A selection head has no output of its own, since it knows its codes only by their "
            "overlaps. Train the student 'subset_attention' to look at its output."
        )

    @property
    def fixed(self) -> tuple[str, ...]:
        return "dim", "modes", "overlaps", "counts", "targets"

    @property
    def value_scale(self) -> Float[Array, ""]:
        return self.value_length / jnp.sqrt(self.dim)

    @property
    def score_gap(self) -> Float[Array, ""]:
        return self.score_length / jnp.sqrt(self.modes)

    def _weights(self) -> Float[Array, "draws groups"]:
        """The weight of each token that an entry stands for."""
        scores = self.score_gap * self.overlaps
        lifted = jnp.exp(scores - jax.lax.stop_gradient(jnp.max(scores, axis=1, keepdims=True)))
        return lifted / jnp.sum(self.counts[None] * lifted, axis=1, keepdims=True)

    def miss(self) -> Float[Array, ""]:
        apart = self.value_scale * self._weights() - self.targets[None]
        return self.dim * jnp.mean(jnp.sum(self.counts[None] * apart**2, axis=1))

    def chosen_weight(self) -> Float[Array, ""]:
        chosen = jnp.where(self.targets > 0, self.counts, jnp.zeros_like(self.counts))
        return jnp.mean(jnp.sum(chosen[None] * self._weights(), axis=1))


def list_subsets(tokens: int, support: int) -> Float[np.ndarray, "S T"]:
    """All subsets of a size, as rows of 0 and 1."""
    chosen = np.array(list(combinations(range(tokens), support)))
    rows = np.zeros((len(chosen), tokens))
    np.put_along_axis(rows, chosen, 1.0, axis=1)
    return rows
