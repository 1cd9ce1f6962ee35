"""A curve evened out over log x, and how much neighbouring points scatter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

PER_DECADE = 24  # bins
NEIGHBOURS = 4  # points whose scatter around a parabola is taken for noise
SMOOTHED = 9  # such scatters whose mean is the local noise
DEGREE = 9  # of the polynomials in log x that a misfit is looked for among
DRAWS = 2000
SEED = 0  # of the draws, so that an answer is the same every time


@dataclass(frozen=True)
class Binned:
    """log y of one run, the mean in each bin of log x."""

    log_x: Float[np.ndarray, "bins"]
    log_y: Float[np.ndarray, "bins"]

    @property
    def x(self) -> Float[np.ndarray, "bins"]:
        return np.exp(self.log_x)

    def first(self, count: int) -> Binned:
        return Binned(self.log_x[:count], self.log_y[:count])

    def __len__(self) -> int:
        return len(self.log_x)

    @cached_property
    def smooth(self) -> Float[np.ndarray, "polynomials bins"]:
        """Orthonormal polynomials in log x. What a form misses of a curve is smooth, and so are
        they; of noise, which is not, they take little.
        """
        at = 2 * (self.log_x - self.log_x[0]) / (self.log_x[-1] - self.log_x[0]) - 1
        degree = min(DEGREE, len(self) - 1)
        return np.linalg.qr(np.polynomial.legendre.legvander(at, degree))[0].T


def bin_curve(
    x: Float[np.ndarray, "points"], y: Float[np.ndarray, "points"], begin: float
) -> Binned:
    """The curve from x = `begin` on. Points in one bin are averaged: a log that is written every
    hundred steps has nearly all of its points in its last decade, and would be judged there alone.
    """
    late = (x >= begin) & (x > 0)
    log_x, log_y = np.log(x[late]), np.log(y[late])
    if not len(log_x):
        return Binned(log_x, log_y)
    number = np.floor((log_x - log_x[0]) * PER_DECADE / np.log(10) + 1e-9).astype(int)
    _, bins = np.unique(number, return_inverse=True)
    counts = np.bincount(bins)
    return Binned(np.bincount(bins, log_x) / counts, np.bincount(bins, log_y) / counts)


def scatters(binned: Binned) -> Float[np.ndarray, "quadruples"]:
    """What each four neighbours are off a parabola in log x, with the variance of one of them.

    The weights are the unit vector that is orthogonal to 1, u and u², so that whatever is smooth
    drops out however the points are spaced, and noise stays as large as it is.
    """
    count = len(binned) - NEIGHBOURS + 1
    if count < 1:
        return np.zeros(0)
    u = np.lib.stride_tricks.sliding_window_view(binned.log_x, NEIGHBOURS)
    v = np.lib.stride_tricks.sliding_window_view(binned.log_y, NEIGHBOURS)
    return (_weights(u) * v).sum(1)


def _weights(u: Float[np.ndarray, "quadruples 4"]) -> Float[np.ndarray, "quadruples 4"]:
    """Those of the third divided difference, 1/Π_j (u_i − u_j), at length one."""
    apart = u[:, :, None] - u[:, None, :] + np.eye(NEIGHBOURS)
    weights = 1 / apart.prod(2)
    return np.asarray(weights / np.linalg.norm(weights, axis=1, keepdims=True))


def noise(binned: Binned) -> float:
    """The standard deviation of one bin's log y around a smooth curve."""
    found = scatters(binned)
    return float(np.sqrt(np.mean(found**2))) if len(found) else 0.0


def local_noise(binned: Binned) -> Float[np.ndarray, "bins"]:
    """The same, bin by bin, from the neighbourhood of each."""
    squares = scatters(binned) ** 2
    if not len(squares):
        return np.zeros(len(binned))
    kernel = np.ones(min(SMOOTHED, len(squares)))
    smooth = np.convolve(squares, kernel, "same") / np.convolve(
        np.ones(len(squares)), kernel, "same"
    )
    at = np.clip(np.arange(len(binned)) - 1, 0, len(squares) - 1)
    return np.asarray(np.sqrt(smooth[at]))


def largest_chance(curves: list[Binned], chance: float) -> float:
    """How large the smooth part of the noise may be, the root of its sum of squares over all
    curves, but for a small chance: Gaussian noise of the local size, independent from bin to bin.

    The noise itself is estimated from the same bins. So both are drawn together, and the quantile
    is that of their ratio.
    """
    generator = np.random.default_rng(SEED)
    estimated = float(sum(len(c) * noise(c) ** 2 for c in curves))
    if estimated == 0:
        return 0.0
    above, below = np.zeros(DRAWS), np.zeros(DRAWS)
    for one in curves:
        drawn = local_noise(one) * generator.standard_normal((DRAWS, len(one)))
        above += ((drawn @ one.smooth.T) ** 2).sum(1)
        windows = np.lib.stride_tricks.sliding_window_view(drawn, NEIGHBOURS, axis=1)
        u = np.lib.stride_tricks.sliding_window_view(one.log_x, NEIGHBOURS)
        below += len(one) * ((windows * _weights(u)).sum(2) ** 2).mean(1)
    ratio = float(np.quantile(above / below, 1 - chance))
    return float(np.sqrt(estimated * ratio))
