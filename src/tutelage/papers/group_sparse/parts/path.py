"""Gradient flow and its events in the two numbers that it keeps to: α and the gap C."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.integrate import solve_ivp

from tutelage.papers.group_sparse.theory.margin import margin_risk, margin_slopes
from tutelage.papers.group_sparse.theory.risk import DENSITY_AT_ZERO, risk, risk_slopes
from tutelage.refuse import Refused

FIRST_TIME = 1e-6  # before it the start has moved along its first derivatives alone
RELATIVE, ABSOLUTE = 1e-10, 1e-12  # tolerances of the solver

Event = Callable[["State"], float]


@dataclass(frozen=True)
class Groups:
    """What the flow depends on: D, β⁴ and the margin of the inputs."""

    groups: int
    push: float
    margin: float = 0.0


@dataclass(frozen=True)
class State:
    """v = αv*, and the gap C of every softmax."""

    problem: Groups
    length: float  # α
    gap: float  # C

    @property
    def missed(self) -> float:
        """1 − s, without cancellation."""
        rest = (self.problem.groups - 1) * math.exp(-self.gap)
        return rest / (1 + rest)

    @property
    def log_missed(self) -> float:
        """log(1 − s), also where 1 − s is no number."""
        rest = math.log(self.problem.groups - 1) - self.gap
        return -float(np.logaddexp(0.0, -rest))

    @property
    def signal(self) -> float:
        """A = Dαs."""
        rest = (self.problem.groups - 1) * math.exp(-self.gap)
        return self.problem.groups * self.length / (1 + rest)

    @property
    def noise(self) -> float:
        """ρ."""
        return math.sqrt(self.problem.groups - 1) * math.exp(-self.gap)

    @property
    def risk(self) -> float:
        if self.problem.margin:
            return margin_risk(self.signal, self.noise, self.problem.margin)
        return risk(self.signal, self.noise)

    def slopes(self) -> tuple[float, float]:
        """−∂L/∂α and −(β⁴/(D−1)) ∂L/∂C: how fast both move."""
        groups, signal, noise = self.problem.groups, self.signal, self.noise
        if self.problem.margin:
            by_signal, by_noise = margin_slopes(signal, noise, self.problem.margin)
        else:
            by_signal, by_noise = risk_slopes(signal, noise)
        by_length = by_signal * groups * (1 - self.missed)
        by_gap = by_signal * signal * self.missed - by_noise * noise
        return -by_length, -self.problem.push / (groups - 1) * by_gap


def first_state(problem: Groups) -> State:
    """Where flow is at `FIRST_TIME`: α = E|g|t/2, and C by the integral of its slope.

    E|g| is √(2/π) without a margin, and a little more with one, where it is φ(m)/Φ(−m).
    """
    pull = DENSITY_AT_ZERO
    if problem.margin:
        # Half the mean of |g| given |g| ≥ m.
        pull *= math.exp(-(problem.margin**2) / 2) / math.erfc(problem.margin / math.sqrt(2))
    length = pull * FIRST_TIME
    gap = problem.push * pull**2 * FIRST_TIME**2 / (2 * problem.groups)
    return State(problem, length, gap)


def follow_flow(
    problem: Groups,
    log_times: Float[np.ndarray, "points"],
    events: Sequence[Event] = (),
) -> tuple[list[State], list[float | None]]:
    """The states at some log times, and log t at which each event crosses 0; None where it does
    not.
    """

    def slopes(log_time: float, now: Float[np.ndarray, "2"]) -> list[float]:
        time = math.exp(log_time)
        return [time * slope for slope in State(problem, now[0], now[1]).slopes()]

    begin = first_state(problem)
    solved = solve_ivp(
        slopes,
        (math.log(FIRST_TIME), float(log_times[-1])),
        [begin.length, begin.gap],
        method="LSODA",
        rtol=RELATIVE,
        atol=ABSOLUTE,
        t_eval=log_times,
        events=[lambda s, now, e=event: e(State(problem, now[0], now[1])) for event in events],
    )
    if not solved.success:
        raise Refused(
            "Gradient flow must be smooth on the scale of ln t to be followed. The solver gave "
            f"up: {solved.message}"
        )
    crossed = [float(found[0]) if len(found) else None for found in solved.t_events]
    return [State(problem, *column) for column in solved.y.T.tolist()], crossed
