"""Bound: the local slope of ln y over ln t tends to `exponent` or below, within `tolerance` (0.02).

Where a slope has no limit, the claim HOLDS if the slope stays below the edge for ever, or runs away
to −∞, and is false if it returns above the edge for ever.
"""

from __future__ import annotations

import numpy as np

from tutelage.claims.families.family import BoundAsked, Case, Collection
from tutelage.claims.families_2.shapes import (
    Noise,
    Rng,
    approach,
    checkpoints,
    cutoff,
    draw_log,
    draw_scale,
    draw_slope,
    even_steps,
    hump,
    knee,
    log_power,
    log_steps,
    make_case,
    power,
    product,
    scattered_steps,
    total,
    wave,
)

families = Collection("bound")


# ------------------------------------------------------------------------------ without noise


@families.holds("A slope 0.2 to 1 below the exponent at every step.", decidable=True)
def faster_by_far(rng: Rng) -> Case:
    slope, steps = draw_slope(rng), checkpoints(draw_log(rng, 1e4, 1e8))
    asked = BoundAsked(slope + rng.uniform(0.2, 1.0))
    return make_case(rng, power(slope, draw_scale(rng)), steps, asked, slope)


@families.holds("The slope is 0.8 tolerances above: inside by 0.004.", decidable=True)
def just_inside(rng: Rng) -> Case:
    slope, steps = draw_slope(rng), log_steps(draw_log(rng, 1e4, 1e8), per_decade=6)
    asked = BoundAsked(slope - 0.016)
    return make_case(rng, power(slope, draw_scale(rng)), steps, asked, slope)


@families.fails("The slope is 1.25 tolerances above: outside by 0.005.", decidable=True)
def just_outside(rng: Rng) -> Case:
    slope, steps = draw_slope(rng), log_steps(draw_log(rng, 1e4, 1e8), per_decade=6)
    asked = BoundAsked(slope - 0.025)
    return make_case(rng, power(slope, draw_scale(rng)), steps, asked, slope)


# It comes from above: early slopes are above the edge, the last ones are less than 0.003 from their
# limit (0.8·0.4·10^(-0.35·6) = 0.0025), which is 0.05 and more below the exponent.
@families.holds("Comes from above like t^-p, p from 0.35; past the edge long ago.", decidable=True)
def from_above_and_past_the_edge(rng: Rng) -> Case:
    slope, steps = draw_slope(rng), log_steps(draw_log(rng, 1e6, 1e8))
    shape = product(power(slope), approach(rng.uniform(-0.8, -0.4), rng.uniform(0.35, 0.4)))
    return make_case(rng, shape, steps, BoundAsked(slope + rng.uniform(0.05, 0.2)), slope)


@families.holds("Comes from above like t^-0.05 to t^-0.1, still above the edge.", decidable=False)
def from_above_like_a_small_power(rng: Rng) -> Case:
    slope, steps = draw_slope(rng), log_steps(draw_log(rng, 1e4, 1e7))
    shape = product(power(slope), approach(-rng.uniform(0.8, 0.95), rng.uniform(0.05, 0.1)))
    return make_case(rng, shape, steps, BoundAsked(slope), slope)


# The slope is below the exponent at every step, and rises past the edge by 0.03 to 0.1 in the end:
# at the end of the run it stands at the exponent.
@families.fails("Comes from below like t^-0.05 to t^-0.1, and passes the edge.", decidable=False)
def from_below_like_a_small_power(rng: Rng) -> Case:
    slope, horizon = draw_slope(rng), draw_log(rng, 1e4, 1e7)
    amount, p = rng.uniform(4.0, 10.0), rng.uniform(0.05, 0.1)
    left = amount * p * horizon**-p / (1.0 + amount * horizon**-p)
    shape = product(power(slope), approach(amount, p))
    return make_case(rng, shape, log_steps(horizon), BoundAsked(slope - left), slope)


