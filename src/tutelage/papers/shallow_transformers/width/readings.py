"""How the numbers of `shallow-transformers/width` are read from runs: points of a sweep in m, pairs
of runs, and the spread over seeds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from tutelage.claims.claim import NotYet
from tutelage.claims.exponent import fitted_exponent
from tutelage.papers.shallow_transformers.theory.approximation import sizes
from tutelage.papers.shallow_transformers.theory.width import approximation_scale
from tutelage.run import Run
from tutelage.settings import Setting

Reading = Callable[[Run], float]


SAMPLES = 4000  # of the paper's experiment: 5,000, of which its code trains on four fifths


def setting_of(run: Run) -> Setting:
    assert run.setting is not None
    return run.setting


def at_start(curve: str, entry: int | None = None) -> Reading:
    """A measure of the start, or one entry of it."""
    return lambda run: float(run.curves[curve][0] if entry is None else run.curves[curve][0][entry])


def relative(curve: str) -> Reading:
    """The last value of a loss over (1/n)Σy²."""
    return lambda run: float(run.curves[curve][-1] / run.curves["label_power"][-1])


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


def points(
    reading: Reading, steps: int | None = None
) -> Callable[[Sequence[Run]], list[tuple[float, float, int]]]:
    """(m, reading, seed) of every run, or of those of one horizon."""

    def read(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
        kept = [run for run in runs if steps is None or setting_of(run).steps == steps]
        return [
            (float(sizes(setting_of(run)).m), reading(run), setting_of(run).seed) for run in kept
        ]

    return read


def waiting(
    read: Callable[[Sequence[Run]], list[tuple[float, float, int]]],
    steps: int,
    least: int,
    words: str,
) -> Callable[[Sequence[Run]], list[tuple[float, float, int]]]:
    """The points themselves, if horizon and sample are those that the claim is about or larger;
    else what they say so far, no verdict.
    """

    def checked(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
        found = read(runs)
        samples = min(
            int(r.setting.objective.options["samples"]) for r in runs if r.setting is not None
        )
        if steps < least or samples < SAMPLES:
            mean = [
                (m, float(np.exp(np.log(values).mean()))) for m, values in by_width(found).items()
            ]
            raise NotYet(
                f"Too small to tell: the claim is about τ = {least:,} and n = {SAMPLES:,} or "
                f"more; at τ = {steps:,}, n = {samples:,} the "
                f"exponent of {words} in m is {fitted_exponent(mean):.3f}. The full preset would "
                "decide."
            )
        return found

    return checked


def nested(
    entry: int, widths: Sequence[int]
) -> Callable[[Sequence[Run]], list[tuple[float, float, int]]]:
    """(m, approximation error, seed) at some of the widths that the start of each run contains: 0
    is the sup, 1 the mean, 2 the rms.
    """

    def read(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
        from tutelage.measures.linearisation import nested_widths

        found = []
        for run in runs:
            own = dict(
                zip(
                    nested_widths(sizes(setting_of(run)).m),
                    run.curves["nested_approximation"][0].reshape(-1, 3),
                    strict=True,
                )
            )
            found += [(float(m), float(own[m][entry]), setting_of(run).seed) for m in widths]
        return found

    return read


def spread_of(run: Run) -> float:
    """The standard deviation of one head's term, from the pool's own: the labels' standard errors
    are √(Var/pool).
    """
    return float(run.curves["label_error"][0]) * float(
        np.sqrt(float(setting_of(run).teacher.options["pool"]))
    )


def square_over_predicted(widths: Sequence[int]) -> Callable[[Sequence[Run]], list[float]]:
    """For each seed, the mean over widths of mean_j|y_j − f_lin(X_j; θ̃)|² over its expectation
    mean_j Var(X_j)·(2/m + 1/pool).

    Widths of a seed share heads, so they are one replication.
    """

    def one(run: Run) -> float:
        pool = float(setting_of(run).teacher.options["pool"])
        return float(
            np.mean(
                [
                    (y / (spread_of(run) * approximation_scale(m, pool))) ** 2
                    for m, y, _ in nested(2, widths)([run])
                ]
            )
        )

    return lambda runs: [one(run) for run in runs]


def steepening(runs: Sequence[Run]) -> list[float]:
    """For each seed, the exponent of the least loss in m at the longest horizon less that at the
    shortest.
    """
    horizons = sorted({setting_of(run).steps for run in runs})
    found = {h: points(least_relative, h)(runs) for h in (horizons[0], horizons[-1])}
    slopes = [
        [
            fitted_exponent([(m, y) for m, y, s in found[h] if s == seed])
            for h in (horizons[0], horizons[-1])
        ]
        for seed in sorted({setting_of(run).seed for run in runs})
    ]
    return [longest - shortest for shortest, longest in slopes]


def over_infinite(
    reading: Reading, which: int, steps: int
) -> Callable[[Sequence[Run]], list[float]]:
    """For each widest run at a horizon, a loss over that of descent at infinite width: `which` is 0
    for the last iterate, 1 the mean.
    """

    def read(runs: Sequence[Run]) -> list[float]:
        from tutelage.papers.shallow_transformers.theory import infinite_width

        widest = max(sizes(setting_of(run)).m for run in runs)
        kept = [
            run
            for run in runs
            if setting_of(run).steps == steps and sizes(setting_of(run)).m == widest
        ]
        return [reading(run) / infinite_width.losses(setting_of(run))[which] for run in kept]

    return read


def over_partner(
    reading: Reading, chosen: Callable[[Setting], bool], partner: Callable[[Setting], Setting]
) -> Callable[[Sequence[Run]], list[float]]:
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


def by_width(found: Sequence[tuple[float, float, int]]) -> dict[float, Float[np.ndarray, "seeds"]]:
    """The values of all seeds at each width."""
    widths = sorted({m for m, _, _ in found})
    return {m: np.asarray([y for x, y, _ in found if x == m]) for m in widths}
