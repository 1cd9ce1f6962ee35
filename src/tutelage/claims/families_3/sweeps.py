"""Sweeps to make families of: chance, cases, axes and laws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tutelage.claims.families.family import Case, ExponentAsked, LogCurve, Point
from tutelage.claims.families_2.shapes import (
    DECADE,
    Rng,
    draw_log,
    draw_scale,
    draw_sign,
    power,
    product,
    wave,
)
from tutelage.run import Outcome, Run

LogXs = Float[np.ndarray, "points"]
Axes = list[Float[np.ndarray, "_"]]  # of seeds that may have different numbers of points
TOLERANCE = 0.02
ROUNDING = 4e-16  # the relative size of rounding errors


@dataclass(frozen=True)
class SweepCase(Case):
    """A case that knows its law, as ln y over ln x, without chance."""

    law: LogCurve | None = None


@dataclass(frozen=True)
class Chance:
    """Standard deviations of ln y at each point, and of each seed's own exponent and constant."""

    points: float = 0.0  # at the largest x
    first: float = 1.0  # the size at the smallest x, relative to `points`
    correlation: float = 0.0  # of the noise at neighbouring points of a seed
    tails: float = 0.0  # degrees of freedom of Student's t for `points`; 0 is the Gaussian
    constants: float = 0.0
    exponents: float = 0.0
    skewed: bool = False  # the seeds' exponents are exponentially distributed about their mean
    strays: float = 0.0  # the chance that a seed's exponent is off by 0.3, up or down

    def draw(self, rng: Rng, log_x: LogXs) -> LogXs:
        """What one seed adds to the law."""
        sizes = self.points * np.geomspace(self.first, 1.0, len(log_x))
        own = self.exponents * (rng.exponential() - 1.0 if self.skewed else rng.normal())
        if rng.random() < self.strays:
            own += draw_sign(rng) * 0.3
        tilt = own * (log_x - log_x.mean())
        return sizes * self._along(rng, len(log_x)) + tilt + self.constants * rng.normal()

    def _along(self, rng: Rng, number: int) -> LogXs:
        fresh = rng.standard_t(self.tails, number) if self.tails else rng.normal(size=number)
        along = fresh.copy()
        for point in range(1, number):
            along[point] = (
                self.correlation * along[point - 1]
                + np.sqrt(1.0 - self.correlation**2) * fresh[point]
            )
        return along


NONE = Chance()
REPEATED = Chance(points=ROUNDING)  # seeds that are the same to rounding


# -------------------------------------------------------------------------------------- cases


def read_points(runs: Sequence[Run]) -> list[Point]:
    return [
        (float(run.curves["x"][0]), float(run.curves["y"][0]), int(run.curves["seed"][0]))
        for run in runs
    ]


def make_run(x: float, y: float, seed: int) -> Run:
    numbers = {"x": x, "y": y, "seed": float(seed)}
    return Run(
        steps=np.array([1]),
        curves={name: np.array([number]) for name, number in numbers.items()},
        student=None,
        outcome=Outcome.FINISHED,
    )


def make_case(
    rng: Rng,
    law: LogCurve,
    axes: Axes,
    exponent: float,
    limit: float | None,
    *,
    chance: Chance = NONE,
    integers: bool = False,
) -> Case:
    """A sweep with one seed for each of `axes`, its ln x."""
    runs: list[Run] = []
    for seed, log_x in enumerate(axes):
        y = np.exp(law(log_x) + chance.draw(rng, log_x))
        if integers:
            y = np.round(y)
        runs += [make_run(*point, seed) for point in zip(np.exp(log_x), y, strict=True)]
    noisy = chance.points > ROUNDING or (integers and len(axes) > 1)
    asked = ExponentAsked(read_points, exponent, TOLERANCE)
    return SweepCase(tuple(runs), asked, limit, noisy=noisy, law=law)


# --------------------------------------------------------------------------------------- axes


def draw_even(rng: Rng, points: int, decades: float) -> LogXs:
    """Evenly spaced ln x from a start between 1 and 100."""
    return np.linspace(0.0, decades * DECADE, points) + np.log(draw_log(rng, 1.0, 100.0))


def draw_uneven(rng: Rng, points: int, decades: float) -> LogXs:
    """As `_even`, with gaps that differ by up to a factor of five."""
    ends = np.cumsum(rng.uniform(0.2, 1.0, points - 1))
    start = np.log(draw_log(rng, 1.0, 100.0))
    return start + decades * DECADE * np.append(0.0, ends / ends[-1])


def leave_out_some(rng: Rng, log_x: LogXs, seeds: int) -> Axes:
    """For each seed, the common axis without none, one or two of its points."""
    return [
        np.delete(log_x, rng.choice(len(log_x), rng.integers(3), replace=False))
        for _ in range(seeds)
    ]


# --------------------------------------------------------------------------------------- laws


def draw_exponent(rng: Rng) -> float:
    return draw_sign(rng) * rng.uniform(0.3, 2.0)


def draw_off(rng: Rng, low: float, high: float) -> float:
    """A distance from the claimed exponent, up or down, in tolerances."""
    return draw_sign(rng) * rng.uniform(low, high) * TOLERANCE


def fit_line(law: LogCurve, log_x: LogXs) -> float:
    """The exponent of the least-squares line through the law at these x."""
    return float(np.polyfit(log_x, law(log_x), 1)[0])


def bend_law(rng: Rng, exponent: float, log_x: LogXs, bend: float) -> LogCurve:
    """Local exponents from exponent − bend/2 to exponent + bend/2 over these x, evenly."""
    middle, length = 0.5 * (log_x[0] + log_x[-1]), log_x[-1] - log_x[0]
    scale = draw_scale(rng)
    return lambda x: np.log(scale) + exponent * x + 0.5 * bend / length * (x - middle) ** 2


def wave_law(rng: Rng, exponent: float, log_x: LogXs, swing: float) -> LogCurve:
    """Local exponents within `swing` of `exponent`, in two to three periods over these x."""
    frequency = 2.0 * np.pi * rng.uniform(2.0, 3.0) / (log_x[-1] - log_x[0])
    phase = rng.uniform(0.0, 2.0 * np.pi)
    return product(
        power(exponent, draw_scale(rng)), wave(swing / frequency, float(frequency), phase)
    )
