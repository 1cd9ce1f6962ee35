"""The mean squared error over a fixed sample with one label an input: full batch, or one sample a
step.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from tutelage.activations import Activation
from tutelage.numerics import recurrent_gradient
from tutelage.numerics.heads import Heads
from tutelage.numerics.heads_gradient import (
    BRIEF,
    COMPILER,
    LITTLE,
    laid_out,
    loss_and_gradient,
    predict,
    sharded_loss_and_gradient,
)
from tutelage.objectives.base import CompilerOptions, Objective
from tutelage.refuse import Refused
from tutelage.students.base import Student
from tutelage.students.indrnn import IndRNN, Units
from tutelage.students.shallow_transformer import ShallowTransformer
from tutelage.teachers.base import Teacher
from tutelage.teachers.transported import TransportedTeacher


class SquaredLoss(Objective):
    """(1/n)Σ_j (f(X_j) − y_j)², without the ½, as in Arda et al. 2026; `teacher` is who made the
    labels.

    `errors` are the standard errors that the teacher's pool leaves in the labels, zero where they
    are exact. Labels carry no noise, so that the loss is its own excess. A validation sample, where
    there is one, is never trained on.
    """

    teacher: Teacher
    tokens: Float[Array, "n d T"]
    labels: Float[Array, "n"]
    errors: Float[Array, "n"]
    validation_tokens: Float[Array, "k d T"] | None
    validation_labels: Float[Array, "k"] | None
    laid: Float[
        Array, "..."
    ]  # the tokens as steps read them, since a program would otherwise copy them at every step

    # Runs beside one another in one batch would only crowd the cache.
    fills_a_core: ClassVar[bool] = True

    def __init__(
        self,
        teacher: Teacher,
        tokens: Float[Array, "n d T"],
        labels: Float[Array, "n"],
        errors: Float[Array, "n"],
        validation_tokens: Float[Array, "k d T"] | None = None,
        validation_labels: Float[Array, "k"] | None = None,
    ) -> None:
        if tokens.ndim != 3 or labels.shape != tokens.shape[:1] or not len(labels):
            raise Refused(
                "A sample needs inputs of shape (n, d, T) with one label each, at least one, "
                "since the loss is a mean over them. "
                f"Got shapes {tokens.shape} and {labels.shape}."
            )
        self.teacher, self.tokens, self.labels, self.errors = teacher, tokens, labels, errors
        self.validation_tokens, self.validation_labels = validation_tokens, validation_labels
        self.laid = laid_out(tokens)

    def compiler_options(self, student: Student, steps: int, backend: str) -> CompilerOptions:
        n, _, T = self.tokens.shape
        return (BRIEF if n * T * _width(student) * steps < LITTLE else COMPILER).get(backend, {})

    def __call__(self, student: Student) -> Float[Array, ""]:
        return mean_square(student, self.tokens, self.labels, self.laid)

    def excess(self, student: Student) -> Float[Array, ""]:
        return self(student)

    def validation(self, student: Student) -> Float[Array, ""]:
        """The same mean over the inputs that are held out."""
        if self.validation_tokens is None or self.validation_labels is None:
            raise Refused(
                "There is no validation sample here. Give the objective `validation`, the number "
                "of inputs to hold out."
            )
        return mean_square(student, self.validation_tokens, self.validation_labels)

    def check(self, student: Student) -> None:
        """Refuses, before any work, a student that asks with another query than a teacher of the
        same kind does.
        """
        if not (
            isinstance(student, ShallowTransformer) and isinstance(self.teacher, TransportedTeacher)
        ):
            return
        asked = [self.teacher.query, student.query]
        given = [np.asarray(query) for query in asked if query is not None]
        if len(given) == 1 or (given and not np.array_equal(given[0], given[1])):
            raise Refused(
                "Teacher and student must ask with the same `query`, since the target is made of "
                "heads that ask as the student's do. "
                f"Got {asked[0]} and {asked[1]}; set `teacher.query` and `student.query` alike, "
                "or neither."
            )

    def power(self) -> Float[Array, ""]:
        """(1/n)Σ y_j²: the loss of the zero function, by which losses are divided to be
        compared.
        """
        return jnp.mean(self.labels**2)


class SingleSampleLoss(SquaredLoss):
    """The same, where each step descends on the squared error of one sample, drawn with
    replacement.
    """

    stochastic: ClassVar[bool] = True
    # One measurement goes over the whole sample and costs as much as n steps.
    points_per_decade: ClassVar[int | None] = 24

    def draw(self, student: Student, *, key: Key[Array, ""]) -> Float[Array, ""]:
        chosen = jax.random.randint(key, (), 0, len(self.labels))
        return (student(self.tokens[chosen]) - self.labels[chosen]) ** 2


def _width(student: Student) -> int:
    """How many heads or units a student has."""
    if isinstance(student, ShallowTransformer):
        return len(student.heads.output)
    return len(student.units.output) if isinstance(student, IndRNN) else 1


def mean_square(
    student: Student,
    tokens: Float[Array, "n d T"],
    labels: Float[Array, "n"],
    laid: Float[Array, "..."] | None = None,
) -> Float[Array, ""]:
    """(1/n)Σ_j (f(X_j) − y_j)²; of heads and of recurrent units in blocks, its gradient in closed
    form and in the same pass.
    """
    if isinstance(student, ShallowTransformer):
        return _of_heads(
            student.activation, student.heads, tokens, jax.vmap(student.ask)(tokens), labels, laid
        )
    if isinstance(student, IndRNN):
        return _of_units(student.activation, student.units, tokens, labels)
    return jnp.mean((jax.vmap(student)(tokens) - labels) ** 2)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _of_units(
    activation: Activation,
    units: Units,
    tokens: Float[Array, "n d T"],
    labels: Float[Array, "n"],
) -> Float[Array, ""]:
    found = jax.vmap(IndRNN(units, units, activation))(tokens)
    return jnp.mean((found - labels) ** 2)


def _units_forward(
    activation: Activation,
    units: Units,
    tokens: Float[Array, "n d T"],
    labels: Float[Array, "n"],
) -> tuple[Float[Array, ""], Units]:
    given = (units.reading, units.recurrence, units.output, tokens, labels)
    loss, slopes = recurrent_gradient.loss_and_gradient(*given, activation=activation)
    return loss, Units(*slopes)


def _units_backward(
    activation: Activation, slopes: Units, cotangent: Float[Array, ""]
) -> tuple[Units, None, None]:
    return jax.tree.map(lambda slope: cotangent * slope, slopes), None, None


_of_units.defvjp(_units_forward, _units_backward)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _of_heads(
    activation: Activation,
    heads: Heads,
    tokens: Float[Array, "n d T"],
    queries: Float[Array, "n d"],
    labels: Float[Array, "n"],
    laid: Float[Array, "..."] | None,
) -> Float[Array, ""]:
    found = predict(
        heads.attention, heads.reading, heads.output, tokens, queries, activation=activation
    )
    return jnp.mean((found - labels) ** 2)


def _forward(
    activation: Activation,
    heads: Heads,
    tokens: Float[Array, "n d T"],
    queries: Float[Array, "n d"],
    labels: Float[Array, "n"],
    laid: Float[Array, "..."] | None,
) -> tuple[Float[Array, ""], Heads]:
    given = (heads.attention, heads.reading, heads.output, tokens, queries, labels)
    if len(devices := jax.devices()) > 1:
        mesh = jax.sharding.Mesh(np.asarray(devices), ("samples",))
        loss, slopes = sharded_loss_and_gradient(mesh, *given, activation=activation, laid=laid)
    else:
        loss, slopes = loss_and_gradient(*given, activation=activation, laid=laid)
    return loss, Heads(*slopes)


def _backward(
    activation: Activation, slopes: Heads, cotangent: Float[Array, ""]
) -> tuple[Heads, None, None, None, None]:
    # Inputs and labels are data: nothing is ever differentiated in them.
    return jax.tree.map(lambda slope: cotangent * slope, slopes), None, None, None, None


_of_heads.defvjp(_forward, _backward)
