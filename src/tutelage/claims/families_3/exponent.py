"""Exponent: y ∝ x^exponent over a sweep, within `tolerance` (0.02).

- A law HOLDS if every local exponent over the sweep is within the tolerance. It FAILS otherwise.
- A pure power is decidable on either side. A bent law is decidable if its local exponents are all
  inside, or if they differ by ten tolerances or more.
- Where the x are few, local exponents are those between neighbouring points. A single bad point
  that every seed shares is part of the law.
- Noise that is correlated along a sweep can be decidable: seeds are still independent, and their
  exponents are Gaussian.
- With exponents of the seeds' own, truth is about the mean of their distribution.
- Rounding y to integers is noise only where it is coarse and differs from seed to seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tutelage.claims.families.family import Case, Collection, ExponentAsked, LogCurve, Point
from tutelage.claims.families_2.shapes import (
    DECADE,
    Rng,
    draw_log,
    draw_scale,
    draw_sign,
    knee,
    log_power,
    power,
    product,
    total,
    wave,
)
from tutelage.run import Outcome, Run

families = Collection("exponent")
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


def _run(x: float, y: float, seed: int) -> Run:
    numbers = {"x": x, "y": y, "seed": float(seed)}
    return Run(
        steps=np.array([1]),
        curves={name: np.array([number]) for name, number in numbers.items()},
        student=None,
        outcome=Outcome.FINISHED,
    )


def _case(
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
        runs += [_run(*point, seed) for point in zip(np.exp(log_x), y, strict=True)]
    noisy = chance.points > ROUNDING or (integers and len(axes) > 1)
    asked = ExponentAsked(read_points, exponent, TOLERANCE)
    return SweepCase(tuple(runs), asked, limit, noisy=noisy, law=law)


# --------------------------------------------------------------------------------------- axes


def _even(rng: Rng, points: int, decades: float) -> LogXs:
    """Evenly spaced ln x from a start between 1 and 100."""
    return np.linspace(0.0, decades * DECADE, points) + np.log(draw_log(rng, 1.0, 100.0))


def _uneven(rng: Rng, points: int, decades: float) -> LogXs:
    """As `_even`, with gaps that differ by up to a factor of five."""
    ends = np.cumsum(rng.uniform(0.2, 1.0, points - 1))
    start = np.log(draw_log(rng, 1.0, 100.0))
    return start + decades * DECADE * np.append(0.0, ends / ends[-1])


def _without_some(rng: Rng, log_x: LogXs, seeds: int) -> Axes:
    """For each seed, the common axis without none, one or two of its points."""
    return [
        np.delete(log_x, rng.choice(len(log_x), rng.integers(3), replace=False))
        for _ in range(seeds)
    ]


# --------------------------------------------------------------------------------------- laws


def _exponent(rng: Rng) -> float:
    return draw_sign(rng) * rng.uniform(0.3, 2.0)


def _off(rng: Rng, low: float, high: float) -> float:
    """A distance from the claimed exponent, up or down, in tolerances."""
    return draw_sign(rng) * rng.uniform(low, high) * TOLERANCE


def _line(law: LogCurve, log_x: LogXs) -> float:
    """The exponent of the least-squares line through the law at these x."""
    return float(np.polyfit(log_x, law(log_x), 1)[0])


def _bent(rng: Rng, exponent: float, log_x: LogXs, bend: float) -> LogCurve:
    """Local exponents from exponent − bend/2 to exponent + bend/2 over these x, evenly."""
    middle, length = 0.5 * (log_x[0] + log_x[-1]), log_x[-1] - log_x[0]
    scale = draw_scale(rng)
    return lambda x: np.log(scale) + exponent * x + 0.5 * bend / length * (x - middle) ** 2


def _wavy(rng: Rng, exponent: float, log_x: LogXs, swing: float) -> LogCurve:
    """Local exponents within `swing` of `exponent`, in two to three periods over these x."""
    frequency = 2.0 * np.pi * rng.uniform(2.0, 3.0) / (log_x[-1] - log_x[0])
    phase = rng.uniform(0.0, 2.0 * np.pi)
    return product(
        power(exponent, draw_scale(rng)), wave(swing / frequency, float(frequency), phase)
    )


# --------------------------------------------------------------------- without chance: it holds


@families.holds("Three exact points lie on a line well inside the tolerance.", decidable=True)
def three_exact_points_over_a_factor_of_three(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _uneven(rng, 3, np.log10(rng.uniform(3.0, 4.0)))
    true = exponent + _off(rng, 0.0, 0.5)
    return _case(rng, power(true, draw_scale(rng)), [log_x], exponent, true)


@families.holds("Exact and inside the tolerance, by a tenth of it or more.", decidable=True)
def just_inside_in_three_equal_seeds(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _uneven(rng, 6, 5.0)
    true = exponent + _off(rng, 0.8, 0.9)
    law = power(true, draw_scale(rng))
    return _case(rng, law, [log_x] * 3, exponent, true, chance=REPEATED)


@families.holds("The claim is the exponent at these x, where log x hardly turns.", decidable=True)
def logarithm_that_the_claim_includes(rng: Rng) -> Case:
    bare, beta = _exponent(rng), draw_sign(rng) * rng.uniform(0.2, 0.5)
    log_x = np.linspace(0.0, 3.0 * DECADE, 7) + np.log(draw_log(rng, 1e5, 1e6))
    law = product(power(bare, draw_scale(rng)), log_power(beta, 0.0))
    claimed = bare + 0.5 * beta * (1.0 / log_x[0] + 1.0 / log_x[-1])
    return _case(rng, law, [log_x], claimed, _line(law, log_x))


@families.holds("Waves move the local exponent by 0.6 tolerances at most.", decidable=True)
def slight_waves(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _even(rng, 20, 4.0)
    law = _wavy(rng, exponent, log_x, rng.uniform(0.3, 0.6) * TOLERANCE)
    return _case(rng, law, [log_x], exponent, _line(law, log_x))


@families.holds("Counts of 1,000 and more: rounding moves no exponent by 0.002.", decidable=True)
def large_counts(rng: Rng) -> Case:
    exponent, log_x = rng.uniform(0.5, 2.0), _even(rng, 8, 2.0)
    true = exponent + _off(rng, 0.0, 0.5)
    law = power(true, draw_log(rng, 1e3, 3e3) * np.exp(-true * log_x[0]))
    return _case(rng, law, [log_x], exponent, true, integers=True)


# ------------------------------------------------------------------------ with chance: it holds


@families.holds("Seeds resolve the bend, but it stays inside the tolerance.", decidable=True)
def slight_bend_that_forty_seeds_resolve(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _even(rng, 11, 3.0)
    law = _bent(rng, exponent + _off(rng, 0.0, 0.15), log_x, draw_sign(rng) * TOLERANCE)
    limit = _line(law, log_x)
    return _case(rng, law, [log_x] * 40, exponent, limit, chance=Chance(points=0.002))


@families.holds("Noise grows along x, but 30 seeds average it away.", decidable=True)
def noise_that_grows_along_x(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _even(rng, 10, 3.0)
    true = exponent + _off(rng, 0.0, 0.5)
    chance = Chance(points=0.06, first=0.1)
    law = power(true, draw_scale(rng))
    return _case(rng, law, [log_x] * 30, exponent, true, chance=chance)


@families.holds("Constants differ, but each seed alone shows its exponent.", decidable=True)
def missing_points_and_own_constants(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _uneven(rng, 9, 2.0)
    true = exponent + _off(rng, 0.0, 0.4)
    axes = _without_some(rng, log_x, 8)
    chance = Chance(points=0.006, constants=1.0)
    return _case(rng, power(true, draw_scale(rng)), axes, exponent, true, chance=chance)


@families.holds("The mean of 16 exponents is known to 0.1 tolerances.", decidable=True)
def own_exponents_of_sixteen_seeds(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _even(rng, 5, 1.5)
    true = exponent + _off(rng, 0.0, 0.2)
    chance = Chance(points=0.002, exponents=0.007, constants=0.5)
    law = power(true, draw_scale(rng))
    return _case(rng, law, [log_x] * 16, exponent, true, chance=chance)


@families.holds("Correlated noise bends each seed, but not all in one way.", decidable=True)
def correlated_noise_of_many_seeds(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _even(rng, 15, 4.0)
    true = exponent + _off(rng, 0.0, 0.4)
    chance = Chance(points=0.04, correlation=0.9)
    law = power(true, draw_scale(rng))
    return _case(rng, law, [log_x] * 24, exponent, true, chance=chance)


@families.holds("Four seeds of correlated noise leave the exponent open.", decidable=False)
def correlated_noise_of_four_seeds(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _even(rng, 16, 2.0)
    true = exponent + _off(rng, 0.0, 0.5)
    chance = Chance(points=0.2, correlation=0.95)
    law = power(true, draw_scale(rng))
    return _case(rng, law, [log_x] * 4, exponent, true, chance=chance)


@families.holds("Heavy tails.", decidable=False)
def heavy_tails(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _even(rng, 8, 2.0)
    true = exponent + _off(rng, 0.0, 0.5)
    law = power(true, draw_scale(rng))
    return _case(rng, law, [log_x] * 10, exponent, true, chance=Chance(points=0.03, tails=2.0))


@families.holds("The mean of five exponents is open by more than a tolerance.", decidable=False)
def scattered_exponents_of_five_seeds(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _even(rng, 6, 3.0)
    true = exponent + _off(rng, 0.0, 0.5)
    law = power(true, draw_scale(rng))
    return _case(rng, law, [log_x] * 5, exponent, true, chance=Chance(exponents=0.05))


@families.holds("A single seed with noise.", decidable=False)
def one_noisy_seed(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _even(rng, 8, 2.0)
    true = exponent + _off(rng, 0.0, 0.8)
    law = power(true, draw_scale(rng))
    return _case(rng, law, [log_x], exponent, true, chance=Chance(points=0.03))


@families.holds("Counts below ten: rounding is neither small nor Gaussian.", decidable=False)
def small_counts(rng: Rng) -> Case:
    exponent, log_x = rng.uniform(0.5, 1.0), _even(rng, 6, 1.0)
    true = exponent + _off(rng, 0.0, 0.5)
    law = power(true, rng.uniform(4.0, 7.0) * np.exp(-true * log_x[0]))
    chance = Chance(constants=0.3)
    return _case(rng, law, [log_x] * 3, exponent, true, chance=chance, integers=True)


# -------------------------------------------------------------------- without chance: it fails


@families.fails("Exact and outside the tolerance, by a tenth of it or more.", decidable=True)
def just_outside_in_four_equal_seeds(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _uneven(rng, 12, 1.5)
    true = exponent + _off(rng, 1.1, 1.25)
    law = power(true, draw_scale(rng))
    return _case(rng, law, [log_x] * 4, exponent, true, chance=REPEATED)


@families.fails("Local exponents differ by 15 tolerances or more.", decidable=True)
def strong_bend_of_five_points(rng: Rng) -> Case:
    log_x = _even(rng, 5, 2.0)
    law = _bent(rng, _exponent(rng), log_x, draw_sign(rng) * rng.uniform(0.3, 0.7))
    return _case(rng, law, [log_x], _line(law, log_x), None)


@families.fails("A floor at least halves the last local exponents.", decidable=True)
def floor_at_the_end(rng: Rng) -> Case:
    exponent, log_x = -rng.uniform(0.8, 1.8), _even(rng, 8, 3.0)
    level = draw_log(rng, 1.0, 5.0) * np.exp(exponent * log_x[-1])
    law = total(power(exponent), power(0.0, level))
    chance = Chance(constants=0.5)
    return _case(rng, law, [log_x] * 3, exponent, None, chance=chance)


@families.fails("One point, the same in all seeds, is off; the line is right.", decidable=True)
def bad_point_in_the_middle(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _even(rng, 9, 2.0)
    step = draw_sign(rng) * np.log(rng.uniform(1.2, 1.5))
    straight, at = power(exponent, draw_scale(rng)), log_x[4]

    def law(x: LogXs) -> LogXs:
        return straight(x) + np.where(np.isclose(x, at), step, 0.0)

    return _case(rng, law, [log_x] * 5, exponent, None, chance=Chance(constants=1.0))


@families.fails("A bend between two and ten tolerances.", decidable=False)
def bend_of_a_few_tolerances(rng: Rng) -> Case:
    log_x = _even(rng, 7, 2.5)
    law = _bent(rng, _exponent(rng), log_x, draw_sign(rng) * rng.uniform(0.08, 0.15))
    return _case(rng, law, [log_x] * 6, _line(law, log_x), None, chance=REPEATED)


@families.fails("Log x moves all local exponents out, by two to ten tolerances.", decidable=False)
def logarithm_that_the_claim_leaves_out(rng: Rng) -> Case:
    exponent, beta = _exponent(rng), draw_sign(rng) * rng.uniform(1.0, 2.0)
    log_x = np.linspace(0.0, 3.0 * DECADE, 12) + np.log(draw_log(rng, 1e3, 2e3))
    law = product(power(exponent, draw_scale(rng)), log_power(beta, 0.0))
    return _case(rng, law, [log_x], exponent, None)


# ----------------------------------------------------------------------- with chance: it fails


@families.fails("Off by 40 tolerances and more.", decidable=True)
def wildly_wrong_with_three_points(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _even(rng, 3, 1.0)
    true = exponent + _off(rng, 40.0, 100.0)
    law = power(true, draw_scale(rng))
    return _case(rng, law, [log_x] * 4, exponent, true, chance=Chance(points=0.05))


@families.fails("Twelve seeds tell 1.75 tolerances from one.", decidable=True)
def noise_that_falls_along_x(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _even(rng, 7, 2.0)
    true = exponent + _off(rng, 1.75, 2.5)
    law = power(true, draw_scale(rng))
    chance = Chance(points=0.002, first=10.0)
    return _case(rng, law, [log_x] * 12, exponent, true, chance=chance)


@families.fails("Constants hide it between seeds, but each alone shows it.", decidable=True)
def own_constants_and_own_ranges_of_x(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _even(rng, 6, rng.uniform(0.7, 1.0))
    true = exponent + _off(rng, 3.0, 5.0)
    axes = [log_x + rng.uniform(0.0, 3.0 * DECADE) for _ in range(12)]
    chance = Chance(points=0.01, constants=1.5)
    return _case(rng, power(true, draw_scale(rng)), axes, exponent, true, chance=chance)


@families.fails("Two exponents, 15 tolerances apart or more.", decidable=True)
def two_exponents_and_missing_points(rng: Rng) -> Case:
    before, log_x = _exponent(rng), _even(rng, 10, 3.0)
    after = before + draw_sign(rng) * rng.uniform(0.3, 0.7)
    at = np.exp(log_x[0] + rng.uniform(0.35, 0.65) * (log_x[-1] - log_x[0]))
    law = product(knee(before, after, float(at), 20.0), power(0.0, draw_scale(rng)))
    axes = _without_some(rng, log_x, 10)
    return _case(rng, law, axes, _line(law, log_x), None, chance=Chance(points=0.01))


@families.fails("A ceiling at least halves the last local exponents.", decidable=True)
def ceiling_with_own_values_of_x(rng: Rng) -> Case:
    exponent, log_x = rng.uniform(0.6, 1.5), _even(rng, 20, 5.0)
    full = float(np.exp(log_x[-1] - rng.uniform(0.0, 1.0) * DECADE))
    law = product(knee(exponent, 0.0, full, exponent), power(0.0, draw_scale(rng)))
    axes = [np.sort(log_x + rng.uniform(0.0, 0.5, len(log_x))) for _ in range(6)]
    return _case(rng, law, axes, exponent, None, chance=Chance(points=0.02))


@families.fails("Local exponents differ by 16 tolerances or more along the waves.", decidable=True)
def strong_waves(rng: Rng) -> Case:
    log_x = _even(rng, 20, 5.0)
    law = _wavy(rng, _exponent(rng), log_x, rng.uniform(0.16, 0.4))
    chance = Chance(points=0.02)
    return _case(rng, law, [log_x] * 10, _line(law, log_x), None, chance=chance)


@families.fails("Noise of three seeds over a short range covers the bend.", decidable=False)
def bend_below_the_noise(rng: Rng) -> Case:
    log_x = _even(rng, 6, np.log10(4.0))
    law = _bent(rng, _exponent(rng), log_x, draw_sign(rng) * rng.uniform(0.25, 0.4))
    chance = Chance(points=0.05)
    return _case(rng, law, [log_x] * 3, _line(law, log_x), None, chance=chance)


@families.fails("Outlying seeds.", decidable=False)
def outlying_seeds(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _even(rng, 5, 2.0)
    true = exponent + _off(rng, 1.75, 3.0)
    law = power(true, draw_scale(rng))
    chance = Chance(points=0.01, strays=0.1)
    return _case(rng, law, [log_x] * 8, exponent, true, chance=chance)


@families.fails(
    "Skewed exponents: most seeds lie nearer to the claim than the mean.", decidable=False
)
def skewed_exponents(rng: Rng) -> Case:
    exponent, log_x = _exponent(rng), _even(rng, 4, 2.0)
    true = exponent + rng.uniform(1.5, 2.0) * TOLERANCE
    law = power(true, draw_scale(rng))
    chance = Chance(points=0.005, exponents=0.05, skewed=True)
    return _case(rng, law, [log_x] * 7, exponent, true, chance=chance)
