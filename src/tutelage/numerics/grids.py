"""Log-spaced grids of whole numbers: the steps at which a run is measured, the sizes of nested
samples.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from tutelage.refuse import whole

PER_DECADE = 24  # measured steps in each factor of ten
# Measured steps in each factor of ten where steps are random: each measurement is then a draw, and
# their mean is what is asked for.
NOISY = 240


def log_spaced(steps: int, per_decade: int = PER_DECADE) -> Int[np.ndarray, "points"]:
    """0, 1, 2, … : the whole numbers nearest to 10^(k/per_decade) up to `steps`, and `steps`
    itself.

    The grid of a longer run contains that of a shorter one, but for its last point.
    """
    steps = whole("steps", steps, least=1, reason="a run takes at least one step")
    exponents = np.arange(int(np.log10(steps) * per_decade) + 1) / per_decade
    return np.unique(np.concatenate([[0], np.rint(10.0**exponents), [steps]]).astype(np.int64))


def by_step(points: Int[np.ndarray, "points"], literal: int) -> int:
    """How many of the points are reached by steps taken one by one, where a run goes on by gradient
    flow after `literal` of them.
    """
    return int(np.searchsorted(points, literal, side="right"))


def nested_sizes(samples: int, least: int = 10, per_decade: int = 4) -> tuple[int, ...]:
    """10, 18, 32, 56, 100, … and `samples` itself: sizes of samples that begin with one another."""
    return tuple(int(n) for n in log_spaced(samples, per_decade) if n >= min(least, samples))
