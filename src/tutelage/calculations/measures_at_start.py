"""Measures of a student before any step: what a setting's start is like, with nothing trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import jax
import numpy as np
from jaxtyping import Array, Float

from tutelage.calculations.base import Calculated, Calculation, Ingredients
from tutelage.measures.base import Measure
from tutelage.objectives.base import Objective
from tutelage.refuse import Refused
from tutelage.students.base import Student

Found = dict[str, Float[Array, "..."]]


class MeasuresAtStart(Calculation):
    """The measures of a setting's student and objective, as a run has them at step 0."""

    def __init__(self, measures: Sequence[Measure]) -> None:
        for measure in measures:
            if measure.keeper:
                raise Refused(
                    "A measure at the start must be one of the student alone, since there are no "
                    f"iterates yet. Got {measure.name!r}, which reads those that "
                    f"{measure.keeper!r} keeps."
                )
        self.measures = tuple(measures)

    def __call__(self, given: Ingredients) -> Calculated:
        # The options that a run on this objective would be compiled with, for one step.
        options = given.objective.compiler_options(given.student, 1, jax.default_backend())
        measure = _compiled(tuple(sorted(options.items())))
        found = measure(given.student, given.objective, measures=self.measures)
        return Calculated.numbers(**{name: np.asarray(value) for name, value in found.items()})


@cache
def _compiled(options: tuple[tuple[str, str | int | bool], ...]) -> Callable[..., Found]:
    """One compiled function per choice of options, so that its programs are reused."""
    return jax.jit(_measure, static_argnames="measures", compiler_options=dict(options) or None)


def _measure(student: Student, objective: Objective, *, measures: tuple[Measure, ...]) -> Found:
    return {measure.name: measure(student, objective) for measure in measures}
