"""Measures of all iterates of a run and not only of the last: they also see what the optimiser has
kept of them.
"""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
from jaxtyping import Array, Float

from tutelage.measures.base import Measure, OfIterates
from tutelage.objectives.base import Objective
from tutelage.optimisers.averaged import Average
from tutelage.students.base import Student


def of_iterates(optimiser: str) -> Callable[[OfIterates], Measure]:
    """Makes a measure of (student, objective, state of the optimiser of that name)."""

    def made(function: OfIterates) -> Measure:
        return Measure(function.__name__, function, keeper=optimiser)

    return made


@of_iterates("averaged")
def averaged_excess(student: Student, objective: Objective, state: Average) -> Float[Array, ""]:
    """L − L_opt of the averaged iterate θ̄_T = Σ_s w_s θ_s; at T = 0, of the start."""
    return objective.excess(eqx.combine(state.mean, student))


ITERATES = (averaged_excess,)
