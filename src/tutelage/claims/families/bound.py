"""Bound: the local slope of ln y over ln t ends at or below `exponent`, within `tolerance` (here
0.02).
"""

from __future__ import annotations

import numpy as np

from tutelage.claims.families.curves import (
    Noise,
    bump,
    corrected,
    curve_case,
    dense_grid,
    jittered_grid,
    linear_grid,
    log_factor,
    log_grid,
    log_uniform,
    plateau,
    plus,
    power,
    sign,
    slow_log,
    stretched,
    times,
)
from tutelage.claims.families.family import BoundAsked, Case, Collection, LogCurve
from tutelage.run import Outcome

families = Collection("bound")


def _slope(rng: np.random.Generator) -> float:
    return -log_uniform(rng, 0.3, 2.0)


def _mild(rng: np.random.Generator, slope: float) -> LogCurve:
    """A power law with a correction of at most 30% at t = 1, gone within few decades."""
    scale = log_uniform(rng, 1e-3, 1e3)
    return corrected(slope, [(sign(rng) * 0.3, rng.uniform(0.5, 2.0))], scale)


# ---------------------------------------------------------------------------- without noise


@families.holds("The slope is the exponent, a whole tolerance inside.", decidable=True)
def tight(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e4, 1e9))
    return curve_case(rng, power(slope), steps, BoundAsked(slope), slope)


@families.holds("Steeper by 0.05 and more, contracting like t^-p, p from 0.5.", decidable=True)
def loose_with_a_correction(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), jittered_grid(rng, log_uniform(rng, 1e4, 1e8))
    asked = BoundAsked(slope + log_uniform(rng, 0.05, 1.0))
    return curve_case(rng, _mild(rng, slope), steps, asked, slope)


@families.holds("Steeper by 0.1 and more, three decades past a plateau.", decidable=True)
def plateau_and_a_line_every_50_steps(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), linear_grid(log_uniform(rng, 1e5, 6e5))
    shape, asked = plateau(slope, log_uniform(rng, 3.0, 60.0)), log_uniform(rng, 0.1, 1.0)
    return curve_case(rng, shape, steps, BoundAsked(slope + asked), slope)


@families.holds("The slope falls without limit, far below any exponent.", decidable=True)
def exponential(rng: np.random.Generator) -> Case:
    time = log_uniform(rng, 1e2, 1e5)
    steps, outcome = dense_grid(time * rng.uniform(10.0, 28.0)), Outcome.CONVERGED
    return curve_case(rng, stretched(time), steps, BoundAsked(_slope(rng)), None, outcome=outcome)


@families.holds("The slope falls without limit, to −4 and below.", decidable=True)
def stretched_exponential(rng: np.random.Generator) -> Case:
    time, beta = log_uniform(rng, 50.0, 1e3), rng.uniform(0.35, 0.6)
    steps = log_grid(time * (rng.uniform(4.0, 12.0) / beta) ** (1.0 / beta))
    return curve_case(rng, stretched(time, beta), steps, BoundAsked(_slope(rng)), None)


@families.fails("Shallower by 1.5 to 3 tolerances at every step.", decidable=True)
def missed_by_little(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e4, 1e9))
    return curve_case(rng, power(slope), steps, BoundAsked(slope - rng.uniform(0.03, 0.06)), slope)


@families.fails("Shallower by 0.1 and more, contracting like t^-p, p from 0.5.", decidable=True)
def missed_with_a_correction(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e4, 1e7), per_decade=5)
    asked = BoundAsked(slope - log_uniform(rng, 0.1, 1.0))
    return curve_case(rng, _mild(rng, slope), steps, asked, slope)


@families.fails(
    "The slope contracts to 0 like t^-0.5 or faster; 2% or less are left.", decidable=True
)
def floor_that_is_reached(rng: np.random.Generator) -> Case:
    slope, crossover = -log_uniform(rng, 0.5, 2.0), log_uniform(rng, 10.0, 1e3)
    shape = plus(power(slope), power(0.0, crossover**slope))
    steps = log_grid(crossover * max(50.0 ** (-1.0 / slope), 100.0) * log_uniform(rng, 1.0, 10.0))
    return curve_case(rng, shape, steps, BoundAsked(slope + rng.uniform(0.0, 0.2)), 0.0)


# The slope is −0.5 − 1.5·u/(1 + u) with u = (t/crossover)^-1.5; the bound is −1.
@families.fails(
    "A steep law gives way to a shallow one two decades before the end.", decidable=True
)
def shallow_in_the_end(rng: np.random.Generator) -> Case:
    crossover = log_uniform(rng, 1e2, 1e5)
    shape = plus(power(-2.0), power(-0.5, crossover**-1.5))
    steps = log_grid(crossover * log_uniform(rng, 1e2, 1e4))
    return curve_case(rng, shape, steps, BoundAsked(-1.0), -0.5)


@families.holds("Slopes are still above the exponent, within a decade of it.", decidable=False)
def plateau_that_has_hardly_ended(rng: np.random.Generator) -> Case:
    slope, end = _slope(rng), log_uniform(rng, 1e2, 1e6)
    steps = log_grid(end * log_uniform(rng, 3.0, 10.0))
    return curve_case(rng, plateau(slope, end), steps, BoundAsked(slope), slope)


@families.fails("The floor is a third to all of the curve at the end.", decidable=False)
def floor_that_begins(rng: np.random.Generator) -> Case:
    slope, horizon = _slope(rng), log_uniform(rng, 1e4, 1e8)
    shape = plus(power(slope), power(0.0, horizon**slope * log_uniform(rng, 0.3, 1.0)))
    return curve_case(rng, shape, log_grid(horizon), BoundAsked(slope), 0.0)