@families.holds("A factor (log t)^β, β > 0: the slope is β/log t above its limit.", decidable=False)
def logarithm_in_front(rng: Rng) -> Case:
    slope, steps = draw_slope(rng), log_steps(draw_log(rng, 1e4, 1e8))
    shape = product(power(slope), log_power(rng.uniform(0.5, 2.0), 2.0))
    return make_case(rng, shape, steps, BoundAsked(slope), slope)


# A slope that falls ever faster has no limit: no curve of the class does so.
@families.holds("Faster than any power; the slope runs away to −∞.", decidable=False)
def faster_than_any_power(rng: Rng) -> Case:
    slope, time = draw_slope(rng), draw_log(rng, 1e3, 1e5)
    shape = product(power(slope), cutoff(time, rng.uniform(0.5, 1.0)))
    steps = log_steps(time * rng.uniform(3.0, 10.0), 30)
    return make_case(rng, shape, steps, BoundAsked(slope), None)


# What is left of the slope is |s|/(1 + (t/crossing)^|s|), |s| ≥ 0.8: at most 0.006.
@families.fails("A floor that was reached 3 decades before the end.", decidable=True)
def floor_that_was_reached(rng: Rng) -> Case:
    slope, crossing = -rng.uniform(0.8, 1.6), draw_log(rng, 30.0, 1e3)
    shape = total(power(slope), power(0.0, crossing**slope))
    steps = log_steps(crossing * draw_log(rng, 1e3, 1e4), 12)
    return make_case(rng, shape, steps, BoundAsked(slope), 0.0)


@families.fails("A floor that is a fifth to half of the curve at the end.", decidable=False)
def floor_that_shows(rng: Rng) -> Case:
    slope, horizon = draw_slope(rng), draw_log(rng, 1e4, 1e7)
    shape = total(power(slope), power(0.0, draw_log(rng, 0.25, 1.0) * horizon**slope))
    return make_case(rng, shape, log_steps(horizon), BoundAsked(slope), 0.0)


# The slope is still below the claimed exponent, but rises, and ever faster.
@families.fails("A floor under a curve that is still faster than claimed.", decidable=False)
def floor_under_a_faster_curve(rng: Rng) -> Case:
    slope, horizon = -rng.uniform(0.8, 1.6), draw_log(rng, 1e4, 1e7)
    shape = total(power(slope), power(0.0, draw_log(rng, 0.1, 0.3) * horizon**slope))
    asked = BoundAsked(slope + rng.uniform(0.4, 0.5))
    return make_case(rng, shape, log_steps(horizon), asked, 0.0)


@families.fails("Four decades as claimed, then three of a slower fall.", decidable=True)
def break_with_three_decades_after(rng: Rng) -> Case:
    slope, at = draw_slope(rng), draw_log(rng, 3e3, 3e4)
    after = slope + rng.uniform(0.08, 0.2)
    shape = knee(slope, after, at, rng.uniform(1.0, 3.0))
    steps = log_steps(at * draw_log(rng, 1e3, 1e4))
    return make_case(rng, shape, steps, BoundAsked(slope), after)


@families.holds("A plateau that ended three decades before the end.", decidable=True)
def plateau_with_three_decades_after(rng: Rng) -> Case:
    slope, end = draw_slope(rng), draw_log(rng, 30.0, 300.0)
    shape = knee(0.0, slope, end, rng.uniform(1.0, 3.0))
    steps = log_steps(end * draw_log(rng, 1e3, 1e4))
    return make_case(rng, shape, steps, BoundAsked(slope), slope)


@families.holds("A plateau that ended within the last decade.", decidable=False)
def plateau_that_ends_late(rng: Rng) -> Case:
    slope, end = draw_slope(rng), draw_log(rng, 1e3, 1e6)
    shape = knee(0.0, slope, end, rng.uniform(1.0, 2.0))
    steps = log_steps(end * draw_log(rng, 2.0, 10.0))
    return make_case(rng, shape, steps, BoundAsked(slope), slope)


@families.fails("Dips far below the exponent, and is back above it 3.5 decades on.", decidable=True)
def dip_that_is_over(rng: Rng) -> Case:
    slope, at = draw_slope(rng), draw_log(rng, 30.0, 3e3)
    shape = product(power(slope), hump(rng.uniform(0.3, 0.6), at, rng.uniform(0.8, 1.6)))
    steps = log_steps(at * np.exp(rng.uniform(8.0, 11.0)))
    return make_case(rng, shape, steps, BoundAsked(slope - rng.uniform(0.06, 0.1)), slope)


