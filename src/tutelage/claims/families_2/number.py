"""Number: the mean of the distribution of replicates equals `value` within an absolute `tolerance`,
or is at most or at least `value`.

The claim is asked on its default scale, "either", which is about the mean, also of skewed numbers.
On a side, no mean lies between `value` and a tolerance beyond it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import special

from tutelage.claims.families.family import Case, Collection, NumberAsked, Side
from tutelage.claims.families_2.shapes import Rng, draw_log, draw_sign
from tutelage.run import Outcome, Run

families = Collection("number")
NUMBER = "number"  # the curve in which a run has its one number
Quantiles = Callable[[Float[np.ndarray, "number"]], Float[np.ndarray, "number"]]


@dataclass(frozen=True)
class Population:
    """A distribution by its quantiles, with its mean and its standard deviation (∞ if none)."""

    quantiles: Quantiles  # of numbers between 0 and 1; need not increase
    mean: float
    deviation: float

    def draw(self, rng: Rng, number: int) -> Float[np.ndarray, "number"]:
        return self.quantiles(rng.random(number))


@dataclass(frozen=True)
class NumberCase(Case):
    """A case that knows from which distribution its numbers are."""

    population: Population | None = None


def normal(mean: float, deviation: float) -> Population:
    return Population(lambda u: mean + deviation * special.ndtri(u), mean, deviation)


def lognormal(median: float, sigma: float) -> Population:
    mean = median * float(np.exp(0.5 * sigma**2))
    deviation = mean * float(np.sqrt(np.expm1(sigma**2)))
    return Population(lambda u: median * np.exp(sigma * special.ndtri(u)), mean, deviation)


def gamma(shape: float, scale: float) -> Population:
    deviation = scale * float(np.sqrt(shape))
    return Population(lambda u: scale * special.gammaincinv(shape, u), scale * shape, deviation)


def beta(a: float, b: float) -> Population:
    deviation = float(np.sqrt(a * b / (a + b + 1.0))) / (a + b)
    return Population(lambda u: special.betaincinv(a, b, u), a / (a + b), deviation)


def student(mean: float, scale: float, degrees: float) -> Population:
    """Student's t; `degrees` of at most 2 have no variance."""
    deviation = scale * float(np.sqrt(degrees / (degrees - 2.0))) if degrees > 2.0 else np.inf
    return Population(lambda u: mean + scale * special.stdtrit(degrees, u), mean, deviation)


def two_points(mean: float, apart: float) -> Population:
    """One of two numbers, `apart` from the mean, with even chances."""
    return Population(lambda u: mean + apart * np.where(u < 0.5, -1.0, 1.0), mean, apart)


def contaminated(mean: float, deviation: float, share: float, shift: float) -> Population:
    """A normal of which a share is off by `shift`, always to the same side; `mean` is of all."""
    centre = mean - share * shift
    total = float(np.sqrt(deviation**2 + share * (1.0 - share) * shift**2))

    def quantiles(u: Float[np.ndarray, "number"]) -> Float[np.ndarray, "number"]:
        strays = u < share
        rescaled = np.where(strays, u / share, (u - share) / (1.0 - share))
        return centre + deviation * special.ndtri(rescaled) + shift * strays

    return Population(quantiles, mean, total)


def read_number(run: Run) -> float:
    return float(run.curves[NUMBER][-1])


def read_numbers(runs: Sequence[Run]) -> list[float]:
    return [read_number(run) for run in runs]


def make_runs(numbers: Sequence[float] | Float[np.ndarray, "number"]) -> tuple[Run, ...]:
    return tuple(
        Run(
            steps=np.array([1]),
            curves={NUMBER: np.array([float(number)])},
            student=None,
            outcome=Outcome.FINISHED,
        )
        for number in numbers
    )


def _case(
    rng: Rng,
    population: Population,
    replicates: int,
    value: float,
    tolerance: float,
    side: Side = "equal",
) -> Case:
    runs = make_runs(population.draw(rng, replicates))
    asked = NumberAsked(read_numbers, value, tolerance, side)
    return NumberCase(
        runs, asked, population.mean, noisy=population.deviation > 0.0, population=population
    )


def _mean(rng: Rng) -> float:
    return draw_sign(rng) * draw_log(rng, 0.01, 100.0)


# -------------------------------------------------------------------------------- as declared


@families.holds("All replicates are the value, to the last digit.", decidable=True)
def identical_replicates(rng: Rng) -> Case:
    mean = _mean(rng)
    return _case(rng, normal(mean, 0.0), 4, mean, abs(mean) * draw_log(rng, 0.001, 0.1))


@families.fails("All replicates are the same number, 1.5 tolerances off.", decidable=True)
def identical_replicates_that_miss(rng: Rng) -> Case:
    mean = _mean(rng)
    tolerance = abs(mean) * draw_log(rng, 0.001, 0.1)
    return _case(rng, normal(mean, 0.0), 4, mean + 1.5 * tolerance, tolerance)


