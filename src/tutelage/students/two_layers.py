"""Two layers of attention by position, a ReLU between them."""

from __future__ import annotations

import math

import equinox as eqx
import jax
from jaxtyping import Array, Float, Key

from tutelage.activations import Activation
from tutelage.refuse import positive, whole
from tutelage.students.base import Student
from tutelage.students.starts import draw_normals
from tutelage.teachers.base import Teacher


class TwoLayerPosition(Student):
    r"""TF(X) = σ(W₂ relu(W₁ X S₁) S₂), S_l = softmax by columns of Z_l/√D, with `hidden` rows of
    W₁.
    """

    first_value: Float[Array, "H d"]
    second_value: Float[Array, "M H"]
    first_scores: Float[Array, "D D"]
    second_scores: Float[Array, "D Q"]
    activation: Activation = eqx.field(static=True)

    @classmethod
    def random(
        cls, teacher: Teacher, *, hidden: int, scale: float, key: Key[Array, ""]
    ) -> TwoLayerPosition:
        """All entries iid N(0, scale²); at zero both layers are stuck, since each is the other's
        gradient.
        """
        outputs, dim, tokens, queries = teacher.shape
        hidden = whole("hidden", hidden, least=1, reason="the second layer reads it")
        spread = positive("scale", scale, reason="at zero nothing moves")
        shapes = ((hidden, dim), (outputs, hidden), (tokens, tokens), (tokens, queries))
        first, second, one, other = draw_normals(shapes, spread, key)
        return cls(first, second, one, other, teacher.output_activation)

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "M Q"]:
        first, second = (
            jax.nn.softmax(z / math.sqrt(len(z)), axis=0)
            for z in (self.first_scores, self.second_scores)
        )
        return self.activation(
            self.second_value @ jax.nn.relu(self.first_value @ tokens @ first) @ second
        )
