"""A finite sample of inputs and labels, and the loss on it."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from tutelage.inputs.base import Inputs
from tutelage.numerics.compiling import soon
from tutelage.objectives.base import Objective
from tutelage.refuse import Refused, reason, whole
from tutelage.students.base import Student
from tutelage.teachers.base import Teacher

BLOCK = 64  # inputs that are drawn together


class Sample(Objective):
    """Inputs X_1 … X_n with labels Y_1 … Y_n; as an objective, ½ mean_i ‖Y_i − f(X_i)‖_F²."""

    tokens: Float[Array, "n d D"]
    labels: Float[Array, "n M Q"]

    def __init__(
        self,
        tokens: Float[Array | np.ndarray, "n d D"],
        labels: Float[Array | np.ndarray, "n M Q"],
    ) -> None:
        tokens, labels = jnp.asarray(tokens), jnp.asarray(labels)
        if tokens.ndim != 3 or labels.ndim != 3 or len(tokens) != len(labels) or not len(tokens):
            raise Refused(
                "A sample needs inputs of shape (n, d, D) and labels of shape (n, M, Q), at "
                "least one of each, since label i belongs to "
                f"input i. Got shapes {tokens.shape} and {labels.shape}."
            )
        self.tokens, self.labels = tokens, labels

    def losses(self, student: Student) -> Float[Array, "n"]:
        """½‖Y_i − f(X_i)‖² for each i: their spread is the error bar of the mean."""
        return 0.5 * jnp.sum((self.labels - jax.vmap(student)(self.tokens)) ** 2, axis=(1, 2))

    def check(self, student: Student) -> None:
        """Refuses, before any work, a student whose predictions are not of the labels' shape."""
        one = jax.ShapeDtypeStruct(self.tokens.shape[1:], self.tokens.dtype)
        try:
            found = eqx.filter_eval_shape(student, one).shape
        except (TypeError, ValueError) as error:
            raise Refused(
                "The student must take the inputs of the sample, since the loss is that of its "
                f"predictions. Got inputs of shape {one.shape} and {type(student).__name__}, which "
                f"says: {reason(error)}"
            ) from None
        if found != self.labels.shape[1:]:
            raise Refused(
                "The student must predict labels of the sample's shape, since the loss is their "
                f"squared distance. Got labels of shape {self.labels.shape[1:]} and predictions of "
                f"shape {found}."
            )

    def __call__(self, student: Student) -> Float[Array, ""]:
        return jnp.mean(self.losses(student))

    def excess(self, student: Student) -> Float[Array, ""]:
        """The loss itself: what is held out carries no label noise, so that its own optimum is
        0.
        """
        return self(student)


def draw_sample(
    teacher: Teacher, inputs: Inputs, count: int, *, key: Key[Array, ""], noisy: bool = True
) -> Sample:
    """`count` fresh inputs with the teacher's labels, with or without its label noise."""
    _check_labels(teacher)
    input_keys, label_keys = (jax.random.split(each, count) for each in jax.random.split(key))
    return Sample(*_drawn(teacher, inputs, input_keys, label_keys, noisy))


def fixed_sample(
    teacher: Teacher, inputs: Inputs, count: int, *, key: Key[Array, ""], noisy: bool = True
) -> Sample:
    """The same, drawn before the loop: in blocks by one program for any count, where each operation
    would be compiled by itself.
    """
    _check_labels(teacher)
    filled = np.minimum(
        np.arange(-(-count // BLOCK) * BLOCK), count - 1
    )  # the last block repeats the last keys
    keys = [jax.random.split(each, count)[filled] for each in jax.random.split(key)]
    parts = [
        _block(teacher, inputs, *(each[i : i + BLOCK] for each in keys), noisy)
        for i in range(0, count, BLOCK)
    ]
    tokens, labels = (
        jnp.asarray(np.concatenate([np.asarray(part) for part in side])[:count])
        for side in zip(*parts, strict=True)
    )
    return Sample(tokens, labels)


def _precision(teacher: Teacher) -> np.dtype:
    """That of its numbers; double where it has none."""
    floats = (leaf.dtype for leaf in jax.tree.leaves(teacher) if eqx.is_inexact_array(leaf))
    return next(floats, np.dtype(np.float64))


def _check_labels(teacher: Teacher) -> None:
    """Refuses a teacher whose labels are no matrices, before a sample of them is drawn."""
    _, d, D, _ = teacher.shape
    label = jax.eval_shape(teacher, jax.ShapeDtypeStruct((d, D), _precision(teacher)))
    if len(label.shape) != 2:
        raise Refused(
            "A sample needs labels that are matrices of M outputs by Q queries, since a student of "
            f"this objective answers with one. Got a teacher with labels of shape {label.shape}."
        )


def _drawn(
    teacher: Teacher,
    inputs: Inputs,
    input_keys: Key[Array, "n"],
    label_keys: Key[Array, "n"],
    noisy: bool,
) -> tuple[Float[Array, "n d D"], Float[Array, "n M Q"]]:
    _, dim, tokens, _ = teacher.shape
    drawn = jax.vmap(lambda k: inputs.sample(tokens, dim, key=k))(input_keys)
    # Drawn in double precision whatever the teacher's: a run in single precision sees the same
    # inputs, rounded.
    drawn = drawn.astype(_precision(teacher))
    if not noisy:
        return drawn, jax.vmap(teacher)(drawn)
    return drawn, jax.vmap(lambda x, k: teacher.label(x, key=k))(drawn, label_keys)


_block = soon(_drawn)


def judge(teacher: Teacher, inputs: Inputs, held_out: int, *, key: Key[Array, ""]) -> Objective:
    """What the excess risk of a stochastic run is measured by: the closed form, or a noiseless
    sample where there is none.

    The population risk is exact for Gaussian tokens and students of the bilinear class; `held_out`
    inputs serve every other case.
    """
    from tutelage.objectives.population import PopulationRisk

    held_out = whole(
        "held_out", held_out, least=0, reason="it counts the inputs on which the excess is measured"
    )
    if held_out:
        return jax.tree.map(
            jax.lax.stop_gradient, fixed_sample(teacher, inputs, held_out, key=key, noisy=False)
        )
    return PopulationRisk(teacher, inputs)
