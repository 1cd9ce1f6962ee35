"""Gradient flow and its events in the two numbers that it keeps to: α and the gap C."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.integrate import solve_ivp
from scipy.special import expit

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
    def _log_odds(self) -> float:
        return self.gap - math.log(self.problem.groups - 1)

    @property
    def right(self) -> float:
        """s."""
        return float(expit(self._log_odds))

    @property
    def missed(self) -> float:
        """1 − s, without cancellation."""
        return float(expit(-self._log_odds))

    @property
    def log_missed(self) -> float:
        """log(1 − s), also where 1 − s is no number."""
        return -float(np.logaddexp(0.0, self._log_odds))

    @property
    def _across(self) -> float:
        """B/α at s = 0: D − 1 groups share the rest of the weight."""
        return self.problem.groups / math.sqrt(self.problem.groups - 1)

    @property
    def signal(self) -> float:
        """A = Dαs."""
        return self.problem.groups * self.length * self.right

    @property
    def noise(self) -> float:
        """B = Dα(1−s)/√(D−1)."""
        return self._across * self.length * self.missed

    @property
    def risk(self) -> float:
        if self.problem.margin:
            return margin_risk(self.signal, self.noise, self.problem.margin)
        return risk(self.signal, self.noise)

    def slopes(self) -> tuple[float, float]:
        """−∂L/∂α and −(β⁴/(D−1)) ∂L/∂C: how fast both move."""
        groups, s, rest = self.problem.groups, self.right, self.missed
        if self.problem.margin:
            by_signal, by_noise = margin_slopes(self.signal, self.noise, self.problem.margin)
        else:
            by_signal, by_noise = risk_slopes(self.signal, self.noise)
        by_length = by_signal * groups * s + by_noise * self._across * rest
        by_right = by_signal * groups * self.length - by_noise * self._across * self.length
        return -by_length, -self.problem.push / (groups - 1) * by_right * s * rest


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
