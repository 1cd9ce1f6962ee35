"""The n that each method needs, against D and d: `teacher-models/samples`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tutelage.claims import Claim, Exponent, Number
from tutelage.claims.claim import NotYet
from tutelage.claims.exponent import fitted_exponent
from tutelage.papers.teacher_models.samples.claims import DERIVED, EXACT, EXPONENT
from tutelage.papers.teacher_models.samples.methods import (
    LEAST_SQUARES,
    METHODS,
    RIDGE,
    SHARE,
    STUDENT,
    Baseline,
    Method,
    expected_need,
    find_crossing,
    find_need,
    steady,
)
from tutelage.papers.teacher_models.samples.readings import last_excess, setting_of
from tutelage.papers.teacher_models.samples.settings import SIZE
from tutelage.papers.teacher_models.theory.linear_baselines import samples_of, zero_excess
from tutelage.run import Run
from tutelage.settings import Setting

AROUND = (0.8, 1.25)  # times the n that theory expects: where the n that is needed is looked for
NEED = 0.1  # the tolerance of that n over the expected one


def counts_around(method: Method, setting: Setting) -> list[int]:
    """The n at which a method is looked at."""
    expected = expected_need(method, setting)
    return [round(expected * factor) for factor in AROUND]


def read_needs(axis: str, method: Method, runs: Sequence[Run]) -> list[tuple[float, float, int]]:
    """(D or d, the n that a method needs, seed): the student's from its runs, the others' from the
    same streams at their own n.
    """
    groups: dict[tuple[float, int], list[Run]] = {}
    for run in runs:
        setting = setting_of(run)
        groups.setdefault((SIZE[axis](setting), setting.seed), []).append(run)
    found = []
    for (size, seed), group in sorted(groups.items()):
        base = setting_of(group[0])
        if isinstance(method, Baseline):
            # Ridge is looked for where least squares is, which is little above: on the same
            # samples, drawn once.
            near = LEAST_SQUARES if method is RIDGE else method
            n = find_need(method, base, counts_around(near, base.change(seed=0)))
        else:
            n = find_crossing([_point(method, run) for run in group], SHARE * zero_excess(base))
        found.append((size, n, seed))
    return found


def _point(method: Method, run: Run) -> tuple[int, float]:
    setting = setting_of(run)
    return samples_of(setting), steady(method, setting, last_excess(run))


def pool(points: Sequence[tuple[float, float, int]], pooled: int) -> list[tuple[float, float, int]]:
    """The means of the readings of `pooled` seeds after another, each with its first seed; seeds
    that are too few for one more mean are left out.
    """
    groups: dict[tuple[float, int], list[float]] = {}
    for size, n, seed in points:
        groups.setdefault((size, seed // pooled * pooled), []).append(n)
    return [
        (size, float(np.mean(needs)), seed)
        for (size, seed), needs in groups.items()
        if len(needs) == pooled
    ]


def sweep_claims(axis: str, settings: Sequence[Setting], pooled: int = 1) -> tuple[Claim, ...]:
    """For each method: the exponent of the n that it needs, and that n over the expected one. A
    reading is the mean over `pooled` samples.
    """
    # The first of each size: those that follow differ in n and seed.
    by_size = {SIZE[axis](setting): setting for setting in reversed(settings)}
    return tuple(
        claim for method in METHODS for claim in _need_claims(axis, method, by_size, pooled)
    )


def _need_claims(
    axis: str, method: Method, by_size: dict[float, Setting], pooled: int
) -> tuple[Claim, ...]:
    def points(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
        return pool(read_needs(axis, method, runs), pooled)

    def positive_points(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
        found = points(runs)
        below = sum(n <= 0 for _, n, _ in found)
        if below:
            raise NotYet(
                f"Of {len(found)} readings of the n that {method.words} needs {below} are "
                "negative, since what its own noise does to a sample is taken off. A seed with "
                f"one has no exponent in {axis}; means over several seeds would."
            )
        return found

    def exponent(sizes: Sequence[float]) -> float:
        return fitted_exponent([(size, expected_need(method, by_size[size])) for size in sizes])

    def ratios(runs: Sequence[Run]) -> list[float]:
        over: dict[int, list[float]] = {}
        for size, n, seed in points(runs):
            over.setdefault(seed, []).append(n / expected_need(method, by_size[size]))
        return [float(np.mean(over[seed])) for seed in sorted(over)]

    source = DERIVED if method is STUDENT else EXACT
    return (
        Exponent(
            points=positive_points,
            exponent=exponent,
            of=f"the n that {method.words} needs, in {axis},",
            tolerance=EXPONENT,
            id=f"{method.id}-exponent",
            statement=f"the n that {method.words} needs grows with {axis} as expected",
            source=source,
        ),
        Number(
            values=ratios,
            value=1.0,
            of=f"the n that {method.words} needs over the expected one",
            tolerance=NEED,
            id=f"{method.id}-need",
            statement=f"the n that {method.words} needs is the expected one",
            source=source,
        ),
    )
