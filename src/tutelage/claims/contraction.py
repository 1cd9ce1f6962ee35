r"""The horizon: where a curve may still go, if its distance to the limit contracts.

The class. After a step $T_0$ the values $y_k$ in successive windows, each $r$ times later than the
one before, obey $|y_{k+1}-L|\le q\,|y_k-L|$ with $q=r^{-\delta}$. For one pair of windows with
$d=y_2-y_1$ this is the same as saying that $L$ lies between $y_2+\tfrac{q}{1-q}d$ and
$y_2-\tfrac{q}{1+q}d$, the points at which $|y_2-L|=q|y_1-L|$. Both ends are linear in the windows,
so replicates bound their means.

With δ = 0 only the second end is finite: the limit is nearer to the later window, beyond the
midpoint. That alone decides only about windows that ran far away. docs/verdicts.md has the
proofs.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tutelage.claims.chance import (
    ERROR,
    confidence_limits,
    evidence_against_above,
    evidence_against_below,
)

DELTA = 0.25  # the exponent of the class unless a claim declares another
LADDER = (1.0, 1 / 2, 1 / 4, 1 / 8, 1 / 16)  # shares of it that are tried before none is
JUDGED_BY = 2  # pairs of windows whose hull is the interval; the last alone would do in the class
# The share of an observed exponent that is used: right for every power of t, and for (log t)^-m
# with m ≥ ½, whose distance to the limit shrinks m/(m+1) times as fast as its differences.
SHARE = 1 / 3
LEAST_WINDOWS = 4  # in which an approach must be seen, if it is not in all
SLOWEST = LADDER[-1] * DELTA  # an exponent below it is none
FAR = 1.0  # how far beyond the edge of what is allowed windows must have run to decide without one
VISIBLE = 5.0  # standard errors at which a difference of windows is told from noise
ROUNDING = 1e-9  # of a window's value
NEGLIGIBLE = 3.0  # standard errors by which an exact curve's interval is widened
Ends = tuple[float, float]


class Sample(abc.ABC):
    """Window values of one or several runs, and how well linear functionals of them are known."""

    mean: Float[np.ndarray, "windows"]
    chance: bool  # whether the limits are those of chance over replicates

    @abc.abstractmethod
    def limits(self, weights: Float[np.ndarray, "windows"]) -> Ends:
        """Limits of the mean of weights · windows."""

    @abc.abstractmethod
    def error(self, weights: Float[np.ndarray, "windows"]) -> float:
        """Its standard error."""


@dataclass(frozen=True)
class OneRun(Sample):
    """A single run. `noise` maps independent unit errors of measured points to window values;
    `scatter` is the size of these errors, `quantile` how many standard errors the limits keep.
    """

    mean: Float[np.ndarray, "windows"]
    noise: Float[np.ndarray, "windows points"]
    scatter: float
    quantile: float = NEGLIGIBLE
    chance: bool = False

    def limits(self, weights: Float[np.ndarray, "windows"]) -> Ends:
        value, wide = float(weights @ self.mean), self.quantile * self.error(weights)
        return value - wide, value + wide

    def error(self, weights: Float[np.ndarray, "windows"]) -> float:
        return self.scatter * float(np.linalg.norm(weights @ self.noise))


@dataclass(frozen=True)
class Replicates(Sample):
    """Several runs that differ by chance, in the order of their seeds."""

    values: Float[np.ndarray, "runs windows"]
    chance: bool = True

    @property
    def mean(self) -> Float[np.ndarray, "windows"]:  # type: ignore[override]
        return self.values.mean(0)

    def limits(self, weights: Float[np.ndarray, "windows"]) -> Ends:
        low, high = confidence_limits(self.values @ weights, ERROR)
        return float(low), float(high)

    def error(self, weights: Float[np.ndarray, "windows"]) -> float:
        return float((self.values @ weights).std(ddof=1) / np.sqrt(len(self.values)))


@dataclass(frozen=True)
class EachRun(Sample):
    """Several runs without scatter, each an exact calculation: the limits are those of all of them,
    and so of each.
    """

    runs: tuple[OneRun, ...]
    chance: bool = False

    @property
    def mean(self) -> Float[np.ndarray, "windows"]:  # type: ignore[override]
        return np.mean([run.mean for run in self.runs], 0)

    def limits(self, weights: Float[np.ndarray, "windows"]) -> Ends:
        ends = [run.limits(weights) for run in self.runs]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def error(self, weights: Float[np.ndarray, "windows"]) -> float:
        return max(run.error(weights) for run in self.runs)


@dataclass(frozen=True)
class Horizon:
    """The interval of a limit, the exponent at which it was found and where the class begins."""

    low: float
    high: float
    delta: float
    declared: float
    begins: int  # the first window that the class covers
    estimate: float
    misfit: bool = False  # the windows approach nothing, even without an exponent
    away: float | None = None  # the last window, if all windows since `begins` went one way to it

    @property
    def settles(self) -> bool:
        """Whether the windows are seen to approach a limit, with some exponent."""
        return not self.misfit and self.delta >= SLOWEST

    @property
    def interval(self) -> Ends:
        return self.low, self.high

    @property
    def slower(self) -> bool:
        return self.delta < self.declared


def factors(delta: float, log_ratio: float) -> tuple[float, float]:
    """How far beyond the later window each end lies, in differences of the two windows."""
    q = np.exp(-delta * log_ratio)
    return (np.inf if q == 1 else float(q / (1 - q))), float(-q / (1 + q))


def pair_weights(windows: int, pair: int, factor: float) -> Float[np.ndarray, "windows"]:
    """y₂ + factor · (y₂ − y₁) of the pair that begins with window `pair`, as weights."""
    weights = np.zeros(windows)
    weights[pair], weights[pair + 1] = -factor, 1 + factor
    return weights


def pair_interval(sample: Sample, pair: int, delta: float, log_ratio: float) -> Ends:
    """Where the limit lies by one pair of windows."""
    windows = len(sample.mean)
    far, near = factors(delta, log_ratio)
    ends = [sample.limits(pair_weights(windows, pair, near))]
    if np.isinf(far):
        low, high = sample.limits(_difference(windows, pair))
        # Where the two do not differ, (∞, −∞) leaves the near end alone.
        ends.append((-np.inf if low < 0 else np.inf, np.inf if high > 0 else -np.inf))
    else:
        ends.append(sample.limits(pair_weights(windows, pair, far)))
    return min(low for low, _ in ends), max(high for _, high in ends)


def final_interval(sample: Sample, delta: float, log_ratio: float) -> Ends:
    """The hull of the last two pairs, so that one window that happens to lie at the limit, or
    beyond it, does not decide alone.
    """
    windows = len(sample.mean)
    pairs = range(max(0, windows - 1 - JUDGED_BY), windows - 1)
    ends = [pair_interval(sample, pair, delta, log_ratio) for pair in pairs]
    return min(low for low, _ in ends), max(high for _, high in ends)


def find_horizon(sample: Sample, log_ratio: float, declared: float = DELTA) -> Horizon:
    """The interval of the limit at the declared exponent, or at the first smaller one that the
    windows do not contradict.

    They contradict it where their differences shrink so slowly that a share of the exponent seen is
    smaller (then that share is used), and where the interval of an earlier pair does not meet the
    last. An exponent other than the usual one is that of the claim's own theory: it is used as it
    stands where the differences shrink at least so fast.
    """
    windows = len(sample.mean)
    seen = observed_exponent(sample, log_ratio)
    start = _first_exponent(seen, declared, turns(sample))
    estimate = extrapolate(sample)

    def at(delta: float) -> Horizon:
        final = final_interval(sample, delta, log_ratio)
        begins = _first_consistent(sample, delta, log_ratio, final)
        misfit = delta == 0 and begins >= windows - 1 - JUDGED_BY > 0
        away = _one_way(sample, begins)
        return Horizon(*final, delta, declared, begins, _inside(estimate, final), misfit, away)

    for share in LADDER if start > 0 else ():
        found = at(start * share)
        # Where the windows are seen to settle by now, an earlier contradiction only means that the
        # class began later.
        if found.begins == 0 or (seen is not None and windows - found.begins >= LEAST_WINDOWS):
            return found
    return at(0.0)


def _first_exponent(seen: float | None, declared: float, turned: bool) -> float:
    """The largest exponent to try: a share of the one seen, up to the declared one. Where the
    windows have just turned, none is seen yet, and only the least is tried.
    """
    if turned:
        return declared * LADDER[-1]
    if seen is None or (declared != DELTA and seen >= declared):
        return declared
    return max(0.0, min(declared, SHARE * seen))


def _one_way(sample: Sample, begins: int) -> float | None:
    """The last window, if every step from window `begins` on goes visibly the same way."""
    windows = len(sample.mean)
    differences = np.diff(sample.mean)[begins:]
    errors = [sample.error(_difference(windows, k)) for k in range(begins, windows - 1)]
    seen = np.abs(differences) > np.maximum(VISIBLE * np.array(errors), ROUNDING)
    one_way = len(differences) > 1 and seen.all() and np.ptp(np.sign(differences)) == 0
    return float(sample.mean[-1]) if one_way else None


def _first_consistent(sample: Sample, delta: float, log_ratio: float, final: Ends) -> int:
    """The first window from which on all pairs' intervals meet the last one."""
    windows = len(sample.mean)
    room = ROUNDING * (1 + float(np.abs(sample.mean).max()))
    for pair in reversed(range(windows - 1 - JUDGED_BY)):
        low, high = pair_interval(sample, pair, delta, log_ratio)
        if low > final[1] + room or high < final[0] - room:
            return pair + 1
    return 0


