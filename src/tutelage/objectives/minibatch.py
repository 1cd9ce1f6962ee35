"""Batches from a fixed sample, and a held-out sample to judge by."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
from jaxtyping import Array, Float, Key

from tutelage.objectives.base import Objective
from tutelage.objectives.sample import Sample
from tutelage.refuse import Refused, whole
from tutelage.students.base import Student


class MinibatchRisk(Objective):
    """½ mean ‖Y − f(X)‖_F² over `batch` inputs drawn at every step, with replacement, from a fixed
    sample.

    The teacher is present in its labels alone, so that teachers of one shape share one compiled
    program. `held_out` judges.
    """

    sample: Sample
    held_out: Sample
    batch: int = eqx.field(static=True)
    stochastic: ClassVar[bool] = True
    points_per_decade: ClassVar[int | None] = 12  # one measurement costs as much as many steps

    def __init__(self, sample: Sample, held_out: Sample, *, batch: int) -> None:
        self.sample, self.held_out = sample, held_out
        self.batch = whole("batch", batch, least=1, reason="a step averages that many inputs")
        if self.batch > len(sample.labels):
            raise Refused(
                "`batch` must not be larger than the sample, since it is drawn from it. Got "
                f"batch={batch}, {len(sample.labels)} inputs."
            )

    def __call__(self, student: Student) -> Float[Array, ""]:
        return self.sample(student)

    def draw(self, student: Student, *, key: Key[Array, ""]) -> Float[Array, ""]:
        """The loss of one batch."""
        chosen = jax.random.randint(key, (self.batch,), 0, len(self.sample.labels))
        return Sample(self.sample.tokens[chosen], self.sample.labels[chosen])(student)

    def excess(self, student: Student) -> Float[Array, ""]:
        return self.held_out(student)
