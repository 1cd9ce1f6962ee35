r"""Kinds of claim: rate Θ, upper bound O, sharp constant, recovery, exponent over a sweep. No paper is named here.

A claim is filled in from theory alone and meets data only in `answer`. All but recovery are judged as an equivalence
test: HOLDS when the whole interval lies within the claim's tolerance of the predicted value; FAILS when none of it does and the
windows have settled; UNDECIDED otherwise, with what would decide it. The tolerance belongs to the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from scipy.special import stdtrit

from tutelage.claims.trend import WIDTHS, WINDOWS, Stretch, Trend, combine, levels, slopes, stretch
from tutelage.claims.verdict import Hypothesis, Status
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run

if TYPE_CHECKING:
    from tutelage.settings import Setting

Predicted = float | Callable[["Setting"], float]

SLOPES_AFTER = 30.0  # plateaus to wait before a slope is read
CONSTANTS_AFTER = 100.0  # and before a constant is
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Answer:
    """What `answer` found, before names, hypotheses and seeds are added."""

    status: Status
    sentence: str
    predicted: float
    measured: float | None = None
    interval: tuple[float, float] | None = None
    horizon: tuple[float, float] | None = None
    spread: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What every claim carries beside its prediction."""

    id: str = ""
    statement: str = ""
    source: str = ""
    hypotheses: Callable[[Setting], Sequence[Hypothesis]] | None = None

    def answer(self, runs: Sequence[Run]) -> Answer:
        raise NotImplementedError


@dataclass(frozen=True)
class Rate(Claim):
    """curve = Θ(t^exponent): its local slope in log-log tends to the exponent."""

    curve: str
    exponent: float
    tolerance: float = 0.02
    plateau: Predicted | None = None  # in steps; found from the excess risk where theory gives none

    def answer(self, runs: Sequence[Run]) -> Answer:
        reading = _read(self, runs, SLOPES_AFTER)
        if isinstance(reading, Answer):
            return reading
        trend, spread, where = reading
        said = f"{where} the local slope of {self.curve} goes from {trend.values[0]:.4f} to {trend.last:.4f} and tends to {trend.limit:.4f}"
        if _runs_away(trend, self.exponent):
            return _settle(self, Status.FAILS, f"{said}: it falls faster and faster, faster than any t^{2 * self.exponent:g}", trend, spread)
        if self.plateau is None and abs(trend.last) < 0.1 * abs(self.exponent):
            return _settle(
                self, Status.UNDECIDED, f"{said}: flat, which may be a plateau or a floor; give the claim its `plateau` to tell", trend, spread
            )
        return _equivalence(self, self.exponent, self.tolerance, said, trend, spread, runs)

    @property
    def predicted(self) -> float:
        return self.exponent


@dataclass(frozen=True)
class Bound(Claim):
    """curve = O(t^exponent): its local slope ends at the exponent or below; a faster fall satisfies it too."""

    curve: str
    exponent: float
    tolerance: float = 0.02
    plateau: Predicted | None = None

    def answer(self, runs: Sequence[Run]) -> Answer:
        reading = _read(self, runs, SLOPES_AFTER)
        if isinstance(reading, Answer):
            return reading
        trend, spread, where = reading
        said = f"{where} the local slope of {self.curve} goes from {trend.values[0]:.4f} to {trend.last:.4f} and tends to {trend.limit:.4f}"
        low, high = _hull(trend.interval, spread)
        most = self.exponent + self.tolerance
        if _runs_away(trend, self.exponent) or (high <= most and trend.last <= most):
            return _settle(self, Status.HOLDS, f"{said}, at or below {self.exponent:g}", trend, spread)
        if self.plateau is None and abs(trend.last) < 0.1 * abs(self.exponent):
            return _settle(
                self, Status.UNDECIDED, f"{said}: flat, which may be a plateau or a floor; give the claim its `plateau` to tell", trend, spread
            )
        if low > most and _settled(trend, self.tolerance, low - most):
            return _settle(self, Status.FAILS, f"{said}, above {self.exponent:g}", trend, spread)
        return _settle(self, Status.UNDECIDED, f"{said}, not settled; {_longer(runs)}", trend, spread)

    @property
    def predicted(self) -> float:
        return self.exponent


