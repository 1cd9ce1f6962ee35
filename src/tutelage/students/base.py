"""What every student is: a pytree of parameters that predicts labels from tokens."""

# No `from __future__ import annotations` here: Equinox knows an AbstractVar only by itself, and
# would take its text for a field of the base, first among those of every subclass.

import abc
from typing import TYPE_CHECKING

import equinox as eqx
import jax
from jaxtyping import Array, Float, PyTree

from tutelage.activations import Activation


class Student(eqx.Module):
    """f: tokens X (d×D) ↦ predictions, with parameters that training moves."""

    @abc.abstractmethod
    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "..."]:
        """f(X)."""

    @property
    def fixed(self) -> tuple[str, ...]:
        """Names of the fields, its own or of a part, that training does not move."""
        return ()

    @property
    def columns_apart(self) -> tuple[str, ...]:
        """The field (at most one) whose columns meet in the loss only through the other fields.

        Gradient flow then inverts its curvature column by column.
        """
        return ()


def trainable(student: Student) -> PyTree[bool]:
    """A tree of True and False: the floating arrays of a student, less the fields, its own or of a
    part, that it names in `fixed`.
    """
    fixed = set(student.fixed)

    def moves(path: tuple[jax.tree_util.KeyEntry, ...], leaf: PyTree) -> bool:
        names = (entry.name for entry in path if isinstance(entry, jax.tree_util.GetAttrKey))
        return eqx.is_inexact_array(leaf) and fixed.isdisjoint(names)

    return jax.tree_util.tree_map_with_path(moves, student)


class BilinearStudent(Student):
    """f(X) = σ(W_V X S): `value` is W_V, and the attention S does not depend on the tokens."""

    # For a type checker an AbstractVar would be a field of the base, first among those of every
    # subclass.
    if TYPE_CHECKING:

        @property
        def value(self) -> Float[Array, "M d"]: ...

        @property
        def activation(self) -> Activation: ...

    else:
        value: eqx.AbstractVar[Float[Array, "M d"]]
        activation: eqx.AbstractVar[Activation]

    @abc.abstractmethod
    def attention(self) -> Float[Array, "D Q"]:
        """S, one column per query, each a probability vector."""
