"""How the numbers of this study are read off runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from tutelage.papers.shallow_transformers.readings import setting_of
from tutelage.papers.shallow_transformers.theory.autoregressive import window
from tutelage.run import Run

# Places in a measure of gradients, whose last entry is that of all blocks together.
RECURRENCE = 1  # u among the blocks of an IndRNN
ALL = 3


def lag_of(run: Run) -> float:
    """L, the lag of the series."""
    return float(setting_of(run).teacher.options["lag"])


def least(run: Run) -> float:
    """The least held-out loss of the measured steps, which is what the paper reports."""
    return float(np.min(run.curves["validation_loss"]))


def gradient_in_u(run: Run) -> float:
    """The root mean square of ‖∂f/∂u‖ over the held-out inputs, at the start."""
    return math.sqrt(float(run.curves["function_gradient_square"][0, RECURRENCE]))


def largest_gradient(run: Run) -> float:
    """sup‖∇f‖ over the held-out inputs, at the start."""
    return float(run.curves["function_gradient_sup"][0, ALL])


def last_slope(own: list[Run]) -> float:
    """d log(‖∂f/∂u‖/T)/dL between the two largest lags: without the factor T the law is a pure
    power of |u|.
    """
    (short, low), (long, high) = [(window(setting_of(run)), gradient_in_u(run)) for run in own[-2:]]
    return (math.log(high / long) - math.log(low / short)) / (long - short)


def by_seed(runs: Sequence[Run], number: Callable[[list[Run]], float]) -> list[float]:
    """One number per seed that has every lag, from all its runs in the order of their lags."""
    runs = at_every_lag(runs)
    seeds = sorted({setting_of(run).seed for run in runs})
    own = [[run for run in runs if setting_of(run).seed == seed] for seed in seeds]
    return [number(sorted(group, key=lag_of)) for group in own]


def at_every_lag(runs: Sequence[Run]) -> list[Run]:
    """The runs of seeds that were run at every lag; some have the least alone."""
    lags = {lag_of(run) for run in runs}
    seen: dict[int, set[float]] = {}
    for run in runs:
        seen.setdefault(setting_of(run).seed, set()).add(lag_of(run))
    return [run for run in runs if seen[setting_of(run).seed] == lags]
