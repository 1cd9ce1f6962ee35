r"""Claims about one curve as a power of time: rate Θ, upper bound O, sharp constant.

They are judged as an equivalence test: HOLDS when the whole interval lies within the claim's
tolerance of the predicted value; FAILS when none of it does and the windows have settled; UNDECIDED
otherwise, with what would decide it. The tolerance belongs to the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tutelage.claims.claim import (
    Answer,
    NoPrediction,
    OfCurve,
    Predicted,
    count,
    curve_of,
    hull,
    last_step,
    mean_interval,
    value_at,
)
from tutelage.claims.trend import WIDTHS, WINDOWS, Stretch, Trend, combine, levels, slopes, stretch
from tutelage.claims.verdict import Status
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run

SLOPES_AFTER = 30.0  # plateaus to wait before a slope is read
CONSTANTS_AFTER = 100.0  # and before a constant is
FLAT = "flat, which may be a plateau or a floor; give the claim its `plateau` to tell"


@dataclass(frozen=True)
class _Slope(OfCurve):
    """A claim about the local slope of a curve in log-log."""

    exponent: float
    tolerance: float = 0.02
    plateau: Predicted | None = None  # in steps; found from the excess risk where theory gives none

    def answer(self, runs: Sequence[Run]) -> Answer:
        reading = late_trend(self, runs, SLOPES_AFTER)
        if not isinstance(reading, Answer):
            trend, spread, where = reading
            if all(_stalled(self, run, SLOPES_AFTER) for run in runs):
                return replace(_stands_still(self, runs, trend), predicted=self.exponent)
            seen = (
                f"{where} the local slope of {self.curve} goes from {trend.values[0]:.4f} to "
                f"{trend.last:.4f}"
            )
            reading = self._judged(trend, spread, seen, runs)
        return replace(reading, predicted=self.exponent)

    def _judged(
        self, trend: Trend, spread: tuple[float, float] | None, seen: str, runs: Sequence[Run]
    ) -> Answer:
        raise NotImplementedError

    def _unexplained_flat(self, trend: Trend) -> bool:
        """Flat, with no plateau from theory: a plateau cannot be told from a floor."""
        return self.plateau is None and abs(trend.last) < 0.1 * abs(self.exponent)


@dataclass(frozen=True)
class Rate(_Slope):
    """curve = Θ(t^exponent): its local slope in log-log tends to the exponent."""

    def _judged(
        self, trend: Trend, spread: tuple[float, float] | None, seen: str, runs: Sequence[Run]
    ) -> Answer:
        said = f"{seen} and tends to {trend.limit:.4f}"
        if _runs_away(trend, self.exponent):
            return _windows_only(
                Status.FAILS,
                f"{seen}: it falls faster and faster, faster than t^{2 * self.exponent:g}.",
                trend,
            )
        if self._unexplained_flat(trend):
            return _settle(Status.UNDECIDED, f"{said}: {FLAT}", trend, spread)
        return _equivalence(self.exponent, self.tolerance, said, trend, spread, runs)


@dataclass(frozen=True)
class Bound(_Slope):
    """curve = O(t^exponent): its local slope ends at the exponent or below; a faster fall satisfies
    it too.
    """

    def _judged(
        self, trend: Trend, spread: tuple[float, float] | None, seen: str, runs: Sequence[Run]
    ) -> Answer:
        said = f"{seen} and tends to {trend.limit:.4f}"
        low, high = hull(trend.interval, spread)
        most = self.exponent + self.tolerance
        if _runs_away(trend, self.exponent):
            return _windows_only(Status.HOLDS, f"{seen}: it falls faster and faster.", trend)
        if high <= most:
            return _settle(Status.HOLDS, f"{said}, at or below {self.exponent:g}", trend, spread)
        if self._unexplained_flat(trend):
            return _settle(Status.UNDECIDED, f"{said}: {FLAT}", trend, spread)
        if low > most and _settled(trend, self.tolerance, low - most):
            return _settle(Status.FAILS, f"{said}, above {self.exponent:g}", trend, spread)
        return _settle(Status.UNDECIDED, f"{said}, not settled; {longer(runs)}", trend, spread)


@dataclass(frozen=True)
class Constant(OfCurve):
    """curve · t^-exponent → value, with t = ηT; the tolerance is relative."""

    exponent: float
    value: Predicted
    tolerance: float = 0.03
    plateau: Predicted | None = None

    def answer(self, runs: Sequence[Run]) -> Answer:
        if any(run.rate is None for run in runs):
            raise Refused(
                "A constant needs runs with one step size, since its time is rate × steps. Got a "
                "run without a rate."
            )
        try:
            mean = float(np.mean([value_at(self.value, run) for run in runs]))
        except NoPrediction as reason:
            return Answer(Status.UNDECIDED, f"No prediction at this setting. {reason}", None)
        found = self._ratio(runs, mean)
        interval, horizon, spread = (
            None if pair is None else (pair[0] * mean, pair[1] * mean)
            for pair in (found.interval, found.horizon, found.spread)
        )
        measured = None if found.measured is None else found.measured * mean
        return Answer(found.status, found.sentence, mean, measured, interval, horizon, spread)

    def _ratio(self, runs: Sequence[Run], mean: float) -> Answer:
        """The answer about measured over predicted, which tends to 1 if the claim is true."""
        reading = late_trend(self, runs, CONSTANTS_AFTER)
        if isinstance(reading, Answer):
            return reading
        trend, spread, where = reading
        if all(_stalled(self, run, CONSTANTS_AFTER) for run in runs):
            return _stands_still(self, runs, trend)
        said = (
            f"{where} {self.curve}·t^{-self.exponent:g} over its predicted {mean:.6g} goes "
            f"from {trend.values[0]:.4f} to {trend.last:.4f}"
        )
        away = np.abs(np.log(trend.values))
        if (np.diff(away) > 0).all() and away[-1] > np.log(2):
            return _windows_only(Status.FAILS, f"{said}: it leaves its prediction for good.", trend)
        return _equivalence(
            1.0, self.tolerance, f"{said} and tends to {trend.limit:.4f}", trend, spread, runs
        )


def late_trend(
    claim: _Slope | Constant, runs: Sequence[Run], after: float
) -> Answer | tuple[Trend, tuple[float, float] | None, str]:
    """The joint trend of all runs, its spread and where it was read; or an answer at once where
    there is nothing to read.
    """
    for run in runs:
        if run.outcome is Outcome.DIVERGED:
            return Answer(
                Status.FAILS,
                f"A run diverged, so {claim.curve} follows no power law. {run.note}",
                None,
            )
    found = _read(claim, runs, after)
    if isinstance(found, str):
        return Answer(Status.UNDECIDED, found, None)
    trend, trends, spans = found
    where = (
        f"Over {count(runs)} and steps {min(first for first, _ in spans):,.0f} to "
        f"{max(last for _, last in spans):,.0f}"
    )
    return trend, mean_interval(np.asarray([t.limit for t in trends])), where


def windows_of(claim: _Slope | Constant, runs: Sequence[Run]) -> list[tuple[float, float]]:
    """The first and last step of the windows in which a claim is read, run by run, for those who
    draw them; empty where there are none.
    """
    if any(run.outcome is Outcome.DIVERGED for run in runs):
        return []
    found = _read(claim, runs, CONSTANTS_AFTER if isinstance(claim, Constant) else SLOPES_AFTER)
    return [] if isinstance(found, str) else found[2]


def window_of(claim: _Slope | Constant, runs: Sequence[Run]) -> tuple[float, float] | None:
    """From the first to the last step in which a claim is read in any of the runs; None where it is
    not.
    """
    spans = windows_of(claim, runs)
    return (min(first for first, _ in spans), max(last for _, last in spans)) if spans else None


def _read(
    claim: _Slope | Constant, runs: Sequence[Run], after: float
) -> tuple[Trend, list[Trend], list[tuple[float, float]]] | str:
    """The joint trend, that of each run and the steps over which each was read; or a sentence that
    says why there is none.
    """
    for widest in WIDTHS:
        parts = []
        for run in runs:
            part = _late_part(claim, run, after, widest)
            if isinstance(part, str):
                return part
            parts.append(part)
        read: Callable[[Stretch, float], Trend] = levels if isinstance(claim, Constant) else slopes
        trends = [read(part, claim.tolerance) for part in parts]
        trend = combine(trends, claim.tolerance)
        if trend.noise < claim.tolerance / 16:
            break
    return trend, trends, [part.span for part in parts]


def _late_part(claim: _Slope | Constant, run: Run, after: float, widest: float) -> Stretch | str:
    """The stretch of a run's curve in which the claim is read, or a sentence that says why there is
    none.
    """
    curve = curve_of(run, claim.curve)
    if curve.ndim != 1:
        raise Refused(
            f"A rate needs a scalar curve. `{claim.curve}` has {curve.shape[1]} entries a step."
        )
    usable = (run.steps > 0) & (curve > 0)
    if run.outcome is Outcome.CONVERGED:
        usable[-1] = False  # the point that crossed into rounding
    steps, curve = run.steps[usable].astype(float), curve[usable]
    if isinstance(claim, Constant):
        assert run.rate is not None
        curve = curve / (value_at(claim.value, run) * (run.rate * steps) ** claim.exponent)
    plateau = value_at(claim.plateau, run) if claim.plateau is not None else _plateau(run)
    begin = None if plateau is None else after * plateau
    part = None if begin is None or len(steps) == 0 else stretch(steps, curve, begin, widest)
    if part is None and run.outcome is Outcome.CONVERGED and len(steps) > 2 * WINDOWS:
        # It reached the rounding floor before the windows could begin: whatever it did, it did in
        # its last stretch.
        part = stretch(steps, curve, steps[-1] / 10 ** (WIDTHS[0] * WINDOWS), widest)
    if part is not None:
        return part
    needed = "A longer run" if begin is None else f"About {4 * begin:.1g} steps"
    begun = (
        "the curve never halves"
        if begin is None
        else f"the windows begin at step {begin:,.0f} ({after:g} plateaus)"
    )
    return (
        f"Too short to tell: {begun} and the curve ends at {run.steps[-1]:,}. {needed} would "
        "decide."
    )


def _stalled(claim: _Slope | Constant, run: Run, after: float) -> bool:
    """No new minimum in the last factor of ten, all of it after a plateau that theory gives: no
    falling power law does this.
    """
    if claim.plateau is None or claim.exponent >= 0:
        return False
    curve, start, end = (
        curve_of(run, claim.curve),
        after * value_at(claim.plateau, run),
        run.steps[-1],
    )
    # Only what comes after the plateau counts: before it an error may dip below where it will be
    # for a long time.
    before, last = (
        curve[(run.steps >= start) & (run.steps <= end / 10)],
        curve[run.steps > end / 10],
    )
    return bool(len(before) > 2 and last.min() >= before.min())


def _stands_still(claim: _Slope | Constant, runs: Sequence[Run], trend: Trend) -> Answer:
    said = (
        f"Over {count(runs)} {claim.curve} makes no new minimum in the last factor of ten of its "
        f"{last_step(runs)} steps, "
        "long after its plateau: it has stalled."
    )
    return _windows_only(Status.FAILS, said, trend)


def _plateau(run: Run) -> float | None:
    """The first measured step at which the excess risk (or, without one, the first curve) has
    halved.
    """
    curve = run.curves.get("excess_risk", next(iter(run.curves.values())))
    halved = np.flatnonzero((curve <= 0.5 * curve[0]) & (run.steps > 0))
    return float(run.steps[halved[0]]) if len(halved) else None


def _runs_away(trend: Trend, exponent: float) -> bool:
    """Every window steeper than the one before, and the last more than twice as steep as claimed:
    exponential decay does this.
    """
    return bool((np.diff(trend.values) < 0).all() and trend.last < 2 * exponent)


def _settled(trend: Trend, tolerance: float, gap: float) -> bool:
    """The windows differ less and less, and two extrapolations agree far better than either does
    with the claim.

    Or they differ by less than a hundredth of the gap: even an approach like 1/log t would close a
    quarter of it in a decade.
    """
    return (trend.shrinking and trend.doubt <= max(tolerance, 0.25 * gap)) or float(
        np.ptp(trend.values)
    ) <= 0.01 * gap


def _equivalence(
    expected: float,
    tolerance: float,
    said: str,
    trend: Trend,
    spread: tuple[float, float] | None,
    runs: Sequence[Run],
) -> Answer:
    low, high = hull(trend.interval, spread)
    against = f"{said}, in [{low:.4f}, {high:.4f}], against {expected:g} ± {tolerance:g}"
    if expected - tolerance <= low and high <= expected + tolerance:
        return _settle(Status.HOLDS, against, trend, spread)
    gap = max(expected - tolerance - high, low - expected - tolerance)
    if gap > 0 and _settled(trend, tolerance, gap):
        return _settle(Status.FAILS, against, trend, spread)
    return _settle(Status.UNDECIDED, f"{against}; {longer(runs)}", trend, spread)


def _settle(status: Status, said: str, trend: Trend, spread: tuple[float, float] | None) -> Answer:
    return Answer(
        status, said + ".", None, trend.limit, hull(trend.interval, spread), trend.interval, spread
    )


def _windows_only(status: Status, said: str, trend: Trend) -> Answer:
    """An answer that rests on what the windows are and not on a limit, which such a curve does not
    have.
    """
    seen = (float(trend.values.min()), float(trend.values.max()))
    return Answer(status, said, None, trend.last, seen, seen)


def longer(runs: Sequence[Run]) -> str:
    return f"about {10 * max(int(run.steps[-1]) for run in runs):.1g} steps may decide"
