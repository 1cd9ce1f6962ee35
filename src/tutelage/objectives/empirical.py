"""Finite data: the same sample at every step."""

from __future__ import annotations

from jaxtyping import Array, Float

from tutelage.numerics.compiling import SOON
from tutelage.objectives.base import CompilerOptions, Objective
from tutelage.objectives.sample import Sample
from tutelage.students.base import Student
from tutelage.teachers.base import Teacher

FEW = 2000  # steps


class EmpiricalRisk(Objective):
    """½ mean_i ‖Y_i − f(X_i)‖_F² over a fixed sample, full batch; `judge` measures the excess over
    the whole population.
    """

    teacher: Teacher
    sample: Sample
    judge: Objective

    def __call__(self, student: Student) -> Float[Array, ""]:
        return self.sample(student)

    def excess(self, student: Student) -> Float[Array, ""]:
        return self.judge.excess(student)

    def compiler_options(self, student: Student, steps: int, backend: str) -> CompilerOptions:
        """Few steps of a small sample take less time than their program takes to compile."""
        return SOON if steps <= FEW and backend == "cpu" else {}

    def check(self, student: Student) -> None:
        self.judge.check(student)
