r"""A new task with the same group: $y = \mathrm{sign}\langle u, x_{j^*}\rangle$ with another u.

One pass over n fresh samples by plain logistic steps of size $k^{-q}$, on the features that frozen
attention gives ($\sum_i w_i x_i$, d numbers) or on all dD features. The error of every iterate is
exact: with correlation c between the score and $\langle u, x_{j^*}\rangle$ it is arccos(c)/π.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.special import ndtr, ndtri

from tutelage.calculations.base import Calculated, Calculation, Ingredients
from tutelage.numerics.grids import log_spaced
from tutelage.numerics.streams import generator
from tutelage.papers.group_sparse.parts.teacher import GroupSigns
from tutelage.refuse import Refused, one_of, whole

LEARNERS = ("frozen", "vectorised")
PER_DECADE = 12
BEYOND = 9.0  # deviations after which a normal is not integrated
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(120)


class GroupDownstream(Calculation):
    """`error` of the last iterate and `mean_error` of all, after each of log-spaced samples."""

    def __init__(
        self, samples: int, learner: str, missed: float, margin: float, decay: float = 0.5
    ) -> None:
        self.samples = whole("samples", samples, least=1, reason="a task has samples")
        self.learner = one_of("learner", learner, LEARNERS)
        if not 0 <= missed < 1:
            raise Refused(
                "`missed` must be at least 0 and below 1, since it is the weight 1 − s that "
                f"frozen attention leaves to the other groups. Got {missed!r}."
            )
        if not 0 <= margin <= 3:
            raise Refused(
                "`margin` must be between 0 and 3, since samples with a smaller |⟨u, x⟩| are left "
                f"out and some must remain. Got {margin!r}."
            )
        if not 0 <= decay <= 1:
            raise Refused(
                "`decay` must be between 0 and 1, since the k-th step has the size k^−decay: 0 is "
                f"steps of one size, and steps that shrink faster than 1/k stop. Got {decay!r}."
            )
        self.missed, self.margin, self.decay = float(missed), float(margin), float(decay)

    def __call__(self, given: Ingredients) -> Calculated:
        teacher = given.teacher
        if not isinstance(teacher, GroupSigns):
            raise Refused(
                "A downstream task needs the teacher 'group_signs', which says how many groups "
                f"there are. Got {given.setting.teacher.name!r}."
            )
        groups, dim = teacher.groups, len(teacher.direction)
        draw = generator(given.seed, "downstream task")
        truth = draw.standard_normal(dim)
        truth /= np.linalg.norm(truth)
        tokens = draw.standard_normal((self.samples, groups, dim))
        along = draw_along(draw.random(self.samples), self.margin)
        tokens[:, 0] += np.outer(along - tokens[:, 0] @ truth, truth)
        weights = np.full(groups, groups * self.missed / (groups - 1))
        weights[0] = groups * (1 - self.missed)
        if self.learner == "frozen":
            features = np.einsum("ngd,g->nd", tokens, weights)
            target = truth * weights[0] / np.linalg.norm(weights)
        else:
            features = tokens.reshape(self.samples, -1)
            target = np.concatenate([truth, np.zeros((groups - 1) * dim)])
        cosines = learn_online(features, np.sign(along), target, self.decay)
        errors = error_of(cosines, self.margin)
        axis = log_spaced(self.samples, PER_DECADE)[1:]
        means = np.cumsum(errors) / np.arange(1, self.samples + 1)
        return Calculated(axis, {"error": errors[axis - 1], "mean_error": means[axis - 1]})


def draw_along(uniform: Float[np.ndarray, "n"], margin: float) -> Float[np.ndarray, "n"]:
    """Normals with |g| ≥ m from uniform numbers, by the inverse of their distribution."""
    tail = 2 * ndtr(-margin)
    folded = np.abs(2 * uniform - 1)  # uniform again, beside the sign
    return np.sign(2 * uniform - 1) * -ndtri(folded * tail / 2)


def learn_online(
    features: Float[np.ndarray, "n m"],
    labels: Float[np.ndarray, "n"],
    target: Float[np.ndarray, "m"],
    decay: float = 0.5,
) -> Float[np.ndarray, "n"]:
    """cos of the angle between each iterate, after its step, and a target."""
    rates = np.arange(1.0, len(labels) + 1) ** -decay
    return np.asarray(_learn_online(features, labels, rates, target))


@jax.jit
def _learn_online(
    features: Float[Array, "n m"],
    labels: Float[Array, "n"],
    rates: Float[Array, "n"],
    target: Float[Array, "m"],
) -> Float[Array, "n"]:
    def step(value: Float[Array, "m"], given: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        row, label, rate = given
        value = value + rate * label * jax.nn.sigmoid(-label * (row @ value)) * row
        return value, value @ target / jnp.linalg.norm(value)

    return jax.lax.scan(step, jnp.zeros(features.shape[1]), (features, labels, rates))[1]


def error_of(cosines: Float[np.ndarray, "n"], margin: float) -> Float[np.ndarray, "n"]:
    """P(sign of the score is wrong): arccos(c)/π, or its integral over |g| ≥ m."""
    if not margin:
        return np.asarray(np.arccos(np.clip(cosines, -1, 1)) / math.pi)
    half = (BEYOND - margin) / 2
    g = margin + half * (1 + _NODES)
    mass = half * _WEIGHTS * np.exp(-(g**2) / 2) / math.sqrt(2 * math.pi) / ndtr(-margin)
    slopes = cosines / np.sqrt(np.maximum(1 - cosines**2, 1e-300))
    return np.asarray(ndtr(-slopes[:, None] * g) @ mass)
