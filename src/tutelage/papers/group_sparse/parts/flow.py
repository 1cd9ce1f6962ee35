"""Calculations along gradient flow: its curves, and how long it takes."""

from __future__ import annotations

import math

import numpy as np

from tutelage.calculations.base import Calculated, Calculation, Ingredients
from tutelage.numerics.grids import log_spaced
from tutelage.papers.group_sparse.parts.path import Event, Groups, State, follow_flow
from tutelage.papers.group_sparse.parts.teacher import GroupSigns
from tutelage.refuse import Refused, positive, whole

PER_DECADE = 12  # measured times in each factor of ten
MOST_DECADES = 18  # times up to 10¹⁸ are whole numbers, and serve as the axis
LONGEST = 1e30  # time after which a wait is given up


def read_problem(given: Ingredients, margin: float = 0.0) -> Groups:
    """D and β⁴ of the teacher."""
    teacher = given.teacher
    if not isinstance(teacher, GroupSigns):
        raise Refused(
            "Flow over groups needs the teacher 'group_signs', which says how many groups there "
            f"are. Got {given.setting.teacher.name!r}."
        )
    return Groups(teacher.groups, teacher.code_square**2, margin)


class GroupFlow(Calculation):
    """Flow from zero to t = 10^decades: `risk`, `missed` (1 − s), `length` (α) and `gap` (C)."""

    def __init__(self, decades: int, margin: float) -> None:
        self.decades = whole("decades", decades, least=1, reason="the axis begins at t = 1")
        if decades > MOST_DECADES:
            raise Refused(
                f"`decades` must be at most {MOST_DECADES}, since times are whole numbers. "
                f"Got {decades}."
            )
        if not 0 <= margin <= 3:
            raise Refused(
                "`margin` must be between 0 and 3, since inputs with a smaller "
                f"|⟨v*, x⟩| are left out and some must remain. Got {margin!r}."
            )
        self.margin = float(margin)

    def __call__(self, given: Ingredients) -> Calculated:
        times = log_spaced(10**self.decades, PER_DECADE)[1:]
        states, _ = follow_flow(read_problem(given, self.margin), np.log(times.astype(float)))
        return Calculated(
            times,
            {
                "risk": np.array([state.risk for state in states]),
                "missed": np.array([state.missed for state in states]),
                "length": np.array([state.length for state in states]),
                "gap": np.array([state.gap for state in states]),
            },
        )


class GroupWaits(Calculation):
    """How long flow takes: `time_to_risk` ε, `time_to_half` (s = ½); and `missed_at_cube`, 1 − s
    at t = D³.
    """

    def __init__(self, target: float) -> None:
        self.target = positive("target", target, reason="flow never comes to a risk of 0")
        if self.target >= math.log(2):
            raise Refused(
                "`target` must be below log 2 = 0.693, the risk at the start, since a wait is "
                f"for it. Got {target!r}."
            )

    def __call__(self, given: Ingredients) -> Calculated:
        problem = read_problem(given)
        log_cube = 3 * math.log(problem.groups)
        events: list[Event] = [self._above_target, _below_half]
        end = math.log(LONGEST)
        (state, _), crossed = follow_flow(problem, np.array([log_cube, end]), events)
        risk, half = (math.inf if log is None else math.exp(log) for log in crossed)
        return Calculated.numbers(time_to_risk=risk, time_to_half=half, missed_at_cube=state.missed)

    def _above_target(self, state: State) -> float:
        return math.log(state.risk / self.target)


def _below_half(state: State) -> float:
    return state.gap - math.log(state.problem.groups - 1)


class GroupSteps(Calculation):
    """Plain descent from zero by steps of one size η, in the same two numbers.

    `risk`, `log_missed` (log(1 − s)), `length` (α) and `gap` (C) after each of log-spaced steps.
    """

    def __init__(self, rate: float, steps: int) -> None:
        self.rate = positive("rate", rate, reason="a step of size 0 goes nowhere")
        self.steps = whole("steps", steps, least=1, reason="descent takes steps")

    def __call__(self, given: Ingredients) -> Calculated:
        state = State(read_problem(given), 0.0, 0.0)
        axis = log_spaced(self.steps, PER_DECADE)
        wanted, found = set(axis.tolist()), [state]
        for step in range(1, self.steps + 1):
            up, apart = state.slopes()
            length, gap = state.length + self.rate * up, state.gap + self.rate * apart
            state = State(state.problem, length, gap)
            if step in wanted:
                found.append(state)
        return Calculated(
            axis,
            {
                "risk": np.array([state.risk for state in found]),
                "log_missed": np.array([state.log_missed for state in found]),
                "length": np.array([state.length for state in found]),
                "gap": np.array([state.gap for state in found]),
            },
        )
