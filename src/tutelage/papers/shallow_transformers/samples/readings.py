"""How the numbers of the study of samples are read from runs: sup errors over nested samples, and
the widths that are needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tutelage.claims.claim import NotYet
from tutelage.claims.exponent import fitted_exponent
from tutelage.numerics.grids import nested_sizes
from tutelage.papers.shallow_transformers.readings import heads_of, samples_of, setting_of
from tutelage.papers.shallow_transformers.theory.approximation import (
    DELTA,
    approximation_bound,
    sizes,
)
from tutelage.refuse import Refused
from tutelage.run import Run
from tutelage.settings import Setting

FIRST = 100  # the smallest n of the sup error's sweep
LEVEL = 0.15  # of min loss/E[y²]: below it a width is enough
# Of the needed width's exponent. While widths were read in whole octaves it was 0.15, half an
# octave over the range, with which a need like n^0.3 could hold; read between octaves it is a third
# of that.
WIDTH_TOLERANCE = 0.05


def sups(run: Run) -> list[tuple[float, float]]:
    """(n, sup error over the first n samples) at the start, from n = 100 on."""
    errors = run.curves["approximation_sups"][0]
    found = zip(nested_sizes(samples_of(run)), errors, strict=True)
    return [(float(n), float(error)) for n, error in found if n >= FIRST]


def over_bound(run: Run) -> float:
    """The largest over n of (sup error + what the pool may hide) over the bound at that n.

    A label is off by its standard error times a normal deviate; none of n deviates passes √(2
    log(2n/δ)) with probability 1 − δ.
    """
    s, doubt = sizes(setting_of(run)), float(run.curves["label_error_sup"][0])
    return max(
        (error + doubt * math.sqrt(2 * math.log(2 * n / DELTA)))
        / approximation_bound(replace(s, n=int(n)))
        for n, error in sups(run)
    )


def trivial_over_bound(runs: Sequence[Run]) -> float:
    """√((1/n)Σy²), the error of the zero function, over the bound: the largest of all runs and n.

    At most 1 where no bound says more than predicting zero does.
    """

    def over(run: Run) -> float:
        s, zero = sizes(setting_of(run)), math.sqrt(float(run.curves["label_power"][0]))
        return max(zero / approximation_bound(replace(s, n=int(n))) for n, _ in sups(run))

    return max(map(over, runs))


def growth(runs: Sequence[Run]) -> list[float]:
    """The exponent of the sup error in n, one per seed."""
    if len(sups(runs[0])) < 3:
        raise Refused(
            f"An exponent needs at least three points from n = {FIRST} on. Got "
            f"{len(sups(runs[0]))}; more samples are needed."
        )
    return [fitted_exponent(sups(run)) for run in runs]


def root_log(setting: Setting) -> float:
    """The exponent that √log n has through its own values at the sweep's points."""
    axis = [n for n in nested_sizes(int(setting.objective.options["samples"])) if n >= FIRST]
    return fitted_exponent([(n, math.sqrt(math.log(n))) for n in axis])


def log_exponent(axis: Sequence[float]) -> float:
    """The exponent that log n has through its own values at the sweep's points."""
    return fitted_exponent([(n, math.log(n)) for n in axis])


def relative(run: Run) -> float:
    """The least loss that was measured, over the loss of the zero function."""
    losses = run.curves["least_loss"] if "least_loss" in run.curves else run.curves["loss"]
    return float(losses.min() / run.curves["label_power"][0])


def needed(runs: Sequence[Run]) -> dict[tuple[int, int], float]:
    """(seed, n) -> the width at which the relative loss falls to the level; infinity where no width
    tried is enough.

    It is read between the last width that is not enough and the first that is, on a straight line
    through their losses on logarithmic axes. Where the smallest width tried is enough, it is that.
    """
    losses: dict[tuple[int, int], dict[int, float]] = {}
    for run in runs:
        place = (setting_of(run).seed, samples_of(run))
        losses.setdefault(place, {})[heads_of(run)] = relative(run)
    return {place: _crossing(sorted(found.items())) for place, found in losses.items()}


def _crossing(losses: Sequence[tuple[int, float]]) -> float:
    """Where losses at growing widths first fall to the level."""
    before: tuple[int, float] | None = None
    for m, loss in losses:
        if loss < LEVEL:
            if before is None:
                return float(m)
            share = math.log(before[1] / LEVEL) / math.log(before[1] / loss)
            return float(before[0] * (m / before[0]) ** share)
        before = (m, loss)
    return math.inf


def width_exponents(runs: Sequence[Run]) -> list[float]:
    """The exponent in n of the needed width, one per seed.

    A width that was not reached counts as the largest tried there. That is less than it is: in the
    upper half of the axis, where a larger width means a larger exponent, growth is understated, and
    so enough to refute a slow one and not to confirm it. In the lower half such a gap decides
    nothing. Neither does a needed width that might be smaller than the smallest tried.
    """
    found = needed(runs)
    axis = sorted({n for _, n in found})
    if len(axis) < 3:
        raise Refused(
            "An exponent needs at least three points of a sweep, since two always fit. Got "
            f"{len(axis)}."
        )
    tried = {n: sorted({heads_of(run) for run in runs if samples_of(run) == n}) for n in axis}
    least = {(seed, n): min(width, float(tried[n][-1])) for (seed, n), width in found.items()}
    exponents = [
        fitted_exponent([(n, least[seed, n]) for n in axis])
        for seed in sorted({seed for seed, _ in found})
    ]
    missed = sorted({n for (_, n), width in found.items() if math.isinf(width)})
    upper = [n for n in axis if math.log(n) >= np.mean(np.log(axis))]
    slow = np.mean(exponents) <= log_exponent(axis) + WIDTH_TOLERANCE
    if missed and (not set(missed) <= set(upper) or slow):
        raise NotYet(
            f"Too narrow or too short to tell: at n = {', '.join(f'{n:,}' for n in missed)} no "
            f"width up to {', '.join(str(tried[n][-1]) for n in missed)} brings every seed below "
            f"{LEVEL:g} of E[y²]. Wider students or more steps would decide."
        )
    if any(width == tried[n][0] > 2 for (_, n), width in found.items()):
        raise NotYet(
            f"The smallest width tried, {tried[axis[0]][0]}, is enough somewhere, and a smaller "
            "one may be. Narrower ones would decide."
        )
    return exponents
