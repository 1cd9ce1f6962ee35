"""The claim that a quantity is a power of something that a sweep varies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tutelage.claims.claim import Answer, Claim, NotYet, count, hull, mean_interval
from tutelage.claims.verdict import Status
from tutelage.refuse import Refused
from tutelage.run import Run


@dataclass(frozen=True)
class Exponent(Claim):
    """y ∝ x^exponent over a sweep; `points` turns runs into (x, y, seed), and theory gives the
    exponent at those very x.
    """

    points: Callable[[Sequence[Run]], Sequence[tuple[float, float, int]]]
    exponent: float | Callable[[Sequence[float]], float]
    of: str = "the quantity"
    tolerance: float = 0.02

    def answer(self, runs: Sequence[Run]) -> Answer:
        try:
            found = list(self.points(runs))
        except NotYet as reason:
            return Answer(Status.UNDECIDED, str(reason), None)
        axis = sorted({x for x, _, _ in found})
        if len(axis) < 3:
            raise Refused(
                "An exponent needs at least three points of a sweep, since two always fit. Got "
                f"{len(axis)}."
            )
        expected = self._expected(axis)
        by_seed = [
            expected + self._departure([(x, y) for x, y, s in found if s == seed])
            for seed in sorted({s for _, _, s in found})
        ]
        mean = [
            (x, float(np.exp(np.mean([np.log(y) for a, y, _ in found if a == x])))) for x in axis
        ]
        # Both measurement and theory may bend over a finite range, so they are compared over the
        # same points: all of them, all but the first, all but the last. How these differ is how
        # much the exponent depends on the range.
        fits = [expected + self._departure(part) for part in (mean, mean[1:], mean[:-1])]
        horizon = (min(fits), max(fits))
        spread = mean_interval(np.asarray(by_seed))
        low, high = hull(horizon, spread)
        said = (
            f"Over {count(runs)} and {len(axis)} points from {axis[0]:.4g} to {axis[-1]:.4g} "
            f"{self.of} has exponent "
            f"{fits[0]:.4f} in [{low:.4f}, {high:.4f}], against {expected:.4f} ± {self.tolerance:g}"
        )
        if expected - self.tolerance <= low and high <= expected + self.tolerance:
            status = Status.HOLDS
        elif high < expected - self.tolerance or low > expected + self.tolerance:
            status = Status.FAILS
        else:
            status = Status.UNDECIDED
            said += "; more points or a wider range would decide"
        return Answer(status, said + ".", expected, fits[0], (low, high), horizon, spread)

    def _expected(self, axis: Sequence[float]) -> float:
        return (
            float(self.exponent) if isinstance(self.exponent, int | float) else self.exponent(axis)
        )

    def _departure(self, points: Sequence[tuple[float, float]]) -> float:
        """The exponent through the points less the one that theory has through its own values
        there.
        """
        return fitted_exponent(points) - self._expected([x for x, _ in points])


def fitted_exponent(points: Sequence[tuple[float, float]]) -> float:
    """The slope of log y against log x by least squares; a rounded zero is zero."""
    slope = float(np.polyfit(np.log([x for x, _ in points]), np.log([y for _, y in points]), 1)[0])
    return 0.0 if abs(slope) < 1e-12 else slope
