"""What every teacher is: a map from tokens to labels, of known sizes."""

# No `from __future__ import annotations` here: Equinox knows an AbstractVar only by itself, and
# would take its text for a field of the base, first among those of every subclass.

import abc
from typing import TYPE_CHECKING, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from tutelage.activations import Activation, Identity
from tutelage.numerics.side_by_side import apart, beside
from tutelage.refuse import Refused


class Shape(NamedTuple):
    """How large a teacher's inputs and outputs are: X is d×D, Y is M×Q."""

    outputs: int  # M
    dim: int  # d
    tokens: int  # D
    queries: int  # Q


class Labels(NamedTuple):
    """Labels of n inputs, and the standard error of each; zero where labels are exact."""

    values: Float[Array, "n"]
    errors: Float[Array, "n"]


class Teacher(eqx.Module):
    """f*: tokens X (d×D) ↦ labels Y (M×Q), which a student is to learn."""

    @property
    @abc.abstractmethod
    def shape(self) -> Shape:
        """(M, d, D, Q): outputs, features, tokens, queries."""

    @abc.abstractmethod
    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "..."]:
        """f*(X), without label noise."""

    def label(self, tokens: Float[Array, "d D"], *, key: Key[Array, ""]) -> Float[Array, "..."]:
        """Y = f*(X) with the label noise, where the teacher has some."""
        return self(tokens)

    def label_batch(
        self, tokens: Float[Array, "d nD"], count: int, *, key: Key[Array, ""]
    ) -> Float[Array, "M nQ"]:
        """The same of `count` inputs side by side, as one step of online training asks for them."""
        each = jax.vmap(lambda x, k: self.label(x, key=k))
        return beside(each(apart(tokens, count), jax.random.split(key, count)))

    def labels(self, tokens: Float[Array, "n d D"]) -> Labels:
        """One number per input, of teachers with one output and one query."""
        values = jax.vmap(self)(tokens).reshape(len(tokens))
        return Labels(values, jnp.zeros_like(values))

    @property
    def output_activation(self) -> Activation:
        """The activation that a student of it ends with; the identity where labels are no σ(…)."""
        return Identity()

    @property
    def noisy(self) -> bool:
        """Whether `label` differs from f*; noise of size 0 need not be drawn."""
        return False


def shape_of(teacher: Teacher) -> Shape:
    """The shape of a teacher; what is none is refused."""
    if not isinstance(teacher, Teacher):
        raise Refused(
            "A student takes its sizes from a tutelage.teachers.Teacher, since the two must match. "
            f"Got an object of the type {type(teacher).__name__}."
        )
    return teacher.shape


class BilinearClass(Teacher):
    """f*(X) = σ(V* X S*): `value` is V* (M×d), `selection` is S* (D×Q)."""

    # For a type checker an AbstractVar would be a field of the base, first among those of every
    # subclass.
    if TYPE_CHECKING:

        @property
        def value(self) -> Float[Array, "M d"]: ...

        @property
        def selection(self) -> Float[Array, "D Q"]: ...

        @property
        def activation(self) -> Activation: ...

        @property
        def noise(self) -> Float[Array, ""]: ...

    else:
        value: eqx.AbstractVar[Float[Array, "M d"]]
        selection: eqx.AbstractVar[Float[Array, "D Q"]]
        activation: eqx.AbstractVar[Activation]
        noise: eqx.AbstractVar[Float[Array, ""]]  # the standard deviation of the label noise

    @property
    def output_activation(self) -> Activation:
        return self.activation

    @property
    def outside(self) -> bool:
        """Whether S* has a column that does not sum to 1, so that no attention is S*."""
        return False
