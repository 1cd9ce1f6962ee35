"""Finite data: the same sample at every step."""

from __future__ import annotations

import equinox as eqx
import jax
from jaxtyping import Array, Float

from tutelage.activations import LeakyReLU
from tutelage.numerics.compiling import SOON
from tutelage.objectives.base import CompilerOptions, Objective
from tutelage.objectives.sample import Sample
from tutelage.students.base import Student
from tutelage.teachers.base import BilinearClass, Teacher

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

    @property
    def has_gradient(self) -> bool:
        """With a smooth activation. One with a kink has as many kinks as inputs and outputs, and
        the flow across them is not smooth.
        """
        return isinstance(self.teacher, BilinearClass) and not isinstance(
            self.teacher.activation, LeakyReLU
        )

    def gradient(self, student: Student) -> Student:
        moving, still = eqx.partition(student, eqx.is_inexact_array)
        return jax.grad(lambda moving: self.sample(eqx.combine(moving, still)))(moving)

    def excess(self, student: Student) -> Float[Array, ""]:
        return self.judge.excess(student)

    def compiler_options(self, student: Student, steps: int, backend: str) -> CompilerOptions:
        """Few steps of a small sample take less time than their program takes to compile."""
        return SOON if steps <= FEW and backend == "cpu" else {}

    def check(self, student: Student) -> None:
        self.judge.check(student)
