"""Position weights alone: one slowly turning feature, the weights P, and their quadratic loss."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.calculations.base import Calculated, Calculation, Ingredients
from tutelage.numerics.streams import generator
from tutelage.objectives.base import Objective
from tutelage.papers.in_context_autoregression.parts.attention import used_entries
from tutelage.papers.in_context_autoregression.parts.rotations import join, split
from tutelage.papers.in_context_autoregression.theory.slepian import Filter, slepian_matrix
from tutelage.refuse import Refused, positive, whole
from tutelage.students.base import Student
from tutelage.teachers.base import Shape, Teacher


class SlowRotation(Teacher):
    """f*(X) = s_m = s_{m−1}² conj(s_{m−2}), for one feature that turns by θ/μ, θ uniform."""

    tokens: int = eqx.field(static=True)
    slowness: float = eqx.field(static=True)

    def __init__(self, tokens: int, slowness: float) -> None:
        self.tokens = whole("tokens", tokens, least=2, reason="two tokens tell an angle")
        self.slowness = positive("slowness", slowness, reason="angles are divided by it")

    @property
    def shape(self) -> Shape:
        return Shape(2, 2, self.tokens, 1)

    def __call__(self, tokens: Float[Array, "2 m"]) -> Float[Array, "2"]:
        given = join(tokens)
        return split(given[:, -1] ** 2 * jnp.conj(given[:, -2]))


def require_slow(teacher: Teacher) -> SlowRotation:
    if not isinstance(teacher, SlowRotation):
        raise Refused(
            "Position weights alone are for the teacher 'slow_rotation'. Got "
            f"{type(teacher).__name__}."
        )
    return teacher


class PositionWeights(Student):
    """f(X) = Σ_t p_t s_t ⟨s_{m−2}, s_t⟩ for m tokens of one feature, p row m − 2 of P."""

    positions: Float[Array, "R T"]

    @property
    def weights(self) -> Float[Array, "R T"]:
        """The entries of P that are used, and zeros."""
        return jnp.where(used_entries(self.positions.shape[1]), self.positions, 0.0)

    def __call__(self, tokens: Float[Array, "2 m"]) -> Float[Array, "2"]:
        given = join(tokens)[0]
        count = len(given)
        terms = given * given * jnp.conj(given[count - 2])
        return split((terms @ self.positions[count - 2, :count].astype(given.dtype))[None])


class PositionLoss(Objective):
    """The expected squared error of the next token, a mean over prefixes: (p − e)ᵀG(p − e)."""

    has_gradient: ClassVar[bool] = True

    form: Float[Array, "T T"]

    def __init__(self, teacher: SlowRotation) -> None:
        self.form = jnp.asarray(slepian_matrix(teacher.tokens, teacher.slowness))

    def __call__(self, student: Student) -> Float[Array, ""]:
        assert isinstance(student, PositionWeights)
        weights = student.weights
        rows, tokens = weights.shape
        apart = weights - jnp.eye(rows, tokens, k=1)
        return jnp.sum((apart @ self.form) * apart) / len(apart)

    def gradient(self, student: Student) -> Student:
        slope: Student = eqx.filter_grad(self.__call__)(student)
        return slope

    def check(self, student: Student) -> None:
        if not isinstance(student, PositionWeights):
            raise Refused(
                "The loss of a slow rotation is that of position weights alone. Got "
                f"{type(student).__name__}."
            )


def position_weights(student: PositionWeights, objective: PositionLoss) -> Float[Array, "R T"]:
    """P, with zeros where it is not used."""
    return student.weights


class SampledDescent(Calculation):
    """Descent on the mean over some drawn angles until the loss is below `until`, as a script does
    it; beside the filter of the population at as many steps as that needs.

    `correlation` of both P over used entries, the `steps` of each, and the largest `gap`.
    """

    def __init__(self, angles: int, rate: float, until: float, bandwidth: float) -> None:
        self.angles = whole("angles", angles, least=1, reason="the loss is a mean over them")
        self.rate = positive("rate", rate, reason="a step moves against the gradient")
        self.until = positive("until", until, reason="descent stops at that loss")
        self.bandwidth = positive("bandwidth", bandwidth, reason="the filter has a bandwidth")

    def __call__(self, given: Ingredients) -> Calculated:
        teacher = given.teacher
        if not isinstance(teacher, SlowRotation):
            raise Refused(
                "Angles are drawn for the teacher 'slow_rotation'. Got "
                f"{given.setting.teacher.name!r}."
            )
        turns = generator(given.seed, "slow angles").uniform(0, 2 * np.pi, self.angles)
        sampled, steps = descend(turns / teacher.slowness, teacher.tokens, self.rate, self.until)
        population = Filter(teacher.tokens, teacher.slowness / self.bandwidth, self.rate)
        count = population.steps_until(self.until)
        used = used_entries(teacher.tokens)
        ours, theirs = population.weights(count)[used], sampled[used]
        return Calculated.numbers(
            correlation=float(np.corrcoef(ours, theirs)[0, 1]),
            gap=float(np.abs(ours - theirs).max()),
            sampled_steps=steps,
            population_steps=count,
            learned_modes=population.learned_modes(count),
        )


def descend(
    angles: Float[np.ndarray, "n"], tokens: int, rate: float, until: float
) -> tuple[Float[np.ndarray, "R T"], int]:
    """P after literal steps on the mean squared error over angles, and how many they were."""
    powers = np.exp(1j * np.outer(angles, np.arange(2 * tokens)))
    rows = tokens - 1
    features = np.zeros((rows, len(angles), tokens), complex)
    targets = np.zeros((rows, len(angles)), complex)
    for row in range(rows):
        count = row + 2
        features[row, :, :count] = powers[:, :count] ** 2 * np.conj(powers[:, [count - 2]])
        targets[row] = powers[:, count]
    forms = np.einsum("rnt,rnu->rtu", np.conj(features), features).real / len(angles)
    pulls = np.einsum("rnt,rn->rt", np.conj(features), targets).real / len(angles)
    weights, steps = np.zeros((rows, tokens)), 0
    while True:
        pushed = np.einsum("rtu,ru->rt", forms, weights)
        loss = np.mean(1 + np.sum(weights * (pushed - 2 * pulls), axis=1))
        if loss < until:
            return weights, steps
        weights = weights - 2 * rate / rows * (pushed - pulls)
        steps += 1
