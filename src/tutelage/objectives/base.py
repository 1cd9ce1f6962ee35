"""What every objective is: a function of the student that gradient descent minimises."""

from __future__ import annotations

import abc
from typing import ClassVar

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float, Int, Key

from tutelage.numerics.grids import NOISY, PER_DECADE, log_spaced
from tutelage.run import ErrorTerm
from tutelage.students.base import Student

CompilerOptions = dict[str, str | int | bool]


class Objective(eqx.Module):
    """What gradient descent minimises, as a function of the student.

    An exact objective is descended on itself. A stochastic one draws the loss of a fresh batch at
    every step, an unbiased estimate of the objective or of its gradient.
    """

    stochastic: ClassVar[bool] = False  # True where `draw` returns the loss of a fresh batch
    # Measured steps in each factor of ten; None for the usual number. An objective on which one
    # measurement costs as much as many steps asks for fewer.
    points_per_decade: ClassVar[int | None] = None
    # True where a step goes over a whole sample and spreads it over the devices by itself.
    fills_a_core: ClassVar[bool] = False

    @property
    def has_gradient(self) -> bool:
        """Whether `gradient` can be differentiated again, which gradient flow needs."""
        return False

    @abc.abstractmethod
    def __call__(self, student: Student) -> Float[Array, ""]:
        """The risk."""

    def excess(self, student: Student) -> Float[Array, ""]:
        """Risk above the best achievable; the risk itself where no floor is known."""
        return self(student)

    def draw(self, student: Student, *, key: Key[Array, ""]) -> Float[Array, ""]:
        """The loss of a fresh batch, where the objective is stochastic."""
        raise NotImplementedError(f"{type(self).__name__} is exact, and draws nothing.")

    def gradient(self, student: Student) -> Student:
        """∇L with the fields of the student, in a form that can be differentiated again."""
        raise NotImplementedError(f"{type(self).__name__} has no gradient of its own.")

    def descend(self, student: Student, rate: Float[Array, ""]) -> Student | None:
        """The student after one step of plain gradient descent, where the objective has a faster
        way than its gradient and then a step; else None.
        """
        return None

    def measured_steps(self, steps: int) -> Int[np.ndarray, "points"]:
        """The steps at which a run is measured, log-spaced. Where steps are random each
        measurement is a draw, and more are taken.
        """
        usual = NOISY if self.stochastic else PER_DECADE
        return log_spaced(steps, self.points_per_decade or usual)

    def check(self, student: Student) -> None:
        """Refuses a student that this objective cannot be computed for."""

    def stable_rate(self, student: Student) -> float | None:
        """The step size below which plain descent is stable near the teacher; None if unknown."""
        return None

    def error_terms(self) -> tuple[ErrorTerm, ...]:
        """The known relative errors of a risk that is not exact; none for an exact one."""
        return ()

    def accuracy_note(self) -> str:
        """How accurate a risk is that is not exact, in a sentence; "" for an exact one."""
        return ""

    def cost_note(self, steps: int) -> str:
        """How long this many steps take, in a sentence, where that is long; "" where it is not."""
        return ""

    def compiler_options(self, student: Student, steps: int, backend: str) -> CompilerOptions:
        """Options of XLA for programs that step on this objective."""
        return {}
