"""Runs of one shape that train together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import optax
from jaxtyping import Array, Float, Int, Key, Num, PyTree

from tutelage.measures.base import Measure
from tutelage.objectives.base import Objective
from tutelage.optimisers.base import Optimiser
from tutelage.run import Run
from tutelage.students.base import Student

# A function from a rate to an optax transformation, or a finished one with its own rate.
Steps = Optimiser | optax.GradientTransformation
Curves = dict[str, Num[np.ndarray, "..."]]


class CurvesSoFar(Curves):
    """What a watcher sees: the curves by name, and the steps at which they were measured."""

    def __init__(self, steps: Int[np.ndarray, "points"], curves: Curves) -> None:
        super().__init__(curves)
        self.steps = steps


Watch = Callable[[int, int, Curves], None]
Pause = Callable[[Callable[[], list[Run]]], bool]


class Seen(NamedTuple):
    """What was measured of a batch after some numbers of steps."""

    curves: dict[str, Num[np.ndarray, "runs slots ..."]]
    excess: Float[np.ndarray, "runs slots"]


class End(NamedTuple):
    """Where a member stands: its student, and the optimiser's state."""

    student: Student
    state: PyTree


@dataclass(frozen=True)
class Batch:
    """What trains together: member i has the i-th student, objective, rate, key and beginning."""

    students: Sequence[Student]
    objectives: Sequence[Objective]
    rates: Sequence[float | None]
    steps: int
    optimiser: Steps
    measures: tuple[Measure, ...]
    keys: Sequence[Key[Array, ""]] | None = None
    begin: Sequence[Run] | None = None

    def __len__(self) -> int:
        return len(self.rates)

    @cached_property
    def points(self) -> Int[np.ndarray, "points"]:
        """The steps at which it is measured."""
        return self.objectives[0].measured_steps(self.steps)

    @property
    def taken(self) -> int:
        """The steps that its members have taken before."""
        if self.begin is None or self.begin[0].rest is None:
            return 0
        return self.begin[0].rest.taken

    def has_flowed(self) -> bool:
        """Whether it goes on from where gradient flow has come to."""
        return self.begin is not None and self.begin[0].continued is not None
