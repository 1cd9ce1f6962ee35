"""The loss of a sample as a function of the student: what the explorer descends on, by steps."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.numerics.least_norm import Infeasible
from tutelage.objectives.base import Objective
from tutelage.papers.attention_svm.parts.sample import Sample
from tutelage.papers.attention_svm.parts.students import FixedHead
from tutelage.papers.attention_svm.theory.programmes import max_margin
from tutelage.refuse import Refused
from tutelage.students.base import Student


class SequenceLoss(Objective):
    r"""$\frac1n\sum_i \log(1+e^{-Y_i f_i})$, with its excess over attending to the best tokens.

    By gaps g = Σ s_t(γ_best − γ_t), all of one sign, so that neither the excess nor its gradient
    cancels while the weights can be held at all.
    """

    has_gradient: ClassVar[bool] = True

    tokens: Float[Array, "n T d"]
    queries: Float[Array, "n d"]
    gaps: Float[Array, "n T"]  # γ_best − γ_t
    best_scores: Float[Array, "n"]
    target: Float[Array, "d d"]  # W^mm of the best tokens; zero where they cannot be selected

    def __init__(self, sample: Sample) -> None:
        best = sample.scores.max(1)
        self.tokens, self.queries = jnp.asarray(sample.tokens), jnp.asarray(sample.queries)
        self.gaps, self.best_scores = jnp.asarray(best[:, None] - sample.scores), jnp.asarray(best)
        try:
            target = max_margin(sample, sample.best).matrix
        except Infeasible:
            target = np.zeros((sample.tokens.shape[2],) * 2)
        self.target = jnp.asarray(target)

    def weights(self, student: FixedHead) -> Float[Array, "n T"]:
        """The softmax weights of every sequence."""
        image = self.queries @ student.attention_matrix.T
        return jax.nn.softmax(jnp.einsum("ntd,nd->nt", self.tokens, image), axis=1)

    def __call__(self, student: Student) -> Float[Array, ""]:
        return self.excess(student) + jnp.mean(jax.nn.softplus(-self.best_scores))

    def excess(self, student: Student) -> Float[Array, ""]:
        assert isinstance(student, FixedHead)
        gap = jnp.sum(self.weights(student) * self.gaps, axis=1)
        return jnp.mean(jnp.log1p(jnp.expm1(gap) / (1 + jnp.exp(self.best_scores))))

    def gradient(self, student: Student) -> Student:
        slope: Student = eqx.filter_grad(self.excess)(student)
        return slope

    def check(self, student: Student) -> None:
        if not isinstance(student, FixedHead):
            raise Refused(
                "The loss of labelled sequences is one of attention with a fixed head, since the "
                f"head gives the scores. Got {type(student).__name__}."
            )


def margin_miss(student: FixedHead, objective: SequenceLoss) -> Float[Array, ""]:
    """1 − corr(W, W^mm), W^mm of the best tokens; ½ while W is zero."""
    return 0.5 * jnp.sum((_unit(student.attention_matrix) - _unit(objective.target)) ** 2)


def best_weight(student: FixedHead, objective: SequenceLoss) -> Float[Array, ""]:
    """The mean over sequences of the weight of the best token."""
    at_best = jnp.where(objective.gaps == 0, objective.weights(student), 0.0)
    return jnp.mean(jnp.sum(at_best, axis=1))


def _unit(matrix: Float[Array, "d d"]) -> Float[Array, "d d"]:
    length = jnp.linalg.norm(matrix)
    return matrix / jnp.where(length > 0, length, jnp.ones_like(length))
