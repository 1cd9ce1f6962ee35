r"""Where a curve is going: local values in successive geometric windows, and the limit they tend
to.

An exact curve has no noise, so least squares over a long stretch gives a tiny interval around a
biased slope. What is uncertain is the horizon: how far the last window still is from the limit. So
the curve is read in at least four windows of equal logarithmic width; the last three give a limit
by Aitken's extrapolation (exact for an approach like t^-p, whatever p), and the three before, by
the same rule, tell how far that extrapolation can be trusted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

WINDOWS = 4
PER_DECADE = 24  # resampled points, as many as are measured
WIDTHS = (
    0.5,
    1.0,
    1.5,
)  # decades: the first at which noise no longer matters, as far as the curve is long enough
NARROWEST = 0.1  # decades: narrower windows differ by too little to extrapolate from


@dataclass(frozen=True)
class Trend:
    """Values in successive windows of one curve, and the limit extrapolated from them."""

    values: Float[np.ndarray, "windows"]
    noise: float  # standard error of a window's value, from the scatter of neighbouring points
    limit: float
    doubt: float  # how far two successive extrapolations, or the last two windows, differ
    shrinking: bool  # the windows differ by less and less, or by nothing worth naming

    @property
    def last(self) -> float:
        return float(self.values[-1])

    @property
    def interval(self) -> tuple[float, float]:
        wide = self.doubt + 2 * self.noise
        return min(self.last, self.limit) - wide, max(self.last, self.limit) + wide


@dataclass(frozen=True)
class Stretch:
    """The last part of a curve, resampled evenly in log time: x and log(curve), window by
    window.
    """

    log_time: Float[np.ndarray, "windows points"]
    log_curve: Float[np.ndarray, "windows points"]

    @property
    def span(self) -> tuple[float, float]:
        return float(np.exp(self.log_time[0, 0])), float(np.exp(self.log_time[-1, -1]))


def stretch(
    times: Float[np.ndarray, "points"],
    curve: Float[np.ndarray, "points"],
    start: float,
    widest: float,
) -> Stretch | None:
    """The last windows between `start` and the end of the curve; None where there is no room for
    them.

    Measured steps are whole numbers and the last one is wherever the run ended, so they are not
    even in log time; a window with one point more or less is off by half a spacing, which
    extrapolation would magnify. Hence the cubic spline.
    """
    from scipy.interpolate import CubicSpline

    end = times[-1]
    if not 0 < start < end:
        return None
    width = min(widest, np.log10(end / start) / WINDOWS)
    if width < NARROWEST:
        return None
    begin = np.log(end) - np.log(10) * width * WINDOWS
    near = max(0, int(np.searchsorted(np.log(times), begin)) - 2)
    if len(times) - near < 2 * WINDOWS:
        return None
    spline = CubicSpline(*_thinned(np.log(times[near:]), np.log(curve[near:])))
    starts = begin + np.log(10) * width * np.arange(WINDOWS)
    points = max(7, int(np.rint(PER_DECADE * width)) + 1)
    x = starts[:, None] + np.log(10) * width * np.linspace(0, 1, points)
    return Stretch(x, spline(x))


def _thinned(
    log_time: Float[np.ndarray, "points"], log_curve: Float[np.ndarray, "points"]
) -> tuple[Float[np.ndarray, "fewer"], Float[np.ndarray, "fewer"]]:
    """A curve measured much more densely than it is resampled, as a noisy one is, by its means over
    neighbours.
    """
    if len(log_time) <= 2 * PER_DECADE * (log_time[-1] - log_time[0]) / np.log(10):
        return log_time, log_curve
    _, bins = np.unique(
        np.floor((log_time - log_time[-1]) * PER_DECADE / np.log(10)), return_inverse=True
    )
    counts = np.bincount(bins)
    return np.bincount(bins, log_time) / counts, np.bincount(bins, log_curve) / counts


def slopes(part: Stretch, tolerance: float) -> Trend:
    """d log(curve)/d log(time) by least squares in each window."""
    centred = part.log_time - part.log_time.mean(1, keepdims=True)
    weight = (centred**2).sum(1)
    values = (centred * part.log_curve).sum(1) / weight
    return _extrapolate(values, _scatter(part.log_curve) / np.sqrt(weight[0]), tolerance)


def levels(part: Stretch, tolerance: float) -> Trend:
    """The geometric mean of the curve in each window."""
    values = np.exp(part.log_curve.mean(1))
    return _extrapolate(
        values, _scatter(part.log_curve) / np.sqrt(part.log_curve.shape[1]) * values[-1], tolerance
    )


def _scatter(log_curve: Float[np.ndarray, "windows points"]) -> float:
    """The standard deviation of point-to-point noise: third differences remove a smooth curve and
    multiply its variance by 20.
    """
    return float(np.sqrt(np.mean(np.diff(log_curve, 3, axis=1) ** 2) / 20))


def _extrapolate(values: Float[np.ndarray, "windows"], noise: float, tolerance: float) -> Trend:
    limit, reserve, shrinking = _aitken(values[-3:], noise, tolerance)
    earlier, _, shrank = _aitken(values[-4:-1], noise, tolerance)
    return Trend(values, noise, limit, max(abs(limit - earlier), reserve), shrinking and shrank)


def _aitken(
    three: Float[np.ndarray, "3"], noise: float, tolerance: float
) -> tuple[float, float, bool]:
    """The limit of a sequence whose differences fall geometrically, how far it may be off at least,
    and whether they do fall.

    Differences too small to matter are taken as settled, and so is a sequence that turns; but a
    slow drift may hide in both. An approach like t^-½, read in windows of a quarter decade, is
    still three differences away from its limit: that is the reserve, unless the differences are no
    more than noise. A ratio near 1 would send the limit anywhere, so it is capped: such a sequence
    is not shrinking, and no FAILS rests on it.
    """
    first, second = (float(d) for d in np.diff(three))
    larger = max(abs(first), abs(second))
    if larger <= 3 * noise:
        return float(three.mean()), abs(second), True
    if larger <= tolerance / 20:
        return float(three[-1]), 3 * larger, True
    ratio = second / first if first != 0 else np.inf
    if ratio <= 0 or abs(second) <= 3 * noise:
        return float(three[-1]), 3 * abs(second), abs(second) < abs(first)
    capped = min(ratio, 0.9)
    return float(three[-1] + second * capped / (1 - capped)), abs(second), ratio < 0.95


def combine(trends: list[Trend], tolerance: float) -> Trend:
    """The trend of the mean over runs."""
    noise = float(np.sqrt(np.mean([t.noise**2 for t in trends]) / len(trends)))
    return _extrapolate(np.mean([t.values for t in trends], axis=0), noise, tolerance)
