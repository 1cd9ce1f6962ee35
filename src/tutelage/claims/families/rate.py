"""Rate: the local slope of ln y over ln t tends to `exponent`, within `tolerance` (here 0.02)."""

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
    log_periodic,
    log_uniform,
    plateau,
    plus,
    power,
    sign,
    slow_log,
    stretched,
    times,
)
from tutelage.claims.families.family import Case, Collection, LogCurve, RateAsked
from tutelage.run import Outcome

families = Collection("rate")


def _slope(rng: np.random.Generator) -> float:
    return -log_uniform(rng, 0.3, 2.0)


def _scale(rng: np.random.Generator) -> float:
    return log_uniform(rng, 1e-3, 1e3)


def _mild(rng: np.random.Generator, slope: float) -> LogCurve:
    """A power law with a correction of at most 30% at t = 1, gone within few decades."""
    return corrected(slope, [(sign(rng) * 0.3, rng.uniform(0.5, 2.0))], _scale(rng))


# ---------------------------------------------------------------------------- without noise


@families.holds("The slope is the exponent at every step.", decidable=True)
def exact_law(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e3, 1e9))
    return curve_case(rng, power(slope, _scale(rng)), steps, RateAsked(slope), slope)


@families.holds("As the exact law, on 10,000 evenly spaced points.", decidable=True)
def exact_law_on_a_dense_grid(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), dense_grid(log_uniform(rng, 1e5, 1e7))
    return curve_case(rng, power(slope, _scale(rng)), steps, RateAsked(slope), slope)


@families.holds("Contracts like 1/t, and ends three decades past its plateau.", decidable=True)
def a_line_every_50_steps(rng: np.random.Generator) -> Case:
    slope, horizon = _slope(rng), log_uniform(rng, 1e5, 6e5)
    shape = plateau(slope, log_uniform(rng, 3.0, 60.0), scale=_scale(rng))
    return curve_case(rng, shape, linear_grid(horizon), RateAsked(slope), slope)


@families.holds(
    "Contracts like t^-p, p from 0.5 on; at the end 0.25·t^-p is small.", decidable=True
)
def five_points_per_decade(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e5, 1e8), per_decade=5)
    return curve_case(rng, _mild(rng, slope), steps, RateAsked(slope), slope)


# The error of the slope at the end is at most 0.4·p·T^-p ≤ 0.0018 (p = ¼, T = 10⁷); the class
# allows at most (10^p − 1)/(10^¼ − 1) times as much, which is less than 0.003 for all p here.
@families.holds("Contracts like t^-p with p of at least ¼, and is long.", decidable=True)
def slow_correction_of_the_class(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e7, 1e9))
    shape = corrected(slope, [(sign(rng) * log_uniform(rng, 0.1, 0.4), rng.uniform(0.26, 0.5))])
    return curve_case(rng, shape, steps, RateAsked(slope), slope)


@families.holds("Contracts like t^-p, p from 0.5; the class leaves at most 0.009.", decidable=True)
def fast_correction(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e4, 1e6))
    shape = corrected(slope, [(sign(rng) * log_uniform(rng, 0.1, 0.6), rng.uniform(0.5, 2.0))])
    return curve_case(rng, shape, steps, RateAsked(slope), slope)


# a·p·t^-p and b·q·t^-q cancel at (bq/ap)^(1/(q−p)) < 16 steps; then the first alone remains.
@families.holds("After their cancellation, before t = 16, one term remains.", decidable=True)
def two_corrections_of_opposite_signs(rng: np.random.Generator) -> Case:
    slope, steps, p = _slope(rng), log_grid(log_uniform(rng, 1e6, 1e8)), rng.uniform(0.4, 1.0)
    first, q = sign(rng) * log_uniform(rng, 0.1, 0.4), p + rng.uniform(0.4, 1.0)
    second = -first * p / q * log_uniform(rng, 0.5, 3.0)
    shape = corrected(slope, [(first, p), (second, q)], _scale(rng))
    return curve_case(rng, shape, steps, RateAsked(slope), slope)


