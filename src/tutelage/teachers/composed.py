"""Teachers made of two bilinear ones: two heads, two layers, and products of tokens."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from numpy.typing import ArrayLike

from tutelage.activations import Activation, Identity
from tutelage.refuse import Refused, matrix, one_of
from tutelage.teachers.base import Shape, Teacher
from tutelage.teachers.bilinear import column_stochastic

JOINS = ("heads", "layers", "products")


class ComposedTeacher(Teacher):
    r"""Two pairs (V, S) joined as `heads`, V₁XS₁ + V₂XS₂, as `layers`, V₂ relu(V₁XS₁) S₂, or as
    `products`, V₁XS₁ ∘ V₂XS₂.

    Products are taken entry by entry: where both S have K = 1, each is of projections of two
    tokens.
    """

    values: tuple[Float[Array, "M d"], Float[Array, "N e"]]
    selections: tuple[Float[Array, "D Q"], Float[Array, "E R"]]
    join: str = eqx.field(static=True)
    activation: Activation = eqx.field(static=True)

    def __init__(
        self,
        join: str,
        values: tuple[ArrayLike, ArrayLike],
        selections: tuple[ArrayLike, ArrayLike],
    ) -> None:
        self.join, self.activation = one_of("way to join two teachers", join, JOINS), Identity()
        V, U = (
            jnp.asarray(matrix("value", value, reason="it maps features to outputs"))
            for value in values
        )
        S, R = (jnp.asarray(column_stochastic("selection", selection)) for selection in selections)
        fits = (
            (V.shape[0], S.shape[1]) == (U.shape[1], R.shape[0])
            if join == "layers"
            else (V.shape, S.shape) == (U.shape, R.shape)
        )
        if not fits:
            raise Refused(
                "The parts of a composed teacher must fit: side by side they have the same "
                "shapes, and a second layer takes what the "
                f"first one gives. Got values {V.shape} and {U.shape}, selections {S.shape} and "
                f"{R.shape}."
            )
        self.values, self.selections = (V, U), (S, R)

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "M Q"]:
        (V, U), (S, R) = self.values, self.selections
        first = V @ tokens @ S
        if self.join == "layers":
            return U @ jax.nn.relu(first) @ R
        second = U @ tokens @ R
        return first + second if self.join == "heads" else first * second

    @property
    def shape(self) -> Shape:
        """(M, d, D, Q)."""
        (V, U), (S, R) = self.values, self.selections
        return Shape(U.shape[-2], V.shape[-1], S.shape[-2], R.shape[-1])
