r"""The claim that a curve is of the order of a power of time: Θ(t^a), or O(t^a).

Θ is not a slope: the local slopes of $1/t$, $\log t/t$ and $(\log t)^{1/4}/t$ all tend to −1. Let
$s$ be the local slope of curve · t^-a. A factor $(\log(t/t_0))^\beta$ gives $s=\beta/\log(t/t_0)$,
so that over two windows at log-times $x_1<x_2$

$$\hat\beta=\frac{x_2-x_1}{1/s_2-1/s_1}$$

is β whatever $t_0$ is. It tends to 0 for an approach by powers of t, to β for powers of a
logarithm, and has no limit for a wrong power of t, of which $s$ itself tells. docs/verdicts.md says
what this proves and what nothing can.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tutelage.claims.claim import Answer, OfCurve, Predicted, over_power
from tutelage.claims.contraction import (
    DELTA,
    FAR,
    ROUNDING,
    VISIBLE,
    EachRun,
    Ends,
    Horizon,
    OneRun,
    Replicates,
    Sample,
    find_horizon,
)
from tutelage.claims.judge import longer, scattered
from tutelage.claims.power_laws import FLAT, late_reading, say_where
from tutelage.claims.reading import SLOPES_AFTER, Question, Reading
from tutelage.claims.trend import slopes
from tutelage.claims.verdict import Status
from tutelage.refuse import finite, one_of
from tutelage.run import Run

SIDES = ("both", "upper")
SETTLED = 1e-4  # a limit of s so near to 0 is not told from it
DRIFT = 0.005  # a limit of s beyond which it is another power of t
POWER = 0.01  # a factor t^±ε is excluded for larger ε, or the order is not decided
STEADY = 0.25  # how much β̂ may still vary over its last pairs, relative, to be found
LEAST_STEADY = 4  # windows in which a slope must stay below 0 to be called steady
LAST_SLOPES = 7  # windows from which β̂ is read at most


@dataclass(frozen=True)
class Order(OfCurve):
    """curve = Θ(t^exponent): curve · t^-exponent stays between two positive constants; with
    side="upper", curve = O(t^exponent): it stays below one.

    The tolerance is the power of log t that is told from none: a factor (log t)^β is excluded, or
    found, for |β| ≥ tolerance.
    """

    exponent: float
    tolerance: float = 0.1
    plateau: Predicted | None = None
    side: str = "both"
    approach: float = DELTA
    noise: str = ""

    def __post_init__(self) -> None:
        one_of("side of an order", self.side, SIDES)
        finite("exponent", self.exponent, reason="it is a power of time")

    def _question(self, runs: Sequence[Run]) -> Question:
        latest = max(float(run.steps[-1]) for run in runs)
        return Question(
            self.curve,
            slopes,
            SLOPES_AFTER,
            self.tolerance / max(1.0, np.log(max(latest, 2.0))),
            self.plateau,
            self.noise,
            self.approach,
            lambda run, steps: steps**self.exponent,
        )

    def answer(self, runs: Sequence[Run]) -> Answer:
        return replace(self._answer(runs), predicted=0.0)

    def _answer(self, runs: Sequence[Run]) -> Answer:
        reading = late_reading(self._question(runs), runs)
        if isinstance(reading, Answer):
            return reading
        where = f"{say_where(reading, runs)} {over_power(self.curve, self.exponent)}"
        found: Found | None = None
        for sample in reading.samples():
            found = self._find(sample, reading)
            if found.status is not Status.UNDECIDED:
                break
        if found is None:
            return scattered(f"{where} is read", reading)
        said = f"{where} has a local slope of {found.first:.2g} to {found.last:.2g}"
        if found.status is Status.FAILS and self._may_be_a_plateau(found):
            return Answer(Status.UNDECIDED, f"{said}: {FLAT}.", None)
        end = "" if found.status is not Status.UNDECIDED else f"; {longer(runs)}"
        powers = found.powers if found.powers and np.isfinite(found.powers).all() else None
        return Answer(
            found.status,
            f"{said}: {found.why}{end}.",
            None,
            None if powers is None else (powers[0] + powers[1]) / 2,
            powers,
            None if sample.chance else powers,
            smallest_violation=found.excluded if found.status is Status.HOLDS else None,
            contraction=found.slope.delta,
            begins=reading.begins(found.slope.begins),
        )

    def _may_be_a_plateau(self, found: Found) -> bool:
        flat = self.plateau is None and self.exponent < 0
        return flat and found.last > -0.5 * self.exponent

    def _find(self, sample: Sample, reading: Reading) -> Found:
        """What one sample of windows says about the order."""
        slope = find_horizon(sample, reading.log_ratio, self.approach)
        latest = max(part.log_time[-1, -1] for part in reading.parts)
        powers = self._powers(sample, reading)
        size = _largest(sample, self.side) * latest
        first, last = float(sample.mean[0]), float(sample.mean[-1])
        found = Found(Status.UNDECIDED, first, last, slope, powers, size, "")
        upper = self.side == "upper"
        if slope.misfit and not (upper and _steady_below(sample) is not None):
            return replace(found, why="it turned not long ago and is not seen to settle since")
        # Without an exponent of approach only a slope that ran far away tells another power.
        tells = slope.settles or (slope.away is not None and abs(slope.away) >= FAR)
        if tells and (slope.low > DRIFT or (slope.high < -DRIFT and not upper)):
            ends = f"[{_end(slope.low)}, {_end(slope.high)}]"
            why = f"it tends to {ends} and not to 0, another power of t"
            return replace(found, status=Status.FAILS, why=why)
        if tells and upper and slope.high < -DRIFT:
            why = f"it tends to {_end(slope.high)} at most, a smaller power of t"
            return replace(found, status=Status.HOLDS, why=why, excluded=0.0)
        if upper and (highest := _steady_below(sample)) is not None:
            why = f"it stays at {_end(highest)} or below, steadily, a smaller power of t"
            return replace(found, status=Status.HOLDS, why=why, excluded=0.0)
        outside = powers is not None and (
            powers[0] > self.tolerance or (powers[1] < -self.tolerance and not upper)
        )
        if outside and powers is not None:
            return replace(found, status=Status.FAILS, why=_say_powers(powers))
        if upper and powers is not None and powers[1] < -self.tolerance:
            # What fails Θ, a steady negative power of log t, is within O.
            return replace(found, status=Status.HOLDS, why=_say_powers(powers), excluded=0.0)
        excluded = size
        if powers is not None:
            largest = powers[1] if upper else max(abs(powers[0]), abs(powers[1]))
            excluded = min(size, max(0.0, largest))
        settled = slope.low <= SETTLED and (upper or slope.high >= -SETTLED)
        small = slope.high <= POWER and (upper or slope.low >= -POWER)
        if excluded < self.tolerance and settled and small:
            why = f"a factor (log t)^β is excluded for {'' if upper else '±'}β ≥ {excluded:.2g}"
            return replace(found, status=Status.HOLDS, why=why, excluded=excluded)
        why = f"a factor (log t)^β is excluded only for {'' if upper else '±'}β ≥ {excluded:.2g}"
        return replace(found, why=why)

    def _powers(self, sample: Sample, reading: Reading) -> Ends | None:
        """The interval of the limit of β̂, of every run; None where it cannot be read."""
        if isinstance(sample, Replicates):
            return None
        runs = sample.runs if isinstance(sample, EachRun) else (sample,)
        ends = []
        for run in runs:
            assert isinstance(run, OneRun)
            powers = log_powers(run, reading.log_ratio)
            if powers is None:
                return None
            found = find_horizon(powers, reading.log_ratio, self.approach)
            if found.misfit:
                return None
            low, high = found.interval
            if np.ptp(powers.mean[-3:]) > STEADY * abs(powers.mean[-1]):
                # Not steady: it bounds β from above, and finds none.
                low, high = min(low, 0.0), max(high, 0.0)
            ends.append((low, high))
        return min(low for low, _ in ends), max(high for _, high in ends)


@dataclass(frozen=True)
class Found:
    """What the windows of curve · t^-a say."""

    status: Status
    first: float  # local slope
    last: float
    slope: Horizon
    powers: Ends | None  # the interval of β̂
    excluded: float  # the smallest power of log t that is excluded
    why: str


def log_powers(run: OneRun, log_ratio: float) -> OneRun | None:
    """β̂ of successive pairs of windows, with what errors of measured points do to it; None unless
    the slopes of the last four windows fall visibly towards 0 from one side.
    """
    s = run.mean[-LAST_SLOPES:]
    noise = run.noise[-LAST_SLOPES:]
    gaps = -np.diff(s)
    errors = run.scatter * np.linalg.norm(np.diff(noise, axis=0), axis=1)
    falls = (s[:-1] * s[1:] > 0) & (np.abs(s[1:]) < np.abs(s[:-1]))
    seen = np.abs(gaps) > np.maximum(VISIBLE * errors, ROUNDING)
    if len(s) < 4 or not (falls & seen)[-3:].all():
        return None
    kept = len(s) - 1
    while kept > 3 and (falls & seen)[-kept:].sum() < kept:
        kept -= 1
    s, noise, gaps = s[-kept - 1 :], noise[-kept - 1 :], gaps[-kept:]
    earlier = -log_ratio * s[1:] ** 2 / gaps**2
    later = log_ratio * s[:-1] ** 2 / gaps**2
    return OneRun(
        log_ratio * s[:-1] * s[1:] / gaps,
        earlier[:, None] * noise[:-1] + later[:, None] * noise[1:],
        run.scatter,
    )


def _largest(sample: Sample, side: str) -> float:
    """The largest |s| (or s) of the last three windows, within their limits."""
    windows = len(sample.mean)
    ends = [sample.limits(np.eye(windows)[k]) for k in range(max(0, windows - 3), windows)]
    highest = max(high for _, high in ends)
    return max(highest, 0.0) if side == "upper" else max(highest, -min(low for low, _ in ends))


def _steady_below(sample: Sample) -> float | None:
    """The highest local slope of all windows, where it is below 0 by four times what they vary, and
    not that of the last: a curve that begins to fall more slowly has its highest there.
    """
    windows = len(sample.mean)
    ends = [sample.limits(np.eye(windows)[k]) for k in range(windows)]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    rises = max(high for _, high in ends[:-1]) <= ends[-1][1] if windows > 1 else True
    steady = high < -DRIFT and high - low <= STEADY * abs(high)
    return high if windows >= LEAST_STEADY and steady and not rises else None


def _say_powers(powers: Ends) -> str:
    return f"it falls like that of (log t)^β with β in [{_end(powers[0])}, {_end(powers[1])}]"


def _end(value: float) -> str:
    return f"{value:.4f}" if np.isfinite(value) else ("∞" if value > 0 else "−∞")
