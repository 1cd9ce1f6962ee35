"""Exponent: y ∝ x^exponent over a sweep, within `tolerance` (0.02).

A curved law HOLDS if every local exponent over the sweep is within the tolerance, and FAILS if one
is not. It is marked as decidable if its local exponents are all inside, or ten tolerances apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tutelage.claims.families.family import Case, Collection, ExponentAsked, LogCurve, Point
from tutelage.claims.families_2.shapes import Rng, draw_log, draw_scale, draw_sign, power, total
from tutelage.run import Outcome, Run

families = Collection("exponent")
Xs = Float[np.ndarray, "points"]


@dataclass(frozen=True)
class SweepCase(Case):
    """A case that knows its law, as ln y over ln x, without chance."""

    law: LogCurve | None = None


@dataclass(frozen=True)
class Chance:
    """Standard deviations of ln y at each point, and of each seed's own exponent and constant."""

    points: float = 0.0
    exponents: float = 0.0
    constants: float = 0.0
    tails: float = 0.0  # degrees of freedom of Student's t for `points`; 0 is the Gaussian
    first: float = 1.0  # `points` at the smallest x is this many times that at the largest
    strays: float = 0.0  # the chance that a seed's exponent is off by 0.3, up or down

    def draw(self, rng: Rng, log_x: Xs) -> Xs:
        """What one seed adds to the law."""
        number, middle = len(log_x), log_x - log_x.mean()
        fresh = rng.standard_t(self.tails, number) if self.tails else rng.normal(size=number)
        sizes = self.points * np.geomspace(self.first, 1.0, number)
        own = self.exponents * rng.normal()
        if rng.random() < self.strays:
            own += draw_sign(rng) * 0.3
        return sizes * fresh + own * middle + self.constants * rng.normal()


NONE = Chance()


def read_points(runs: Sequence[Run]) -> list[Point]:
    return [
        (float(run.curves["x"][0]), float(run.curves["y"][0]), int(run.curves["seed"][0]))
        for run in runs
    ]


def _run(x: float, y: float, seed: int) -> Run:
    numbers = {"x": x, "y": y, "seed": float(seed)}
    return Run(
        steps=np.array([1]),
        curves={name: np.array([number]) for name, number in numbers.items()},
        student=None,
        outcome=Outcome.FINISHED,
    )


def _xs(rng: Rng, points: int, decades: float) -> Xs:
    return np.geomspace(1.0, 10.0**decades, points) * draw_log(rng, 1.0, 100.0)


def _case(
    rng: Rng,
    law: LogCurve,
    xs: Xs,
    exponent: float,
    limit: float | None,
    *,
    chance: Chance = NONE,
    seeds: int = 1,
    shift: Callable[[], float] | None = None,
) -> Case:
    """A sweep of `seeds` seeds; `shift` moves the x of each seed by a factor of its own."""
    runs: list[Run] = []
    for seed in range(seeds):
        log_x = np.log(xs * (shift() if shift else 1.0))
        log_y = law(log_x) + chance.draw(rng, log_x)
        runs += [_run(x, y, seed) for x, y in zip(np.exp(log_x), np.exp(log_y), strict=True)]
    noisy = chance.points > 0.0
    asked = ExponentAsked(read_points, exponent)
    return SweepCase(tuple(runs), asked, limit, noisy=noisy, law=law)


def _exponent(rng: Rng) -> float:
    return draw_sign(rng) * rng.uniform(0.3, 2.0)


def _bent(rng: Rng, exponent: float, xs: Xs, bend: float) -> LogCurve:
    """Local exponents from exponent − bend/2 to exponent + bend/2 over these x, evenly."""
    low, high = np.log(xs[0]), np.log(xs[-1])
    middle, scale = 0.5 * (low + high), draw_scale(rng)
    curvature = bend / (high - low)
    return lambda x: np.log(scale) + exponent * x + 0.5 * curvature * (x - middle) ** 2


# ------------------------------------------------------------------------------ without chance


@families.holds("Three points on the law, one seed.", decidable=True)
def exact_in_three_points(rng: Rng) -> Case:
    exponent, xs = _exponent(rng), _xs(rng, 3, rng.uniform(0.6, 2.0))
    return _case(rng, power(exponent, draw_scale(rng)), xs, exponent, exponent)


@families.holds("Five points on a law that is 0.8 tolerances off.", decidable=True)
def just_inside(rng: Rng) -> Case:
    exponent, xs = _exponent(rng), _xs(rng, 5, rng.uniform(0.6, 2.0))
    claimed = exponent + draw_sign(rng) * 0.016
    return _case(rng, power(exponent, draw_scale(rng)), xs, claimed, exponent)