def observed_exponent(sample: Sample, log_ratio: float) -> float | None:
    """How fast the differences of successive windows shrink, as an exponent: the smaller of the
    last two; None where they are lost in noise, or turn.
    """
    windows = len(sample.mean)
    differences = np.diff(sample.mean)
    found = []
    for pair in range(max(0, windows - 4), windows - 2):
        seen = [
            abs(differences[k]) > max(VISIBLE * sample.error(_difference(windows, k)), ROUNDING)
            for k in (pair, pair + 1)
        ]
        if all(seen) and differences[pair] * differences[pair + 1] > 0:
            found.append(-np.log(differences[pair + 1] / differences[pair]) / log_ratio)
    return float(min(found)) if found else None


def turns(sample: Sample) -> bool:
    """Whether the last three differences visibly point in opposite directions: then a slow drift
    may begin where a fast one ends, and the exponent is not seen.
    """
    windows = len(sample.mean)
    differences = np.diff(sample.mean)
    last = range(max(0, windows - 4), windows - 1)
    seen = [
        float(np.sign(differences[k]))
        for k in last
        if abs(differences[k]) > max(VISIBLE * sample.error(_difference(windows, k)), ROUNDING)
    ]
    return len(set(seen)) > 1


def _difference(windows: int, pair: int) -> Float[np.ndarray, "windows"]:
    weights = np.zeros(windows)
    weights[pair], weights[pair + 1] = -1.0, 1.0
    return weights