# ------------------------------------------------------------------------------- with noise


def _noisy(
    rng: np.random.Generator, noise: Noise, replicates: int, horizon: float, below: float
) -> Case:
    """The slope is `below` the exponent."""
    slope = _slope(rng)
    shape, steps, asked = _mild(rng, slope), log_grid(horizon), BoundAsked(slope + below)
    return curve_case(rng, shape, steps, asked, slope, noise=noise, replicates=replicates)


@families.holds("Steeper by 0.2 and more; 10 replicates of 10–30%.", decidable=True)
def loose_under_noise(rng: np.random.Generator) -> Case:
    noise, below = Noise(log_uniform(rng, 0.1, 0.3)), log_uniform(rng, 0.2, 0.6)
    return _noisy(rng, noise, 10, log_uniform(rng, 1e6, 1e8), below)


@families.holds("The exponent itself; 10 replicates of 1–3%.", decidable=True)
def tight_under_noise(rng: np.random.Generator) -> Case:
    return _noisy(rng, Noise(log_uniform(rng, 0.01, 0.03)), 10, log_uniform(rng, 1e6, 1e8), 0.0)


@families.holds("Steeper by 0.2; 5 replicates with AR(1) of 2–5%, offsets.", decidable=True)
def loose_in_five_runs(rng: np.random.Generator) -> Case:
    noise = Noise(log_uniform(rng, 0.02, 0.05), correlation=0.5, offset=0.3)
    return _noisy(rng, noise, 5, log_uniform(rng, 1e6, 1e8), log_uniform(rng, 0.2, 0.5))


@families.fails("Shallower by 0.2 and more; 10 replicates of 10–20%.", decidable=True)
def missed_under_noise(rng: np.random.Generator) -> Case:
    noise, below = Noise(log_uniform(rng, 0.1, 0.2)), -log_uniform(rng, 0.2, 0.6)
    return _noisy(rng, noise, 10, log_uniform(rng, 1e6, 1e8), below)


@families.fails("Shallower by 0.1 and more; 10 replicates of t3 noise of 1–4%.", decidable=True)
def missed_under_heavy_tails(rng: np.random.Generator) -> Case:
    noise, below = Noise(log_uniform(rng, 0.01, 0.04), heavy=True), -log_uniform(rng, 0.1, 0.4)
    return _noisy(rng, noise, 10, log_uniform(rng, 1e5, 1e7), below)


@families.fails("Shallower by 1.5 to 2 tolerances under 15–30%.", decidable=False)
def missed_by_little_under_noise(rng: np.random.Generator) -> Case:
    noise, below = Noise(log_uniform(rng, 0.15, 0.3)), -rng.uniform(0.03, 0.04)
    return _noisy(rng, noise, 5, log_uniform(rng, 1e3, 1e5), below)


@families.fails("Noise of a single run, of no declared model.", decidable=False)
def single_noisy_run(rng: np.random.Generator) -> Case:
    noise, below = Noise(log_uniform(rng, 0.02, 0.2)), -log_uniform(rng, 0.03, 0.2)
    return _noisy(rng, noise, 1, log_uniform(rng, 1e4, 1e7), below)


# --------------------------------------------------------------------- outside of the class


@families.holds("The slope falls to the exponent like 1/log t.", decidable=False)
def log_in_front(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e4, 1e9))
    shape = times(power(slope), log_factor(rng.uniform(0.25, 1.0)))
    return curve_case(rng, shape, steps, BoundAsked(slope), slope)


# The slope rises to −α from below, and the bound is 0.03 to 0.06 below −α: it looks met.
@families.fails("The slope rises past the exponent like 1/log² t.", decidable=False)
def met_for_a_while(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e4, 1e8))
    shape = times(power(slope), slow_log(log_uniform(rng, 30.0, 100.0)))
    return curve_case(rng, shape, steps, BoundAsked(slope - rng.uniform(0.025, 0.04)), slope)


@families.fails("δ is between 0.03 and 0.1.", decidable=False)
def met_for_longer(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e5, 1e8))
    shape = corrected(slope, [(log_uniform(rng, 3.0, 30.0), log_uniform(rng, 0.05, 0.1))])
    return curve_case(rng, shape, steps, BoundAsked(slope - rng.uniform(0.025, 0.04)), slope)


@families.fails("The slope is below the exponent for a time, and returns.", decidable=False)
def overshoot_and_return(rng: np.random.Generator) -> Case:
    slope, horizon = _slope(rng), log_uniform(rng, 1e5, 1e9)
    centre, width = np.log(horizon) - rng.uniform(0.0, 2.0), rng.uniform(1.5, 3.0)
    shape = times(power(slope), bump(rng.uniform(0.2, 1.0), centre, width))
    return curve_case(rng, shape, log_grid(horizon), BoundAsked(slope - 0.04), slope)


@families.holds("The second drop begins at the end of the runs.", decidable=False)
def two_stages(rng: np.random.Generator) -> Case:
    slope, first = -log_uniform(rng, 0.7, 2.0), log_uniform(rng, 1.0, 30.0)
    level = log_uniform(rng, 1e-3, 0.1)
    second = first * level ** (1.0 / slope) * log_uniform(rng, 1e2, 1e4)
    shape = plus(plateau(slope, first, 2.0), plateau(slope, second, 2.0, level))
    steps = log_grid(second * rng.uniform(1.5, 5.0))
    return curve_case(rng, shape, steps, BoundAsked(slope), slope)
