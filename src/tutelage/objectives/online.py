"""Online gradient descent: a fresh batch at every step."""

from __future__ import annotations

from typing import Any

import equinox as eqx
from jaxtyping import Array, Float, Key

from tutelage.objectives.sample import draw_sample
from tutelage.refuse import whole


class OnlineRisk(eqx.Module):
    r"""½ mean ‖Y − f(X)‖_F² over `batch` inputs drawn anew at every step, with label noise: an
    unbiased draw of the risk.

    `judge` measures the excess without noise: the population risk in closed form, or a held-out
    sample.
    """

    teacher: Any
    inputs: Any
    judge: Any
    batch: int = eqx.field(static=True)

    def __init__(self, teacher: Any, inputs: Any, judge: Any, *, batch: int) -> None:
        self.teacher, self.inputs, self.judge = teacher, inputs, judge
        self.batch = whole("batch", batch, least=1, reason="a step averages that many inputs")

    def draw(self, student: Any, *, key: Key[Array, ""]) -> Float[Array, ""]:
        """The loss of one fresh batch."""
        return draw_sample(self.teacher, self.inputs, self.batch, key=key)(student)

    def excess(self, student: Any) -> Float[Array, ""]:
        return self.judge.excess(student)

    def check(self, student: Any) -> None:
        if hasattr(self.judge, "check"):
            self.judge.check(student)

    def stable_rate(self, student: Any) -> float | None:
        return self.judge.stable_rate(student) if hasattr(self.judge, "stable_rate") else None
