"""How the numbers of the study of width are read from runs: points of a sweep in m, pairs of runs,
and the spread over seeds.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from tutelage.claims.exponent import fitted_exponent
from tutelage.measures.linearisation import nested_widths
from tutelage.papers.shallow_transformers.readings import (
    Point,
    Reading,
    heads_of,
    read_last,
    setting_of,
)
from tutelage.papers.shallow_transformers.theory import infinite_width
from tutelage.papers.shallow_transformers.theory.approximation import sizes
from tutelage.papers.shallow_transformers.theory.width import approximation_scale
from tutelage.run import Run
from tutelage.settings import Setting

ReadPoints = Callable[[Sequence[Run]], list[Point]]
ReadNumbers = Callable[[Sequence[Run]], list[float]]

SAMPLES = 4000  # of the paper's experiment: 5,000, of which its code trains on four fifths
# The loss of the averaged iterate after the last step, over (1/n)Σy².
averaged_relative: Reading = read_last("averaged_loss", "label_power")


def least_relative(run: Run) -> float:
    """The least loss of any iterate over (1/n)Σy²; with one sample a step, of any measured
    iterate.
    """
    return float(run.curves["least_loss"].min() / run.curves["label_power"][-1])


def reach(run: Run) -> float:
    """The farthest that any head has gone at any measured step, in radii: 1 where the projection
    has bound.
    """
    return float((run.curves["displacement"] / np.asarray(sizes(setting_of(run)).rho)).max())


def points(reading: Reading, steps: int | None = None) -> ReadPoints:
    """(m, reading, seed) of every run, or of those of one horizon."""

    def read(runs: Sequence[Run]) -> list[Point]:
        kept = [run for run in runs if steps is None or setting_of(run).steps == steps]
        return [(float(heads_of(run)), reading(run), setting_of(run).seed) for run in kept]

    return read


def nested(entry: int, widths: Sequence[int]) -> ReadPoints:
    """(m, approximation error, seed) at some of the widths that the start of each run contains: 0
    is the sup, 1 the mean, 2 the rms.
    """

    def read(runs: Sequence[Run]) -> list[Point]:
        found = []
        for run in runs:
            errors = run.curves["nested_approximation"][0].reshape(-1, 3)
            own = dict(zip(nested_widths(heads_of(run)), errors, strict=True))
            found += [(float(m), float(own[m][entry]), setting_of(run).seed) for m in widths]
        return found

    return read


def spread_of(run: Run) -> float:
    """The standard deviation of one head's term, from the pool's own: the labels' standard errors
    are √(Var/pool).
    """
    return float(run.curves["label_error"][0]) * math.sqrt(pool_of(run))


def pool_of(run: Run) -> float:
    """How many heads make the labels."""
    return float(setting_of(run).teacher.options["pool"])


def square_over_predicted(widths: Sequence[int]) -> ReadNumbers:
    """For each seed, the mean over widths of mean_j|y_j − f_lin(X_j; θ̃)|² over its expectation
    mean_j Var(X_j)·(2/m + 1/pool).

    Widths of a seed share heads, so they are one replication.
    """

    def one(run: Run) -> float:
        expected = {m: spread_of(run) * approximation_scale(m, pool_of(run)) for m in widths}
        return float(np.mean([(y / expected[int(m)]) ** 2 for m, y, _ in nested(2, widths)([run])]))

    return lambda runs: [one(run) for run in runs]


def steepening(runs: Sequence[Run]) -> list[float]:
    """For each seed, the exponent of the least loss in m at the longest horizon less that at the
    shortest.
    """
    horizons = sorted({setting_of(run).steps for run in runs})
    shortest, longest = (points(least_relative, tau)(runs) for tau in (horizons[0], horizons[-1]))
    seeds = sorted({setting_of(run).seed for run in runs})
    return [_exponent_of_seed(longest, seed) - _exponent_of_seed(shortest, seed) for seed in seeds]


def _exponent_of_seed(found: Sequence[Point], seed: int) -> float:
    return fitted_exponent([(m, y) for m, y, own in found if own == seed])


def over_infinite(reading: Reading, which: int, steps: int) -> ReadNumbers:
    """For each widest run at a horizon, a loss over that of descent at infinite width: `which` is 0
    for the last iterate, 1 the mean.
    """

    def read(runs: Sequence[Run]) -> list[float]:
        widest = max(map(heads_of, runs))
        kept = [run for run in runs if setting_of(run).steps == steps and heads_of(run) == widest]
        return [reading(run) / infinite_width.losses(setting_of(run))[which] for run in kept]

    return read


def over_partner(
    reading: Reading, chosen: Callable[[Setting], bool], partner: Callable[[Setting], Setting]
) -> ReadNumbers:
    """For each seed, the mean over the chosen runs of a reading over the same reading of the run of
    their partner setting.
    """

    def read(runs: Sequence[Run]) -> list[float]:
        by_setting = {replace(setting_of(run), measures=()): run for run in runs}
        found = defaultdict(list)
        for run in runs:
            if chosen(setting_of(run)):
                other = by_setting[replace(partner(setting_of(run)), measures=())]
                found[setting_of(run).seed].append(reading(run) / reading(other))
        return [float(np.mean(values)) for values in found.values()]

    return read


def by_width(found: Sequence[Point]) -> dict[float, Float[np.ndarray, "seeds"]]:
    """The values of all seeds at each width."""
    widths = sorted({m for m, _, _ in found})
    return {m: np.asarray([y for x, y, _ in found if x == m]) for m in widths}
