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
    mean_interval,
    value_at,
)
from tutelage.claims.verdict import Status
from tutelage.refuse import one_of
from tutelage.run import Outcome, Run

SIDES = ("equal", "at most", "at least")


@dataclass(frozen=True)
class Number(Claim):
    """A number, one a replication, equals `value` within an absolute tolerance, or is at most or at
    least that.

    The interval is that of the mean over replications (whole runs or pairs of runs), never over
    points of one curve. One replication tells nothing of the spread, so it decides nothing, unless
    the number has no chance in it (`certain`).
    """

    values: Callable[[Sequence[Run]], Sequence[float]]
    value: Predicted
    of: str
    tolerance: float
    side: str = "equal"
    certain: bool = False

    def __post_init__(self) -> None:
        one_of("side of a number", self.side, SIDES)

    def answer(self, runs: Sequence[Run]) -> Answer:
        try:
            expected = float(np.mean([value_at(self.value, run) for run in runs]))
            found = np.asarray(self.values(runs), float)
        except (NotYet, NoPrediction) as reason:
            return Answer(Status.UNDECIDED, str(reason), None)
        if any(run.outcome is Outcome.DIVERGED for run in runs) or np.isinf(found).any():
            return Answer(
                Status.FAILS, f"A run diverged, and so {self.of} has no finite value.", expected
            )
        if np.isnan(found).any():
            said = (
                f"Too short to tell: the runs end before {self.of} can be read. Longer ones "
                "would decide."
            )
            return Answer(Status.UNDECIDED, said, expected)
        mean = float(found.mean())
        spread = mean_interval(found)
        low, high = spread or (mean, mean)
        word = {"equal": "against", "at most": "against at most", "at least": "against at least"}[
            self.side
        ]
        times = f"{len(found)} replications" if len(found) > 1 else "one replication"
        said = (
            f"Over {count(runs)} in {times} {self.of} is {mean:.4g} in [{low:.4g}, "
            f"{high:.4g}], {word} {expected:.4g} ± {self.tolerance:g}"
        )
        if spread is None and not self.certain:
            return Answer(
                Status.UNDECIDED,
                f"{said}; one replication tells nothing of the spread, more would.",
                expected,
                mean,
                (low, high),
            )
        inside, outside = self._sides(low, high, expected)
        status = Status.HOLDS if inside else Status.FAILS if outside else Status.UNDECIDED
        end = "; more replications would decide" if status is Status.UNDECIDED else ""
        return Answer(status, f"{said}{end}.", expected, mean, (low, high), None, spread)

    def _sides(self, low: float, high: float, expected: float) -> tuple[bool, bool]:
        """Whether the whole interval satisfies the claim, and whether none of it does."""
        least, most = expected - self.tolerance, expected + self.tolerance
        if self.side == "at most":
            return high <= most, low > most
        if self.side == "at least":
            return low >= least, high < least
        return least <= low and high <= most, high < least or low > most