@dataclass(frozen=True)
class Constant(Claim):
    """curve · t^-exponent → value, with t = ηT; the tolerance is relative."""

    curve: str
    exponent: float
    value: Predicted
    tolerance: float = 0.03
    plateau: Predicted | None = None

    def answer(self, runs: Sequence[Run]) -> Answer:
        expected = [_at(self.value, run) for run in runs]

        if any(run.rate is None for run in runs):
            raise Refused("A constant needs runs with one step size, since its time is rate × steps. Got a run without a rate.")
        reading = _read(self, runs, CONSTANTS_AFTER)
        mean = float(np.mean(expected))
        if isinstance(reading, Answer):
            return reading
        trend, spread, where = reading
        said = (
            f"{where} {self.curve}·t^{-self.exponent:g} over its predicted {mean:.6g} goes from {trend.values[0]:.4f} to {trend.last:.4f} "
            f"and tends to {trend.limit:.4f}"
        )
        found = _equivalence(self, 1.0, self.tolerance, said, trend, spread, runs)
        scale = lambda pair: None if pair is None else (pair[0] * mean, pair[1] * mean)  # noqa: E731
        return Answer(
            found.status, found.sentence, mean, None if found.measured is None else found.measured * mean,
            scale(found.interval), scale(found.horizon), scale(found.spread),
        )  # fmt: skip

    @property
    def predicted(self) -> float:
        return self.value if isinstance(self.value, int | float) else float("nan")


@dataclass(frozen=True)
class Recovery(Claim):
    """|curve − target| ≤ within: at the end, or at every measured step from `from_step` on."""

    curve: str
    target: float
    within: float
    from_step: int | None = None

    @property
    def tolerance(self) -> float:
        return self.within

    @property
    def predicted(self) -> float:
        return self.target

    def answer(self, runs: Sequence[Run]) -> Answer:
        gaps = [np.abs(_curve(run, self.curve).reshape(len(run.steps), -1) - self.target).max(1) for run in runs]
        finals = np.asarray([gap[-1] for gap in gaps])
        if self.from_step is not None:
            worst = max(float(gap[run.steps >= self.from_step].max(initial=0.0)) for gap, run in zip(gaps, runs, strict=True))
            said = f"Over {_count(runs)} the largest |{self.curve} − {self.target:g}| at any measured step from {self.from_step} on is {worst:.3g}"
            status = Status.HOLDS if worst <= self.within else Status.FAILS
            return Answer(status, f"{said}, against {self.within:g}.", self.target, worst, (0.0, worst))
        worst = float(finals.max())
        said = f"Over {_count(runs)} |{self.curve} − {self.target:g}| ends at {worst:.3g} at most, after {_last_step(runs)} steps"
        interval = (float(finals.min()), worst)
        if worst <= self.within:
            return Answer(Status.HOLDS, f"{said}, within {self.within:g}.", self.target, worst, interval)
        gap, run = gaps[int(finals.argmax())], runs[int(finals.argmax())]
        late = run.steps >= run.steps[-1] / 10
        falling = np.polyfit(np.log(run.steps[late]), np.log(gap[late]), 1)[0] if late.sum() > 2 and (gap[late] > 0).all() else 0.0
        if falling < -0.05:
            needed = float(run.steps[-1]) * (worst / self.within) ** (-1 / falling)
            return Answer(
                Status.UNDECIDED, f"{said}, above {self.within:g} but still falling; about {needed:.1g} steps would decide.",
                self.target, worst, interval,
            )  # fmt: skip
        return Answer(Status.FAILS, f"{said}, above {self.within:g} and no longer falling.", self.target, worst, interval)


