"""Ratio: every run's number is within `tolerance`·|value| of `value`.

The truth is about the runs of the case, as the claim's docstring has it: one run outside makes the
claim false. Such a claim is decidable if, besides, the geometric mean of number/value is outside by
the standard errors that the conventions ask for; a single run outside decides only where there is
no chance, which these claims do not say.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from tutelage.claims.families.family import Case, Collection, RatioAsked
from tutelage.claims.families_2.number import make_runs, read_number
from tutelage.claims.families_2.shapes import Rng, draw_log, draw_sign

families = Collection("ratio")
Ratios = Float[np.ndarray, "runs"]


def _case(rng: Rng, ratios: Ratios, tolerance: float, mean: float, *, chance: bool) -> Case:
    """Runs with these ratios of measured to predicted; `mean` is that of their distribution."""
    value = draw_sign(rng) * draw_log(rng, 1e-3, 1e3)
    asked = RatioAsked(read_number, value, tolerance)
    return Case(make_runs(value * ratios), asked, value * mean, noisy=chance)


def _spread(rng: Rng, number: int, reach: float) -> Ratios:
    """Ratios uniform between 1 − reach and 1 + reach, with the farthest of them at a reach."""
    ratios = 1.0 + reach * rng.uniform(-1.0, 1.0, number)
    ratios[rng.integers(number)] = 1.0 + draw_sign(rng) * reach
    return ratios


# --------------------------------------------------------------------------------------- holds


@families.holds("Every run is the value, to the last digit.", decidable=True)
def exact(rng: Rng) -> Case:
    return _case(
        rng, np.ones(int(rng.integers(3, 12))), draw_log(rng, 1e-4, 0.1), 1.0, chance=False
    )


@families.holds("A single run, half a tolerance off.", decidable=True)
def single_run_inside(rng: Rng) -> Case:
    tolerance = draw_log(rng, 0.01, 0.2)
    ratio = 1.0 + draw_sign(rng) * 0.5 * tolerance
    return _case(rng, np.array([ratio]), tolerance, ratio, chance=False)


@families.holds("All within 0.6 tolerances; 3 to 10 runs.", decidable=True)
def spread_inside(rng: Rng) -> Case:
    tolerance = draw_log(rng, 0.01, 0.3)
    ratios = _spread(rng, int(rng.integers(3, 11)), 0.6 * tolerance)
    return _case(rng, ratios, tolerance, 1.0, chance=True)


@families.holds("The farthest of 20 runs is at 0.95 tolerances.", decidable=True)
def farthest_just_inside(rng: Rng) -> Case:
    tolerance = draw_log(rng, 0.01, 0.3)
    return _case(rng, _spread(rng, 20, 0.95 * tolerance), tolerance, 1.0, chance=True)


# The points of a sweep: a trend is no chance, and every point is inside.
@families.holds("Drifts from −0.9 to 0.9 tolerances along a sweep.", decidable=True)
def drift_inside(rng: Rng) -> Case:
    tolerance = draw_log(rng, 0.01, 0.2)
    ratios = 1.0 + draw_sign(rng) * 0.9 * tolerance * np.linspace(-1.0, 1.0, 8)
    return _case(rng, ratios, tolerance, 1.0, chance=False)


# All on one side: the mean is far from 1, and inside.
@families.holds("All runs at 0.7 to 0.9 tolerances, on one side.", decidable=True)
def all_on_one_side_inside(rng: Rng) -> Case:
    tolerance = draw_log(rng, 0.01, 0.2)
    ratios = 1.0 + draw_sign(rng) * tolerance * rng.uniform(0.7, 0.9, 12)
    return _case(rng, ratios, tolerance, float(ratios.mean()), chance=True)


# --------------------------------------------------------------------------------------- fails


@families.fails("Five runs, all the same, 1.2 tolerances off.", decidable=True)
def identical_and_outside(rng: Rng) -> Case:
    tolerance = draw_log(rng, 0.01, 0.2)
    ratio = 1.0 + draw_sign(rng) * 1.2 * tolerance
    return _case(rng, np.full(5, ratio), tolerance, ratio, chance=False)


def _lognormal(
    rng: Rng, number: int, tolerance: float, off: float, errors: float, *, tails: float = 0.0
) -> Case:
    """Ratios around 1 + off, of which ln(1 + off) is `errors` standard errors beyond the edge."""
    edge = np.log1p(tolerance) if off > 0.0 else -np.log1p(-tolerance)
    sigma = (abs(np.log1p(off)) - edge) / errors * np.sqrt(number)
    fresh = rng.standard_t(tails, number) if tails else rng.normal(size=number)
    ratios = (1.0 + off) * np.exp(sigma * fresh)
    ratios[0] = 1.0 + off  # one run is outside for certain
    return _case(rng, ratios, tolerance, 1.0 + off, chance=True)


@families.fails("Around 1.3 tolerances off, 12 errors outside; 30 runs.", decidable=True)
def just_outside_in_thirty(rng: Rng) -> Case:
    tolerance = draw_log(rng, 0.02, 0.2)
    return _lognormal(rng, 30, tolerance, draw_sign(rng) * 1.3 * tolerance, 12.0)


@families.fails("Lognormal around 2 to 4 times the value, 12 errors outside; 10.", decidable=True)
def too_large_by_a_factor(rng: Rng) -> Case:
    return _lognormal(rng, 10, draw_log(rng, 0.02, 0.2), rng.uniform(1.0, 3.0), 12.0)


@families.fails("Around a half of the value, 18 errors outside; 5 runs.", decidable=True)
def too_small_in_five(rng: Rng) -> Case:
    return _lognormal(rng, 5, draw_log(rng, 0.02, 0.2), -rng.uniform(0.4, 0.6), 18.0)


@families.fails("Around 2 tolerances off, 1.5 errors outside; 5 runs.", decidable=False)
def outside_by_an_error(rng: Rng) -> Case:
    tolerance = draw_log(rng, 0.02, 0.2)
    return _lognormal(rng, 5, tolerance, draw_sign(rng) * 2.0 * tolerance, 1.5)


@families.fails("Student's t with 2 degrees in logarithms; 6 runs.", decidable=False)
def outside_with_heavy_tails(rng: Rng) -> Case:
    return _lognormal(rng, 6, draw_log(rng, 0.02, 0.1), rng.uniform(0.5, 1.0), 5.0, tails=2.0)


@families.fails("Nine of ten runs are inside, one is 2 to 5 tolerances off.", decidable=False)
def one_of_ten_outside(rng: Rng) -> Case:
    tolerance = draw_log(rng, 0.01, 0.1)
    ratios = _spread(rng, 10, 0.5 * tolerance)
    ratios[rng.integers(10)] = 1.0 + draw_sign(rng) * rng.uniform(2.0, 5.0) * tolerance
    return _case(rng, ratios, tolerance, float(ratios.mean()), chance=True)


@families.fails("Half too large, half too small, by 2 tolerances.", decidable=False)
def outside_on_both_sides(rng: Rng) -> Case:
    tolerance = draw_log(rng, 0.01, 0.2)
    signs = rng.permutation(np.repeat([-1.0, 1.0], 4))
    ratios = np.exp(2.0 * np.log1p(tolerance) * signs)
    return _case(rng, ratios, tolerance, float(ratios.mean()), chance=True)


# With σ of a tolerance a third of runs is outside; the second is so for certain.
@families.fails("Lognormal around the value, σ of one to two tolerances; 12.", decidable=False)
def centred_but_too_wide(rng: Rng) -> Case:
    tolerance = draw_log(rng, 0.02, 0.2)
    ratios = np.exp(rng.uniform(1.0, 2.0) * tolerance * rng.normal(size=12))
    ratios[1] = 1.0 + draw_sign(rng) * 1.3 * tolerance
    return _case(rng, ratios, tolerance, 1.0, chance=True)


@families.fails("A single run, 3 tolerances off, not said to be certain.", decidable=False)
def single_run_outside(rng: Rng) -> Case:
    tolerance = draw_log(rng, 0.01, 0.2)
    ratio = 1.0 + draw_sign(rng) * 3.0 * tolerance
    return _case(rng, np.array([ratio]), tolerance, ratio, chance=False)


# The first points of the sweep are inside, the last at 4 tolerances.
@families.fails("Drifts from 0 to 4 tolerances along a sweep of 8.", decidable=False)
def drift_outside(rng: Rng) -> Case:
    tolerance = draw_log(rng, 0.01, 0.15)
    ratios = 1.0 + draw_sign(rng) * tolerance * np.linspace(0.0, 4.0, 8)
    return _case(rng, ratios, tolerance, float(ratios.mean()), chance=False)


# No geometric mean of negative ratios exists, by which the docstring lets chance fail a claim.
@families.fails("The right size with the wrong sign; 5 runs.", decidable=False)
def wrong_sign(rng: Rng) -> Case:
    tolerance = draw_log(rng, 0.01, 0.2)
    return _case(rng, -_spread(rng, 5, 0.5 * tolerance), tolerance, -1.0, chance=True)