@families.fails("Four points on a law that is 1.25 tolerances off.", decidable=True)
def just_outside(rng: Rng) -> Case:
    exponent, xs = _exponent(rng), _xs(rng, 4, rng.uniform(0.6, 2.0))
    claimed = exponent + draw_sign(rng) * 0.025
    return _case(rng, power(exponent, draw_scale(rng)), xs, claimed, exponent)


# Local exponents are within 0.012 of the claimed one.
@families.holds("Bent by 0.6 tolerances to either side: inside all the way.", decidable=True)
def bent_within_the_tolerance(rng: Rng) -> Case:
    exponent, xs = _exponent(rng), _xs(rng, int(rng.integers(4, 10)), rng.uniform(1.0, 3.0))
    law = _bent(rng, exponent, xs, draw_sign(rng) * 0.024)
    return _case(rng, law, xs, exponent, exponent)


# The exponent of a straight line through the points is the claimed one, to the last digit.
@families.fails("Bent by 0.2 to 0.5, 10 tolerances and more; right on average.", decidable=True)
def bent_but_right_on_average(rng: Rng) -> Case:
    exponent, xs = _exponent(rng), _xs(rng, int(rng.integers(5, 11)), rng.uniform(1.0, 3.0))
    law = _bent(rng, exponent, xs, draw_sign(rng) * rng.uniform(0.2, 0.5))
    return _case(rng, law, xs, exponent, None)


@families.fails("Bent by 0.2 to 0.5 in three points; right on average.", decidable=True)
def bent_in_three_points(rng: Rng) -> Case:
    exponent, xs = _exponent(rng), _xs(rng, 3, rng.uniform(1.0, 2.0))
    law = _bent(rng, exponent, xs, draw_sign(rng) * rng.uniform(0.2, 0.5))
    return _case(rng, law, xs, exponent, None)


# Local exponents reach 1.5 to 3 tolerances to either side: no power law within the tolerance, but
# less than the ten tolerances from which the conventions call it none.
@families.fails("Bent by 3 to 6 tolerances in all; right on average.", decidable=False)
def bent_a_little_too_much(rng: Rng) -> Case:
    exponent, xs = _exponent(rng), _xs(rng, int(rng.integers(5, 11)), rng.uniform(1.0, 3.0))
    law = _bent(rng, exponent, xs, draw_sign(rng) * rng.uniform(0.06, 0.12))
    return _case(rng, law, xs, exponent, None)


# The floor is a thousandth of y at the first point and once to thrice the law at the last.
@families.fails("A floor that the last points run into.", decidable=True)
def floor_at_the_last_points(rng: Rng) -> Case:
    exponent, xs = -rng.uniform(0.8, 1.5), _xs(rng, int(rng.integers(6, 10)), 2.0)
    floor = power(0.0, rng.uniform(1.0, 3.0) * float(xs[-1]) ** exponent)
    return _case(rng, total(power(exponent), floor), xs, exponent, None)


# --------------------------------------------------------------------------------- with chance


@families.holds("Ten points over 2 decades, 1–2%, 5 seeds.", decidable=True)
def ten_points_in_five_seeds(rng: Rng) -> Case:
    exponent, xs, chance = _exponent(rng), _xs(rng, 10, 2.0), Chance(rng.uniform(0.01, 0.02))
    law = power(exponent, draw_scale(rng))
    return _case(rng, law, xs, exponent, exponent, chance=chance, seeds=5)


# Over a factor of 4 the exponent of three points has an error of 0.1 per seed.
@families.holds("Three points over a factor of 4, 10%, three seeds.", decidable=False)
def three_points_in_three_seeds(rng: Rng) -> Case:
    exponent, xs, chance = _exponent(rng), _xs(rng, 3, np.log10(4.0)), Chance(0.1)
    law = power(exponent, draw_scale(rng))
    return _case(rng, law, xs, exponent, exponent, chance=chance, seeds=3)


@families.holds("Each seed has its own exponent, to 0.005; 12 seeds.", decidable=True)
def exponents_that_differ_a_little(rng: Rng) -> Case:
    chance = Chance(exponents=0.005, constants=0.3)
    exponent, xs = _exponent(rng), _xs(rng, 6, rng.uniform(1.0, 2.0))
    law = power(exponent, draw_scale(rng))
    return _case(rng, law, xs, exponent, exponent, chance=chance, seeds=12)


@families.holds("Each seed has its own exponent, to 0.08; four seeds.", decidable=False)
def exponents_that_differ_much(rng: Rng) -> Case:
    exponent, xs, chance = _exponent(rng), _xs(rng, 6, 1.5), Chance(exponents=0.08)
    law = power(exponent, draw_scale(rng))
    return _case(rng, law, xs, exponent, exponent, chance=chance, seeds=4)