def extrapolate(sample: Sample) -> float:
    """A point estimate of the limit: Aitken's, exact for an approach by any power, where the
    differences shrink visibly; else the last window.
    """
    values = sample.mean
    if len(values) < 3:
        return float(values[-1])
    first, second = float(values[-2] - values[-3]), float(values[-1] - values[-2])
    if abs(second) <= VISIBLE * sample.error(_difference(len(values), len(values) - 2)):
        return float(values[-1])
    ratio = second / first if first else np.inf
    return (
        float(values[-1] + second * ratio / (1 - ratio)) if 0 < ratio < 0.9 else float(values[-1])
    )


def _inside(value: float, ends: Ends) -> float:
    return min(max(value, ends[0]), ends[1])


def smallest_exponent(
    sample: Sample, log_ratio: float, least: float, most: float, holds: bool, at: float
) -> float:
    """The smallest exponent at which the interval still lies within [least, most], or still
    outside; `at` is one at which it does.
    """

    def stands(delta: float) -> bool:
        low, high = final_interval(sample, delta, log_ratio)
        return least <= low and high <= most if holds else high < least or low > most

    if stands(0.0):
        return 0.0
    below, above = 0.0, at
    for _ in range(30):
        middle = (below + above) / 2
        below, above = (below, middle) if stands(middle) else (middle, above)
    return above


def evidence(
    sample: Replicates,
    log_ratio: float,
    delta: float,
    least: float,
    most: float,
    holds: bool,
) -> float:
    """The e-value of a verdict against chance: the infimum, over all the limits that contradict it,
    of the evidence against the ends that such a limit needs.
    """
    ends = _end_values(sample, log_ratio, delta)
    if holds:
        return min(
            evidence_against_above(end, edge(most))
            if side
            else evidence_against_below(end, edge(least))
            for end, edge in ends
            for side in (True, False)
            if np.isfinite(most if side else least)
        )
    higher = min(evidence_against_below(end, edge(most)) for end, edge in ends)
    if not np.isfinite(least):
        return higher
    lower = min(evidence_against_above(end, edge(least)) for end, edge in ends)
    # Both are e-values against a limit inside, and so is their mean, whichever turns out larger.
    return (higher + lower) / 2


def _end_values(
    sample: Replicates, log_ratio: float, delta: float
) -> list[tuple[Float[np.ndarray, "runs"], Callable[[float], float]]]:
    """Every run's value of each end, and the value at which that end is at a given limit. Without
    an exponent the far end is infinite, on the side to which the windows differ.
    """
    windows = len(sample.mean)
    found: list[tuple[np.ndarray, Callable[[float], float]]] = []
    for pair in range(max(0, windows - 1 - JUDGED_BY), windows - 1):
        far, near = factors(delta, log_ratio)
        found.append((sample.values @ pair_weights(windows, pair, near), float))
        if np.isinf(far):
            found.append((sample.values @ _difference(windows, pair), lambda limit: 0.0))
        else:
            found.append((sample.values @ pair_weights(windows, pair, far), float))
    return found
