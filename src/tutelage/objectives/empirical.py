"""Finite data: the same sample at every step."""

from __future__ import annotations

from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from tutelage.numerics.compiling import SOON
from tutelage.objectives.sample import Sample

FEW = 2000  # steps


class EmpiricalRisk(eqx.Module):
    """½ mean_i ‖Y_i − f(X_i)‖_F² over a fixed sample, full batch; `judge` measures the excess over
    the whole population.
    """

    teacher: Any
    sample: Sample
    judge: Any

    def __call__(self, student: Any) -> Float[Array, ""]:
        return self.sample(student)

    def excess(self, student: Any) -> Float[Array, ""]:
        return self.judge.excess(student)

    def compiler(self, student: Any, steps: int) -> dict[str, dict[str, Any]]:
        """Few steps of a small sample take less time than their program takes to compile."""
        return {"cpu": SOON} if steps <= FEW else {}

    def check(self, student: Any) -> None:
        if hasattr(self.judge, "check"):
            self.judge.check(student)
