r"""A curve read in successive windows of equal logarithmic width: local slopes, or levels.

Everything here is linear in the logarithms of the measured points, so that what independent errors
of the points do to a window, or to any combination of windows, is known exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from jaxtyping import Bool, Float

from tutelage.claims.claim import curve_of
from tutelage.claims.contraction import OneRun
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run

WINDOWS = 4
MOST_WINDOWS = 12
PER_DECADE = 24  # resampled points, as many as are measured
NARROWEST = 0.1  # decades: narrower windows differ by too little
# Widest windows in decades, and how many there must be: the first at which noise no longer matters.
LAYOUTS = ((0.5, 4), (1.0, 3), (np.inf, 3), (np.inf, 2))
ROUNDED_ZERO = 1e-12  # of a curve's largest value: below it a sign is rounding
ORDER = 5  # of the differences of neighbours that tell noise from a smooth curve


@dataclass(frozen=True)
class Stretch:
    """The last part of a curve, resampled evenly in log time, window by window."""

    log_time: Float[np.ndarray, "windows points"]
    log_curve: Float[np.ndarray, "windows points"]
    # What unit errors of the measured points do to each resampled one.
    noise: Float[np.ndarray, "windows points measured"]
    scatter: float  # the size of these errors, from high differences of neighbours
    freedom: float  # how many independent errors that size rests on

    @property
    def span(self) -> tuple[float, float]:
        """The first and last step of the last four windows."""
        first = self.log_time[max(0, len(self.log_time) - WINDOWS), 0]
        return float(np.exp(first)), float(np.exp(self.log_time[-1, -1]))

    @property
    def log_ratio(self) -> float:
        """log r, the distance of successive windows in log time."""
        return float(self.log_time[0, -1] - self.log_time[0, 0])


def stretch(
    times: Float[np.ndarray, "points"],
    curve: Float[np.ndarray, "points"],
    start: float,
    widest: float,
    least: int = WINDOWS,
) -> Stretch | None:
    """All windows between `start` and the end of the curve; None where there is no room for the
    least number of them.
    """
    decades = decades_after(times, start)
    width = min(widest, decades / least)
    if width < NARROWEST:
        return None
    return read_windows(times, np.log(curve), width, count_windows(decades, width))


def decades_after(times: Float[np.ndarray, "points"], start: float) -> float:
    if not (len(times) and 0 < start < times[-1]):
        return 0.0
    with np.errstate(over="ignore"):  # a ratio may be too large for a float, its logarithm is not
        ratio = times[-1] / start
    return float(np.log10(ratio) if np.isfinite(ratio) else np.log10(times[-1]) - np.log10(start))


def count_windows(decades: float, width: float) -> int:
    return min(MOST_WINDOWS, int(np.floor(decades / width + 1e-9)))


def read_windows(
    times: Float[np.ndarray, "points"],
    values: Float[np.ndarray, "points"],
    width: float,
    windows: int,
) -> Stretch | None:
    """The last so many windows, each `width` decades, of values that are on their scale already;
    None where they hold too few points.

    Measured steps are whole numbers and the last one is wherever the run ended, so they are not
    even in log time; a window with one point more or less is off by half a spacing. Hence the cubic
    spline, through the means of neighbours where points are dense.
    """
    from scipy.interpolate import CubicSpline

    begin = np.log(times[-1]) - np.log(10) * width * windows
    near = max(0, int(np.searchsorted(np.log(times), begin - 1e-9)) - 2)
    x, z, counts = _thinned(np.log(times[near:]), values[near:])
    edges = begin + np.log(10) * width * np.arange(windows + 1)
    inside = np.histogram(x, edges + np.array([-1e-9, *[0.0] * (windows - 1), 1e-9]))[0]
    if len(x) < 5 or inside.min() < 2:
        return None
    points = max(7, int(np.rint(PER_DECADE * width)) + 1)
    grid = edges[:-1, None] + np.log(10) * width * np.linspace(0, 1, points)
    noise = CubicSpline(x, np.eye(len(x)))(grid)
    scatter, freedom = _scatter(x, z, counts)
    return Stretch(grid, CubicSpline(x, z)(grid), noise / np.sqrt(counts), scatter, freedom)


def _thinned(
    log_time: Float[np.ndarray, "points"], log_curve: Float[np.ndarray, "points"]
) -> tuple[Float[np.ndarray, "fewer"], Float[np.ndarray, "fewer"], Float[np.ndarray, "fewer"]]:
    """A curve measured much more densely than it is resampled, as a noisy one is, by its means over
    neighbours; and how many points each mean is of.
    """
    bins = np.floor((log_time - log_time[-1]) * PER_DECADE / np.log(10) + 1e-6)
    _, bins, counts = np.unique(bins, return_inverse=True, return_counts=True)
    if counts.max() < 3:
        return log_time, log_curve, np.ones(len(log_time))
    means = np.bincount(bins, log_time) / counts, np.bincount(bins, log_curve) / counts
    return *means, counts.astype(float)


def _scatter(
    x: Float[np.ndarray, "points"], z: Float[np.ndarray, "points"], counts: np.ndarray
) -> tuple[float, float]:
    """The standard deviation of a point's error, and its degrees of freedom, from fifth divided
    differences (lower ones where points are few), which remove a smooth curve.
    """
    order = min(ORDER, len(x) - 2)
    parts = np.lib.stride_tricks.sliding_window_view(np.arange(len(x)), order + 1)
    gaps = x[parts][:, :, None] - x[parts][:, None, :] + np.eye(order + 1)
    weights = 1 / gaps.prod(2)
    differences = (weights * z[parts]).sum(1) / np.sqrt((weights**2 / counts[parts]).sum(1))
    # Neighbouring differences share points, so their squares hold less than as many independent
    # ones.
    shared = [comb(2 * order, order + k) / comb(2 * order, order) for k in range(1, order + 1)]
    overlap = 1 + 2 * sum(share**2 for share in shared)
    return float(np.sqrt(np.mean(differences**2))), max(1.0, len(parts) / overlap)


def slopes(part: Stretch) -> OneRun:
    """d log(curve)/d log(time) by least squares in each window."""
    centred = part.log_time - part.log_time.mean(1, keepdims=True)
    return _read(part, centred / (centred**2).sum(1, keepdims=True))


def levels(part: Stretch) -> OneRun:
    """The mean of log(curve) in each window."""
    return _read(part, np.full(part.log_time.shape, 1 / part.log_time.shape[1]))


def _read(part: Stretch, weights: Float[np.ndarray, "windows points"]) -> OneRun:
    return OneRun(
        (weights * part.log_curve).sum(1),
        np.einsum("wp,wpm->wm", weights, part.noise),
        part.scatter,
    )


def points_of(run: Run, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Steps after 0 and the curve there, refused by name where they make no curve in log-log.

    A run that converged ends at the rounding floor, where signs and zeros are rounding; such points
    are left out. So are steps of our own runs at which a derived curve is not taken, which are NaN
    there; a run that diverges says so by its outcome.
    """
    curve = curve_of(run, name)
    if curve.ndim != 1:
        raise Refused(
            f"A rate needs a scalar curve. `{name}` has {curve.shape[1]} entries per step."
        )
    check_steps(run)
    taken = ~np.isnan(curve) | (run.setting is None)
    check_finite(run, name, curve, (run.steps > 0) & taken)
    curve = np.where(taken, curve, 0.0)
    steps = run.steps.astype(float)
    usable: Bool[np.ndarray, "points"] = (steps > 0) & (curve > 0)
    rounding = ROUNDED_ZERO * float(np.abs(curve[steps > 0]).max(initial=0.0))
    negative = (steps > 0) & (curve < -rounding)
    if negative.any():
        where = int(np.flatnonzero(negative)[0])
        raise Refused(
            f"The curve `{name}` must be positive, since it is read on a logarithmic scale. Got "
            f"{curve[where]:.6g} at step {run.steps[where]}."
        )
    if run.outcome is Outcome.CONVERGED and len(usable):
        usable[-1] = False  # the point that crossed into rounding
    return steps[usable], curve[usable]


def check_steps(run: Run) -> None:
    """Refuses steps that are not sorted, repeat or are not finite."""
    steps = np.asarray(run.steps)
    if not np.isfinite(steps.astype(float)).all():
        raise Refused(
            "Steps must be finite, since curves are read along them. Got a step that is not."
        )
    wrong = np.flatnonzero(np.diff(steps) <= 0)
    if len(wrong):
        first, second = steps[wrong[0]], steps[wrong[0] + 1]
        how = "a repeated step" if first == second else "unsorted steps"
        raise Refused(
            "Steps must increase, since curves are read along them. Got "
            f"{how}: {second} after {first}."
        )


def check_finite(run: Run, name: str, curve: np.ndarray, where: Bool[np.ndarray, "points"]) -> None:
    """Refuses values that are not numbers, or are infinite, at the steps that are read."""
    flat = curve.reshape(len(curve), -1)
    wrong = np.flatnonzero(where & ~np.isfinite(flat).all(1))
    if len(wrong):
        value = flat[wrong[0]][~np.isfinite(flat[wrong[0]])][0]
        raise Refused(
            f"The curve `{name}` must be finite at every step, since a verdict rests on all of "
            f"them. Got {value} at step {run.steps[wrong[0]]}."
        )
