r"""The population loss of the next token, exact, summed over the prefixes of 2, …, T tokens.

For independent uniform angles the monomials $\lambda_j^{t-m+2}\lambda_i^t$ of an output are
orthogonal, but for $t = m-2$, where all j have the same one. Per prefix, with $\ell = m-2$ the
place of the query and n = m − 1 that of the newest token,
$$\sum_{t\ne\ell,n}p_t^2\,\|C\|^2 + p_\ell^2\,\|C1\|^2 + \|p_nC - I\|^2 .$$
For angles in pairs $\pm\theta$ the partner $\bar\imath$ of i has the monomial $\lambda_i^{m-2}$ at
every t: with $\bar p=\sum_{t\ne\ell}p_t$ and C′ that is C without its entries $C_{i\bar\imath}$,
$$\sum_i\bigl(p_\ell(C1)_i + \bar p\,C_{i\bar\imath}\bigr)^2 + \sum_{t\ne\ell,n}p_t^2\,\|C'\|^2 +
\|p_nC' - I\|^2 .$$
Both are sums of squares, so that nothing cancels near zero.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.objectives.base import Objective
from tutelage.papers.in_context_autoregression.parts.attention import LinearAttention
from tutelage.papers.in_context_autoregression.parts.rotations import RotatingTokens
from tutelage.papers.in_context_autoregression.theory.minima import unitary_floor
from tutelage.refuse import Refused, one_of
from tutelage.students.base import Student

COUNTS = ("once", "twice")


class Weights(NamedTuple):
    """The position weights of every prefix, by what they weigh."""

    newest: Float[Array, "R"]
    query: Float[Array, "R"]  # on the token of the query, one before the newest
    older: Float[Array, "R T"]  # on all others


def sort_weights(student: LinearAttention) -> Weights:
    """The used entries of P."""
    weights = student.weights
    newest, query = jnp.diagonal(weights, 1), jnp.diagonal(weights)
    rows, tokens = weights.shape
    others = np.eye(rows, tokens) + np.eye(rows, tokens, k=1) == 0
    return Weights(newest, query, jnp.where(others, weights, 0.0))


def pairing(dim: int) -> np.ndarray:
    """The permutation of a feature and its partner, as a matrix."""
    if dim % 2:
        raise Refused(
            "`dim` must be even, since every feature has a partner here, of the angle −θ. Got "
            f"dim={dim}."
        )
    return np.kron(np.eye(dim // 2), [[0.0, 1.0], [1.0, 0.0]])


class NextTokenLoss(Objective):
    """The expected squared error of the next token, summed over prefixes.

    With `counted` = "twice" the loss of the published script for independent angles, which has
    p_ℓ²‖C‖² beside p_ℓ²‖C1‖².
    """

    has_gradient: ClassVar[bool] = True

    teacher: RotatingTokens
    counted: str = eqx.field(static=True)

    def __init__(self, teacher: RotatingTokens, counted: str = "once") -> None:
        self.teacher, self.counted = teacher, one_of("count", counted, COUNTS)
        if counted == "twice" and teacher.process != "unitary":
            raise Refused(
                "`counted` may be 'twice' for the unitary process alone, since that is the loss "
                f"of its published script. Got the process {teacher.process!r}."
            )

    @property
    def rows(self) -> int:
        """R, the number of prefixes."""
        return self.teacher.tokens - 1

    def __call__(self, student: Student) -> Float[Array, ""]:
        assert isinstance(student, LinearAttention)
        matrix, weights = student.matrix, sort_weights(student)
        if self.teacher.process == "orthogonal":
            return _paired_loss(matrix, weights)
        loss = _independent_loss(matrix, weights)
        if self.counted == "twice":
            loss = loss + jnp.sum(weights.query**2) * jnp.sum(matrix**2)
        return loss

    def excess(self, student: Student) -> Float[Array, ""]:
        """Over R(d − H) for independent angles; of pairs the loss itself."""
        assert isinstance(student, LinearAttention)
        heads, dim = student.scores.shape
        unitary = self.teacher.process == "unitary"
        floor = unitary_floor(dim, heads) if unitary else 0
        return self(student) - self.rows * floor

    def gradient(self, student: Student) -> Student:
        slope: Student = eqx.filter_grad(self.__call__)(student)
        return slope

    def check(self, student: Student) -> None:
        if not isinstance(student, LinearAttention):
            raise Refused(
                "The loss of the next token is known for linear attention with diagonal heads. "
                f"Got {type(student).__name__}."
            )


def _independent_loss(matrix: Float[Array, "d d"], weights: Weights) -> Float[Array, ""]:
    older = jnp.sum(weights.older**2) * jnp.sum(matrix**2)
    query = jnp.sum(weights.query**2) * jnp.sum(jnp.sum(matrix, axis=1) ** 2)
    return older + query + _newest_loss(matrix, weights.newest)


def _paired_loss(matrix: Float[Array, "d d"], weights: Weights) -> Float[Array, ""]:
    partners = pairing(len(matrix))
    beside = jnp.where(partners > 0, 0.0, matrix)
    every = weights.newest + jnp.sum(weights.older, axis=1)
    common = jnp.outer(weights.query, jnp.sum(matrix, axis=1))
    common = common + jnp.outer(every, jnp.sum(matrix * partners, axis=1))
    older = jnp.sum(weights.older**2) * jnp.sum(beside**2)
    return jnp.sum(common**2) + older + _newest_loss(beside, weights.newest)


def _newest_loss(matrix: Float[Array, "d d"], newest: Float[Array, "R"]) -> Float[Array, ""]:
    """Σ‖p_n C − I‖², over prefixes."""
    scaled = jnp.einsum("r,ij->rij", newest, matrix)
    return jnp.sum((scaled - jnp.eye(len(matrix))[None]) ** 2)
