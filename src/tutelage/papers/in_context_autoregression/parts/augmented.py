"""Augmented tokens (0, s_t, s_{t−1}): a head of scalar blocks, and its exact loss."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.numerics.streams import generator
from tutelage.objectives.base import Objective
from tutelage.papers.in_context_autoregression.parts.estimates import HAAR_DRAWS
from tutelage.papers.in_context_autoregression.parts.rotations import RotatingTokens, join, split
from tutelage.papers.in_context_autoregression.theory.gradient_step import (
    SAME,
    STEP,
    STEP_KIND,
    TERMS,
    gram,
    pull,
)
from tutelage.refuse import Refused, one_of
from tutelage.students.base import Student

LAWS = ("diagonal", "haar")


class ScalarAttention(Student):
    """f(X) = Σ_t Σ_ekq v_e m_kq s_{t−e} ⟨s_{t−k}, s_{n−q}⟩ for tokens s_0, …, s_n."""

    value: Float[Array, "2"]  # of s_t and s_{t−1}
    match: Float[Array, "2 2"]  # of key and query, each of now and before

    @property
    def coefficients(self) -> Float[Array, "8"]:
        """One per term, in the order of `TERMS`."""
        return jnp.einsum("e,kq->ekq", self.value, self.match).ravel()

    def __call__(self, tokens: Float[Array, "reals m"]) -> Float[Array, "reals"]:
        given = join(tokens)
        value, match = self.value.astype(given.dtype), self.match.astype(given.dtype)
        now, before = given[:, 1:], given[:, :-1]
        values = value[0] * now + value[1] * before
        both, asked = (now, before), (given[:, -1], given[:, -2])
        matches = sum(
            match[k, q] * (jnp.conj(both[k]).T @ asked[q]) for k in (0, 1) for q in (0, 1)
        )
        return split(values @ matches)


def draw_scalars(seed: int, start: float) -> ScalarAttention:
    """Normal entries of size `start`."""
    drawn = generator(seed, "scalar attention").standard_normal(6)
    return ScalarAttention(
        jnp.asarray(start * drawn[:2]), jnp.asarray(start * drawn[2:]).reshape(2, 2)
    )


class AugmentedLoss(Objective):
    """The expected squared error of the next token, a mean over coordinates and prefixes 1, …, N.

    Matrices W are diagonal with independent angles, where moments are counted; or Haar orthogonal
    matrices, as in the published script, where they are means over a sample.
    """

    has_gradient: ClassVar[bool] = True

    form: Float[Array, "8 8"]
    best: Float[Array, "8"]
    least: Float[Array, ""]

    def __init__(self, teacher: RotatingTokens, matrices: str, seed: int) -> None:
        if teacher.process != "unitary":
            raise Refused(
                "Moments of augmented tokens are counted for independent angles, the process "
                f"'unitary'. Got {teacher.process!r}."
            )
        prefixes = teacher.tokens - 1
        if one_of("law of matrices", matrices, LAWS) == "haar":
            form, linear = haar_moments(teacher.dim, prefixes, seed)
        else:
            form, linear = gram(teacher.dim, prefixes), pull(prefixes)
        best = np.linalg.lstsq(form, linear, rcond=None)[0]
        self.form, self.best = jnp.asarray(form / prefixes), jnp.asarray(best)
        self.least = jnp.asarray(1 - linear @ best / prefixes)

    def __call__(self, student: Student) -> Float[Array, ""]:
        return self.excess(student) + self.least

    def excess(self, student: Student) -> Float[Array, ""]:
        """Over the best of all eight coefficients."""
        assert isinstance(student, ScalarAttention)
        apart = student.coefficients - self.best
        return apart @ self.form @ apart

    def gradient(self, student: Student) -> Student:
        slope: Student = eqx.filter_grad(self.excess)(student)
        return slope

    def check(self, student: Student) -> None:
        if not isinstance(student, ScalarAttention):
            raise Refused(
                "The loss of augmented tokens is known for a head of scalar blocks. Got "
                f"{type(student).__name__}."
            )


def haar_moments(
    dim: int, prefixes: int, seed: int
) -> tuple[Float[np.ndarray, "8 8"], Float[np.ndarray, "8"]]:
    """Moments of the terms over Haar orthogonal matrices W and the start 1, per coordinate."""
    drawn = generator(seed, "haar matrices").standard_normal((HAAR_DRAWS, dim, dim))
    basis, upper = np.linalg.qr(drawn)
    matrices = basis * np.sign(np.einsum("nii->ni", upper))[:, None, :]
    tokens = [np.ones((HAAR_DRAWS, dim))]
    for _ in range(prefixes + 1):
        tokens.append(np.einsum("nij,nj->ni", matrices, tokens[-1]))
    every = np.stack(tokens, axis=1)
    form, linear = np.zeros((len(TERMS), len(TERMS))), np.zeros(len(TERMS))
    sums = np.zeros((2, 2, HAAR_DRAWS, dim, dim))  # Σ_t s_{t−e} s_{t−k}ᵀ
    for n in range(1, prefixes + 1):
        for e in (0, 1):
            for k in (0, 1):
                sums[e, k] += every[:, n - e, :, None] * every[:, n - k, None, :]
        terms = np.stack(
            [np.einsum("nij,nj->ni", sums[e, k], every[:, n - q]) for e, k, q in TERMS]
        )
        form += np.einsum("ani,bni->ab", terms, terms) / (HAAR_DRAWS * dim)
        linear += np.einsum("ani,ni->a", terms, every[:, n + 1]) / (HAAR_DRAWS * dim)
    return form, linear


def step_size(student: ScalarAttention, objective: AugmentedLoss) -> Float[Array, ""]:
    """The coefficient of value s_t, key s_{t−1} and query s_n."""
    return student.coefficients[STEP]


def other_terms(student: ScalarAttention, objective: AugmentedLoss) -> Float[Array, ""]:
    """The largest other coefficient, relative to that one; of terms that are the same function the
    sum.
    """
    found = jnp.abs(jnp.asarray(SAME) @ student.coefficients)
    return jnp.max(found.at[STEP_KIND].set(0.0)) / found[STEP_KIND]


def augmented_loss(student: ScalarAttention, objective: AugmentedLoss) -> Float[Array, ""]:
    """The loss itself."""
    return objective(student)
