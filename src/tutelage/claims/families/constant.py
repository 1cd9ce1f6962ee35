"""Constant: y·(ηt)^-exponent tends to `value`, within a relative `tolerance` (here 0.03)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from tutelage.claims.families.curves import (
    SILENT,
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
from tutelage.claims.families.family import Case, Collection, ConstantAsked, LogCurve
from tutelage.run import Outcome

families = Collection("constant")


def _slope(rng: np.random.Generator) -> float:
    return float(rng.choice([-1.0, -2.0, -0.5, -log_uniform(rng, 0.3, 2.0)]))


def _case(
    rng: np.random.Generator,
    slope: float,
    shape: LogCurve,
    constant: float,
    steps: Int[np.ndarray, "points"],
    *,
    off: float = 0.0,
    noise: Noise = SILENT,
    replicates: int = 1,
) -> Case:
    """`shape`·t^-slope tends to `constant`; the claimed value is 1 + `off` times the limit, or
    1/(1 + `off`) of it.
    """
    rate, scale = log_uniform(rng, 1e-3, 1.0), log_uniform(rng, 1e-3, 1e3)
    limit = scale * constant * rate**-slope
    value = limit * (1.0 + off) ** sign(rng)
    whole, asked = times(power(0.0, scale), shape), ConstantAsked(slope, value)
    return curve_case(
        rng, whole, steps, asked, limit, noise=noise, replicates=replicates, rate=rate
    )


def _mild(rng: np.random.Generator, slope: float) -> LogCurve:
    """A power law with a correction of at most 30% at t = 1, gone within few decades."""
    return corrected(slope, [(sign(rng) * 0.3, rng.uniform(0.5, 2.0))])


# ---------------------------------------------------------------------------- without noise


@families.holds("It is the value at every step.", decidable=True)
def exact_law(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e3, 1e9))
    return _case(rng, slope, power(slope), 1.0, steps)


# At the end 0.4·T^-p ≤ 0.006; the class allows (10^p − 1)/(10^¼ − 1) times as much, < 0.008.
@families.holds("Contracts like t^-p with p of at least ¼, and is long.", decidable=True)
def slow_correction_of_the_class(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e7, 1e9))
    term = sign(rng) * log_uniform(rng, 0.1, 0.4), rng.uniform(0.26, 0.5)
    return _case(rng, slope, corrected(slope, [term]), 1.0, steps)


@families.holds("Contracts like t^-p with p of 0.6 and more.", decidable=True)
def fast_correction(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), dense_grid(log_uniform(rng, 1e5, 1e6))
    term = sign(rng) * log_uniform(rng, 0.1, 0.5), rng.uniform(0.6, 2.0)
    return _case(rng, slope, corrected(slope, [term]), 1.0, steps)


@families.holds("After their cancellation, before t = 16, one term remains.", decidable=True)
def two_corrections_of_opposite_signs(rng: np.random.Generator) -> Case:
    slope, p = _slope(rng), rng.uniform(0.5, 1.0)
    first, q = sign(rng) * log_uniform(rng, 0.1, 0.3), p + rng.uniform(0.4, 1.0)
    shape = corrected(slope, [(first, p), (-first * log_uniform(rng, 0.5, 3.0), q)])
    return _case(rng, slope, shape, 1.0, log_grid(log_uniform(rng, 1e5, 1e8), per_decade=5))


# (1 + end/t)^slope is off by at most 2·60/10⁵ at the end.
@families.holds("Contracts like 1/t and ends three decades past its plateau.", decidable=True)
def plateau_and_a_line_every_50_steps(rng: np.random.Generator) -> Case:
    slope, end = _slope(rng), log_uniform(rng, 3.0, 60.0)
    steps = linear_grid(log_uniform(rng, 1e5, 6e5))
    return _case(rng, slope, plateau(slope, end), end**-slope, steps)


@families.fails("1.5 to 3 tolerances off at every step.", decidable=True)
def value_missed_by_little(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e4, 1e9))
    return _case(rng, slope, power(slope), 1.0, steps, off=rng.uniform(0.05, 0.09))


@families.fails("Off by 15% and more, contracting like t^-p, p from 0.5.", decidable=True)
def value_missed(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), jittered_grid(rng, log_uniform(rng, 1e5, 1e8))
    return _case(rng, slope, _mild(rng, slope), 1.0, steps, off=log_uniform(rng, 0.15, 1.0))


# The value is what a power law through t = 1 would give; the curve has left it 4-fold or more.
@families.fails("Another exponent: it runs away from the value.", decidable=True)
def another_exponent(rng: np.random.Generator) -> Case:
    slope, rate = _slope(rng), log_uniform(rng, 1e-3, 1.0)
    shape = power(slope + sign(rng) * log_uniform(rng, 0.15, 0.5))
    asked, steps = ConstantAsked(slope, rate**-slope), log_grid(log_uniform(rng, 1e4, 1e8))
    return curve_case(rng, shape, steps, asked, None, rate=rate)


@families.fails("It falls to nothing, far from the value.", decidable=True)
def power_law_and_then_exponential(rng: np.random.Generator) -> Case:
    slope, rate, time = _slope(rng), log_uniform(rng, 1e-3, 1.0), log_uniform(rng, 1e4, 1e7)
    shape, asked = times(power(slope), stretched(time)), ConstantAsked(slope, rate**-slope)
    steps, outcome = log_grid(time * rng.uniform(5.0, 20.0)), Outcome.CONVERGED
    return curve_case(rng, shape, steps, asked, None, rate=rate, outcome=outcome)


@families.fails("It grows with t, fifty-fold beyond the value.", decidable=True)
def floor_that_is_reached(rng: np.random.Generator) -> Case:
    slope, rate = -log_uniform(rng, 0.5, 2.0), log_uniform(rng, 1e-3, 1.0)
    crossover = log_uniform(rng, 10.0, 1e3)
    shape = plus(power(slope), power(0.0, crossover**slope))
    steps = log_grid(crossover * max(50.0 ** (-1.0 / slope), 100.0) * log_uniform(rng, 1.0, 10.0))
    return curve_case(rng, shape, steps, ConstantAsked(slope, rate**-slope), None, rate=rate)


# y·t^-exponent passes through the value within the last decade, at a rate of 12–60% per decade.
@families.fails("Another exponent, which is just passing the value.", decidable=False)
def passing_the_value(rng: np.random.Generator) -> Case:
    slope, rate, horizon = _slope(rng), log_uniform(rng, 1e-3, 1.0), log_uniform(rng, 1e4, 1e8)
    off = sign(rng) * log_uniform(rng, 0.05, 0.2)
    value = (horizon * log_uniform(rng, 0.1, 1.0)) ** off * rate**-slope
    asked = ConstantAsked(slope, value)
    return curve_case(rng, power(slope + off), log_grid(horizon), asked, None, rate=rate)


# ------------------------------------------------------------------------------- with noise


def _noisy(rng: np.random.Generator, noise: Noise, replicates: int, off: float = 0.0) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e6, 1e8))
    shape = _mild(rng, slope)
    return _case(rng, slope, shape, 1.0, steps, off=off, noise=noise, replicates=replicates)


@families.holds("10 replicates of 1–4%: constants to 0.3%.", decidable=True)
def noise_of_few_percent(rng: np.random.Generator) -> Case:
    return _noisy(rng, Noise(log_uniform(rng, 0.01, 0.04)), 10)


@families.holds("30 replicates of 5–10%: constants to 0.4%.", decidable=True)
def noise_of_ten_percent(rng: np.random.Generator) -> Case:
    return _noisy(rng, Noise(log_uniform(rng, 0.05, 0.1)), 30)


@families.holds("10 constants that differ by 0.3–0.8%, each within tolerance.", decidable=True)
def offsets_between_runs(rng: np.random.Generator) -> Case:
    return _noisy(rng, Noise(offset=log_uniform(rng, 0.003, 0.008)), 10)


@families.holds("3 replicates need 24 standard errors; offsets of 0.1% give them.", decidable=True)
def three_replicates_of_little_noise(rng: np.random.Generator) -> Case:
    return _noisy(rng, Noise(offset=log_uniform(rng, 0.0002, 0.001)), 3)


@families.holds("5 constants that differ by 5–10%, around the value.", decidable=False)
def offsets_larger_than_the_tolerance(rng: np.random.Generator) -> Case:
    return _noisy(rng, Noise(offset=log_uniform(rng, 0.05, 0.1)), 5)


@families.holds("Noise of a single run, of no declared model.", decidable=False)
def single_noisy_run(rng: np.random.Generator) -> Case:
    return _noisy(rng, Noise(log_uniform(rng, 0.01, 0.1), offset=0.01), 1)


@families.holds("t3 noise of 1–3% in 10 replicates.", decidable=True)
def heavy_tails(rng: np.random.Generator) -> Case:
    return _noisy(rng, Noise(log_uniform(rng, 0.01, 0.03), heavy=True), 10)


# Spikes raise the mean of ln y by at most 0.005·0.75 < 0.4%.
@families.holds("Spikes in 0.5% of the points, 30 replicates.", decidable=True)
def spikes(rng: np.random.Generator) -> Case:
    return _noisy(rng, Noise(log_uniform(rng, 0.005, 0.02), spikes=0.005), 30)


@families.fails("Off by 15% and more; 10 replicates of AR(1) of 2–4%.", decidable=True)
def value_missed_under_correlated_noise(rng: np.random.Generator) -> Case:
    noise = Noise(log_uniform(rng, 0.02, 0.04), correlation=rng.uniform(0.3, 0.8))
    return _noisy(rng, noise, 10, log_uniform(rng, 0.15, 0.6))


@families.fails("Off by 30% and more; 5 replicates with offsets of 1–3%.", decidable=True)
def value_missed_in_five_runs(rng: np.random.Generator) -> Case:
    noise = Noise(0.01, offset=log_uniform(rng, 0.01, 0.03))
    return _noisy(rng, noise, 5, log_uniform(rng, 0.3, 1.0))


@families.fails("Off by 1.5 to 2 tolerances; 5 replicates with offsets of 5–10%.", decidable=False)
def value_missed_by_little_under_noise(rng: np.random.Generator) -> Case:
    noise = Noise(0.05, offset=log_uniform(rng, 0.05, 0.1))
    return _noisy(rng, noise, 5, rng.uniform(0.045, 0.06))


# --------------------------------------------------------------------- outside of the class


def _reading(shape: LogCurve, slope: float, horizon: float, rate: float) -> float:
    """y·(ηt)^-exponent at the horizon: the value that a careless reader would claim."""
    return float(np.exp(shape(np.array([np.log(horizon)])) - slope * np.log(horizon))[0]) * (
        rate**-slope
    )


@families.holds("It tends to the value like 1/log t.", decidable=False)
def one_over_log(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e4, 1e9))
    shape = times(power(slope), slow_log(log_uniform(rng, 0.5, 100.0)))
    return _case(rng, slope, shape, 1.0, steps)


@families.holds("δ is between 0.03 and 0.1.", decidable=False)
def correction_slower_than_the_class(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e5, 1e9))
    term = sign(rng) * log_uniform(rng, 0.1, 0.8), log_uniform(rng, 0.03, 0.1)
    return _case(rng, slope, corrected(slope, [term]), 1.0, steps)


# |b|·T^-p ≥ 0.5·10^-0.8 = 0.08 at the end, so that what is read there is 7% off or more.
@families.fails("δ is between 0.03 and 0.1, and the value is what is read.", decidable=False)
def value_that_is_read_too_early(rng: np.random.Generator) -> Case:
    slope, rate, horizon = _slope(rng), log_uniform(rng, 1e-3, 1.0), log_uniform(rng, 1e5, 1e8)
    shape = corrected(slope, [(sign(rng) * rng.uniform(0.5, 0.9), log_uniform(rng, 0.03, 0.1))])
    asked = ConstantAsked(slope, _reading(shape, slope, horizon, rate))
    limit = rate**-slope
    return curve_case(rng, shape, log_grid(horizon), asked, limit, rate=rate)


@families.fails("log t/t has no limit, and the value is what is read.", decidable=False)
def log_in_front(rng: np.random.Generator) -> Case:
    slope, rate, horizon = _slope(rng), log_uniform(rng, 1e-3, 1.0), log_uniform(rng, 1e4, 1e9)
    shape = times(power(slope), log_factor(sign(rng) * rng.uniform(0.25, 1.0)))
    asked = ConstantAsked(slope, _reading(shape, slope, horizon, rate))
    return curve_case(rng, shape, log_grid(horizon), asked, None, rate=rate)


@families.fails("Log-periodic by 6–30%: it has no limit.", decidable=False)
def log_periodic_factor(rng: np.random.Generator) -> Case:
    slope, rate, steps = (
        _slope(rng),
        log_uniform(rng, 1e-3, 1.0),
        log_grid(log_uniform(rng, 1e4, 1e9)),
    )
    wave = log_periodic(rng.uniform(0.06, 0.3), rng.uniform(0.5, 4.0), rng.uniform(0.0, 6.0))
    asked = ConstantAsked(slope, rate**-slope)
    return curve_case(rng, times(power(slope), wave), steps, asked, None, rate=rate)


@families.holds("The curve leaves its law near the end and returns.", decidable=False)
def overshoot_and_return(rng: np.random.Generator) -> Case:
    slope, horizon = _slope(rng), log_uniform(rng, 1e5, 1e9)
    centre, width = np.log(horizon) - rng.uniform(0.5, 3.0), rng.uniform(1.5, 3.0)
    shape = times(power(slope), bump(sign(rng) * rng.uniform(0.2, 1.0), centre, width))
    return _case(rng, slope, shape, 1.0, log_grid(horizon))


@families.holds("The second drop begins at the end of the runs.", decidable=False)
def two_stages(rng: np.random.Generator) -> Case:
    slope, first = -log_uniform(rng, 0.7, 2.0), log_uniform(rng, 1.0, 30.0)
    level = log_uniform(rng, 1e-3, 0.1)
    second = first * level ** (1.0 / slope) * log_uniform(rng, 1e2, 1e4)
    shape = plus(plateau(slope, first, 2.0), plateau(slope, second, 2.0, level))
    steps = log_grid(second * rng.uniform(1.5, 5.0))
    return _case(rng, slope, shape, first**-slope + level * second**-slope, steps)
