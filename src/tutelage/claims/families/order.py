"""Order: y = Θ(t^exponent), so that y·t^-exponent stays between two positive constants.

A family that fails is decidable where the slope contracts to another exponent or runs away. One
that holds is decidable where ln y·t^-exponent contracts and has no noise along the run.
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
    log_log_factor,
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
from tutelage.claims.families.family import Case, Collection, LogCurve, OrderAsked
from tutelage.run import Outcome

families = Collection("order")


def _slope(rng: np.random.Generator) -> float:
    return float(rng.choice([-1.0, -2.0, -0.5, -log_uniform(rng, 0.3, 2.0)]))


def _scale(rng: np.random.Generator) -> float:
    return log_uniform(rng, 1e-3, 1e3)


def _mild(rng: np.random.Generator, slope: float, scale: float) -> LogCurve:
    """A power law with a correction of at most 30% at t = 1, gone within few decades."""
    return corrected(slope, [(sign(rng) * 0.3, rng.uniform(0.5, 2.0))], scale)


# ---------------------------------------------------------------------------- without noise


@families.holds("y·t^-exponent is constant.", decidable=True)
def exact_law(rng: np.random.Generator) -> Case:
    slope, scale, steps = _slope(rng), _scale(rng), log_grid(log_uniform(rng, 1e4, 1e9))
    return curve_case(rng, power(slope, scale), steps, OrderAsked(slope), scale)


@families.holds("Contracts like t^-p with p of 0.35 and more.", decidable=True)
def correction(rng: np.random.Generator) -> Case:
    slope, scale, steps = _slope(rng), _scale(rng), log_grid(log_uniform(rng, 1e6, 1e9))
    terms = [(sign(rng) * log_uniform(rng, 0.1, 0.6), rng.uniform(0.35, 2.0))]
    return curve_case(rng, corrected(slope, terms, scale), steps, OrderAsked(slope), scale)


# a·t^-p and b·t^-q cancel at (b/a)^(1/(q−p)) < 16 steps; then the first alone remains.
@families.holds("After their cancellation, before t = 16, one term remains.", decidable=True)
def two_corrections_of_opposite_signs(rng: np.random.Generator) -> Case:
    slope, scale, p = _slope(rng), _scale(rng), rng.uniform(0.4, 1.0)
    first, q = sign(rng) * log_uniform(rng, 0.1, 0.3), p + rng.uniform(0.4, 1.0)
    shape = corrected(slope, [(first, p), (-first * log_uniform(rng, 0.5, 3.0), q)], scale)
    steps = log_grid(log_uniform(rng, 1e6, 1e8), per_decade=int(rng.choice([5, 24])))
    return curve_case(rng, shape, steps, OrderAsked(slope), scale)


@families.holds("Contracts like 1/t and ends three decades past its plateau.", decidable=True)
def plateau_and_a_line_every_50_steps(rng: np.random.Generator) -> Case:
    slope, scale, end = _slope(rng), _scale(rng), log_uniform(rng, 3.0, 60.0)
    steps, asked = linear_grid(log_uniform(rng, 1e5, 6e5)), OrderAsked(slope)
    return curve_case(rng, plateau(slope, end, scale=scale), steps, asked, scale * end**-slope)


@families.holds("Each run has a constant of its own, which is all that differs.", decidable=True)
def offsets_between_runs(rng: np.random.Generator) -> Case:
    slope, scale, steps = _slope(rng), _scale(rng), jittered_grid(rng, log_uniform(rng, 1e5, 1e8))
    noise, shape = Noise(offset=log_uniform(rng, 0.05, 0.5)), _mild(rng, slope, scale)
    replicates = int(rng.choice([3, 5, 10]))
    return curve_case(
        rng, shape, steps, OrderAsked(slope), scale, noise=noise, replicates=replicates
    )


@families.fails("The slope is off by 0.01 to 0.03 at every step.", decidable=True)
def exponent_missed_by_little(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e6, 1e9))
    shape = power(slope + sign(rng) * log_uniform(rng, 0.01, 0.03), _scale(rng))
    return curve_case(rng, shape, steps, OrderAsked(slope), None)


@families.fails("The slope is off by 0.1 and more, and contracts like t^-p.", decidable=True)
def exponent_missed(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), jittered_grid(rng, log_uniform(rng, 1e5, 1e8))
    shape = _mild(rng, slope + sign(rng) * log_uniform(rng, 0.1, 0.6), _scale(rng))
    return curve_case(rng, shape, steps, OrderAsked(slope), None)


@families.fails(
    "The slope contracts to 0 like t^-0.5 or faster; 2% or less are left.", decidable=True
)
def floor_that_is_reached(rng: np.random.Generator) -> Case:
    slope, crossover = -log_uniform(rng, 0.5, 2.0), log_uniform(rng, 10.0, 1e3)
    shape = plus(power(slope), power(0.0, crossover**slope))
    steps = log_grid(crossover * max(50.0 ** (-1.0 / slope), 100.0) * log_uniform(rng, 1.0, 10.0))
    return curve_case(rng, shape, steps, OrderAsked(slope), None)


@families.fails("The slope runs away from any exponent, to −10 and beyond.", decidable=True)
def exponential(rng: np.random.Generator) -> Case:
    time, outcome = log_uniform(rng, 1e2, 1e5), Outcome.CONVERGED
    steps = dense_grid(time * rng.uniform(10.0, 28.0))
    return curve_case(rng, stretched(time), steps, OrderAsked(_slope(rng)), None, outcome=outcome)


@families.fails("The slope runs away from any exponent, to −4 and beyond.", decidable=True)
def stretched_exponential(rng: np.random.Generator) -> Case:
    time, beta = log_uniform(rng, 50.0, 1e3), rng.uniform(0.35, 0.6)
    steps = log_grid(time * (rng.uniform(4.0, 12.0) / beta) ** (1.0 / beta))
    return curve_case(rng, stretched(time, beta), steps, OrderAsked(_slope(rng)), None)


@families.fails(
    "Three decades of a power law, then the slope runs away by 5 to 20.", decidable=True
)
def power_law_and_then_exponential(rng: np.random.Generator) -> Case:
    slope, time = _slope(rng), log_uniform(rng, 1e4, 1e7)
    shape, steps = times(power(slope), stretched(time)), log_grid(time * rng.uniform(5.0, 20.0))
    return curve_case(rng, shape, steps, OrderAsked(slope), None)


# y·t^-exponent is 10–40% lower at the end than its constant, almost all in the last decade.
@families.fails("The exponential has just begun: no limit is in sight.", decidable=False)
def power_law_whose_exponential_begins(rng: np.random.Generator) -> Case:
    slope, time = _slope(rng), log_uniform(rng, 1e4, 1e8)
    shape, steps = times(power(slope), stretched(time)), log_grid(time * rng.uniform(0.1, 0.5))
    return curve_case(rng, shape, steps, OrderAsked(slope), None)


@families.fails("The floor is a third to all of the curve at the end.", decidable=False)
def floor_that_begins(rng: np.random.Generator) -> Case:
    slope, horizon = _slope(rng), log_uniform(rng, 1e4, 1e8)
    shape = plus(power(slope), power(0.0, horizon**slope * log_uniform(rng, 0.3, 1.0)))
    return curve_case(rng, shape, log_grid(horizon), OrderAsked(slope), None)


# ------------------------------------------------------------------------------- with noise


def _noisy(rng: np.random.Generator, noise: Noise, replicates: int, off: float = 0.0) -> Case:
    """The slope is `off` the exponent."""
    slope, scale, steps = _slope(rng), _scale(rng), log_grid(log_uniform(rng, 1e6, 1e8))
    shape, limit = _mild(rng, slope + off, scale), None if off else scale
    asked = OrderAsked(slope)
    return curve_case(rng, shape, steps, asked, limit, noise=noise, replicates=replicates)


@families.holds("An order has no tolerance, and noise hides small powers.", decidable=False)
def noise_of_few_percent(rng: np.random.Generator) -> Case:
    return _noisy(rng, Noise(log_uniform(rng, 0.01, 0.05)), 10)


@families.holds("An order has no tolerance, and noise hides small powers.", decidable=False)
def noise_of_thirty_percent(rng: np.random.Generator) -> Case:
    return _noisy(rng, Noise(log_uniform(rng, 0.1, 0.3)), int(rng.choice([3, 30])))


@families.holds("An order has no tolerance; noise with memory looks like drift.", decidable=False)
def correlated_noise(rng: np.random.Generator) -> Case:
    return _noisy(rng, Noise(log_uniform(rng, 0.02, 0.1), correlation=rng.uniform(0.6, 0.95)), 5)


@families.holds("Noise of a single run, of no declared model.", decidable=False)
def single_noisy_run(rng: np.random.Generator) -> Case:
    return _noisy(rng, Noise(log_uniform(rng, 0.01, 0.2), spikes=0.01), 1)


@families.fails("Off by 0.05 and more; 10 replicates of 1–4%.", decidable=True)
def exponent_missed_under_noise(rng: np.random.Generator) -> Case:
    off = sign(rng) * log_uniform(rng, 0.05, 0.3)
    return _noisy(rng, Noise(log_uniform(rng, 0.01, 0.04)), 10, off)


@families.fails("Off by 0.3 and more; 10 replicates of 10–20%, t3.", decidable=True)
def exponent_missed_under_heavy_tails(rng: np.random.Generator) -> Case:
    off = sign(rng) * log_uniform(rng, 0.3, 0.8)
    return _noisy(rng, Noise(log_uniform(rng, 0.1, 0.2), heavy=True), 10, off)


@families.fails("Off by 0.01 to 0.03 under 5–20%: within the noise.", decidable=False)
def exponent_missed_by_little_under_noise(rng: np.random.Generator) -> Case:
    off = sign(rng) * log_uniform(rng, 0.01, 0.03)
    return _noisy(rng, Noise(log_uniform(rng, 0.05, 0.2)), 5, off)


# --------------------------------------------------------------------- outside of the class


def _with_logs(rng: np.random.Generator, factor: LogCurve, noise: float, replicates: int) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e5, 1e9))
    shape, asked = times(power(slope, _scale(rng)), factor), OrderAsked(slope)
    return curve_case(rng, shape, steps, asked, None, noise=Noise(noise), replicates=replicates)


@families.fails("log t/t is some Θ(1/t) of slow approach to every horizon.", decidable=False)
def log_in_front(rng: np.random.Generator) -> Case:
    return _with_logs(rng, log_factor(sign(rng) * rng.uniform(0.5, 1.5)), 0.0, 1)


@families.fails("(log t)^¼/t grows by 3% per decade at t = 10⁸.", decidable=False)
def quarter_power_of_log(rng: np.random.Generator) -> Case:
    return _with_logs(rng, log_factor(0.25 * sign(rng)), 0.0, 1)


@families.fails("log t/t in 10 runs of 1–5%.", decidable=False)
def log_in_front_under_noise(rng: np.random.Generator) -> Case:
    return _with_logs(rng, log_factor(rng.uniform(0.5, 1.0)), log_uniform(rng, 0.01, 0.05), 10)


@families.fails("log log t: nobody can tell.", decidable=False)
def log_log_in_front(rng: np.random.Generator) -> Case:
    return _with_logs(rng, log_log_factor(), 0.0, 1)


@families.holds("y·t^-exponent tends to its constant like 1/log t.", decidable=False)
def one_over_log(rng: np.random.Generator) -> Case:
    slope, scale, steps = _slope(rng), _scale(rng), log_grid(log_uniform(rng, 1e4, 1e9))
    shape = times(power(slope, scale), slow_log(log_uniform(rng, 3.0, 100.0)))
    return curve_case(rng, shape, steps, OrderAsked(slope), scale)


@families.holds("δ is between 0.03 and 0.15.", decidable=False)
def correction_slower_than_the_class(rng: np.random.Generator) -> Case:
    slope, scale, steps = _slope(rng), _scale(rng), log_grid(log_uniform(rng, 1e5, 1e9))
    terms = [(log_uniform(rng, 0.3, 10.0), log_uniform(rng, 0.03, 0.15))]
    return curve_case(rng, corrected(slope, terms, scale), steps, OrderAsked(slope), scale)


@families.holds("Between two constants for ever, with no limit.", decidable=False)
def log_periodic_factor(rng: np.random.Generator) -> Case:
    slope, steps = _slope(rng), log_grid(log_uniform(rng, 1e4, 1e9))
    wave = log_periodic(rng.uniform(0.03, 0.3), rng.uniform(0.5, 4.0), rng.uniform(0.0, 6.0))
    return curve_case(rng, times(power(slope), wave), steps, OrderAsked(slope), None)


@families.holds("The curve leaves its law near the end and returns.", decidable=False)
def overshoot_and_return(rng: np.random.Generator) -> Case:
    slope, scale, horizon = _slope(rng), _scale(rng), log_uniform(rng, 1e5, 1e9)
    centre, width = np.log(horizon) - rng.uniform(0.5, 3.0), rng.uniform(1.5, 3.0)
    shape = times(power(slope, scale), bump(sign(rng) * rng.uniform(0.2, 1.0), centre, width))
    return curve_case(rng, shape, log_grid(horizon), OrderAsked(slope), scale)


@families.holds("The second drop begins at the end of the runs.", decidable=False)
def two_stages(rng: np.random.Generator) -> Case:
    slope, first = -log_uniform(rng, 0.7, 2.0), log_uniform(rng, 1.0, 30.0)
    level = log_uniform(rng, 1e-3, 0.1)
    second = first * level ** (1.0 / slope) * log_uniform(rng, 1e2, 1e4)
    shape = plus(plateau(slope, first, 2.0), plateau(slope, second, 2.0, level))
    steps, limit = log_grid(second * rng.uniform(1.5, 5.0)), first**-slope + level * second**-slope
    return curve_case(rng, shape, steps, OrderAsked(slope), limit)
