"""The claim that a quantity is a power of something that a sweep varies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import stdtrit

from tutelage.claims.chance import ERROR
from tutelage.claims.claim import Answer, Claim, NotYet, count
from tutelage.claims.reading import DECLARE, NOISES
from tutelage.claims.replicates import Mean
from tutelage.claims.sweep import (
    EXACT,
    LEAST_FREEDOM,
    LEAST_POINTS,
    Points,
    Span,
    Sweep,
    fitted_exponent,
    gather,
    parabolas,
    visible_span,
)
from tutelage.claims.verdict import Status
from tutelage.refuse import Refused, one_of
from tutelage.run import Run

__all__ = ["Exponent", "fitted_exponent"]
# By how many tolerances local exponents must differ for points to lie on no power law.
NO_POWER = 10
# Local exponents that all lie within the tolerance differ by no more.
WITHIN = 2


@dataclass(frozen=True)
class Exponent(Claim):
    """y ∝ x^exponent over a sweep; `points` turns runs into (x, y, seed), and theory gives the
    exponent at those very x.

    Seeds are replicates: each has its own exponent, through its own points, and the interval is
    that of their mean. One seed has a chance interval only with noise="independent"; without it, it
    decides where its points scatter too little to matter, or where there is no chance in them
    (`certain`). Points whose local exponents differ by ten tolerances and more lie on no power law,
    and fail it whatever the exponent of a line through them is.

    `errors` gives the relative error of each point, in the same order, where points are themselves
    limits that runs have not reached: the interval then covers all of them in the worst directions.
    """

    points: Callable[[Sequence[Run]], Sequence[tuple[float, float, int]]]
    exponent: float | Callable[[Sequence[float]], float]
    of: str = "the quantity"
    tolerance: float = 0.02
    certain: bool = False
    noise: str = ""
    errors: Callable[[Sequence[Run]], Sequence[float]] | None = None

    def __post_init__(self) -> None:
        one_of("noise of an exponent", self.noise, NOISES)

    def answer(self, runs: Sequence[Run]) -> Answer:
        try:
            found = list(self.points(runs))
            errors = list(self.errors(runs)) if self.errors is not None else [0.0] * len(found)
        except NotYet as reason:
            return Answer(Status.UNDECIDED, str(reason), None)
        _check(found)
        sweep = gather(found, errors)
        expected = float(np.mean([self._expected([x for x, _ in row]) for row in sweep.rows]))
        fits = self._fits(sweep)
        whole = Mean(expected + fits[:, 0], "linear", self.certain)
        points = sweep.x.shape[1]
        said = (
            f"Over {count(runs)} and {points} points{'' if sweep.shared else ' per seed'} from "
            f"{sweep.x.min():.4g} to {sweep.x.max():.4g} "
            f"{self.of} has exponent {whole.value:.4f}"
        )
        span = visible_span(
            sweep, self._expected, certain=self.certain, asked=NO_POWER * self.tolerance
        )
        if span.least >= NO_POWER * self.tolerance:
            return self._no_power(said, expected, span)
        spread = whole.spread
        exact = 0.0  # how far scatter that does not matter may still move the exponent
        if len(fits) == 1 and not self.certain:
            (row,) = sweep.rows
            exact = self._scatter(sweep)
            if self.noise:
                half = float(stdtrit(len(row) - 2, 1 - ERROR / 2)) * self._error(row)
                spread, exact = (whole.value - half, whole.value + half), 0.0
            elif exact > self.tolerance / 2:
                said += f", against {expected:.4f} ± {self.tolerance:g}, but its points scatter"
                said += f" about a power. One seed does not show the random spread: {DECLARE}."
                return Answer(Status.UNDECIDED, said, expected, whole.value)
        low, high = spread or (whole.value, whole.value)
        down, up = _bend(fits)
        down, up = down - sweep.reach - exact, up + sweep.reach + exact
        horizon = (whole.value + down, whole.value + up)
        return self._judged(said, expected, whole, (low + down, high + up), horizon, spread, span)

    def _fits(self, sweep: Sweep) -> Float[np.ndarray, "seeds 3"]:
        """By how much the exponent departs from theory's, seed by seed, through all points, all but
        the first and all but the last: both may bend over a finite range, so they are compared over
        the same points.
        """
        rows = sweep.rows
        return np.array([[self._departure(part) for part in (r, r[1:], r[:-1])] for r in rows])

    def _no_power(self, said: str, expected: float, span: Span) -> Answer:
        """A line through points that lie on none has an exponent, but they do not."""
        said += (
            f" on average, but between its points exponents differ by at least {span.least:.2g}, "
            f"{NO_POWER} tolerances and more: this is no power law, against {expected:.4f} ± "
            f"{self.tolerance:g}."
        )
        return Answer(Status.FAILS, said, expected, e_value=span.evidence)

    def _judged(
        self,
        said: str,
        expected: float,
        whole: Mean,
        interval: tuple[float, float],
        horizon: tuple[float, float],
        spread: tuple[float, float] | None,
        span: Span,
    ) -> Answer:
        low, high = interval
        said += f" in [{low:.4f}, {high:.4f}], against {expected:.4f} ± {self.tolerance:g}"
        least, most = expected - self.tolerance, expected + self.tolerance
        holds, fails = least <= low and high <= most, high < least or low > most
        curved = span.least > WITHIN * self.tolerance
        if holds and curved:
            holds = False
            said += (
                f"; but between its points exponents differ by at least {span.least:.2g}, so that "
                "not all of them are within the tolerance: another range would decide"
            )
        elif not holds and not fails:
            bent = not (least <= horizon[0] and horizon[1] <= most)
            bent &= not (horizon[1] < least or horizon[0] > most)
            said += "; "
            said += (
                "more points or a wider range would decide"
                if bent or spread is None
                else whole.would_decide(least, most)
            )
        down, up = horizon[0] - whole.value, horizon[1] - whole.value
        sides = (least - down, most - up) if holds else (least - up, most - down)
        return Answer(
            Status.HOLDS if holds else Status.FAILS if fails else Status.UNDECIDED,
            said + ".",
            expected,
            whole.value,
            interval,
            horizon,
            spread,
            smallest_violation=max(high - expected, expected - low) if holds else None,
            e_value=whole.evidence(*sides, holds) if holds or fails else None,
        )

    def _scatter(self, sweep: Sweep) -> float:
        """How far one seed's exponent may be off by the scatter of its points about a parabola; of
        three or four points, which hardly show any, by how much it depends on any one of them.
        """
        (fit,) = parabolas(sweep, self._expected)
        if fit.freedom >= LEAST_FREEDOM:
            return fit.known(fit.slope_error)
        (row,) = sweep.rows
        return float(stdtrit(len(row) - 2, 0.5 + EXACT / 2)) * self._error(row)

    def _error(self, points: list[tuple[float, float]]) -> float:
        """The jackknife's standard error of the departure from theory: how much it depends on any
        one point.
        """
        n = len(points)
        without = [self._departure(points[:k] + points[k + 1 :]) for k in range(n)]
        return float(np.sqrt((n - 1) * np.var(without)))

    def _expected(self, axis: Sequence[float]) -> float:
        return (
            float(self.exponent) if isinstance(self.exponent, int | float) else self.exponent(axis)
        )

    def _departure(self, points: Points) -> float:
        """The exponent through the points less the one that theory has through its own values
        there.
        """
        return fitted_exponent(points) - self._expected([x for x, _ in points])


def _check(found: Sequence[tuple[float, float, int]]) -> None:
    points = len({x for x, _, _ in found})
    if points < LEAST_POINTS:
        raise Refused(
            "An exponent needs at least three points of a sweep, since two always fit. Got "
            f"{points}."
        )
    wrong = [(x, y) for x, y, _ in found if not (0 < x < np.inf and 0 < y < np.inf)]
    if wrong:
        raise Refused(
            "An exponent needs positive finite points, since they are read on logarithmic scales. "
            f"Got {wrong[0][1]} at {wrong[0][0]}."
        )


def _bend(fits: Float[np.ndarray, "seeds 3"]) -> tuple[float, float]:
    """How far down and up the exponent moves with the range, beyond what chance moves it."""
    moves = fits[:, 1:] - fits[:, :1]
    mean, error = moves.mean(0), np.zeros(2)
    if len(fits) > 1:
        error = moves.std(0, ddof=1) / np.sqrt(len(fits))
    seen = np.sign(mean) * np.maximum(np.abs(mean) - 2 * error, 0)
    return float(min(0.0, seen.min())), float(max(0.0, seen.max()))
