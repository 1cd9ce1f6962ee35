"""What every calculation is: named numbers or curves of a setting, computed without training.

A bound with its constants, a score of a graph, an explicit construction, a matrix iteration. The
result is stored, swept, checked and drawn like a run.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from jaxtyping import Float, Int, Num

from tutelage.inputs.base import Inputs
from tutelage.objectives.base import Objective
from tutelage.settings import Setting
from tutelage.students.base import Student
from tutelage.teachers.base import Teacher

Number = float | int | Num[np.ndarray, "..."]


class Ingredients(Protocol):
    """The parts of a setting that a calculation may look at. Each is built when first asked for."""

    @property
    def setting(self) -> Setting: ...

    @property
    def seed(self) -> int: ...

    @property
    def teacher(self) -> Teacher: ...

    @property
    def inputs(self) -> Inputs: ...

    @property
    def student(self) -> Student: ...

    @property
    def objective(self) -> Objective: ...


@dataclass(frozen=True)
class Calculated:
    """What a calculation found: curves along `axis`, which counts steps, sizes or iterations.

    The first axis of every curve runs along it. A number is a curve of one point.
    """

    axis: Int[np.ndarray, "points"]
    curves: Mapping[str, Float[np.ndarray, "points ..."]]

    @classmethod
    def numbers(cls, **named: Number) -> Calculated:
        """Named numbers, or arrays that belong together."""
        return cls(
            np.zeros(1, np.int64),
            {name: np.asarray(value, np.float64)[None] for name, value in named.items()},
        )


class Calculation(abc.ABC):
    """Named numbers or curves of a setting."""

    @abc.abstractmethod
    def __call__(self, given: Ingredients) -> Calculated:
        """The numbers and curves at this setting."""
