"""Ratio: each run's number is within a relative `tolerance` of `value`.

It is about the runs that are read, so that one run is enough. Where numbers vary, the truth is that
of every draw, so that it does not matter whether the claim is about runs not drawn as well.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from tutelage.claims.families.curves import log_uniform, sign
from tutelage.claims.families.family import Case, Collection, RatioAsked
from tutelage.claims.families.number import read_number, runs_of

families = Collection("ratio")


def _case(rng: np.random.Generator, errors: Float[np.ndarray, "runs"], centre: float) -> Case:
    """`errors` and their `centre` are in tolerances, relative to the value."""
    value = sign(rng) * log_uniform(rng, 1e-9, 1e6)
    tolerance = log_uniform(rng, 0.005, 0.1)
    asked = RatioAsked(read_number, value, tolerance)
    varies = len(errors) > 1 and float(np.ptp(errors)) > 0.0
    limit = value * (1.0 + tolerance * centre)
    return Case(runs_of(value * (1.0 + tolerance * errors)), asked, limit, noisy=varies)


def _runs(rng: np.random.Generator) -> int:
    return int(rng.choice([1, 3, 5, 10, 30]))


@families.holds("Each number is the value, to rounding.", decidable=True)
def exact(rng: np.random.Generator) -> Case:
    return _case(rng, np.zeros(_runs(rng)), 0.0)


@families.holds("All numbers have the same error of at most 0.8 tolerances.", decidable=True)
def off_by_less_than_the_tolerance(rng: np.random.Generator) -> Case:
    off = sign(rng) * rng.uniform(0.3, 0.8)
    return _case(rng, np.full(_runs(rng), off), off)


@families.holds("Errors are bounded by 0.5 tolerances.", decidable=True)
def bounded_errors(rng: np.random.Generator) -> Case:
    return _case(rng, rng.uniform(-0.5, 0.5, int(rng.choice([5, 10, 30]))), 0.0)


@families.holds("Errors of ±0.7 tolerances by the toss of a coin.", decidable=True)
def errors_of_two_sizes(rng: np.random.Generator) -> Case:
    return _case(rng, rng.choice([-0.7, 0.7], int(rng.choice([10, 30]))), 0.0)


# A normal error beyond 1 tolerance is one beyond 10 deviations.
@families.holds("Normal errors of at most a tenth of the tolerance.", decidable=True)
def small_normal_errors(rng: np.random.Generator) -> Case:
    return _case(rng, log_uniform(rng, 0.01, 0.1) * rng.standard_normal(10), 0.0)


@families.fails("All numbers are off by 1.5 to 3 tolerances.", decidable=True)
def off_by_little(rng: np.random.Generator) -> Case:
    off = sign(rng) * rng.uniform(1.5, 3.0)
    return _case(rng, np.full(_runs(rng), off), off)


@families.fails("All numbers are off by at least 1.3 tolerances, and differ.", decidable=True)
def off_with_bounded_errors(rng: np.random.Generator) -> Case:
    off = sign(rng) * log_uniform(rng, 1.8, 9.0)
    return _case(rng, off + rng.uniform(-0.5, 0.5, int(rng.choice([5, 10, 30]))), off)


@families.fails("Errors of ±2 tolerances, which cancel in the mean alone.", decidable=True)
def right_in_the_mean(rng: np.random.Generator) -> Case:
    return _case(rng, np.resize([-2.0, 2.0], 2 * int(rng.integers(2, 8))), 0.0)


@families.fails("One run of ten is off by 2 to 5 tolerances, the others by 0.", decidable=True)
def one_run_of_ten(rng: np.random.Generator) -> Case:
    errors = np.zeros(10)
    errors[rng.integers(10)] = sign(rng) * rng.uniform(2.0, 5.0)
    return _case(rng, errors, float(errors.mean()))


# That all 30 runs are inside has a probability below 10^-12.
@families.fails("Normal errors of 2 to 10 tolerances: some run is far outside.", decidable=True)
def large_normal_errors(rng: np.random.Generator) -> Case:
    return _case(rng, log_uniform(rng, 2.0, 10.0) * rng.standard_normal(30), 0.0)