# 5% at the smallest x, 0.5% at the largest. The error of a line of even weights is 0.004 per seed.
@families.holds("Noise that falls tenfold along the sweep; 20 seeds.", decidable=True)
def noise_that_falls(rng: Rng) -> Case:
    exponent, xs, chance = _exponent(rng), _xs(rng, 8, 2.5), Chance(0.005, first=10.0)
    law = power(exponent, draw_scale(rng))
    return _case(rng, law, xs, exponent, exponent, chance=chance, seeds=20)


@families.holds("Each seed has its own x, up to a factor of 2; 1%, 10 seeds.", decidable=True)
def seeds_at_different_x(rng: Rng) -> Case:
    exponent, xs, chance = _exponent(rng), _xs(rng, 7, 2.0), Chance(0.01)
    law = power(exponent, draw_scale(rng))

    def shift() -> float:
        return draw_log(rng, 1.0, 2.0)

    return _case(rng, law, xs, exponent, exponent, chance=chance, seeds=10, shift=shift)


@families.holds("Noise of one seed cannot be told from its curve.", decidable=False)
def single_noisy_seed(rng: Rng) -> Case:
    exponent, xs, chance = _exponent(rng), _xs(rng, 6, 1.0), Chance(rng.uniform(0.02, 0.05))
    return _case(rng, power(exponent, draw_scale(rng)), xs, exponent, exponent, chance=chance)


@families.holds("Noise without a variance; 5 points, 5 seeds.", decidable=False)
def heavy_tails(rng: Rng) -> Case:
    exponent, xs, chance = _exponent(rng), _xs(rng, 5, 1.5), Chance(0.03, tails=2.0)
    law = power(exponent, draw_scale(rng))
    return _case(rng, law, xs, exponent, exponent, chance=chance, seeds=5)


# Up and down alike, so that the mean over seeds is the exponent of the law.
@families.holds("One seed in six has an exponent that is off by 0.3.", decidable=False)
def outlying_exponents(rng: Rng) -> Case:
    exponent, xs, chance = _exponent(rng), _xs(rng, 6, 1.5), Chance(0.005, strays=1.0 / 6.0)
    law = power(exponent, draw_scale(rng))
    return _case(rng, law, xs, exponent, exponent, chance=chance, seeds=8)


@families.fails("Off by 0.08 to 0.2; 6 points over 1.5 decades, 2%, 6 seeds.", decidable=True)
def missed_in_six_seeds(rng: Rng) -> Case:
    exponent, xs, chance = _exponent(rng), _xs(rng, 6, 1.5), Chance(0.02, constants=0.2)
    claimed = exponent + draw_sign(rng) * rng.uniform(0.08, 0.2)
    law = power(exponent, draw_scale(rng))
    return _case(rng, law, xs, claimed, exponent, chance=chance, seeds=6)


# The edge is 0.006 away; the error of 30 seeds is 0.0006.
@families.fails("1.3 tolerances off; 8 points over 2 decades, 1.5%, 30 seeds.", decidable=True)
def missed_by_little_in_thirty_seeds(rng: Rng) -> Case:
    exponent, xs, chance = _exponent(rng), _xs(rng, 8, 2.0), Chance(0.015)
    claimed = exponent + draw_sign(rng) * 0.026
    law = power(exponent, draw_scale(rng))
    return _case(rng, law, xs, claimed, exponent, chance=chance, seeds=30)


@families.fails("2 tolerances off; 4 points over one decade, 10%, 4 seeds.", decidable=False)
def missed_by_little_in_four_seeds(rng: Rng) -> Case:
    exponent, xs, chance = _exponent(rng), _xs(rng, 4, 1.0), Chance(0.1)
    claimed = exponent + draw_sign(rng) * 0.04
    law = power(exponent, draw_scale(rng))
    return _case(rng, law, xs, claimed, exponent, chance=chance, seeds=4)


# In the middle the law is 0.3·4.6/16 = 0.086 and more below the line through its ends, and the mean
# of 10 seeds is known to 0.5%.
@families.fails("Bent by 0.3 to 0.6; 7 points over 2 decades, 1.5%, 10 seeds.", decidable=True)
def bent_under_noise(rng: Rng) -> Case:
    exponent, xs, chance = _exponent(rng), _xs(rng, 7, 2.0), Chance(0.015)
    law = _bent(rng, exponent, xs, draw_sign(rng) * rng.uniform(0.3, 0.6))
    return _case(rng, law, xs, exponent, None, chance=chance, seeds=10)
