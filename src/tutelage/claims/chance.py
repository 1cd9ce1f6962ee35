r"""Chance: what replicates tell of a mean, so that replicates may be added at any time.

For independent Gaussian values with unknown variance, $S=\sum(x_i-\mu)$, $V=\sum(x_i-\mu)^2$ and a
constant $c$,

$$M_n(\mu)=\sqrt{\tfrac{c^2}{n+c^2}}\Bigl(\tfrac{(n+c^2)V}{(n+c^2)V-S^2}\Bigr)^{n/2}$$

is a nonnegative martingale with $M_1=1$ at the true mean (Lai 1976; Wang and Ramdas 2024). By
Ville's inequality $\{\mu: M_n(\mu)<1/\alpha\}$ contains the mean at all $n$ at once with
probability at least $1-\alpha$, and so does the intersection over any of these $n$. Intervals are
intersected from ten runs on: a few runs that happen to agree, as numbers that are not Gaussian
often do, must not decide for all that come later. docs/verdicts.md has the proofs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import betaln, xlog1py, xlogy

from tutelage.refuse import Refused

ERROR = 0.05  # the chance that an interval misses, at any number of replicates
# c²: within 3% of the shortest interval at three and at four replicates, 12% longer at eight.
MIXTURE = 0.05
KEPT_FROM = 10  # runs from which on an interval also binds all later ones
SAME = 1e-6  # replicates that differ by less than this of their value are one run, to rounding
MOST_SEEDS = 400  # beyond which `seeds_needed` gives up
_TRIALS = 2000  # simulated studies from which a number of seeds is chosen


def log_martingale(
    values: Float[np.ndarray, "runs ..."], mean: float | Float[np.ndarray, "..."]
) -> Float[np.ndarray, "..."]:
    """log M_n(mean) after all the runs: large where the runs speak against that mean."""
    n = len(values)
    away = np.asarray(values, float) - mean
    total, squares = away.sum(0), (away**2).sum(0)
    left = (n + MIXTURE) * squares - total**2
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(squares > 0, (n + MIXTURE) * squares / left, 1.0)
    return np.asarray(0.5 * np.log(MIXTURE / (n + MIXTURE)) + 0.5 * n * np.log(ratio))


def half_widths(most: int, error: float = ERROR) -> Float[np.ndarray, "most"]:
    """Half the width of the interval after 1, 2, … runs, in standard deviations of the runs."""
    n = np.arange(1, most + 1)
    edge = 1 - (error**2 * MIXTURE / (n + MIXTURE)) ** (1 / n)
    room = n / (n + MIXTURE) - edge
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.sqrt(edge * (n - 1) / (n * room))
    return np.where((room > 0) & (n > 1), found, np.inf)


def confidence_limits(
    values: Float[np.ndarray, "runs ..."], error: float = ERROR, *, with_mean: bool = False
) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]]:
    """The time-uniform confidence limits of a mean: those after all the runs, intersected with
    those after ten and more.

    Where the intersection leaves out the mean itself, or the limits cross, the runs contradict
    their own beginning, as skewed numbers do. `with_mean` then takes the limits after all the runs
    alone: all of these intervals cover with probability 1 − `error` at once, so that any choice
    among them does.
    """
    given = np.asarray(values, float)
    n = np.arange(1, len(given) + 1).reshape(-1, *[1] * (given.ndim - 1))
    centred = given - given[0]  # so that sums of squares keep their digits
    means = np.cumsum(centred, 0) / n
    variances = np.maximum(np.cumsum(centred**2, 0) - n * means**2, 0) / np.maximum(n - 1, 1)
    wide = half_widths(len(given), error).reshape(n.shape)
    # A first run alone has no spread, and says nothing.
    half = np.where(np.isinf(wide), np.inf, np.where(np.isinf(wide), 0, wide) * np.sqrt(variances))
    kept = slice(min(KEPT_FROM, len(given)) - 1, None)
    lows, highs, mean = (means - half)[kept], (means + half)[kept], means[-1]
    alone = with_mean & ((lows.max(0) > mean) | (highs.min(0) < mean))
    low = np.where(alone, lows[-1], lows.max(0)) + given[0]
    high = np.where(alone, highs[-1], highs.min(0)) + given[0]
    return np.asarray(low), np.asarray(high)


def log_yes_or_no(yes: float, runs: int, share: float) -> float:
    r"""log of the martingale $B(k+\tfrac12,n-k+\tfrac12)/B(\tfrac12,\tfrac12)/(p^k(1-p)^{n-k})$ of
    $k$ times yes in $n$ runs: the likelihood, mixed over all shares, against that of the share $p$.

    With $k=\sum x_i$ of any $x_i\in[0,1]$ of mean $p$ it is a supermartingale: for every share
    $s$, $(s/p)^x((1-s)/(1-p))^{1-x}$ is convex in $x$, so at most $xs/p+(1-x)(1-s)/(1-p)$, whose
    mean is 1.
    """
    mixed = betaln(yes + 0.5, runs - yes + 0.5) - betaln(0.5, 0.5)
    return float(mixed - xlogy(yes, share) - xlog1py(runs - yes, -share))


def yes_or_no_limits(yes: float, runs: int, error: float = ERROR) -> tuple[float, float]:
    """The time-uniform confidence limits of a share, exact for independent answers of yes or no;
    and of the mean of independent numbers between 0 and 1 whose sum is `yes`.
    """
    most = -np.log(error)
    seen = yes / runs

    def edge(end: float) -> float:
        if log_yes_or_no(yes, runs, end) < most:
            return end
        inside, outside = seen, end
        for _ in range(60):
            middle = (inside + outside) / 2
            far = log_yes_or_no(yes, runs, middle) >= most
            inside, outside = (inside, middle) if far else (middle, outside)
        return outside

    return edge(0.0), edge(1.0)


def evidence_against_above(values: Float[np.ndarray, "runs"], edge: float) -> float:
    """An e-value against a mean at or above `edge`: the infimum of M over those means."""
    return _least_martingale(values, max(edge, float(np.mean(values))))


def evidence_against_below(values: Float[np.ndarray, "runs"], edge: float) -> float:
    """An e-value against a mean at or below `edge`: the infimum of M over those means."""
    return _least_martingale(values, min(edge, float(np.mean(values))))


def _least_martingale(values: Float[np.ndarray, "runs"], mean: float) -> float:
    # M grows with the distance from the sample mean, so its infimum over a half-line is at the end
    # that is nearest.
    return float(np.exp(min(float(log_martingale(np.asarray(values, float), mean)), 600.0)))


def are_one_run(values: Float[np.ndarray, "runs ..."]) -> bool:
    """Whether replicates are the same run to rounding, so that there is no chance in them."""
    given = np.asarray(values, float)
    size = np.maximum(np.abs(given).max(), np.finfo(float).tiny)
    return bool(np.ptp(given, axis=0).max() <= SAME * size)


def e_benjamini_hochberg(e_values: Sequence[float], level: float) -> list[bool]:
    """Which of several claims are accepted so that at most a share `level` of those is false, in
    expectation, however the claims depend on each other.

    With the e-values in falling order, the first k claims for the largest k with e_k ≥ m/(level·k)
    (Wang and Ramdas 2022).
    """
    if not 0 < level < 1:
        raise Refused(
            "`level` must be between 0 and 1, since it is a share of false discoveries. Got "
            f"level={level!r}."
        )
    if any(np.isnan(e) or e < 0 for e in e_values):
        raise Refused(f"An e-value is a number of at least 0. Got {list(e_values)}.")
    ranked = sorted(e_values, reverse=True)
    m = len(ranked)
    kept = [e for k, e in enumerate(ranked, start=1) if e >= m / (level * k)]
    least = min(kept, default=np.inf)
    return [e >= least for e in e_values]


def seeds_needed(spread: float, tolerance: float, power: float = 0.9) -> int | None:
    """How many replicates give HOLDS with probability `power` if the claim is exactly true.

    `spread` is the standard deviation of a replicate, in the units of the tolerance. None where
    more than 400 would be needed.
    """
    if not (np.isfinite(spread) and spread >= 0 and tolerance > 0 and 0 < power < 1):
        raise Refused(
            "Seeds are counted from a finite spread, a positive tolerance and a power between 0 "
            f"and 1. Got spread={spread!r}, tolerance={tolerance!r}, power={power!r}."
        )
    if spread == 0:
        return 2
    enough = np.flatnonzero(_decided(tolerance / spread) >= power)
    return int(enough[0]) + 1 if len(enough) else None


def needed_sentence(spread: float, tolerance: float) -> str:
    """How many replicates would decide, for the sentence of an UNDECIDED."""
    seeds = seeds_needed(spread, tolerance) if np.isfinite(spread) and tolerance > 0 else None
    if seeds is None:
        return f"more than {MOST_SEEDS} replicates would be needed to decide"
    return f"about {seeds} replicates would decide, if the claim is true"


@cache
def _paths() -> tuple[Float[np.ndarray, "seeds trials"], Float[np.ndarray, "seeds trials"]]:
    """Means and standard deviations of growing samples of a standard normal."""
    draws = np.random.default_rng(0).standard_normal((MOST_SEEDS, _TRIALS))
    n = np.arange(1, MOST_SEEDS + 1)[:, None]
    means = np.cumsum(draws, 0) / n
    variances = (np.cumsum(draws**2, 0) - n * means**2) / np.maximum(n - 1, 1)
    return means, np.sqrt(np.maximum(variances, 0))


def _decided(tolerance: float) -> Float[np.ndarray, "seeds"]:
    """After 1, 2, … seeds, the share of samples of a standard normal whose interval has come to lie
    within the tolerance.
    """
    means, deviations = _paths()
    half = half_widths(MOST_SEEDS)[:, None]
    half = np.where(np.isinf(half), np.inf, np.where(np.isinf(half), 0, half) * deviations)
    highs, lows = means + half, means - half
    kept = slice(KEPT_FROM - 1, None)
    highs[kept] = np.minimum.accumulate(highs[kept])
    lows[kept] = np.maximum.accumulate(lows[kept])
    inside: Bool[np.ndarray, "seeds trials"] = (highs <= tolerance) & (lows >= -tolerance)
    return inside.mean(1)
