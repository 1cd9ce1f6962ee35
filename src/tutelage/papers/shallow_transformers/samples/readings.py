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
# Of the needed width's exponent. Widths are powers of two: half an octave at one end of a range of
# 3 to 4 octaves.
WIDTH_TOLERANCE = 0.15


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
    """(seed, n) -> the smallest width tried whose relative loss is below the level; infinity where
    none is.
    """
    found: dict[tuple[int, int], float] = {}
    for run in runs:
        place = (setting_of(run).seed, samples_of(run))
        width = heads_of(run) if relative(run) < LEVEL else math.inf
        found[place] = min(found.get(place, math.inf), width)
    return found


def width_exponents(runs: Sequence[Run]) -> list[float]:
    """The exponent in n of the needed width, one per seed.

    A width that was not reached at the largest n counts as twice the largest tried there. That is
    the least it can be, and so the growth is understated: enough to refute a slow one, not to
    confirm it. Elsewhere such a gap decides nothing, and neither does a needed width that might be
    smaller than the smallest tried.
    """
    found = needed(runs)
    axis = sorted({n for _, n in found})
    if len(axis) < 3:
        raise Refused(
            "An exponent needs at least three points of a sweep, since two always fit. Got "
            f"{len(axis)}."
        )
    tried = {n: sorted({heads_of(run) for run in runs if samples_of(run) == n}) for n in axis}
    least = {(seed, n): min(width, 2.0 * tried[n][-1]) for (seed, n), width in found.items()}
    exponents = [
        fitted_exponent([(n, least[seed, n]) for n in axis])
        for seed in sorted({seed for seed, _ in found})
    ]
    missed = sorted({n for (_, n), width in found.items() if math.isinf(width)})
    slow = np.mean(exponents) <= log_exponent(axis) + WIDTH_TOLERANCE
    if missed and (missed != axis[-1:] or slow):
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
