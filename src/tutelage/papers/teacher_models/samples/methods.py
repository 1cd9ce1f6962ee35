"""The ways to learn that `teacher-models/samples` compares: what each leaves of the noise, what is
expected of it, and the n it needs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tutelage.papers.teacher_models.samples.fits import Fits, fit_all
from tutelage.papers.teacher_models.samples.settings import noise_of, with_samples
from tutelage.papers.teacher_models.theory import linear_baselines, tangent_cone
from tutelage.papers.teacher_models.theory.linear_baselines import samples_of, zero_excess
from tutelage.settings import Setting

# Of the excess of predicting zero: the n at which a method has no more is the n that it needs.
SHARE = 0.02
LARGEST_COUNT = 10**6  # up to which that n is looked for


@dataclass(frozen=True)
class Method:
    """A way to learn: what the noise of a sample does to it, and what that is in the mean."""

    name: str
    words: str
    along: Callable[[Fits], float]  # how long a sample's noise is in its tangent directions
    dimension: Callable[[Setting], float]  # the mean of that: its statistical dimension

    @property
    def id(self) -> str:
        """As it begins the id of a claim."""
        return self.name.replace("_", "-")


@dataclass(frozen=True)
class Baseline(Method):
    """One that is fitted and not trained."""

    excess: Callable[[Fits], float]  # on a setting's sample
    expected: Callable[[Setting], float]  # its mean over samples
    least_count: Callable[[Setting], int]  # from which on that mean is finite and falls


STUDENT = Method(
    "student", "the student", lambda fits: fits.along_student, tangent_cone.statistical_dimension
)
ORACLE = Baseline(
    "oracle",
    "the oracle",
    lambda fits: fits.along_oracle,
    tangent_cone.known_selection,
    lambda fits: fits.oracle,
    linear_baselines.oracle_excess,
    lambda setting: 3,
)
LEAST_SQUARES = Baseline(
    "least_squares",
    "least squares",
    lambda fits: fits.along_map,
    tangent_cone.free_map,
    lambda fits: fits.least_squares,
    linear_baselines.least_squares_excess,
    lambda setting: int(tangent_cone.free_map(setting)) + 3,
)
RIDGE = Baseline(
    "ridge",
    "ridge",
    lambda fits: fits.along_map,
    tangent_cone.free_map,
    lambda fits: fits.ridge,
    linear_baselines.ridge_excess,
    lambda setting: 3,
)
BASELINES = (ORACLE, LEAST_SQUARES, RIDGE)
METHODS = (STUDENT, *BASELINES)


def steady(method: Method, setting: Setting, excess: float) -> float:
    r"""The excess less what this sample's noise adds to the mean: −(τ²/2n)(‖Π N‖² − δ), whose own
    mean is zero.

    A control variate: the mean is untouched, and the spread over samples, which is that of a χ²
    with δ degrees, nearly goes.
    """
    beyond = method.along(fit_all(setting)) - method.dimension(setting)
    return excess - noise_of(setting) ** 2 / (2 * samples_of(setting)) * beyond


def count_parameters(method: Method, setting: Setting, excess: float) -> float:
    """2n·excess/τ², steadied: how many parameters' worth of noise was fitted."""
    unit = 2 * samples_of(setting) / noise_of(setting) ** 2
    return unit * steady(method, setting, excess)


def find_crossing(points: Sequence[tuple[int, float]], level: float) -> float:
    """The n at which the excess falls to a level, from points (n, excess) close around it: n·excess
    hardly changes there.

    Its mean over the level is linear in the excesses. A line through two noisy points is not, and
    has no mean.
    """
    return float(np.mean([n * excess for n, excess in points]) / level)


def find_need(method: Baseline, base: Setting, counts: Sequence[int]) -> float:
    """The n at which a baseline's steadied excess on a seed's samples is the share of that of
    predicting zero.
    """
    points = []
    for n in counts:
        setting = with_samples(base, n)
        points.append((n, steady(method, setting, method.excess(fit_all(setting)))))
    return find_crossing(points, SHARE * zero_excess(base))


def expected_need(method: Method, setting: Setting) -> float:
    """The n at which theory expects a method to have the share of the excess of predicting zero;
    the student's to leading order, τ²δ/(2·excess).
    """
    level = SHARE * zero_excess(setting)
    if not isinstance(method, Baseline):
        return method.dimension(setting) * noise_of(setting) ** 2 / (2 * level)
    least, expected = method.least_count(setting), method.expected
    counts = range(least, LARGEST_COUNT)
    found = bisect_left(counts, -level, key=lambda n: -expected(with_samples(setting, n)))
    return float(found + least)