@dataclass(frozen=True)
class Exponent(Claim):
    """y ∝ x^exponent over a sweep; `points` turns runs into (x, y, seed), and theory gives the exponent at those very x."""

    points: Callable[[Sequence[Run]], Sequence[tuple[float, float, int]]]
    exponent: float | Callable[[Sequence[float]], float]
    of: str = "the quantity"
    tolerance: float = 0.02

    @property
    def predicted(self) -> float:
        return self.exponent if isinstance(self.exponent, int | float) else float("nan")

    def answer(self, runs: Sequence[Run]) -> Answer:
        found = list(self.points(runs))
        axis = sorted({x for x, _, _ in found})
        if len(axis) < 3:
            raise Refused(f"An exponent needs at least three points of a sweep, since two always fit. Got {len(axis)}.")
        expected = self.exponent if isinstance(self.exponent, int | float) else self.exponent(axis)
        by_seed = [
            _power([(x, y) for x, y, s in found if s == seed]) for seed in sorted({s for _, _, s in found})
        ]
        mean = [(x, float(np.exp(np.mean([np.log(y) for a, y, _ in found if a == x])))) for x in axis]
        # A finite range bends: the exponent without the first and without the last point shows how much.
        fits = [_power(mean), _power(mean[1:]), _power(mean[:-1])]
        horizon = (min(fits), max(fits))
        spread = _student(np.asarray(by_seed))
        low, high = _hull(horizon, spread)
        said = f"Over {_count(runs)} and {len(axis)} points from {axis[0]:.4g} to {axis[-1]:.4g} {self.of} has exponent {fits[0]:.4f} in [{low:.4f}, {high:.4f}], against {expected:.4f} ± {self.tolerance:g}"
        if expected - self.tolerance <= low and high <= expected + self.tolerance:
            status = Status.HOLDS
        elif high < expected - self.tolerance or low > expected + self.tolerance:
            status = Status.FAILS
        else:
            status = Status.UNDECIDED
            said += "; more points or a wider range would decide"
        return Answer(status, said + ".", expected, fits[0], (low, high), horizon, spread)


def _power(points: Sequence[tuple[float, float]]) -> float:
    return float(np.polyfit(np.log([x for x, _ in points]), np.log([y for _, y in points]), 1)[0])


def _read(claim: Rate | Bound | Constant, runs: Sequence[Run], after: float) -> Answer | tuple[Trend, tuple[float, float] | None, str]:
    """The joint trend of all runs, its spread and where it was read; or an answer at once where there is nothing to read."""
    expected = claim.predicted if not isinstance(claim, Constant) else float(np.mean([_at(claim.value, r) for r in runs]))
    for run in runs:
        if run.outcome is Outcome.DIVERGED:
            return Answer(Status.FAILS, f"A run diverged, so {claim.curve} follows no power law. {run.note}", expected)
    for widest in WIDTHS:
        parts = []
        for run in runs:
            part = _late_part(claim, run, after, widest)
            if isinstance(part, str):
                return Answer(Status.UNDECIDED, part, expected)
            parts.append(part)
        trends = [(levels if isinstance(claim, Constant) else slopes)(part, claim.tolerance) for part in parts]
        trend = combine(trends, claim.tolerance)
        if trend.noise < claim.tolerance / 16:
            break
    if all(_stalled(claim, run, after) for run in runs):
        said = f"Over {_count(runs)} {claim.curve} makes no new minimum in the last factor of ten of its {_last_step(runs)} steps, long after its plateau: it has stalled."
        return Answer(Status.FAILS, said, expected, trend.limit, trend.interval, trend.interval)
    first, last = min(p.span[0] for p in parts), max(p.span[1] for p in parts)
    where = f"Over {_count(runs)} and steps {first:,.0f} to {last:,.0f}"
    return trend, _student(np.asarray([t.limit for t in trends])), where


def _late_part(claim: Rate | Bound | Constant, run: Run, after: float, widest: float) -> Stretch | str:
    """The stretch of a run's curve in which the claim is read, or a sentence that says why there is none."""
    curve = _curve(run, claim.curve)
    if curve.ndim != 1:
        raise Refused(f"A rate needs a scalar curve. `{claim.curve}` has {curve.shape[1]} entries a step.")
    usable = (run.steps > 0) & (curve > 0)
    if run.outcome is Outcome.CONVERGED:
        usable[-1] = False  # the point that crossed into rounding
    steps, curve = run.steps[usable].astype(float), curve[usable]
    if isinstance(claim, Constant):
        assert run.rate is not None
        curve = curve / (_at(claim.value, run) * (run.rate * steps) ** claim.exponent)
    plateau = _at(claim.plateau, run) if claim.plateau is not None else _plateau(run)
    begin = None if plateau is None else after * plateau
    part = None if begin is None or len(steps) == 0 else stretch(steps, curve, begin, widest)
    if part is None and run.outcome is Outcome.CONVERGED and len(steps) > 2 * WINDOWS:
        # It reached the rounding floor before the windows could begin: whatever it did, it did in its last stretch.
        part = stretch(steps, curve, steps[-1] / 10 ** (WIDTHS[0] * WINDOWS), widest)
    if part is not None:
        return part
    needed = "A longer run" if begin is None else f"About {4 * begin:.1g} steps"
    begun = "the curve never halves" if begin is None else f"the windows begin at step {begin:,.0f} ({after:g} plateaus)"
    return f"Too short to tell: {begun} and the curve ends at {run.steps[-1]:,}. {needed} would decide."


