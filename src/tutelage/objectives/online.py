"""Online gradient descent: a fresh batch at every step."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float, Key

from tutelage.inputs.base import Inputs
from tutelage.objectives.base import Objective
from tutelage.objectives.sample import draw_sample
from tutelage.refuse import whole
from tutelage.students.base import Student
from tutelage.teachers.base import Teacher


class OnlineRisk(Objective):
    r"""½ mean ‖Y − f(X)‖_F² over `batch` inputs drawn anew at every step, with label noise: an
    unbiased draw of the risk.

    `judge` measures the excess without noise: the population risk in closed form, or a held-out
    sample.
    """

    teacher: Teacher
    inputs: Inputs
    judge: Objective
    batch: int = eqx.field(static=True)

    def __init__(self, teacher: Teacher, inputs: Inputs, judge: Objective, *, batch: int) -> None:
        self.teacher, self.inputs, self.judge = teacher, inputs, judge
        self.batch = whole("batch", batch, least=1, reason="a step averages that many inputs")

    stochastic: ClassVar[bool] = True

    def __call__(self, student: Student) -> Float[Array, ""]:
        return self.judge(student)

    def draw(self, student: Student, *, key: Key[Array, ""]) -> Float[Array, ""]:
        """The loss of one fresh batch."""
        return draw_sample(self.teacher, self.inputs, self.batch, key=key)(student)

    def excess(self, student: Student) -> Float[Array, ""]:
        return self.judge.excess(student)

    def check(self, student: Student) -> None:
        self.judge.check(student)

    def stable_rate(self, student: Student) -> float | None:
        return self.judge.stable_rate(student)
