"""The oracle of the bilinear class: it is given S* and learns only W_V."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.activations import Activation
from tutelage.students.base import BilinearStudent
from tutelage.teachers.base import BilinearClass


class KnownSelection(BilinearStudent):
    """f(X) = σ(W_V X S*) with S* the teacher's own and never trained, W_V = 0 at the start: what is
    left to learn once S* is known.
    """

    value: Float[Array, "M d"]
    selection: Float[Array, "D Q"]
    activation: Activation = eqx.field(static=True)

    @property
    def fixed(self) -> tuple[str, ...]:
        return ("selection",)

    @classmethod
    def of(cls, teacher: BilinearClass) -> KnownSelection:
        return cls(
            jnp.asarray(np.zeros(teacher.value.shape)), teacher.selection, teacher.activation
        )

    def attention(self) -> Float[Array, "D Q"]:
        return self.selection

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "M Q"]:
        return self.activation(self.value @ (tokens @ self.selection))
