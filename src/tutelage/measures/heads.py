"""Measures of students with heads on a sample: losses, iterates, and how far each head has gone
from its start.

Those of its iterates also see the state of projected descent.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.measures.iterates import of_iterates
from tutelage.objectives.base import Objective
from tutelage.objectives.squared_loss import SquaredLoss
from tutelage.optimisers.projected import Iterates
from tutelage.students.base import Student
from tutelage.students.shallow_transformer import ShallowTransformer


def loss(student: Student, objective: Objective) -> Float[Array, ""]:
    """(1/n)Σ(f − y)² on the training sample."""
    return objective(student)


def validation_loss(student: Student, objective: SquaredLoss) -> Float[Array, ""]:
    """The same on the held-out sample."""
    return objective.validation(student)


def label_power(student: Student, objective: SquaredLoss) -> Float[Array, ""]:
    """(1/n)Σy² on the training sample: the loss of the zero function. A constant, measured so that
    losses can be divided by it.
    """
    return objective.power()


def label_error(student: Student, objective: SquaredLoss) -> Float[Array, ""]:
    """The root mean square of the labels' Monte Carlo errors: how far the pool of heads leaves them
    from the teacher's own.
    """
    return jnp.sqrt(jnp.mean(objective.errors**2))


@of_iterates("projected_descent")
def least_loss(student: Student, objective: Objective, state: Iterates) -> Float[Array, ""]:
    """The least training loss of all iterates so far, this one included; with one sample a step,
    the loss of this one.
    """
    return jnp.minimum(state.least, objective(student))


@of_iterates("projected_descent")
def averaged_loss(student: Student, objective: Objective, state: Iterates) -> Float[Array, ""]:
    """The training loss of the averaged iterate (1/t)Σ_{s<t} θ_s; at t = 0, of the start."""
    return objective(eqx.combine(state.mean, student))


def displacement(student: ShallowTransformer, objective: Objective) -> Float[Array, "3"]:
    """√m times the largest ‖Δ‖ of any head, for c, U and W in turn: what the radii ρ_c, ρ_u, ρ_w
    are compared with.
    """
    now, then = student.heads, student.start

    def farthest(a: Float[Array, "m ..."], b: Float[Array, "m ..."]) -> Float[Array, ""]:
        return jnp.sqrt(len(a) * jnp.max(jnp.sum((a - b).reshape(len(a), -1) ** 2, axis=1)))

    return jnp.stack(
        [
            farthest(now.output, then.output),
            farthest(now.reading, then.reading),
            farthest(now.attention, then.attention),
        ]
    )


def linearisation_gap(student: ShallowTransformer, objective: SquaredLoss) -> Float[Array, "2"]:
    """sup_j and mean_j of |f(X_j) − f_lin(X_j)| over the training inputs, at this iterate."""
    gaps = jnp.abs(jax.vmap(lambda x: student(x) - student.linearised(x))(objective.tokens))
    return jnp.stack([jnp.max(gaps), jnp.mean(gaps)])


HEADS = (
    loss,
    validation_loss,
    label_power,
    label_error,
    least_loss,
    averaged_loss,
    displacement,
    linearisation_gap,
)
