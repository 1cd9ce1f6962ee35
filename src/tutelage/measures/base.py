"""What every measure is: a named curve, read off the student at log-spaced steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from jaxtyping import Array, Float, PyTree

from tutelage.objectives.base import Objective
from tutelage.refuse import Refused
from tutelage.students.base import Student
from tutelage.teachers.base import BilinearClass

OfStudent = Callable[..., Float[Array, "..."]]  # of (student, objective)
OfIterates = Callable[..., Float[Array, "..."]]  # of (student, objective, optimiser's state)


@runtime_checkable
class OfBilinear(Protocol):
    """An objective whose teacher is of the class σ(V* X S*)."""

    @property
    def teacher(self) -> BilinearClass: ...


@runtime_checkable
class KnowsScales(Protocol):
    """A student that says itself how far it has come along its teacher: its risk goes over many
    teachers at once, or it is no more than these two numbers.
    """

    @property
    def value_scale(self) -> Float[Array, ""]: ...

    @property
    def score_gap(self) -> Float[Array, ""]: ...


@dataclass(frozen=True)
class Measure:
    """A function of (student, objective), or of (student, objective, state of the optimiser).

    `keeper` names the optimiser whose state a measure of all iterates reads; "" for a measure of
    the last iterate alone.
    """

    name: str
    function: OfStudent | OfIterates = field(repr=False)
    keeper: str = ""

    def __call__(
        self, student: Student, objective: Objective, state: PyTree = None
    ) -> Float[Array, "..."]:
        if self.keeper:
            return self.function(student, objective, state)
        return self.function(student, objective)


def as_measure(given: Measure | OfStudent, name: str = "") -> Measure:
    """A measure itself, or the one around a plain function, named as the function is unless said
    otherwise.
    """
    if isinstance(given, Measure):
        return given
    if not callable(given):
        raise Refused(
            "Each of `measures` must be a function of (student, objective) such as "
            "tutelage.measures.excess_risk, since it is called at measured steps; only a Setting "
            f"takes measures by name. Got {given!r}."
        )
    return Measure(name or given.__name__, given)