@families.holds("Normal at the value; 10 replicates, the tolerance is 15 errors.", decidable=True)
def normal_in_ten(rng: Rng) -> Case:
    mean = _mean(rng)
    deviation = abs(mean) * draw_log(rng, 0.003, 0.1)
    return _case(rng, normal(mean, deviation), 10, mean, 15.0 * deviation / np.sqrt(10.0))


# Numbers of both signs, which have no logarithm.
@families.holds("Normal around a value of 0; 20 replicates, 12 errors.", decidable=True)
def normal_around_zero(rng: Rng) -> Case:
    deviation = draw_log(rng, 1e-3, 10.0)
    return _case(rng, normal(0.0, deviation), 20, 0.0, 12.0 * deviation / np.sqrt(20.0))


# 0.2 of the tolerance is left, and that is 12 standard errors of 30 replicates.
@families.holds("The mean is 0.8 tolerances off, 12 errors inside the edge.", decidable=True)
def just_inside(rng: Rng) -> Case:
    mean = _mean(rng)
    tolerance = abs(mean) * draw_log(rng, 0.01, 0.2)
    deviation = 0.2 * tolerance / 12.0 * np.sqrt(30.0)
    value = mean + draw_sign(rng) * 0.8 * tolerance
    return _case(rng, normal(mean, deviation), 30, value, tolerance)


@families.fails("The mean is 1.2 tolerances off, 12 errors outside the edge.", decidable=True)
def just_outside(rng: Rng) -> Case:
    mean = _mean(rng)
    tolerance = abs(mean) * draw_log(rng, 0.01, 0.2)
    deviation = 0.2 * tolerance / 12.0 * np.sqrt(30.0)
    value = mean + draw_sign(rng) * 1.2 * tolerance
    return _case(rng, normal(mean, deviation), 30, value, tolerance)


@families.holds("Three replicates; the tolerance is 40 standard errors.", decidable=True)
def three_replicates_of_little_spread(rng: Rng) -> Case:
    mean = _mean(rng)
    deviation = abs(mean) * draw_log(rng, 1e-4, 0.01)
    return _case(rng, normal(mean, deviation), 3, mean, 40.0 * deviation / np.sqrt(3.0))


@families.holds("Three replicates; the tolerance is 3 standard errors.", decidable=False)
def three_replicates_of_much_spread(rng: Rng) -> Case:
    mean = _mean(rng)
    deviation = abs(mean) * draw_log(rng, 0.01, 0.3)
    return _case(rng, normal(mean, deviation), 3, mean, 3.0 * deviation / np.sqrt(3.0))


@families.fails("Five replicates; the mean is 3 errors beyond the tolerance.", decidable=False)
def missed_by_three_errors_in_five(rng: Rng) -> Case:
    mean = _mean(rng)
    deviation = abs(mean) * draw_log(rng, 0.01, 0.1)
    tolerance, error = 2.0 * deviation, deviation / np.sqrt(5.0)
    value = mean + draw_sign(rng) * (tolerance + 3.0 * error)
    return _case(rng, normal(mean, deviation), 5, value, tolerance)


@families.holds("One replicate decides nothing, be it at the value.", decidable=False)
def single_replicate(rng: Rng) -> Case:
    mean = _mean(rng)
    deviation = abs(mean) * 0.01
    return _case(rng, normal(mean, deviation), 1, mean, 10.0 * deviation)


# -------------------------------------------------------------------------------- on one side


@families.holds("At most: the mean is 15 errors below; 6 replicates.", decidable=True)
def well_below(rng: Rng) -> Case:
    mean = _mean(rng)
    deviation = abs(mean) * draw_log(rng, 0.01, 0.2)
    value = mean + 15.0 * deviation / np.sqrt(6.0)
    return _case(rng, normal(mean, deviation), 6, value, 0.5 * deviation, "at most")


# The tolerance and 12 standard errors beyond it.
@families.fails("At most: above value and tolerance by 12 errors; 12 replicates.", decidable=True)
def well_above(rng: Rng) -> Case:
    mean = _mean(rng)
    deviation = abs(mean) * draw_log(rng, 0.01, 0.2)
    tolerance = 0.5 * deviation
    value = mean - tolerance - 12.0 * deviation / np.sqrt(12.0)
    return _case(rng, normal(mean, deviation), 12, value, tolerance, "at most")


@families.holds("At least: the mean is half an error above; 10 replicates.", decidable=False)
def hardly_above(rng: Rng) -> Case:
    mean = _mean(rng)
    deviation = abs(mean) * draw_log(rng, 0.01, 0.2)
    error = deviation / np.sqrt(10.0)
    return _case(rng, normal(mean, deviation), 10, mean - 0.5 * error, 0.1 * error, "at least")


