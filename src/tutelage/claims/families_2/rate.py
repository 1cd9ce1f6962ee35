"""Rate: the local slope of ln y over ln t tends to `exponent`, within `tolerance` (0.02).

Where a slope has no limit, the claim that it tends to the exponent is false, unless the slope stays
within the tolerance for ever.
"""

from __future__ import annotations

import numpy as np

from tutelage.claims.families.family import Case, Collection, RateAsked
from tutelage.claims.families_2.shapes import (
    Noise,
    Rng,
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

families = Collection("rate")


# ------------------------------------------------------------------------------ without noise


@families.holds("The slope is the exponent at every power of two.", decidable=True)
def exact_at_powers_of_two(rng: Rng) -> Case:
    slope, steps = draw_slope(rng), checkpoints(draw_log(rng, 1e5, 1e9))
    return make_case(rng, power(slope, draw_scale(rng)), steps, RateAsked(slope), slope)


@families.holds("The slope is the exponent, measured every 50 steps from 50 on.", decidable=True)
def exact_every_50_steps(rng: Rng) -> Case:
    slope, steps = draw_slope(rng), even_steps(draw_log(rng, 2e4, 2e5))
    return make_case(rng, power(slope, draw_scale(rng)), steps, RateAsked(slope), slope)


# A near miss by a margin: 0.016 of 0.02.
@families.holds("The slope is 0.8 tolerances off at every step: inside by 0.004.", decidable=True)
def just_inside(rng: Rng) -> Case:
    slope, steps = draw_slope(rng), scattered_steps(rng, draw_log(rng, 1e5, 1e8), 120)
    asked = RateAsked(slope + draw_sign(rng) * 0.016)
    return make_case(rng, power(slope, draw_scale(rng)), steps, asked, slope)


@families.fails("The slope is 1.2 tolerances off at every step: out by 0.004.", decidable=True)
def just_outside(rng: Rng) -> Case:
    slope, steps = draw_slope(rng), scattered_steps(rng, draw_log(rng, 1e5, 1e8), 120)
    asked = RateAsked(slope + draw_sign(rng) * 0.024)
    return make_case(rng, power(slope, draw_scale(rng)), steps, asked, slope)


# The slope is off by a·p·t^-p/(1 + a·t^-p), at the end by less than 10⁻³.
@families.holds("The slope contracts like t^-p, p from 0.5 to 1, over six decades.", decidable=True)
def approach_like_a_root(rng: Rng) -> Case:
    slope, steps = draw_slope(rng), log_steps(draw_log(rng, 1e6, 1e8))
    shape = product(power(slope), approach(rng.uniform(-0.5, 1.0), rng.uniform(0.5, 1.0)))
    return make_case(rng, shape, steps, RateAsked(slope), slope)


# At the end the slope is off by at most 0.3·0.3·10^(-0.26·6) = 0.0025.
@families.holds("Contracts like t^-p with p just above ¼: hardly in the class.", decidable=True)
def approach_at_the_edge_of_the_class(rng: Rng) -> Case:
    slope, steps = draw_slope(rng), log_steps(draw_log(rng, 1e6, 1e8), per_decade=10)
    amount = draw_sign(rng) * rng.uniform(0.1, 0.3)
    shape = product(power(slope, draw_scale(rng)), approach(amount, rng.uniform(0.26, 0.3)))
    return make_case(rng, shape, steps, RateAsked(slope), slope)


@families.holds("δ is 0.05 to 0.12; the slope at the end is 0.02 and more off.", decidable=False)
def approach_like_a_small_power(rng: Rng) -> Case:
    slope, steps = draw_slope(rng), log_steps(draw_log(rng, 1e4, 1e7))
    shape = product(power(slope), approach(rng.uniform(4.0, 10.0), rng.uniform(0.05, 0.12)))
    return make_case(rng, shape, steps, RateAsked(slope), slope)


# The exponent claimed is the slope at the end. The slope goes on by 0.03 and more, visibly: per
# decade it moves by a fifth of what is left.
@families.fails("δ is 0.05 to 0.1: the slope passes the exponent and goes on.", decidable=False)
def passing_by_like_a_small_power(rng: Rng) -> Case:
    slope, horizon = draw_slope(rng), draw_log(rng, 1e4, 1e7)
    amount, p = rng.uniform(4.0, 10.0), rng.uniform(0.05, 0.1)
    left = amount * p * horizon**-p / (1.0 + amount * horizon**-p)
    shape = product(power(slope), approach(amount, p))
    return make_case(rng, shape, log_steps(horizon), RateAsked(slope - left), slope)


@families.holds("A factor (log t)^β: the slope is off by β/log t at the end.", decidable=False)
def logarithm_in_front(rng: Rng) -> Case:
    slope, steps = draw_slope(rng), log_steps(draw_log(rng, 1e4, 1e8))
    beta = draw_sign(rng) * rng.uniform(0.5, 2.0)
    shape = product(power(slope, draw_scale(rng)), log_power(beta, 2.0))
    return make_case(rng, shape, steps, RateAsked(slope), slope)


# At the end the slope is off by a/((s + x)(s + x + a)), between 0.01 and 0.06.
@families.holds("A factor 1 + a/log t: the slope tends like 1/log² t.", decidable=False)
def inverse_logarithm(rng: Rng) -> Case:
    slope, steps = draw_slope(rng), log_steps(draw_log(rng, 1e4, 1e6), per_decade=8)
    shape = product(power(slope), log_approach(rng.uniform(5.0, 15.0), rng.uniform(2.0, 4.0)))
    return make_case(rng, shape, steps, RateAsked(slope), slope)


# The hump dies like t^(-1/width), 1/width from 0.6 on; at the end, 8 and more past it, the slope is
# off by at most 2·0.6/1.6·e^-5 = 0.005.
@families.holds("Overshoots, returns, and is back 3.5 decades later.", decidable=True)
def overshoot_that_is_over(rng: Rng) -> Case:
    slope, at = draw_slope(rng), draw_log(rng, 30.0, 3e3)
    height = draw_sign(rng) * rng.uniform(0.2, 0.6)
    shape = product(power(slope, draw_scale(rng)), hump(height, at, rng.uniform(0.8, 1.6)))
    steps = log_steps(at * np.exp(rng.uniform(8.0, 11.0)))
    return make_case(rng, shape, steps, RateAsked(slope), slope)


@families.holds("The run ends within a factor of 4 of the overshoot's crest.", decidable=False)
def overshoot_under_way(rng: Rng) -> Case:
    slope, horizon = draw_slope(rng), draw_log(rng, 1e4, 1e7)
    at = horizon * np.exp(draw_sign(rng) * rng.uniform(0.4, 1.4))
    height = draw_sign(rng) * rng.uniform(0.4, 1.0)
    shape = product(power(slope), hump(height, at, rng.uniform(0.8, 1.6)))
    return make_case(rng, shape, log_steps(horizon), RateAsked(slope), slope)


# The knee is approached like 1/t or faster: 10⁻³ of the slope is left three decades later.
@families.holds("A plateau that ended three decades ago; the claim tells of it.", decidable=True)
def plateau_with_three_decades_after(rng: Rng) -> Case:
    slope, end = draw_slope(rng), draw_log(rng, 100.0, 1e4)
    shape = knee(0.0, slope, end, rng.uniform(1.0, 3.0))
    steps = log_steps(end * draw_log(rng, 1e3, 1e4), per_decade=15)
    return make_case(rng, shape, steps, RateAsked(slope, plateau=int(3 * end)), slope)


@families.holds("A plateau that ended within the last decade.", decidable=False)
def plateau_that_ends_late(rng: Rng) -> Case:
    slope, end = draw_slope(rng), draw_log(rng, 1e3, 1e6)
    shape = knee(0.0, slope, end, rng.uniform(1.0, 2.0))
    steps = log_steps(end * draw_log(rng, 2.0, 10.0))
    return make_case(rng, shape, steps, RateAsked(slope), slope)


@families.fails("Four decades of the exponent, then three of another slope.", decidable=True)
def break_with_three_decades_after(rng: Rng) -> Case:
    slope, at = draw_slope(rng), draw_log(rng, 3e3, 3e4)
    after = slope + draw_sign(rng) * rng.uniform(0.1, 0.2)
    shape = knee(slope, after, at, rng.uniform(1.0, 3.0))
    steps = log_steps(at * draw_log(rng, 1e3, 1e4))
    return make_case(rng, shape, steps, RateAsked(slope), after)


# Visible at the end, where at least three quarters of the change are done.
@families.fails("Five decades of the exponent; the break is within the last one.", decidable=False)
def break_in_the_last_decade(rng: Rng) -> Case:
    slope, at = draw_slope(rng), draw_log(rng, 1e5, 1e6)
    after = slope + draw_sign(rng) * rng.uniform(0.1, 0.2)
    shape = knee(slope, after, at, rng.uniform(1.0, 3.0))
    return make_case(rng, shape, log_steps(at * draw_log(rng, 3.0, 9.0)), RateAsked(slope), after)


# Past the crossing the slope is off its limit by gap/(1 + (t/crossing)^gap), gap ≥ 0.6: three and a
# half decades later by at most 0.01.
@families.fails("A slower power takes over 3.5 decades before the end.", decidable=True)
def slower_power_has_taken_over(rng: Rng) -> Case:
    slope, gap = -rng.uniform(0.9, 1.6), rng.uniform(0.6, 0.8)
    crossing = draw_log(rng, 30.0, 300.0)
    shape = total(power(slope), power(slope + gap, crossing**-gap))
    steps = log_steps(crossing * draw_log(rng, 3e3, 3e4))
    return make_case(rng, shape, steps, RateAsked(slope), slope + gap)


@families.fails("A slower power is a tenth to a third of the curve at the end.", decidable=False)
def slower_power_takes_over(rng: Rng) -> Case:
    slope, gap, horizon = -rng.uniform(0.9, 1.6), rng.uniform(0.3, 0.6), draw_log(rng, 1e5, 1e8)
    share = draw_log(rng, 0.1, 0.4)
    shape = total(power(slope), power(slope + gap, share * horizon**-gap))
    return make_case(rng, shape, log_steps(horizon), RateAsked(slope), slope + gap)


# From 3 time scales on the slope is 3 and more below the exponent, and falls by as much again.
@families.fails("A power law with a cut-off: the slope runs away by 3 to 12.", decidable=True)
def exponential_cutoff(rng: Rng) -> Case:
    slope, time = draw_slope(rng), draw_log(rng, 1e3, 1e5)
    shape = product(power(slope, draw_scale(rng)), cutoff(time))
    return make_case(
        rng, shape, log_steps(time * rng.uniform(3.0, 12.0), 40), RateAsked(slope), None
    )


# The slope's distance to its limit vanishes twice a period, and is not monotone.
@families.holds("A wiggle that fades like t^-0.3 or faster around the exponent.", decidable=False)
def wiggle_that_fades(rng: Rng) -> Case:
    slope, steps = draw_slope(rng), log_steps(draw_log(rng, 1e5, 1e8))
    swing = wave(
        rng.uniform(0.1, 0.3), rng.uniform(1.0, 4.0), rng.uniform(0.0, 6.0), rng.uniform(0.3, 0.5)
    )
    return make_case(rng, product(power(slope), swing), steps, RateAsked(slope), slope)


# The slope is exponent ± amplitude·frequency, and returns to 2.5 to 10 tolerances for ever.
@families.fails("A log-periodic slope, off by 0.05 to 0.2 in every period.", decidable=False)
def wiggle_for_ever(rng: Rng) -> Case:
    slope, frequency = draw_slope(rng), rng.uniform(1.0, 4.0)
    swing = wave(draw_log(rng, 0.05, 0.2) / frequency, frequency, rng.uniform(0.0, 6.0))
    steps = log_steps(draw_log(rng, 1e5, 1e8))
    return make_case(rng, product(power(slope), swing), steps, RateAsked(slope), None)


# --------------------------------------------------------------------------------- with noise


@families.holds("8 replicates of 1–2% at every step over six decades.", decidable=True)
def multiplicative_noise(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(rng.uniform(0.01, 0.02))
    steps, shape = log_steps(draw_log(rng, 1e6, 1e8)), power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, RateAsked(slope), slope, noise=noise, replicates=8)


# The floor of the noise is 1% of y at the end. Its bias in ln y is 10⁻⁴/2.
@families.holds("Noise of y with a floor; 10 replicates, 1% at the end.", decidable=True)
def additive_noise(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(0.002, additive=rng.uniform(0.005, 0.01))
    steps, shape = log_steps(draw_log(rng, 1e5, 1e7)), power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, RateAsked(slope), slope, noise=noise, replicates=10)


@families.holds("AR(1) with correlation 0.95, 0.5%, in 12 replicates.", decidable=True)
def noise_with_a_long_memory(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(rng.uniform(0.003, 0.005), correlation=0.95)
    steps, shape = log_steps(draw_log(rng, 1e6, 1e8)), power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, RateAsked(slope), slope, noise=noise, replicates=12)


@families.holds("Noise grows like t^0.3 to 2–3% at the end; 20 replicates.", decidable=True)
def noise_that_grows(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(rng.uniform(0.02, 0.03), growth=0.3)
    steps, shape = log_steps(draw_log(rng, 1e6, 1e8)), power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, RateAsked(slope), slope, noise=noise, replicates=20)


# The tails are those of Student's t with 2 degrees of freedom: no variance.
@families.holds("Noise without a variance; five replicates.", decidable=False)
def heavy_tails(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(rng.uniform(0.02, 0.05), tails=2.0)
    steps, shape = log_steps(draw_log(rng, 1e5, 1e7)), power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, RateAsked(slope), slope, noise=noise, replicates=5)


# An outlying seed has another constant. The claim is about slopes, which are the same.
@families.holds("Seeds off by a factor of 3 have the same slope.", decidable=True)
def outlying_constants(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(0.003, offset=0.1, outliers=0.2)
    steps, shape = log_steps(draw_log(rng, 1e6, 1e8)), power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, RateAsked(slope), slope, noise=noise, replicates=8)


# 0.005/√12 = 0.0014; the tolerance is 14 of them.
@families.holds("Each seed has its own slope, to 0.005; 12 seeds.", decidable=True)
def slopes_that_differ_a_little(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(slopes=0.005)
    steps, shape = log_steps(draw_log(rng, 1e5, 1e7)), power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, RateAsked(slope), slope, noise=noise, replicates=12)


@families.holds("Each seed has its own slope, to 0.05; four seeds.", decidable=False)
def slopes_that_differ_much(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(slopes=0.05)
    steps, shape = log_steps(draw_log(rng, 1e5, 1e7)), power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, RateAsked(slope), slope, noise=noise, replicates=4)


@families.fails("Off by 0.06 to 0.15; AR(1) of 1–2% in 10 replicates.", decidable=True)
def missed_under_correlated_noise(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(rng.uniform(0.01, 0.02), correlation=0.8)
    asked = RateAsked(slope + draw_sign(rng) * rng.uniform(0.06, 0.15))
    steps, shape = log_steps(draw_log(rng, 1e6, 1e8)), power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, asked, slope, noise=noise, replicates=10)


@families.fails("Off by 0.03; two replicates of 5%.", decidable=False)
def missed_by_little_in_two_runs(rng: Rng) -> Case:
    slope, noise = draw_slope(rng), Noise(0.05, correlation=0.5)
    asked = RateAsked(slope + draw_sign(rng) * 0.03)
    steps = even_steps(draw_log(rng, 2e4, 5e4))
    shape = power(slope, draw_scale(rng))
    return make_case(rng, shape, steps, asked, slope, noise=noise, replicates=2)
