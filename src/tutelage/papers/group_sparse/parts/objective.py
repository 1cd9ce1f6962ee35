"""The population risk as a function of the student: exact, by the integral of theory/risk.py."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.inputs.base import Inputs
from tutelage.inputs.gaussian import Gaussian
from tutelage.objectives.base import Objective
from tutelage.papers.group_sparse.parts.student import GroupAttention
from tutelage.papers.group_sparse.parts.teacher import GroupSigns
from tutelage.papers.group_sparse.theory.risk import DENSITY_AT_ZERO, NODES, WEIGHTS
from tutelage.refuse import Refused
from tutelage.students.base import Student


class GroupRisk(Objective):
    r"""$L = G(τ) - A/\sqrt{2π}$ with $τ = \|v\|\|w\|$ and $A = \langle v, v^*\rangle w_{j^*}$.

    Inputs are standard normal. The least risk is 0.
    """

    has_gradient: ClassVar[bool] = True

    direction: Float[Array, "d"]

    def __init__(self, teacher: GroupSigns, inputs: Inputs) -> None:
        if not _is_standard(inputs):
            raise Refused(
                "The risk of group signs is known in closed form for standard normal features, "
                f"without `covariance` or `correlation`. Got {inputs!r}."
            )
        self.direction = teacher.direction

    def __call__(self, student: Student) -> Float[Array, ""]:
        assert isinstance(student, GroupAttention)
        weights = student.group_weights()
        square = jnp.sum(student.value**2) * jnp.sum(weights**2)
        signal = (self.direction @ student.value) * weights[0]
        return even_part(square) - DENSITY_AT_ZERO * signal

    def excess(self, student: Student) -> Float[Array, ""]:
        """The same without cancellation: τ² − A² is a sum of squares."""
        assert isinstance(student, GroupAttention)
        value, weights = student.value, student.group_weights()
        along = self.direction @ value
        signal, others = along * weights[0], jnp.sum(weights[1:] ** 2)
        apart = jnp.sum((value - along * self.direction) ** 2)
        lost = jnp.sum(value**2) * others + weights[0] ** 2 * apart
        deviation = jnp.sqrt(signal**2 + lost)
        total = deviation + jnp.abs(signal)
        gap = lost / jnp.where(total > 0, total, 1.0) + 2 * jnp.maximum(-signal, 0.0)
        return DENSITY_AT_ZERO * gap + _tail(deviation)

    def gradient(self, student: Student) -> Student:
        slope: Student = eqx.filter_grad(self)(student)
        return slope

    def check(self, student: Student) -> None:
        if not isinstance(student, GroupAttention):
            raise Refused(
                "The risk of group signs is one of attention by position over groups, since its "
                f"scores are Gaussian. Got {type(student).__name__}."
            )


def _is_standard(inputs: Inputs) -> bool:
    if not isinstance(inputs, Gaussian):
        return False
    return inputs.feature_root is None and inputs.position_root is None


@jax.custom_jvp
def even_part(square: Float[Array, ""]) -> Float[Array, ""]:
    r"""$G(τ) = E\log(2\cosh(τZ/2))$ as a smooth function of τ², also at 0.

    Its derivative $\frac18 E\,\mathrm{sech}^2(τZ/2)$ is an integral of its own, which has the scale
    1 in the same variable and can be differentiated again.
    """
    deviation = jnp.sqrt(square)
    return DENSITY_AT_ZERO * deviation + _tail(deviation)


@even_part.defjvp
def _push_forward(
    given: tuple[Float[Array, ""]], moved: tuple[Float[Array, ""]]
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    (square,) = given
    scale, nodes, bell = _scale_nodes(square)
    root = jnp.sqrt(square * nodes**2 / (4 * scale**2) + jnp.finfo(square.dtype).tiny)
    slope = DENSITY_AT_ZERO / (4 * scale) * jnp.sum(bell * (1 - jnp.tanh(root) ** 2))
    return even_part(square), slope * moved[0]


def _tail(deviation: Float[Array, ""]) -> Float[Array, ""]:
    scale, nodes, bell = _scale_nodes(deviation**2)
    terms = jnp.log1p(jnp.exp(-deviation / scale * nodes))
    return 2 * DENSITY_AT_ZERO / scale * jnp.sum(bell * terms)


def _scale_nodes(
    square: Float[Array, ""],
) -> tuple[Float[Array, ""], Float[Array, "nodes"], Float[Array, "nodes"]]:
    r"""$\sqrt{1+τ^2}$, the nodes, and their weights times $e^{-z^2/2}$, in the precision of τ."""
    scale = jnp.sqrt(1 + square)
    nodes, weights = (jnp.asarray(given, square.dtype) for given in (NODES, WEIGHTS))
    return scale, nodes, weights * jnp.exp(-((nodes / scale) ** 2) / 2)


def right_weight(student: GroupAttention, objective: GroupRisk) -> Float[Array, ""]:
    """s: the weight of the right group, the mean over queries."""
    return jnp.mean(student.attention()[0])


def missed_weight(student: GroupAttention, objective: GroupRisk) -> Float[Array, ""]:
    """1 − s, as the sum of the others."""
    return jnp.mean(jnp.sum(student.attention()[1:], axis=0))


def value_miss(student: GroupAttention, objective: GroupRisk) -> Float[Array, ""]:
    """How far v is from the line of v*: ‖v − ⟨v, v*⟩v*‖/‖v‖; 0 while v is zero."""
    along = objective.direction @ student.value
    across = jnp.linalg.norm(student.value - along * objective.direction)
    length = jnp.linalg.norm(student.value)
    return across / jnp.where(length > 0, length, 1.0)
