"""The claim that a number read from each seed's runs lies, on average over seeds, within given bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tutelage.claims.claim import Answer, Claim, curve_of, mean_interval
from tutelage.claims.verdict import Status
from tutelage.run import Run

Reading = Callable[[Sequence[Run]], Sequence[float]]  # one number a seed


@dataclass(frozen=True)
class Level(Claim):
    """least ≤ mean ≤ most, the mean over seeds with its 95% interval; `reading` makes one number of each seed's runs.

    Either bound may be left out. HOLDS when the whole interval lies within them, FAILS when none of it does, UNDECIDED otherwise. A
    difference between two runs of one seed is read in pairs, so that what both share drops out of its spread.
    """

    reading: Reading
    of: str
    least: float | None = None
    most: float | None = None

    @property
    def tolerance(self) -> float:
        """Half the room between two bounds; 0 where there is only one."""
        return 0.0 if self.least is None or self.most is None else (self.most - self.least) / 2

    @property
    def predicted(self) -> float:
        """The middle of two bounds, or the only one."""
        return float(np.mean([bound for bound in (self.least, self.most) if bound is not None]))

    def answer(self, runs: Sequence[Run]) -> Answer:
        values = np.asarray(self.reading(runs), dtype=float)
        mean, spread = float(values.mean()), mean_interval(values)
        asked = " and ".join(f"{word} {bound:g}" for word, bound in (("≥", self.least), ("≤", self.most)) if bound is not None)
        if spread is None:
            said = f"One seed gives {self.of} {mean:.4g}, asked {asked}; two or more would show its spread and decide."
            return Answer(Status.UNDECIDED, said, self.predicted, mean, (mean, mean))
        low, high = spread
        least = -math.inf if self.least is None else self.least
        most = math.inf if self.most is None else self.most
        said = f"Over {len(values)} seeds {self.of} is {mean:.4g} in [{low:.4g}, {high:.4g}], asked {asked}"
        if least <= low and high <= most:
            status = Status.HOLDS
        elif high < least or low > most:
            status = Status.FAILS
        else:
            status, said = Status.UNDECIDED, f"{said}; more seeds would decide"
        return Answer(status, f"{said}.", self.predicted, mean, spread, spread=spread)


def last(curve: str) -> Reading:
    """The last value of a curve (its mean, for one number a query), run by run."""

    def read(runs: Sequence[Run]) -> list[float]:
        return [float(np.mean(curve_of(run, curve)[-1])) for run in runs]

    return read
