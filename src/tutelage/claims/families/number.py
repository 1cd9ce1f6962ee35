"""Number: the mean over replicates equals `value` within `tolerance`, or lies on one side of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from tutelage.claims.families.curves import log_uniform, sign
from tutelage.claims.families.family import Case, Collection, NumberAsked, Side
from tutelage.run import Outcome, Run

NUMBER = "number"
families = Collection("number")


def read_number(run: Run) -> float:
    return float(run.curves[NUMBER][-1])


def read_numbers(runs: Sequence[Run]) -> list[float]:
    return [read_number(run) for run in runs]


def runs_of(values: Float[np.ndarray, "runs"]) -> tuple[Run, ...]:
    """One run per value, which stands at its only step."""
    return tuple(
        Run(np.array([1]), {NUMBER: np.array([value])}, None, Outcome.FINISHED) for value in values
    )


def _case(
    values: Float[np.ndarray, "runs"],
    mean: float,
    value: float,
    tolerance: float,
    side: Side = "equal",
) -> Case:
    asked = NumberAsked(read_numbers, value, tolerance, side)
    return Case(runs_of(values), asked, mean, noisy=len(values) > 1 and np.ptp(values) > 0.0)


def _scales(rng: np.random.Generator) -> tuple[float, float]:
    """A claimed value and a tolerance of 1–10% of it."""
    value = log_uniform(rng, 1e-2, 1e3)
    return value, value * log_uniform(rng, 0.01, 0.1)


def _normal(
    rng: np.random.Generator, count: int, off: float, low: float, high: float, side: Side = "equal"
) -> Case:
    """Normal replicates, with a mean `off` the value and a deviation between `low` and `high`, all
    in tolerances.
    """
    value, tolerance = _scales(rng)
    mean, deviation = value + off * tolerance, log_uniform(rng, low, high) * tolerance
    return _case(rng.normal(mean, deviation, count), mean, value, tolerance, side)


def _t3(rng: np.random.Generator, count: int) -> Float[np.ndarray, "runs"]:
    return rng.standard_t(3, count) / np.sqrt(3.0)


# --------------------------------------------------------------------------- equal, normal


@families.holds(
    "1 tolerance is 10 standard errors or more; 10 replicates take 7.4.", decidable=True
)
def normal_at_the_value(rng: np.random.Generator) -> Case:
    return _normal(rng, 10, 0.0, 0.05, 0.3)


@families.holds("Half a tolerance is 9 standard errors or more; 30 take 6.", decidable=True)
def normal_half_a_tolerance_off(rng: np.random.Generator) -> Case:
    return _normal(rng, 30, 0.5 * sign(rng), 0.05, 0.3)


@families.fails("Half a tolerance is 10 standard errors or more; 10 take 7.4.", decidable=True)
def normal_one_and_a_half_tolerances_off(rng: np.random.Generator) -> Case:
    return _normal(rng, 10, 1.5 * sign(rng), 0.03, 0.15)


@families.fails("1 tolerance is 14 standard errors or more; 5 replicates take 11.", decidable=True)
def normal_two_tolerances_off(rng: np.random.Generator) -> Case:
    return _normal(rng, 5, 2.0 * sign(rng), 0.03, 0.15)


@families.fails("4 tolerances are 34 standard errors or more; 3 take 24.", decidable=True)
def normal_and_far(rng: np.random.Generator) -> Case:
    return _normal(rng, 3, sign(rng) * log_uniform(rng, 5.0, 30.0), 0.02, 0.2)


@families.holds("1 tolerance is 28 standard errors or more; 3 replicates take 24.", decidable=True)
def normal_in_three_replicates(rng: np.random.Generator) -> Case:
    return _normal(rng, 3, 0.0, 0.01, 0.06)


@families.holds("Replicates differ by 2 to 5 tolerances.", decidable=False)
def normal_and_wide(rng: np.random.Generator) -> Case:
    return _normal(rng, int(rng.choice([3, 5, 10])), 0.0, 2.0, 5.0)


@families.fails("Half a tolerance is one standard error.", decidable=False)
def normal_and_wide_and_off(rng: np.random.Generator) -> Case:
    return _normal(rng, int(rng.choice([3, 5, 10])), 1.5 * sign(rng), 0.8, 2.0)


@families.holds("A single replicate.", decidable=False)
def single_replicate(rng: np.random.Generator) -> Case:
    return _normal(rng, 1, 0.0, 0.1, 1.0)


@families.fails("A single replicate.", decidable=False)
def single_replicate_off(rng: np.random.Generator) -> Case:
    return _normal(rng, 1, sign(rng) * log_uniform(rng, 1.5, 3.0), 0.3, 1.0)


@families.holds("Five replicates that are all the same number: no chance at all.", decidable=True)
def without_chance(rng: np.random.Generator) -> Case:
    value, tolerance = _scales(rng)
    mean = value + rng.uniform(-0.8, 0.8) * tolerance
    return _case(np.full(5, mean), mean, value, tolerance)


# ---------------------------------------------------------------------------- equal, others


# Gamma of shape 2 to 8; its skewness is at most 1.4.
@families.holds("1 tolerance is 13 standard errors or more; 30 take 6.", decidable=True)
def skewed_at_the_value(rng: np.random.Generator) -> Case:
    value, tolerance = _scales(rng)
    shape, deviation = rng.uniform(2.0, 8.0), log_uniform(rng, 0.1, 0.4) * tolerance
    values = value + deviation * (rng.gamma(shape, 1.0, 30) - shape) / np.sqrt(shape)
    return _case(values, value, value, tolerance)


@families.holds("1 tolerance is 15 standard errors or more; 10 take 7.4.", decidable=True)
def heavy_tails_at_the_value(rng: np.random.Generator) -> Case:
    value, tolerance = _scales(rng)
    values = value + log_uniform(rng, 0.05, 0.2) * tolerance * _t3(rng, 10)
    return _case(values, value, value, tolerance)


@families.fails("1 tolerance is 13 standard errors or more; 30 take 6.", decidable=True)
def heavy_tails_two_tolerances_off(rng: np.random.Generator) -> Case:
    value, tolerance = _scales(rng)
    mean = value + 2.0 * sign(rng) * tolerance
    values = mean + log_uniform(rng, 0.1, 0.4) * tolerance * _t3(rng, 30)
    return _case(values, mean, value, tolerance)


# exp(σz − σ²/2) has the mean 1, most replicates are below it, and few are far above.
@families.holds("A lognormal of σ = 1 to 1.5 in 10 replicates.", decidable=False)
def very_skewed_at_the_value(rng: np.random.Generator) -> Case:
    value, width = log_uniform(rng, 1e-2, 1e3), rng.uniform(1.0, 1.5)
    values = value * np.exp(width * rng.standard_normal(10) - width**2 / 2.0)
    return _case(values, value, value, 0.1 * value)


@families.fails("A lognormal of σ = 0.5 to 1 in 5: its median is at the value.", decidable=False)
def median_at_the_value(rng: np.random.Generator) -> Case:
    value, width = log_uniform(rng, 1e-2, 1e3), rng.uniform(0.5, 1.0)
    mean, values = value * np.exp(width**2 / 2.0), value * np.exp(width * rng.standard_normal(5))
    return _case(values, mean, value, 0.05 * value)


@families.holds("Two groups of replicates, two tolerances on either side.", decidable=False)
def two_groups(rng: np.random.Generator) -> Case:
    value, tolerance = _scales(rng)
    groups = rng.choice([-2.0, 2.0], 30) + 0.1 * rng.standard_normal(30)
    return _case(value + tolerance * groups, value, value, tolerance)


# ------------------------------------------------------------------------------------ sides


@families.holds("3 tolerances are 9 standard errors or more; 10 take 7.4.", decidable=True)
def at_most_by_much(rng: np.random.Generator) -> Case:
    return _normal(rng, 10, -3.0, 0.1, 1.0, "at most")


@families.fails(
    "At least 1 tolerance, which is 14 standard errors or more; 5 take 11.", decidable=True
)
def at_most_and_above(rng: np.random.Generator) -> Case:
    return _normal(rng, 5, log_uniform(rng, 2.0, 5.0), 0.03, 0.15, "at most")


@families.holds("Half a tolerance is a standard error and a half.", decidable=False)
def at_most_by_little(rng: np.random.Generator) -> Case:
    return _normal(rng, 10, -0.5, 0.8, 1.2, "at most")


@families.fails("The mean is 5–40% above, and most replicates are below.", decidable=False)
def at_most_of_lognormals(rng: np.random.Generator) -> Case:
    value, width = log_uniform(rng, 1e-2, 1e3), rng.uniform(0.5, 1.2)
    mean = value * rng.uniform(1.05, 1.4)
    count = int(rng.choice([3, 4, 5]))
    values = mean * np.exp(width * rng.standard_normal(count) - width**2 / 2.0)
    return _case(values, mean, value, 0.02 * value, "at most")


# ln 2 is more than 9 standard errors of the mean of ln, which are at most 0.4/√30.
@families.holds("Lognormals of σ up to 0.4 at half the value; 30 replicates.", decidable=True)
def at_most_of_lognormals_by_much(rng: np.random.Generator) -> Case:
    value, width = log_uniform(rng, 1e-2, 1e3), rng.uniform(0.2, 0.4)
    values = 0.5 * value * np.exp(width * rng.standard_normal(30) - width**2 / 2.0)
    return _case(values, 0.5 * value, value, 0.02 * value, "at most")


# Exponentials of mean m: m̂ has a relative standard error of 1/√30, and the value is 5·m.
@families.fails("Exponentials with a fifth of the value as their mean; 30.", decidable=True)
def at_least_of_exponentials(rng: np.random.Generator) -> Case:
    value = log_uniform(rng, 1e-2, 1e3)
    mean = 0.2 * value
    return _case(rng.exponential(mean, 30), mean, value, 0.02 * value, "at least")


@families.holds("3 tolerances are 11 standard errors or more; 5 take 11.", decidable=True)
def at_least_by_much(rng: np.random.Generator) -> Case:
    return _normal(rng, 5, 3.0, 0.1, 0.6, "at least")


# --------------------------------------------------------------------------------- discrete


# All alike with a probability below 1%: without that nobody could tell chance from none.
def _yes_or_no(rng: np.random.Generator, count: int) -> tuple[Float[np.ndarray, "runs"], float]:
    chance = rng.uniform(0.4, 0.6)
    return (rng.random(count) < chance).astype(float), chance


@families.holds("0 or 1 in 30 replicates: six of 1 refute 0.05, and come in 99%.", decidable=True)
def at_least_of_yes_or_no(rng: np.random.Generator) -> Case:
    values, chance = _yes_or_no(rng, 30)
    return _case(values, chance, 0.05, 0.01, "at least")


@families.holds("0 or 1 in 10 replicates, and a tolerance of 0.05.", decidable=False)
def yes_or_no_at_the_value(rng: np.random.Generator) -> Case:
    values, chance = _yes_or_no(rng, 10)
    return _case(values, chance, chance, 0.05)


# Accuracies on 1,000 questions: a standard error of 0.015 per replicate, 0.003 in all.
@families.fails(
    "Accuracies of 30 replicates, off by 0.05 beyond a tolerance of 0.02.", decidable=True
)
def accuracies(rng: np.random.Generator) -> Case:
    chance = rng.uniform(0.6, 0.9)
    values = rng.binomial(1_000, chance, 30) / 1_000.0
    return _case(values, chance, chance + 0.07 * sign(rng), 0.02)