@families.holds("Contracts like 1/t or faster for three decades and more.", decidable=True)
def plateau_that_is_told(rng: np.random.Generator) -> Case:
    slope, end = _slope(rng), log_uniform(rng, 1e2, 1e4)
    shape = plateau(slope, end, rng.uniform(1.0, 4.0), _scale(rng))
    steps = log_grid(end * log_uniform(rng, 2e3, 3e4))
    return curve_case(rng, shape, steps, RateAsked(slope, plateau=int(5 * end)), slope)


@families.holds("As with the plateau told: it lies in the first half of ln t.", decidable=True)
def plateau_that_is_not_told(rng: np.random.Generator) -> Case:
    slope, end = _slope(rng), log_uniform(rng, 1e2, 1e3)
    shape = plateau(slope, end, rng.uniform(1.0, 4.0), _scale(rng))
    steps = log_grid(end * log_uniform(rng, 5e3, 1e5))
    return curve_case(rng, shape, steps, RateAsked(slope), slope)


@families.holds("Runs end within a decade of the plateau; slopes are far from it.", decidable=False)
def plateau_that_has_hardly_ended(rng: np.random.Generator) -> Case:
    slope, end = _slope(rng), log_uniform(rng, 400.0, 1e6)
    steps = log_grid(end * log_uniform(rng, 3.0, 10.0))
    shape = plateau(slope, end, rng.uniform(1.0, 2.0), _scale(rng))
    return curve_case(rng, shape, steps, RateAsked(slope), slope)


@families.fails("The slope is 1.5 to 3 tolerances off at every step.", decidable=True)
def exponent_missed_by_little(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e4, 1e9))
    asked = RateAsked(slope + sign(rng) * rng.uniform(0.03, 0.06))
    return curve_case(rng, power(slope, _scale(rng)), steps, asked, slope)


@families.fails("The slope is 0.1 and more off, and contracts like t^-p.", decidable=True)
def exponent_missed_with_a_correction(rng: np.random.Generator) -> Case:
    slope, horizon = _slope(rng), log_uniform(rng, 1e4, 1e8)
    steps = jittered_grid(rng, horizon)
    asked = RateAsked(slope + sign(rng) * log_uniform(rng, 0.1, 0.5))
    return curve_case(rng, _mild(rng, slope), steps, asked, slope)


@families.fails("The slope runs away from any finite exponent, to −10 and beyond.", decidable=True)
def exponential(rng: np.random.Generator) -> Case:
    time = log_uniform(rng, 1e2, 1e5)
    shape, steps = stretched(time, scale=_scale(rng)), log_grid(time * rng.uniform(10.0, 28.0))
    outcome = Outcome.CONVERGED
    return curve_case(rng, shape, steps, RateAsked(_slope(rng)), None, outcome=outcome)


# The slope is −β(t/τ)^β; it ends between −4 and −12, twice the steepest claim or more.
@families.fails("The slope runs away from any finite exponent, to −4 and beyond.", decidable=True)
def stretched_exponential(rng: np.random.Generator) -> Case:
    time, beta = log_uniform(rng, 50.0, 1e3), rng.uniform(0.35, 0.6)
    steps = log_grid(time * (rng.uniform(4.0, 12.0) / beta) ** (1.0 / beta))
    shape = stretched(time, beta, _scale(rng))
    return curve_case(rng, shape, steps, RateAsked(_slope(rng)), None)


@families.fails(
    "Three decades of a power law, then the slope runs away by 5 to 20.", decidable=True
)
def power_law_and_then_exponential(rng: np.random.Generator) -> Case:
    slope, time = _slope(rng), log_uniform(rng, 1e4, 1e7)
    shape, steps = times(power(slope), stretched(time)), log_grid(time * rng.uniform(5.0, 20.0))
    return curve_case(rng, shape, steps, RateAsked(slope), None)


# The slope at the end is off by T/τ, between 0.1 and 0.5, and hardly a third of a decade earlier.
@families.fails("The exponential has just begun: no limit is in sight.", decidable=False)
def power_law_whose_exponential_begins(rng: np.random.Generator) -> Case:
    slope, time = _slope(rng), log_uniform(rng, 1e4, 1e8)
    shape, steps = times(power(slope), stretched(time)), log_grid(time * rng.uniform(0.1, 0.5))
    return curve_case(rng, shape, steps, RateAsked(slope), None)