def _stalled(claim: Rate | Bound | Constant, run: Run, after: float) -> bool:
    """No new minimum in the last factor of ten, all of it after a plateau that theory gives: no falling power law does this."""
    if claim.plateau is None or claim.exponent >= 0:
        return False
    curve, start, end = _curve(run, claim.curve), after * _at(claim.plateau, run), run.steps[-1]
    # Only what comes after the plateau counts: before it an error may dip below where it will be for a long time.
    before, last = curve[(run.steps >= start) & (run.steps <= end / 10)], curve[run.steps > end / 10]
    return bool(len(before) > 2 and last.min() >= before.min())


def _plateau(run: Run) -> float | None:
    """The first measured step at which the excess risk (or, without one, the first curve) has halved."""
    curve = run.curves.get("excess_risk", next(iter(run.curves.values())))
    halved = np.flatnonzero((curve <= 0.5 * curve[0]) & (run.steps > 0))
    return float(run.steps[halved[0]]) if len(halved) else None


def _runs_away(trend: Trend, exponent: float) -> bool:
    """Every window steeper than the one before, and the last more than twice as steep as claimed: exponential decay does this."""
    return bool((np.diff(trend.values) < 0).all() and trend.last < 2 * exponent)


def _settled(trend: Trend, tolerance: float, gap: float) -> bool:
    """The windows differ less and less, and two extrapolations agree far better than either does with the claim."""
    return trend.shrinking and trend.doubt <= max(tolerance, 0.25 * gap)


def _equivalence(
    claim: Any, expected: float, tolerance: float, said: str, trend: Trend, spread: tuple[float, float] | None, runs: Sequence[Run]
) -> Answer:
    low, high = _hull(trend.interval, spread)
    against = f"{said}, in [{low:.4f}, {high:.4f}], against {expected:g} ± {tolerance:g}"
    if expected - tolerance <= low and high <= expected + tolerance:
        return _settle(claim, Status.HOLDS, against, trend, spread)
    gap = max(expected - tolerance - high, low - expected - tolerance)
    if gap > 0 and _settled(trend, tolerance, gap):
        return _settle(claim, Status.FAILS, against, trend, spread)
    return _settle(claim, Status.UNDECIDED, f"{against}; {_longer(runs)}", trend, spread)


def _settle(claim: Any, status: Status, said: str, trend: Trend, spread: tuple[float, float] | None) -> Answer:
    return Answer(status, said + ".", claim.predicted, trend.limit, _hull(trend.interval, spread), trend.interval, spread)


def _student(values: Float[np.ndarray, "runs"]) -> tuple[float, float] | None:
    """The confidence interval of a mean over runs; None for a single run."""
    if len(values) < 2:
        return None
    half = stdtrit(len(values) - 1, 0.5 + CONFIDENCE / 2) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)


def _hull(first: tuple[float, float], second: tuple[float, float] | None) -> tuple[float, float]:
    return first if second is None else (min(first[0], second[0]), max(first[1], second[1]))


def _curve(run: Run, name: str) -> np.ndarray:
    if name not in run.curves:
        raise Refused(f"The claim is about the curve {name!r}, which this run did not measure. Measured: {', '.join(run.curves)}.")
    return run.curves[name]


def _at(value: Predicted, run: Run) -> float:
    if callable(value):
        if run.setting is None:
            raise Refused("This claim predicts from a setting, and the run has none. Make it through `execute`.")
        return float(value(run.setting))
    return float(value)


def _count(runs: Sequence[Run]) -> str:
    return "one run" if len(runs) == 1 else f"{len(runs)} runs"


def _last_step(runs: Sequence[Run]) -> str:
    return f"{max(int(run.steps[-1]) for run in runs):,}"


def _longer(runs: Sequence[Run]) -> str:
    return f"about {10 * max(int(run.steps[-1]) for run in runs):.1g} steps may decide"
