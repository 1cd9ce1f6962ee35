"""The claim that a quantity is a power of something that a sweep varies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import stdtrit

from tutelage.claims.chance import ERROR, SAME
from tutelage.claims.claim import Answer, Claim, NotYet, count
from tutelage.claims.reading import DECLARE, NOISES
from tutelage.claims.replicates import Mean
from tutelage.claims.verdict import Status
from tutelage.refuse import Refused, one_of
from tutelage.run import Run

Points = Sequence[tuple[float, float]]
EXACT = 0.99  # confidence at which scatter about a power must not matter, if none is declared


@dataclass(frozen=True)
class Exponent(Claim):
    """y ∝ x^exponent over a sweep; `points` turns runs into (x, y, seed), and theory gives the
    exponent at those very x.

    Seeds are replicates: each has its own exponent, and the interval is that of their mean. One
    seed has a chance interval only with noise="independent"; without it, it decides where its
    points scatter too little to matter, or where there is no chance in them (`certain`).

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
        axis = sorted({x for x, _, _ in found})
        _check(found, axis)
        expected = self._expected(axis)
        fits = self._fits(found, axis)
        whole = Mean(expected + fits[:, 0], "linear", self.certain)
        said = (
            f"Over {count(runs)} and {len(axis)} points from {axis[0]:.4g} to {axis[-1]:.4g} "
            f"{self.of} has exponent {whole.value:.4f}"
        )
        spread = whole.spread
        if len(fits) == 1 and not self.certain:
            error = self._error(_mean_points(found, axis))
            freedom = len(axis) - 2
            if self.noise:
                half = float(stdtrit(freedom, 1 - ERROR / 2)) * error
                spread = (whole.value - half, whole.value + half)
            elif float(stdtrit(freedom, 0.5 + EXACT / 2)) * error > self.tolerance / 2:
                said += f", against {expected:.4f} ± {self.tolerance:g}, but its points scatter"
                said += f" about a power. One seed does not show the random spread: {DECLARE}."
                return Answer(Status.UNDECIDED, said, expected, whole.value)
        low, high = spread or (whole.value, whole.value)
        down, up = _bend(fits)
        reach = _reach(found, errors, axis)
        down, up = down - reach, up + reach
        horizon = (whole.value + down, whole.value + up)
        return self._judged(said, expected, whole, (low + down, high + up), horizon, spread)

    def _fits(
        self, found: Sequence[tuple[float, float, int]], axis: Sequence[float]
    ) -> Float[np.ndarray, "seeds 3"]:
        """By how much the exponent departs from theory's, seed by seed, through all points, all but
        the first and all but the last: both may bend over a finite range, so they are compared over
        the same points. One row where seeds have the same points to rounding, or none has all.
        """
        seeds = sorted({s for _, _, s in found})
        groups = [sorted((x, y) for x, y, s in found if s == seed) for seed in seeds]
        groups = [group for group in groups if [x for x, _ in group] == list(axis)]
        logs = np.log([[y for _, y in group] for group in groups])
        if len(groups) < 2 or np.ptp(logs, axis=0).max() <= SAME:
            groups = [_mean_points(found, axis)]
        return np.array([[self._departure(part) for part in (g, g[1:], g[:-1])] for g in groups])

    def _judged(
        self,
        said: str,
        expected: float,
        whole: Mean,
        interval: tuple[float, float],
        horizon: tuple[float, float],
        spread: tuple[float, float] | None,
    ) -> Answer:
        low, high = interval
        said += f" in [{low:.4f}, {high:.4f}], against {expected:.4f} ± {self.tolerance:g}"
        least, most = expected - self.tolerance, expected + self.tolerance
        holds, fails = least <= low and high <= most, high < least or low > most
        if not holds and not fails:
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


def _check(found: Sequence[tuple[float, float, int]], axis: Sequence[float]) -> None:
    if len(axis) < 3:
        raise Refused(
            "An exponent needs at least three points of a sweep, since two always fit. Got "
            f"{len(axis)}."
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


def _reach(
    found: Sequence[tuple[float, float, int]], errors: Sequence[float], axis: Sequence[float]
) -> float:
    """How far relative errors of the points may move a slope by least squares, at the worst."""
    largest = [
        max(error for (x, _, _), error in zip(found, errors, strict=True) if x == place)
        for place in axis
    ]
    away = np.log(axis) - np.mean(np.log(axis))
    return float(np.abs(away) @ np.array(largest) / (away @ away))


def _mean_points(
    found: Sequence[tuple[float, float, int]], axis: Sequence[float]
) -> list[tuple[float, float]]:
    """The geometric mean over seeds at each point."""
    return [(x, float(np.exp(np.mean([np.log(y) for a, y, _ in found if a == x])))) for x in axis]


def fitted_exponent(points: Points) -> float:
    """The slope of log y against log x by least squares; a rounded zero is zero."""
    slope = float(np.polyfit(np.log([x for x, _ in points]), np.log([y for _, y in points]), 1)[0])
    return 0.0 if abs(slope) < 1e-12 else slope
