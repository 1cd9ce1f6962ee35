"""Order: y·t^-exponent stays between two positive constants (both sides).

The claim's tolerance is 0.1: factors (log t)^β are told from none for |β| ≥ 0.1. No family has a
factor with 0 < |β| < 0.1, of which the claim's docstring leaves open what is right.
"""

from __future__ import annotations

import numpy as np

from tutelage.claims.families.family import Case, Collection, LogCurve, OrderAsked
from tutelage.claims.families_2.shapes import (
    QUIET,
    Noise,
    Rng,
    Steps,
    approach,
    checkpoints,
    cutoff,
    draw_log,
    draw_scale,
    draw_sign,
    draw_slope,
    even_steps,
    hump,
    knee,
    log_approach,
    log_power,
    log_steps,
    make_case,
    power,
    product,
    scattered_steps,
    total,
    wave,
)

families = Collection("order")


def _with_limit(
    rng: Rng,
    factor: LogCurve,
    steps: Steps,
    *,
    noise: Noise = QUIET,
    replicates: int = 1,
) -> Case:
    """A claimed power law, times a factor that tends to one."""
    slope, scale = draw_slope(rng), draw_scale(rng)
    shape = product(power(slope, scale), factor)
    return make_case(
        rng, shape, steps, OrderAsked(slope), scale, noise=noise, replicates=replicates
    )


def _without_limit(rng: Rng, factor: LogCurve, steps: Steps) -> Case:
    """A claimed power law, times a factor with no limit or with one that is 0 or ∞."""
    slope = draw_slope(rng)
    shape = product(power(slope, draw_scale(rng)), factor)
    return make_case(rng, shape, steps, OrderAsked(slope), None)


# ------------------------------------------------------------------------------ without noise


@families.holds("y·t^-exponent is the same at every power of two.", decidable=True)
def exact_at_powers_of_two(rng: Rng) -> Case:
    return _with_limit(rng, power(0.0), checkpoints(draw_log(rng, 1e5, 1e9)))


@families.holds("Corrections like t^-p, p from 0.4 to 1; y every 50 steps.", decidable=True)
def corrected_every_50_steps(rng: Rng) -> Case:
    factor = approach(rng.uniform(-0.5, 1.0), rng.uniform(0.4, 1.0))
    return _with_limit(rng, factor, even_steps(draw_log(rng, 5e4, 2e5)))


@families.holds("Contracts like t^-p, p just above ¼, over six decades and more.", decidable=True)
def approach_at_the_edge_of_the_class(rng: Rng) -> Case:
    factor = approach(draw_sign(rng) * rng.uniform(0.1, 0.4), rng.uniform(0.26, 0.32))
    return _with_limit(rng, factor, log_steps(draw_log(rng, 1e6, 1e9)))


@families.holds("δ is 0.05 to 0.15, and y·t^-exponent still moves at the end.", decidable=False)
def approach_like_a_small_power(rng: Rng) -> Case:
    factor = approach(rng.uniform(2.0, 8.0), rng.uniform(0.05, 0.15))
    return _with_limit(rng, factor, log_steps(draw_log(rng, 1e4, 1e7)))


@families.holds("Tends to its constant like 1/log t.", decidable=False)
def inverse_logarithm(rng: Rng) -> Case:
    factor = log_approach(rng.uniform(2.0, 8.0), rng.uniform(1.5, 4.0))
    return _with_limit(rng, factor, log_steps(draw_log(rng, 1e4, 1e8)))


@families.holds("Overshoots by half, and is back 3.5 decades later.", decidable=True)
def overshoot_that_is_over(rng: Rng) -> Case:
    at, height = draw_log(rng, 10.0, 1e3), draw_sign(rng) * rng.uniform(0.2, 0.6)
    factor = hump(height, at, rng.uniform(0.8, 1.6))
    return _with_limit(rng, factor, log_steps(at * np.exp(rng.uniform(8.0, 11.0))))


@families.holds("Ends on the flank of an overshoot.", decidable=False)
def overshoot_under_way(rng: Rng) -> Case:
    horizon = draw_log(rng, 1e4, 1e7)
    at = horizon * np.exp(rng.uniform(-1.4, -0.4))
    factor = hump(draw_sign(rng) * rng.uniform(0.4, 1.0), at, rng.uniform(0.8, 1.6))
    return _with_limit(rng, factor, log_steps(horizon))


# After the plateau, which multiplies the law's constant by end^-slope.
@families.holds("A plateau that ended three decades ago.", decidable=True)
def plateau_with_three_decades_after(rng: Rng) -> Case:
    slope, end = draw_slope(rng), draw_log(rng, 30.0, 1e3)
    shape = knee(0.0, slope, end, rng.uniform(1.0, 3.0))
    steps = log_steps(end * draw_log(rng, 1e3, 1e4), 12)
    return make_case(rng, shape, steps, OrderAsked(slope), end**-slope)


# Two decades before the end the distance to the limit shrinks like |slope|·(x_end − x): more slowly
# than t^-¼, as long as more than 4 of ln t are to go.
@families.holds("A plateau that is about to end.", decidable=False)
def plateau_that_ends_late(rng: Rng) -> Case:
    slope, end = draw_slope(rng), draw_log(rng, 1e4, 1e6)
    shape = knee(0.0, slope, end, rng.uniform(1.0, 2.0))
    steps = log_steps(end * draw_log(rng, 0.7, 1.2))
    return make_case(rng, shape, steps, OrderAsked(slope), end**-slope)


