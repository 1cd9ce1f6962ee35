"""Batches from a fixed sample, and a held-out sample to judge by."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
from jaxtyping import Array, Float, Key

from tutelage.objectives.sample import Predictor, Sample
from tutelage.refuse import Refused, whole


class MinibatchRisk(eqx.Module):
    """½ mean ‖Y − f(X)‖_F² over `batch` inputs drawn at every step, with replacement, from a fixed
    sample.

    The teacher is present in its labels alone, so that teachers of one shape share one compiled
    program. `held_out` judges.
    """

    sample: Sample
    held_out: Sample
    batch: int = eqx.field(static=True)
    per_decade: ClassVar[int] = (
        1  # measured steps in each factor of ten: one costs as much as many steps
    )

    def __init__(self, sample: Sample, held_out: Sample, *, batch: int) -> None:
        self.sample, self.held_out = sample, held_out
        self.batch = whole("batch", batch, least=1, reason="a step averages that many inputs")
        if self.batch > len(sample.labels):
            raise Refused(
                "`batch` must not be larger than the sample, since it is drawn from it. Got "
                f"batch={batch}, {len(sample.labels)} inputs."
            )

    def draw(self, student: Predictor, *, key: Key[Array, ""]) -> Float[Array, ""]:
        """The loss of one batch."""
        chosen = jax.random.randint(key, (self.batch,), 0, len(self.sample.labels))
        return Sample(self.sample.tokens[chosen], self.sample.labels[chosen])(student)

    def excess(self, student: Predictor) -> Float[Array, ""]:
        return self.held_out(student)