@families.fails(
    "The slope contracts to 0 like t^-0.5 or faster; 2% or less are left.", decidable=True
)
def floor_that_is_reached(rng: np.random.Generator) -> Case:
    slope, scale = -log_uniform(rng, 0.5, 2.0), _scale(rng)
    crossover = log_uniform(rng, 10.0, 1e3)
    shape = plus(power(slope, scale), power(0.0, scale * crossover**slope))
    steps = log_grid(crossover * max(50.0 ** (-1.0 / slope), 100.0) * log_uniform(rng, 1.0, 10.0))
    return curve_case(rng, shape, steps, RateAsked(slope), 0.0)


@families.fails("The floor is a third to all of the curve at the end.", decidable=False)
def floor_that_begins(rng: np.random.Generator) -> Case:
    slope, scale, horizon = _slope(rng), _scale(rng), log_uniform(rng, 1e4, 1e8)
    floor = power(0.0, scale * horizon**slope * log_uniform(rng, 0.3, 1.0))
    shape = plus(power(slope, scale), floor)
    return curve_case(rng, shape, log_grid(horizon), RateAsked(slope), 0.0)


# ------------------------------------------------------------------------------- with noise


def _noisy(
    rng: np.random.Generator, noise: Noise, replicates: int, horizon: float, off: float = 0.0
) -> Case:
    slope = _slope(rng)
    steps = log_grid(horizon)
    asked = RateAsked(slope + off)
    shape = _mild(rng, slope)
    return curve_case(rng, shape, steps, asked, slope, noise=noise, replicates=replicates)


@families.holds("10 replicates of 1–3%: slopes to 0.001 or better.", decidable=True)
def noise_of_few_percent(rng: np.random.Generator) -> Case:
    return _noisy(rng, Noise(log_uniform(rng, 0.01, 0.03)), 10, log_uniform(rng, 1e6, 1e8))


@families.holds("30 replicates of 5–10% over six decades and more.", decidable=True)
def noise_of_ten_percent(rng: np.random.Generator) -> Case:
    return _noisy(rng, Noise(log_uniform(rng, 0.05, 0.1)), 30, log_uniform(rng, 1e6, 1e9))


@families.holds("5 replicates of 20–30% over four decades: too few.", decidable=False)
def noise_of_thirty_percent(rng: np.random.Generator) -> Case:
    return _noisy(rng, Noise(log_uniform(rng, 0.2, 0.3)), 5, log_uniform(rng, 1e4, 1e5))


@families.holds("3 replicates need 24 standard errors, and 0.5% gives them.", decidable=True)
def three_replicates_of_little_noise(rng: np.random.Generator) -> Case:
    return _noisy(rng, Noise(log_uniform(rng, 0.001, 0.005)), 3, log_uniform(rng, 1e6, 1e8))


@families.holds("Noise of a single run, of no declared model.", decidable=False)
def single_noisy_run(rng: np.random.Generator) -> Case:
    return _noisy(rng, Noise(log_uniform(rng, 0.01, 0.1)), 1, log_uniform(rng, 1e5, 1e7))


@families.holds("AR(1) of 1–2% in 10 replicates over seven decades.", decidable=True)
def correlated_noise(rng: np.random.Generator) -> Case:
    noise = Noise(log_uniform(rng, 0.01, 0.02), correlation=rng.uniform(0.5, 0.9))
    return _noisy(rng, noise, 10, log_uniform(rng, 1e7, 1e9))


@families.holds("Each run has its own constant and the same slope.", decidable=True)
def offsets_between_runs(rng: np.random.Generator) -> Case:
    noise = Noise(offset=log_uniform(rng, 0.1, 0.5))
    return _noisy(rng, noise, int(rng.choice([3, 5, 10])), log_uniform(rng, 1e5, 1e7))


@families.holds("t3 noise of 1–3% in 10 replicates: slopes to 0.001.", decidable=True)
def heavy_tails(rng: np.random.Generator) -> Case:
    noise = Noise(log_uniform(rng, 0.01, 0.03), heavy=True)
    return _noisy(rng, noise, 10, log_uniform(rng, 1e6, 1e8))


# A spike of 0.75 in a hundred points is a noise of 7.5%, even to an oracle that keeps it.
@families.holds("Spikes in 1% of the points, 30 replicates, six decades.", decidable=True)
def spikes(rng: np.random.Generator) -> Case:
    noise = Noise(log_uniform(rng, 0.005, 0.02), spikes=0.01)
    return _noisy(rng, noise, 30, log_uniform(rng, 1e6, 1e8))


