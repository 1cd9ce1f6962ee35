"""From windows to a verdict: the interval of a limit against the values that a claim allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tutelage.claims.chance import needed_sentence
from tutelage.claims.claim import Answer
from tutelage.claims.contraction import (
    FAR,
    Ends,
    Horizon,
    Replicates,
    Sample,
    evidence,
    factors,
    find_horizon,
    pair_weights,
    smallest_exponent,
)
from tutelage.claims.reading import DECLARE, Kind, Reading
from tutelage.claims.verdict import Status
from tutelage.run import Run

LARGEST = 700.0  # the logarithm of a number that is not yet taken for infinite; 709 overflows


@dataclass(frozen=True)
class Allowed:
    """The limits that a claim allows, and where exactly it expects one."""

    least: float
    most: float
    expected: float

    def judge(self, found: Horizon) -> Status:
        """The verdict of an interval. Without an exponent it decides only about windows that all
        went one way and have by now left the edge of what is allowed far behind.
        """
        if found.misfit or found.low > found.high:
            return Status.UNDECIDED
        status = self.status(*found.interval)
        return status if found.settles or self._is_far(found.away) else Status.UNDECIDED

    def _is_far(self, away: float | None) -> bool:
        if away is None:
            return False
        edges = [end for end in (self.least, self.most) if np.isfinite(end)]
        return all(abs(away - end) >= FAR for end in edges)

    def status(self, low: float, high: float) -> Status:
        if self.least <= low and high <= self.most:
            return Status.HOLDS
        if high < self.least or low > self.most:
            return Status.FAILS
        return Status.UNDECIDED

    def violation(self, low: float, high: float) -> float:
        """The smallest departure that an interval excludes, if it lies within the allowed."""
        above = high - self.expected if np.isfinite(self.most) else 0.0
        below = self.expected - low if np.isfinite(self.least) else 0.0
        return max(above, below, 0.0)


@dataclass(frozen=True)
class Judged:
    """What the windows say about a limit."""

    status: Status
    horizon: Horizon
    sample: Sample
    reading: Reading
    allowed: Allowed
    show: Callable[[float], float] = float  # from the windows' scale to the reader's

    @property
    def interval(self) -> Ends | None:
        """The interval on the reader's scale; None where it has no end on one side."""
        low, high = self.horizon.interval
        return (self.show(low), self.show(high)) if np.isfinite([low, high]).all() else None

    def on(self, show: Callable[[float], float]) -> Judged:
        return replace(self, show=show)

    def answer(self, said: str, runs: Sequence[Run], violation: Callable[[float], float]) -> Answer:
        """The answer, after a sentence that says what was seen."""
        decided = self.status is not Status.UNDECIDED
        ends = "" if decided else f"; {self.would_decide(runs)}"
        contraction, e_value, rejected = None, None, None
        if decided:
            contraction = smallest_exponent(
                self.sample,
                self.reading.log_ratio,
                self.allowed.least,
                self.allowed.most,
                self.status is Status.HOLDS,
                self.horizon.delta,
            )
            if isinstance(self.sample, Replicates):
                e_value = evidence(
                    self.sample,
                    self.reading.log_ratio,
                    self.horizon.delta,
                    self.allowed.least,
                    self.allowed.most,
                    self.status is Status.HOLDS,
                )
        if self.status is Status.HOLDS:
            rejected = violation(self.allowed.violation(*self.horizon.interval))
        return Answer(
            self.status,
            f"{said}, found in {self.words}{self._class()}{ends}.",
            None,
            self.show(self.horizon.estimate),
            self.interval,
            None if self.sample.chance else self.interval,
            self.interval if self.sample.chance else None,
            smallest_violation=rejected,
            contraction=contraction,
            begins=self.reading.begins(self.horizon.begins),
            e_value=e_value,
        )

    @property
    def words(self) -> str:
        """The interval in words."""
        low, high = (self.show(end) if np.isfinite(end) else end for end in self.horizon.interval)
        infinite = "∞" if low > 0 else "−∞"
        left = f"[{low:.4f}" if np.isfinite(low) else f"({infinite}"
        right = f"{high:.4f}]" if np.isfinite(high) else "∞)"
        return f"{left}, {right}"

    def _class(self) -> str:
        """What was assumed of the approach, where it is less than was declared."""
        found = self.horizon
        if found.misfit:
            since = self.reading.begins(found.begins)
            return f", though it turned near step {since:,.0f} and is not seen to settle since"
        if not found.slower:
            return ""
        if found.away is not None and not found.settles:
            return " (it moves on without slowing down, towards no limit in sight)"
        if found.delta == 0:
            return (
                f" (its windows do not settle like t^-{found.declared:g}; judged only by what is "
                "nearer to the later ones)"
            )
        return (
            f" (it may settle more slowly than t^-{found.declared:g}; judged with "
            f"t^-{found.delta:.2g})"
        )

    def would_decide(self, runs: Sequence[Run]) -> str:
        """What would decide an undecided claim: replicates where only chance is in the way, else
        steps.
        """
        if not isinstance(self.sample, Replicates):
            return longer(runs)
        ratio = self.reading.log_ratio
        certain = find_horizon(_Certain(self.sample.mean), ratio, self.horizon.declared)
        low, high = certain.interval
        rooms = {
            Status.HOLDS: min(low - self.allowed.least, self.allowed.most - high),
            Status.FAILS: max(self.allowed.least - high, low - self.allowed.most),
        }
        room = rooms.get(self.allowed.status(low, high), 0.0)
        if room <= 0:
            return longer(runs)
        windows = len(self.sample.mean)
        far = pair_weights(windows, windows - 2, factors(self.horizon.declared, ratio)[0])
        return needed_sentence(float((self.sample.values @ far).std(ddof=1)), room)


class _Certain(Sample):
    """Window values taken as exact."""

    chance = False

    def __init__(self, mean: np.ndarray) -> None:
        self.mean = mean

    def limits(self, weights: np.ndarray) -> Ends:
        value = float(weights @ self.mean)
        return value, value

    def error(self, weights: np.ndarray) -> float:
        return 0.0


def judge(reading: Reading, allowed: Allowed, kind: Kind | None = None) -> Judged | None:
    """The verdict of the windows on a limit; None where one run scatters and no noise model is
    declared.
    """
    found: Judged | None = None
    for sample in reading.samples(kind):
        horizon = find_horizon(sample, reading.log_ratio, reading.question.approach)
        status = allowed.judge(horizon)
        judged = Judged(status, horizon, sample, reading, allowed)
        if status is not Status.UNDECIDED:
            return judged
        found = found or judged
    return found


def exponential(value: float) -> float:
    """e^value, infinite where it is too large to be multiplied by anything."""
    return np.inf if value > LARGEST else float(np.exp(value))


def scattered(said: str, reading: Reading, predicted: float | None = None) -> Answer:
    """The answer about a single run that scatters, when nothing is declared about its noise."""
    scatter = reading.parts[0].scatter
    return Answer(
        Status.UNDECIDED,
        f"{said}, with a scatter of {scatter:.2g} from point to point. One run does not "
        f"show the random spread: {DECLARE}.",
        predicted,
    )


def longer(runs: Sequence[Run]) -> str:
    return f"about {10 * max(int(run.steps[-1]) for run in runs):.1g} steps may decide"
