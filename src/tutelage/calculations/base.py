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
from tutelage.refuse import Refused
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


# Columns of a table of runs, which the numbers of a calculation stand beside.
TAKEN_NAMES = (
    *("run", "step", "steps", "rate", "seed"),
    *("teacher", "inputs", "student", "objective", "optimiser", "calculation"),
    *("outcome", "note", "precision", "foreign", "literal"),
)


@dataclass(frozen=True)
class Calculated:
    """What a calculation found: curves along `axis`, which counts steps, sizes or iterations.

    The first axis of every curve runs along it. A number is a curve of one point.
    """

    axis: Int[np.ndarray, "points"]
    curves: Mapping[str, Num[np.ndarray, "points ..."]]  # kept as float64

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", _checked_axis(self.axis))
        if not self.curves:
            raise Refused(
                "A calculation must find at least one named number or curve, since that is all "
                "there is to store, check and draw. Got none."
            )
        found = {name: _checked_curve(name, c, self.axis) for name, c in self.curves.items()}
        object.__setattr__(self, "curves", found)

    @classmethod
    def numbers(cls, **named: Number) -> Calculated:
        """Named numbers, or arrays that belong together."""
        return cls(
            np.zeros(1, np.int64), {name: np.asarray(value)[None] for name, value in named.items()}
        )


def _checked_axis(given: Num[np.ndarray, "..."]) -> Int[np.ndarray, "points"]:
    axis = np.asarray(given)
    if axis.ndim != 1 or not len(axis) or axis.dtype.kind not in "iu" or (np.diff(axis) <= 0).any():
        raise Refused(
            "The axis of a calculation must be whole numbers that increase, at least one, since "
            "its curves are drawn and stored along it as a run's are along its steps. "
            f"Got {given!r}."
        )
    return axis.astype(np.int64)


def _checked_curve(
    name: str, given: Num[np.ndarray, "..."], axis: Int[np.ndarray, "points"]
) -> Float[np.ndarray, "points ..."]:
    if not (isinstance(name, str) and name.isidentifier()):
        raise Refused(
            "What a calculation finds must be named by a word of letters, digits and underscores, "
            f"since the name is a column of tables and a condition of `runs`. Got {name!r}."
        )
    if name in TAKEN_NAMES:
        raise Refused(
            f"What a calculation finds must have a name of its own, since {name!r} is a column of "
            f"every table of runs. Got {name!r}."
        )
    curve = np.asarray(given)
    if curve.dtype.kind not in "fiub":  # complex numbers, words and objects are not meant
        raise Refused(
            f"`{name}` of a calculation must be real numbers, since it is stored, checked and "
            f"drawn as a curve. Got {given!r}."
        )
    if curve.ndim < 1 or len(curve) != len(axis):
        raise Refused(
            f"The first axis of `{name}` must be as long as the calculation's axis, since it has "
            f"one entry per point of that. Got shape {curve.shape} for {len(axis)} points."
        )
    return curve.astype(np.float64)


class Calculation(abc.ABC):
    """Named numbers or curves of a setting."""

    @abc.abstractmethod
    def __call__(self, given: Ingredients) -> Calculated:
        """The numbers and curves at this setting."""
