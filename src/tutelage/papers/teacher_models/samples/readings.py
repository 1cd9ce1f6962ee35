"""What `teacher-models/samples` reads: each method's excess on the very sample of a setting,
steadied, and the n it needs.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tutelage.papers.teacher_models.theory import linear_baselines as linear
from tutelage.papers.teacher_models.theory import tangent_cone as cone
from tutelage.papers.teacher_models.theory.linear_baselines import samples_of, zero_excess
from tutelage.run import Run
from tutelage.settings import Setting


class Fits(NamedTuple):
    """Excesses of the linear baselines on a setting's sample, and how long its noise is in each
    method's tangent directions, squared.
    """

    least_squares: float
    ridge: float
    oracle: float  # not a number where σ is not the identity: it is then trained
    along_student: float
    along_oracle: float
    along_map: float


@lru_cache(maxsize=4096)
def fits(setting: Setting) -> Fits:
    """All of them from the one sample that the setting's student is trained on."""
    from tutelage.problem.build import build

    problem = build(setting)
    teacher, sample = problem.teacher, problem.objective.sample
    tokens, labels = np.asarray(sample.tokens), np.asarray(sample.labels)
    value, selection = np.asarray(teacher.value), np.asarray(teacher.selection)
    n, (outputs, dim, positions, queries) = len(tokens), teacher.shape
    flat, flat_labels = tokens.reshape(n, -1), labels.reshape(n, -1)
    k = linear.slope_of(teacher)
    oracle = math.nan
    if k == 1.0:
        gap = linear.oracle(tokens, labels, selection) - value
        oracle = 0.5 * float(np.sum(gap**2) * np.sum(selection**2))
    before = value @ tokens @ selection
    noise = labels - np.where(before > 0, before, k * before)
    tau = float(teacher.noise)
    along = (0.0, 0.0, 0.0)
    if tau > 0:
        # White, of variance 1, in the metric of the risk: σ′ scales curvature and the score's
        # variance by the same λ.
        driven = noise * np.where(before > 0, 1.0, k) / (tau * math.sqrt(n * (1 + k * k) / 2))
        pushed = (driven.reshape(n, -1).T @ flat).reshape(outputs, queries, dim, positions)
        known = np.einsum("mqej,jq->me", pushed, selection) / np.linalg.norm(selection)
        along = (
            cone.length_square(pushed, value, selection),
            float(np.sum(known**2)),
            float(np.sum(pushed**2)),
        )
    return Fits(
        linear.linear_excess(linear.least_squares(flat, flat_labels), teacher),
        linear.linear_excess(linear.ridge(flat, flat_labels), teacher),
        oracle,
        *along,
    )


def at(setting: Setting, samples: int) -> Setting:
    """The same setting with another n: of which the baselines need no training."""
    return setting.change(**{"objective.samples": samples})


class Method(NamedTuple):
    """A way to learn: how its excess on a setting's sample is read, and the mean and the value of
    what noise does to it.
    """

    words: str
    along: Callable[[Fits], float]
    dimension: Callable[[Setting], float]


METHODS = {
    "student": Method("the student", lambda f: f.along_student, cone.statistical_dimension),
    "oracle": Method("the oracle that knows S*", lambda f: f.along_oracle, cone.known_selection),
    "least_squares": Method("least squares", lambda f: f.along_map, cone.free_map),
    "ridge": Method("ridge", lambda f: f.along_map, cone.free_map),
}


def steadied(method: str, setting: Setting, excess: float) -> float:
    r"""The excess less what this sample's noise adds to the mean: −(τ²/2n)(‖Π N‖² − δ), whose own
    mean is zero.

    A control variate: the mean is untouched, and the spread over samples, which is that of a χ²
    with δ degrees, nearly goes.
    """
    chosen, tau = METHODS[method], float(setting.teacher.options.get("noise", 0.0))
    return excess - tau**2 / (2 * samples_of(setting)) * (
        chosen.along(fits(setting)) - chosen.dimension(setting)
    )


def parameters(method: str, setting: Setting, excess: float) -> float:
    """2n·excess/τ², steadied: how many parameters' worth of noise was fitted."""
    return (
        2
        * samples_of(setting)
        / float(setting.teacher.options["noise"]) ** 2
        * steadied(method, setting, excess)
    )


def last(run: Run) -> float:
    return float(run.curves["excess_risk"][-1])


def of(runs: Sequence[Run], samples: int) -> list[Run]:
    """The runs with n samples, in the order of their seeds."""
    chosen = [run for run in runs if run.setting is not None and samples_of(run.setting) == samples]
    return sorted(chosen, key=lambda run: run.setting.seed)  # type: ignore[union-attr]


def crossing(points: Sequence[tuple[int, float]], level: float) -> float:
    """The n at which the excess falls to a level, from points (n, excess) close around it: n·excess
    hardly changes there.

    Its mean over the level is linear in the excesses. A line through two noisy points is not, and
    has no mean.
    """
    return float(np.mean([n * excess for n, excess in points]) / level)


def needed(method: str, base: Setting, counts: Sequence[int], share: float) -> float:
    """The n at which a linear baseline's steadied excess on a seed's samples is `share` of saying
    0.
    """
    settings = [at(base, n) for n in counts]
    return crossing(
        [
            (n, steadied(method, s, getattr(fits(s), method)))
            for n, s in zip(counts, settings, strict=True)
        ],
        share * zero_excess(base),
    )


EXPECTED: dict[str, Callable[[Setting], float]] = {
    "oracle": linear.oracle_excess,
    "least_squares": linear.least_squares_excess,
    "ridge": linear.ridge_excess,
}


def expected_need(method: str, setting: Setting, share: float) -> float:
    """The n at which theory expects a method to have `share` of the excess of saying 0; the
    student's to leading order, τ²δ/(2·excess).
    """
    level = share * zero_excess(setting)
    if method == "student":
        return (
            cone.statistical_dimension(setting)
            * float(setting.teacher.options["noise"]) ** 2
            / (2 * level)
        )
    least = 3 if method != "least_squares" else int(cone.free_map(setting)) + 3
    return float(
        bisect_left(range(least, 10**6), -level, key=lambda n: -EXPECTED[method](at(setting, n)))
        + least
    )