@families.fails("Off by 0.06 and more; 10 replicates of 2–5%.", decidable=True)
def exponent_missed_under_noise(rng: np.random.Generator) -> Case:
    noise, off = Noise(log_uniform(rng, 0.02, 0.05)), sign(rng) * log_uniform(rng, 0.06, 0.3)
    return _noisy(rng, noise, 10, log_uniform(rng, 1e5, 1e8), off)


@families.fails("Off by 0.2 and more; 5 replicates of 2–5%, offsets between them.", decidable=True)
def exponent_missed_in_five_runs(rng: np.random.Generator) -> Case:
    noise = Noise(log_uniform(rng, 0.02, 0.05), offset=0.2)
    off = sign(rng) * log_uniform(rng, 0.2, 0.6)
    return _noisy(rng, noise, 5, log_uniform(rng, 1e5, 1e7), off)


@families.fails("Off by 1.5 to 2 tolerances under 30%: too much noise.", decidable=False)
def exponent_missed_by_little_under_noise(rng: np.random.Generator) -> Case:
    off = sign(rng) * rng.uniform(0.03, 0.04)
    return _noisy(rng, Noise(log_uniform(rng, 0.15, 0.3)), 5, log_uniform(rng, 1e3, 1e5), off)


# --------------------------------------------------------------------- outside of the class


@families.holds("The slope tends to the exponent like 1/log² t.", decidable=False)
def one_over_log(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e4, 1e9))
    shape = times(power(slope, _scale(rng)), slow_log(log_uniform(rng, 3.0, 100.0)))
    return curve_case(rng, shape, steps, RateAsked(slope), slope)


@families.holds("The slope tends to the exponent like 1/log t.", decidable=False)
def log_in_front(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e4, 1e9))
    shape = times(power(slope, _scale(rng)), log_factor(sign(rng) * rng.uniform(0.25, 1.0)))
    return curve_case(rng, shape, steps, RateAsked(slope), slope)


@families.holds("δ is between 0.03 and 0.1.", decidable=False)
def correction_slower_than_the_class(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e5, 1e9))
    shape = corrected(slope, [(log_uniform(rng, 0.5, 10.0), log_uniform(rng, 0.03, 0.1))])
    return curve_case(rng, shape, steps, RateAsked(slope), slope)


# |d ln(1 + s·cos ωx)/dx| ≤ sω/(1 − s) < 0.0151, within the tolerance for ever, with no limit.
@families.holds("Log-periodic: within the tolerance for ever, but no limit.", decidable=False)
def log_periodic_and_small(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e5, 1e9))
    frequency = rng.uniform(1.0, 5.0)
    wave = log_periodic(rng.uniform(0.001, 0.015 / frequency), frequency, rng.uniform(0.0, 6.0))
    return curve_case(rng, times(power(slope), wave), steps, RateAsked(slope), None)


@families.holds("The slope passes the exponent and is on its way back.", decidable=False)
def overshoot_and_return(rng: np.random.Generator) -> Case:
    slope, horizon = _slope(rng), log_uniform(rng, 1e5, 1e9)
    centre, width = np.log(horizon) - rng.uniform(0.5, 3.0), rng.uniform(1.5, 3.0)
    shape = times(power(slope), bump(sign(rng) * rng.uniform(0.2, 1.0), centre, width))
    return curve_case(rng, shape, log_grid(horizon), RateAsked(slope), slope)


# A second plateau of two decades or more, at a thousandth to a tenth, has just been left.
@families.holds("The second drop begins at the end of the runs.", decidable=False)
def two_stages(rng: np.random.Generator) -> Case:
    slope, first = -log_uniform(rng, 0.7, 2.0), log_uniform(rng, 1.0, 30.0)
    level = log_uniform(rng, 1e-3, 0.1)
    second = first * level ** (1.0 / slope) * log_uniform(rng, 1e2, 1e4)
    shape = plus(plateau(slope, first, 2.0), plateau(slope, second, 2.0, level))
    steps = log_grid(second * rng.uniform(1.5, 5.0))
    return curve_case(rng, shape, steps, RateAsked(slope), slope)