# Slopes between −0.9 of the mean slope and +0.9 of it around the mean: flat stretches for ever.
@families.fails("A staircase: fast on average, but nearly flat once per period.", decidable=False)
def staircase(rng: Rng) -> Case:
    slope, frequency = -rng.uniform(0.8, 1.6), rng.uniform(1.0, 2.5)
    swing = wave(-0.9 * slope / frequency, frequency, rng.uniform(0.0, 6.0))
    steps = log_steps(draw_log(rng, 1e5, 1e8))
    asked = BoundAsked(0.5 * slope)
    return make_case(rng, product(power(slope), swing), steps, asked, None)


# 0.3 below the exponent, and never less than 0.2.
@families.holds("A log-periodic slope that stays below the exponent for ever.", decidable=False)
def wiggle_below(rng: Rng) -> Case:
    slope, frequency = draw_slope(rng), rng.uniform(1.0, 4.0)
    swing = wave(0.1 / frequency, frequency, rng.uniform(0.0, 6.0))
    steps = log_steps(draw_log(rng, 1e5, 1e8))
    return make_case(rng, product(power(slope), swing), steps, BoundAsked(slope + 0.3), None)


# --------------------------------------------------------------------------------- with noise


@families.holds("The slope is the exponent; 10 replicates of 1–2%.", decidable=True)
def tight_under_noise(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(rng.uniform(0.01, 0.02))
    steps, shape = log_steps(draw_log(rng, 1e6, 1e8)), power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, BoundAsked(slope), slope, noise=noise, replicates=10)


@families.holds("0.1 and more below; AR(1) of 3% every 50 steps, 6 replicates.", decidable=True)
def faster_under_noise_every_50_steps(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(0.03, correlation=0.9)
    asked = BoundAsked(slope + rng.uniform(0.1, 0.4))
    steps, shape = even_steps(draw_log(rng, 3e4, 6e4)), power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, asked, slope, noise=noise, replicates=6)


@families.fails("0.08 to 0.2 above; noise of y with a floor of 1%, 10 replicates.", decidable=True)
def missed_under_additive_noise(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(additive=0.01)
    asked = BoundAsked(slope - rng.uniform(0.08, 0.2))
    steps = scattered_steps(rng, draw_log(rng, 1e6, 1e8), 150)
    shape = power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, asked, slope, noise=noise, replicates=10)


@families.holds("Noise without a variance; five replicates.", decidable=False)
def heavy_tails(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(rng.uniform(0.03, 0.06), tails=2.0)
    steps, shape = log_steps(draw_log(rng, 1e5, 1e7)), power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, BoundAsked(slope), slope, noise=noise, replicates=5)


@families.fails("0.05 above in a single noisy run.", decidable=False)
def missed_in_a_single_noisy_run(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(0.05, correlation=draw_log(rng, 0.2, 0.9))
    steps, shape = log_steps(draw_log(rng, 1e4, 1e6)), power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, BoundAsked(slope - 0.05), slope, noise=noise)


# Slopes differ by 0.01 between seeds: 0.0026 for the mean of 15, and the edge is 0.03 away.
@families.fails("Each seed has its own slope, all near 0.05 above; 15 seeds.", decidable=True)
def missed_by_slopes_that_differ(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(slopes=0.01, offset=0.3)
    asked = BoundAsked(slope - 0.05)
    steps, shape = log_steps(draw_log(rng, 1e5, 1e7)), power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, asked, slope, noise=noise, replicates=15)


@families.holds("0.01 to 0.3 below; three seeds, whose slopes differ by 0.1.", decidable=False)
def slopes_that_differ_much(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(slopes=0.1)
    asked = BoundAsked(slope + rng.uniform(0.01, 0.3))
    steps, shape = log_steps(draw_log(rng, 1e5, 1e7)), power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, asked, slope, noise=noise, replicates=3)