# It has bounds, but no limit: it is not in the class.
@families.holds("Log-periodic by up to a factor of 1.5 for ever, with bounds.", decidable=False)
def wiggle_for_ever(rng: Rng) -> Case:
    factor = wave(rng.uniform(0.05, 0.4), rng.uniform(1.0, 4.0), rng.uniform(0.0, 6.0))
    return _without_limit(rng, factor, log_steps(draw_log(rng, 1e5, 1e8)))


@families.holds("Each run has its own constant, and a correction like t^-0.5.", decidable=True)
def constants_that_differ(rng: Rng) -> Case:
    factor = approach(rng.uniform(-0.5, 1.0), rng.uniform(0.5, 0.8))
    steps = scattered_steps(rng, draw_log(rng, 1e6, 1e8), 140)
    return _with_limit(rng, factor, steps, noise=Noise(offset=0.3, outliers=0.2), replicates=6)


# t^0.03 is a factor 1.15 per two decades, more than (log t)^0.4 in any run here.
@families.fails("The exponent is off by 0.03 to 0.06 at every step.", decidable=True)
def exponent_off_by_little(rng: Rng) -> Case:
    factor = power(draw_sign(rng) * rng.uniform(0.03, 0.06))
    return _without_limit(rng, factor, log_steps(draw_log(rng, 1e6, 1e9)))


# To the end of these runs, t^0.004 is the factor that (log t)^β with β ≤ 0.1 would be.
@families.fails("The exponent is off by 0.002 to 0.004: less than is told.", decidable=False)
def exponent_off_by_very_little(rng: Rng) -> Case:
    factor = power(draw_sign(rng) * rng.uniform(0.002, 0.004))
    return _without_limit(rng, factor, log_steps(draw_log(rng, 1e5, 1e8)))


@families.fails("A factor (log t)^β with |β| from 0.6 to 2.", decidable=False)
def logarithm_in_front(rng: Rng) -> Case:
    factor = log_power(draw_sign(rng) * rng.uniform(0.6, 2.0), rng.uniform(1.0, 3.0))
    return _without_limit(rng, factor, log_steps(draw_log(rng, 1e5, 1e9)))


@families.fails("A factor (log t)^β with |β| from 0.15 to 0.3.", decidable=False)
def small_power_of_the_logarithm(rng: Rng) -> Case:
    factor = log_power(draw_sign(rng) * rng.uniform(0.15, 0.3), rng.uniform(1.0, 3.0))
    return _without_limit(rng, factor, log_steps(draw_log(rng, 1e5, 1e9)))


@families.fails("An exponential: it leaves every constant behind.", decidable=True)
def exponential_cutoff(rng: Rng) -> Case:
    time = draw_log(rng, 1e3, 1e5)
    return _without_limit(rng, cutoff(time), log_steps(time * rng.uniform(4.0, 15.0), 30))


@families.fails("A floor that was reached three decades ago.", decidable=True)
def floor_that_was_reached(rng: Rng) -> Case:
    slope, crossing = -rng.uniform(0.5, 1.6), draw_log(rng, 30.0, 1e3)
    shape = total(power(slope), power(0.0, crossing**slope))
    steps = log_steps(crossing * draw_log(rng, 1e3, 1e4))
    return make_case(rng, shape, steps, OrderAsked(slope), None)


# 1 + (t/crossing)^gap: three decades past the crossing a factor of 3 to 100.
@families.fails("A slower power took over three decades ago.", decidable=True)
def slower_power_has_taken_over(rng: Rng) -> Case:
    gap, crossing = rng.uniform(0.2, 0.6), draw_log(rng, 30.0, 1e3)
    factor = total(power(0.0), power(gap, crossing**-gap))
    return _without_limit(rng, factor, log_steps(crossing * draw_log(rng, 1e3, 1e5)))


@families.fails("A slower power is a tenth to a third of the curve at the end.", decidable=False)
def slower_power_takes_over(rng: Rng) -> Case:
    gap, horizon = rng.uniform(0.2, 0.6), draw_log(rng, 1e5, 1e8)
    factor = total(power(0.0), power(gap, draw_log(rng, 0.1, 0.4) * horizon**-gap))
    return _without_limit(rng, factor, log_steps(horizon))


# --------------------------------------------------------------------------------- with noise


@families.holds("10 replicates of 1%: noise hides any small exponent.", decidable=False)
def multiplicative_noise(rng: Rng) -> Case:
    noise, steps = Noise(0.01), log_steps(draw_log(rng, 1e5, 1e8))
    return _with_limit(rng, power(0.0), steps, noise=noise, replicates=10)


@families.fails("The exponent is off by 0.1 to 0.3; AR(1) of 1–2%, 10 replicates.", decidable=True)
def exponent_off_under_noise(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(rng.uniform(0.01, 0.02), correlation=0.7)
    asked = OrderAsked(slope + draw_sign(rng) * rng.uniform(0.1, 0.3))
    steps, shape = log_steps(draw_log(rng, 1e6, 1e8)), power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, asked, None, noise=noise, replicates=10)


@families.fails("The exponent is off by 0.05 in a single run of 5% noise.", decidable=False)
def exponent_off_in_a_single_noisy_run(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(0.05, correlation=0.8)
    asked = OrderAsked(slope + draw_sign(rng) * 0.05)
    steps, shape = log_steps(draw_log(rng, 1e4, 1e6)), power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, asked, None, noise=noise)
