"""Where and how a curve's late part is read: after how many plateaus, in which windows, with which
uncertainty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from tutelage.claims.chance import ERROR, SAME
from tutelage.claims.claim import Predicted, value_at
from tutelage.claims.contraction import (
    DELTA,
    NEGLIGIBLE,
    EachRun,
    OneRun,
    Replicates,
    Sample,
    factors,
    pair_weights,
)
from tutelage.claims.trend import (
    LAYOUTS,
    NARROWEST,
    WINDOWS,
    Stretch,
    count_windows,
    decades_after,
    points_of,
    read_windows,
)
from tutelage.refuse import Refused, one_of
from tutelage.run import Outcome, Run

SLOPES_AFTER = 30.0  # plateaus to wait before a slope is read
CONSTANTS_AFTER = 100.0  # and before a constant is
NOISES = ("", "independent")
DECLARE = (
    "several seeds would decide, or the claim may declare noise='independent' if the errors of "
    "measured points are"
)
Scale = Callable[[Run, np.ndarray], np.ndarray]  # what a curve is divided by at some steps
Kind = Callable[[Stretch], OneRun]  # slopes or levels
Points = Callable[[Run], tuple[np.ndarray, np.ndarray]]  # steps after 0, and values there


@dataclass(frozen=True)
class Question:
    """What is to be read of a curve."""

    curve: str
    kind: Kind
    after: float  # plateaus
    tolerance: float
    plateau: Predicted | None = None
    noise: str = ""
    approach: float = DELTA
    scale: Scale | None = None
    # What is read instead of the logarithm of the curve, from which step on.
    points: Points | None = None
    start: float | None = None
    layouts: tuple[tuple[float, int], ...] = LAYOUTS

    def __post_init__(self) -> None:
        one_of("noise of a curve", self.noise, NOISES)


@dataclass(frozen=True)
class Unread:
    """That there is nothing to read yet, and what would decide."""

    sentence: str


@dataclass(frozen=True)
class Reading:
    """The windows of every run, and where they are."""

    parts: tuple[Stretch, ...]
    question: Question

    @property
    def log_ratio(self) -> float:
        return self.parts[0].log_ratio

    def begins(self, window: int = 0) -> float:
        """The step at which the class is assumed to begin, in the run in which it is latest."""
        return max(float(np.exp(part.log_time[window, 0])) for part in self.parts)

    def samples(self, kind: Kind | None = None) -> list[Sample]:
        """The windows with their uncertainty, in the order in which they are judged: runs without
        scatter each by itself, then replicates by their mean. None where one run scatters and no
        noise is declared.
        """
        runs = tuple((kind or self.question.kind)(part) for part in self.parts)
        smooth = all(self._is_smooth(run) for run in runs)
        values = np.stack([run.mean for run in runs])
        alone = len(runs) == 1 or float(np.ptp(values, axis=0).max()) <= SAME * max(
            1.0, float(np.abs(values).max())
        )
        if alone:
            if smooth:
                return [runs[0]]
            if self.question.noise:
                freedom = self.parts[0].freedom
                return [replace(runs[0], quantile=float(stdtrit(freedom, 1 - ERROR / 2)))]
            return []
        return [EachRun(runs), Replicates(values)] if smooth else [Replicates(values)]

    def _is_smooth(self, run: OneRun) -> bool:
        """Whether its scatter is small against the tolerance, or against how its windows
        differ.
        """
        matters = max(self.question.tolerance, float(abs(run.mean[-1] - run.mean[-2])))
        return NEGLIGIBLE * end_error(run, self.log_ratio) <= matters / 4


def end_error(run: OneRun, log_ratio: float) -> float:
    """The standard error of the far end of the last pair's interval."""
    windows = len(run.mean)
    return run.error(pair_weights(windows, windows - 2, factors(DELTA, log_ratio)[0]))


def _log_ratio(question: Question, run: Run, steps: np.ndarray, curve: np.ndarray) -> np.ndarray:
    """The logarithm of a curve over what is predicted of it."""
    if question.scale is None:
        return np.log(curve)
    with np.errstate(all="ignore"):
        scale = question.scale(run, steps)
        ratio = np.log(curve / scale)
    if not np.isfinite(ratio).all():
        raise Refused(
            "What a curve is divided by must be positive and within what a computer can hold, "
            "since the ratio is read on a logarithmic scale. Got a prediction from "
            f"{np.min(scale):.4g} to {np.max(scale):.4g} for {question.curve}."
        )
    return ratio


def read(question: Question, runs: Sequence[Run]) -> Reading | Unread:
    """The narrowest windows in which noise no longer matters; where it always does, those in which
    it matters least. Only the noise chooses, never the outcome.
    """
    curves, starts = [], []
    for run in runs:
        if question.points is not None:
            steps, values = question.points(run)
        else:
            steps, curve = points_of(run, question.curve)
            values = _log_ratio(question, run, steps, curve)
        start = question.start or _start(question, run, steps)
        if isinstance(start, Unread):
            return start
        curves.append((steps, values))
        starts.append(start)
    decades = min(decades_after(s, start) for (s, _), start in zip(curves, starts, strict=True))
    best: tuple[float, Reading] | None = None
    for widest, least in question.layouts:
        width = min(widest, decades / least)
        if width < NARROWEST:
            continue
        parts = [read_windows(s, c, width, count_windows(decades, width)) for s, c in curves]
        found = [part for part in parts if part is not None]
        if len(found) < len(parts):
            continue
        reading = Reading(tuple(found), question)
        errors = [end_error(question.kind(part), reading.log_ratio) for part in found]
        error = float(np.sqrt(np.mean(np.square(errors)) / len(found)))
        if best is None or error < best[0]:
            best = error, reading
        if error <= question.tolerance / 16:
            return reading
    if best is not None:
        return best[1]
    return Unread(
        "Too few points to tell: no two windows of the curve hold two points each. More measured "
        "steps would decide."
    )


def _start(question: Question, run: Run, steps: np.ndarray) -> float | Unread:
    """The step at which the windows may begin, or why they cannot."""
    given = question.plateau
    plateau = value_at(given, run) if given is not None else _plateau(run)
    begin = None if plateau is None else question.after * plateau
    if begin is not None and decades_after(steps, begin) >= LAYOUTS[-1][1] * NARROWEST:
        return begin
    if run.outcome is Outcome.CONVERGED and len(steps) > 2 * WINDOWS:
        # It reached the rounding floor before the windows could begin: whatever it did, it did in
        # its last stretch.
        return float(steps[-1] / 10 ** (LAYOUTS[0][0] * WINDOWS))
    needed = "A longer run" if begin is None else f"About {4 * begin:.1g} steps"
    begun = (
        "the curve never halves"
        if begin is None
        else f"the windows begin at step {begin:,.0f} ({question.after:g} plateaus)"
    )
    return Unread(
        f"Too short to tell: {begun} and the curve ends at {run.steps[-1]:,}. {needed} would "
        "decide."
    )


def _plateau(run: Run) -> float | None:
    """The first measured step at which the excess risk (or, without one, the first curve) has
    halved.
    """
    curve = run.curves.get("excess_risk", next(iter(run.curves.values())))
    halved = np.flatnonzero((curve <= 0.5 * curve[0]) & (run.steps > 0))
    return float(run.steps[halved[0]]) if len(halved) else None
