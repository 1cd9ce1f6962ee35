"""The claim that a number read off whole runs is what theory says, or lies on one side of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tutelage.claims.claim import (
    Answer,
    Claim,
    NoPrediction,
    NotYet,
    Predicted,
    count,
    value_at,
)
from tutelage.claims.replicates import SCALES, Mean
from tutelage.claims.verdict import Status
from tutelage.refuse import one_of
from tutelage.run import Outcome, Run

SIDES = ("equal", "at most", "at least")


@dataclass(frozen=True)
class Number(Claim):
    """A number, one per replicate, equals `value` within an absolute tolerance, x = v ± ε; or it is
    at most or at least that.

    The interval is that of the mean over replicates (whole runs or pairs of runs), never over
    points of one curve. One replicate does not show the spread, so it decides nothing, unless
    the number has no chance in it (`certain`). On the scale "log" the claim is about the geometric
    mean; "either" is about the mean, with limits that are right on both scales.
    """

    values: Callable[[Sequence[Run]], Sequence[float]]
    value: Predicted
    of: str
    tolerance: float
    side: str = "equal"
    certain: bool = False
    scale: str = "either"

    def __post_init__(self) -> None:
        one_of("side of a number", self.side, SIDES)
        one_of("scale of a number", self.scale, SCALES)

    def answer(self, runs: Sequence[Run]) -> Answer:
        try:
            expected = float(np.mean([value_at(self.value, run) for run in runs]))
            found = np.asarray(self.values(runs), float)
        except (NotYet, NoPrediction) as reason:
            return Answer(Status.UNDECIDED, str(reason), None)
        if any(run.outcome is Outcome.DIVERGED for run in runs) or np.isinf(found).any():
            return Answer(
                Status.FAILS, f"A run diverged, so {self.of} has no finite value.", expected
            )
        if np.isnan(found).any():
            said = (
                f"Too short to tell: the runs end before {self.of} can be read. Longer ones "
                "would decide."
            )
            return Answer(Status.UNDECIDED, said, expected)
        return self._judged(Mean(found, self.scale, self.certain), expected, runs)

    def _judged(self, mean: Mean, expected: float, runs: Sequence[Run]) -> Answer:
        low, high = mean.interval
        word = {"equal": "against", "at most": "against at most", "at least": "against at least"}[
            self.side
        ]
        times = f"{len(mean.values)} replicates" if len(mean.values) > 1 else "one replicate"
        slack = f" ± {self.tolerance:g}" if self.tolerance else ""
        asked = f"{word} {expected:.4g}{slack}"
        if mean.decides_nothing:
            return Answer(
                Status.UNDECIDED,
                f"In one replicate {self.of} is {mean.value:.4g}, {asked}. One replicate "
                "does not show the spread; more would decide.",
                expected,
                mean.value,
            )
        said = (
            f"Over {count(runs)} in {times} {self.of} is {mean.value:.4g} in [{low:.4g}, "
            f"{high:.4g}], {asked}"
        )
        least, most = self._allowed(expected)
        holds, fails = least <= low and high <= most, high < least or low > most
        status = Status.HOLDS if holds else Status.FAILS if fails else Status.UNDECIDED
        if status is Status.UNDECIDED:
            said = f"{said}; {mean.would_decide(least, most)}"
        return Answer(
            status,
            f"{said}.",
            expected,
            mean.value,
            (low, high),
            None,
            mean.spread,
            smallest_violation=self._violation(low, high, expected) if holds else None,
            looseness=self._looseness(mean.value, expected) if holds else None,
            e_value=mean.evidence(least, most, holds) if holds or fails else None,
        )

    def _allowed(self, expected: float) -> tuple[float, float]:
        """The least and the largest mean that satisfies the claim."""
        least, most = expected - self.tolerance, expected + self.tolerance
        return -np.inf if self.side == "at most" else least, (
            np.inf if self.side == "at least" else most
        )

    def _violation(self, low: float, high: float, expected: float) -> float:
        """The smallest departure from the claim that the interval excludes."""
        above = high - expected if self.side != "at least" else 0.0
        below = expected - low if self.side != "at most" else 0.0
        return max(above, below, 0.0)

    def _looseness(self, mean: float, expected: float) -> float | None:
        """How many times larger a bound is than what was measured."""
        if self.side == "equal" or not (mean > 0 and expected > 0):
            return None
        return expected / mean if self.side == "at most" else mean / expected