@families.fails("At least: 2 errors below value and tolerance; 4 replicates.", decidable=False)
def hardly_below(rng: Rng) -> Case:
    mean = _mean(rng)
    deviation = abs(mean) * draw_log(rng, 0.01, 0.2)
    error = deviation / np.sqrt(4.0)
    return _case(rng, normal(mean, deviation), 4, mean + 2.5 * error, 0.5 * error, "at least")


# An accuracy with a ceiling of 1: skewed, so not of the chance that is declared.
@families.fails("At least: accuracies with a ceiling, 10 errors below.", decidable=False)
def accuracy_below_its_floor(rng: Rng) -> Case:
    population = beta(rng.uniform(20.0, 60.0), rng.uniform(0.8, 2.0))
    error = population.deviation / np.sqrt(10.0)
    value = population.mean + 11.0 * error
    return _case(rng, population, 10, value, error, "at least")


# ------------------------------------------------------------------------------------- skewed


# Gaussian in logarithms; the tolerance is 15 standard errors, however they are taken.
@families.holds("Lognormal with σ of 0.1 to 0.2, the mean at the value; 20.", decidable=True)
def lognormal_of_small_spread(rng: Rng) -> Case:
    population = lognormal(draw_log(rng, 0.01, 100.0), rng.uniform(0.1, 0.2))
    tolerance = 15.0 * population.deviation / np.sqrt(20.0)
    return _case(rng, population, 20, population.mean, tolerance)


# Mean and median differ by exp(σ²/2) ≥ 1.133. With 4000 replicates the error is at most 1.2% of the
# mean, and the tolerance 2%.
@families.fails(
    "Lognormal, σ of 0.5 to 0.7; the value is the median, not the mean.", decidable=True
)
def median_for_the_mean(rng: Rng) -> Case:
    median = draw_log(rng, 0.01, 100.0)
    population = lognormal(median, rng.uniform(0.5, 0.7))
    return _case(rng, population, 4000, median, 0.02 * population.mean)


# The same claim with the mean for value; the tolerance of 10% is 8 errors and more.
@families.holds("Lognormal, σ of 0.5 to 0.7, the mean at the value; 4000.", decidable=True)
def mean_of_a_lognormal(rng: Rng) -> Case:
    population = lognormal(draw_log(rng, 0.01, 100.0), rng.uniform(0.5, 0.7))
    return _case(rng, population, 4000, population.mean, 0.1 * population.mean)


# Ten numbers rarely show the tail that makes the mean: it is 1.6 to 3 medians.
@families.holds("Lognormal, σ of 1 to 1.5, the mean at the value; 10.", decidable=False)
def lognormal_of_large_spread(rng: Rng) -> Case:
    population = lognormal(draw_log(rng, 0.01, 100.0), rng.uniform(1.0, 1.5))
    return _case(rng, population, 10, population.mean, 0.1 * population.mean)


@families.fails("Lognormal, σ of 1 to 1.5, the median at the value; 10.", decidable=False)
def median_of_a_large_spread(rng: Rng) -> Case:
    median = draw_log(rng, 0.01, 100.0)
    return _case(rng, lognormal(median, rng.uniform(1.0, 1.5)), 10, median, 0.1 * median)


@families.holds("Exponential or near it, the mean at the value; 8.", decidable=False)
def exponential(rng: Rng) -> Case:
    population = gamma(rng.uniform(0.7, 1.5), draw_log(rng, 0.01, 100.0))
    return _case(rng, population, 8, population.mean, 0.3 * population.mean)


# ------------------------------------------------------------------------ tails and outliers


@families.holds("Student's t with 2 degrees around the value; 10.", decidable=False)
def heavy_tails(rng: Rng) -> Case:
    mean = _mean(rng)
    scale = abs(mean) * draw_log(rng, 0.01, 0.1)
    return _case(rng, student(mean, scale, 2.0), 10, mean, 2.0 * scale)


# The median is at the value; the strays alone move the mean, by 5% of 40 deviations: twice the
# tolerance. In 10 replicates there often is no stray.
@families.fails("One in 20 is far off, to one side; the mean is 2 tolerances off.", decidable=False)
def strays_to_one_side(rng: Rng) -> Case:
    value = _mean(rng)
    deviation = abs(value) * draw_log(rng, 0.001, 0.01)
    shift = draw_sign(rng) * 40.0 * deviation
    population = contaminated(value + 0.05 * shift, deviation, 0.05, shift)
    return _case(rng, population, 10, value, deviation)


@families.holds("Two outcomes with even chances around the value; 12.", decidable=False)
def two_outcomes(rng: Rng) -> Case:
    mean = _mean(rng)
    apart = abs(mean) * draw_log(rng, 0.01, 0.1)
    return _case(rng, two_points(mean, apart), 12, mean, 0.8 * apart)
