"""A teacher that is known by its labels alone: a layer of the user's, in whatever framework."""

from __future__ import annotations

import equinox as eqx
from jaxtyping import Array, Float

from tutelage.activations import Activation
from tutelage.refuse import Refused
from tutelage.teachers.base import Shape, Teacher


class Recorded(Teacher):
    """Labels Y of some inputs X, as a layer gave them. Students end with `sigma`."""

    known_inputs: Float[Array, "n d D"]
    known_labels: Float[Array, "n M Q"]
    sigma: Activation = eqx.field(static=True)

    @property
    def shape(self) -> Shape:
        (_, d, D), (_, M, Q) = self.known_inputs.shape, self.known_labels.shape
        return Shape(M, d, D, Q)

    @property
    def output_activation(self) -> Activation:
        return self.sigma

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "..."]:
        raise Refused(
            "A recorded teacher knows the labels of its own inputs only, since the layer itself "
            "may be of another framework. Got another input: train on the objective 'recorded'."
        )
