"""Constant: y·(ηt)^-exponent tends to `value`, within a relative `tolerance` (3%).

Where there is no limit, the claim HOLDS if the product stays within the tolerance for ever, and is
false if it leaves it repeatedly. Noise is centred in logarithms.
"""

from __future__ import annotations

import numpy as np

from tutelage.claims.families.family import Case, Collection, ConstantAsked, LogCurve
from tutelage.claims.families_2.shapes import (
    QUIET,
    Noise,
    Rng,
    Steps,
    approach,
    checkpoints,
    draw_log,
    draw_scale,
    draw_sign,
    draw_slope,
    even_steps,
    hump,
    knee,
    log_approach,
    log_steps,
    make_case,
    power,
    product,
    scattered_steps,
    wave,
)

families = Collection("constant")


def _case(
    rng: Rng,
    factor: LogCurve,
    steps: Steps,
    *,
    off: float = 0.0,
    noise: Noise = QUIET,
    replicates: int = 1,
    has_limit: bool = True,
) -> Case:
    """A power law with a constant of its own, times a factor; the limit is (1 + off)·value."""
    slope, constant, rate = draw_slope(rng), draw_scale(rng), draw_log(rng, 0.01, 2.0)
    shape = product(power(slope, constant * rate**slope), factor)
    asked = ConstantAsked(slope, constant / (1.0 + off))
    limit = constant if has_limit else None
    return make_case(rng, shape, steps, asked, limit, noise=noise, replicates=replicates, rate=rate)


# ------------------------------------------------------------------------------ without noise


@families.holds("The product is the value at every power of two.", decidable=True)
def exact_at_powers_of_two(rng: Rng) -> Case:
    return _case(rng, power(0.0), checkpoints(draw_log(rng, 1e4, 1e9)))


@families.holds("The limit is 2.4% off: inside by a fifth of the tolerance.", decidable=True)
def just_inside(rng: Rng) -> Case:
    steps = log_steps(draw_log(rng, 1e4, 1e8), per_decade=7)
    return _case(rng, power(0.0), steps, off=draw_sign(rng) * 0.024)


@families.fails("The limit is 3.6% off: outside by a fifth of the tolerance.", decidable=True)
def just_outside(rng: Rng) -> Case:
    steps = log_steps(draw_log(rng, 1e4, 1e8), per_decade=7)
    return _case(rng, power(0.0), steps, off=draw_sign(rng) * 0.036)


# At the end the product is off by at most 10^(-0.6·5) = 0.001.
@families.holds("Contracts like t^-p, p from 0.6 to 1, over five decades.", decidable=True)
def approach_like_a_root(rng: Rng) -> Case:
    factor = approach(rng.uniform(-0.5, 1.0), rng.uniform(0.6, 1.0))
    return _case(rng, factor, scattered_steps(rng, draw_log(rng, 1e5, 1e8), 150))


# At the end the product is off by at most 0.3·10^(-0.27·7) = 0.004.
@families.holds("Contracts like t^-p with p just above ¼, over 7 decades.", decidable=True)
def approach_at_the_edge_of_the_class(rng: Rng) -> Case:
    factor = approach(draw_sign(rng) * rng.uniform(0.1, 0.3), rng.uniform(0.27, 0.32))
    return _case(rng, factor, log_steps(draw_log(rng, 1e7, 1e9)))


@families.holds("δ is 0.05 to 0.12: the product is 10% and more off at the end.", decidable=False)
def approach_like_a_small_power(rng: Rng) -> Case:
    factor = approach(rng.uniform(1.0, 4.0), rng.uniform(0.05, 0.12))
    return _case(rng, factor, log_steps(draw_log(rng, 1e5, 1e7)))


# The value claimed is the product at the end; the limit is 10% and more below it.
@families.fails("δ is 0.05 to 0.12: the product passes the value and goes on.", decidable=False)
def passing_by_like_a_small_power(rng: Rng) -> Case:
    amount, p, horizon = rng.uniform(1.0, 4.0), rng.uniform(0.05, 0.12), draw_log(rng, 1e5, 1e7)
    off = 1.0 / (1.0 + amount * horizon**-p) - 1.0
    return _case(rng, approach(amount, p), log_steps(horizon), off=off)


@families.holds("Tends to the value like 1/log t, and is 5% and more off.", decidable=False)
def inverse_logarithm(rng: Rng) -> Case:
    factor = log_approach(rng.uniform(1.0, 5.0), rng.uniform(1.5, 4.0))
    return _case(rng, factor, log_steps(draw_log(rng, 1e4, 1e7)))


@families.fails("Like 1/log t, and the value is the product at the end.", decidable=False)
def inverse_logarithm_that_passes_by(rng: Rng) -> Case:
    amount, shift, horizon = rng.uniform(1.0, 5.0), rng.uniform(1.5, 4.0), draw_log(rng, 1e4, 1e7)
    off = 1.0 / (1.0 + amount / (shift + np.log(horizon))) - 1.0
    return _case(rng, log_approach(amount, shift), log_steps(horizon), off=off)


# At the end, 8 and more past the hump, at most 2·0.6·e^-5 = 0.8% are left.
@families.holds("Overshoots, and is back 3.5 decades later.", decidable=True)
def overshoot_that_is_over(rng: Rng) -> Case:
    at, height = draw_log(rng, 10.0, 1e3), draw_sign(rng) * rng.uniform(0.2, 0.6)
    factor = hump(height, at, rng.uniform(0.8, 1.6))
    return _case(rng, factor, log_steps(at * np.exp(rng.uniform(8.0, 11.0))))


@families.holds("Ends on the flank of an overshoot, 5% and more off.", decidable=False)
def overshoot_under_way(rng: Rng) -> Case:
    horizon = draw_log(rng, 1e4, 1e7)
    at = horizon * np.exp(rng.uniform(-1.4, 1.4))
    factor = hump(draw_sign(rng) * rng.uniform(0.3, 1.0), at, rng.uniform(0.8, 1.6))
    return _case(rng, factor, log_steps(horizon))


# In logs the knee is off by |s|·e^-k(x − x_k)/k: 10⁻³ and less after three decades. The limit is
# that of the late law, (t/end)^slope.
@families.holds("A plateau that ended three decades ago.", decidable=True)
def plateau_with_three_decades_after(rng: Rng) -> Case:
    slope, end, rate = draw_slope(rng), draw_log(rng, 30.0, 1e3), draw_log(rng, 0.01, 2.0)
    constant = (rate * end) ** -slope
    steps = log_steps(end * draw_log(rng, 1e3, 1e4))
    shape, asked = knee(0.0, slope, end, rng.uniform(1.0, 3.0)), ConstantAsked(slope, constant)
    return make_case(rng, shape, steps, asked, constant, rate=rate)


# At 2 to 5 times its end the plateau still shows by 5% and more.
@families.holds("A plateau that has just ended.", decidable=False)
def plateau_that_ends_late(rng: Rng) -> Case:
    slope, end, rate = -rng.uniform(0.6, 1.6), draw_log(rng, 1e3, 1e6), draw_log(rng, 0.01, 2.0)
    constant = (rate * end) ** -slope
    steps = log_steps(end * draw_log(rng, 2.0, 5.0))
    shape, asked = knee(0.0, slope, end, 1.0), ConstantAsked(slope, constant)
    return make_case(rng, shape, steps, asked, constant, rate=rate)


# From the value at t = 1 the product has gone by a factor of 3 and more at the end.
@families.fails("The exponent is off by 0.1 to 0.2: the product runs away.", decidable=True)
def exponent_off(rng: Rng) -> Case:
    factor = power(draw_sign(rng) * rng.uniform(0.1, 0.2))
    return _case(rng, factor, log_steps(draw_log(rng, 1e5, 1e8)), has_limit=False)


# 2 to 5% per two decades: the product passes the value at the end of the run.
@families.fails("The exponent is off by 0.005 to 0.01, hit at the end.", decidable=False)
def exponent_off_and_value_hit_at_the_end(rng: Rng) -> Case:
    horizon, off = draw_log(rng, 1e5, 1e8), draw_sign(rng) * rng.uniform(0.005, 0.01)
    return _case(rng, power(off, horizon**-off), log_steps(horizon), has_limit=False)


@families.holds("Log-periodic by 0.5 to 1.5% around the value for ever.", decidable=False)
def wiggle_inside(rng: Rng) -> Case:
    factor = wave(rng.uniform(0.005, 0.015), rng.uniform(1.0, 4.0), rng.uniform(0.0, 6.0))
    return _case(rng, factor, log_steps(draw_log(rng, 1e5, 1e8)), has_limit=False)


@families.fails("Log-periodic by 8 to 20% around the value for ever.", decidable=False)
def wiggle_outside(rng: Rng) -> Case:
    factor = wave(rng.uniform(0.08, 0.2), rng.uniform(1.0, 4.0), rng.uniform(0.0, 6.0))
    return _case(rng, factor, log_steps(draw_log(rng, 1e5, 1e8)), has_limit=False)


# --------------------------------------------------------------------------------- with noise


@families.holds("10 replicates of 2–3% at every step.", decidable=True)
def multiplicative_noise(rng: Rng) -> Case:
    noise, steps = Noise(rng.uniform(0.02, 0.03)), log_steps(draw_log(rng, 1e5, 1e8))
    return _case(rng, power(0.0), steps, noise=noise, replicates=10)


# 2%/√30 = 0.37%; 3% in logs is eight of them, and six are asked for.
@families.holds("Each run has its own constant, to 2%; 30 runs.", decidable=True)
def constants_that_differ_a_little(rng: Rng) -> Case:
    noise, steps = Noise(offset=0.02), log_steps(draw_log(rng, 1e5, 1e7), 10)
    return _case(rng, power(0.0), steps, noise=noise, replicates=30)


@families.holds("Each run has its own constant, to 10%; three runs.", decidable=False)
def constants_that_differ_much(rng: Rng) -> Case:
    noise, steps = Noise(offset=0.1), log_steps(draw_log(rng, 1e5, 1e7))
    return _case(rng, power(0.0), steps, noise=noise, replicates=3)


@families.fails("20 to 50% off; constants differ by 4% and y by 3%; 10 runs.", decidable=True)
def missed_under_noise(rng: Rng) -> Case:
    noise, steps = Noise(0.03, correlation=0.7, offset=0.04), log_steps(draw_log(rng, 1e5, 1e8))
    off = rng.uniform(0.2, 0.5)
    return _case(rng, power(0.0), steps, off=off, noise=noise, replicates=10)


@families.fails("5 to 6% off; constants differ by 10%; four runs.", decidable=False)
def missed_by_little_in_four_runs(rng: Rng) -> Case:
    noise, steps = Noise(offset=0.1), even_steps(draw_log(rng, 2e4, 1e5))
    off = draw_sign(rng) * rng.uniform(0.05, 0.06)
    return _case(rng, power(0.0), steps, off=off, noise=noise, replicates=4)


@families.holds("Constants without a variance: Student's t with 2 degrees.", decidable=False)
def constants_with_heavy_tails(rng: Rng) -> Case:
    noise, steps = Noise(offset=0.02, tails=2.0), log_steps(draw_log(rng, 1e5, 1e7))
    return _case(rng, power(0.0), steps, noise=noise, replicates=8)


# Up and down alike, so that the logarithm is centred on that of the value.
@families.holds("One seed in eight is off by a factor of 3, up or down.", decidable=False)
def outlying_constants(rng: Rng) -> Case:
    noise, steps = Noise(0.005, offset=0.01, outliers=0.125), log_steps(draw_log(rng, 1e5, 1e7))
    return _case(rng, power(0.0), steps, noise=noise, replicates=10)


@families.holds("Noise grows like t^0.2 to 5–8% at the end; 20 runs.", decidable=True)
def noise_that_grows(rng: Rng) -> Case:
    noise, steps = Noise(rng.uniform(0.05, 0.08), growth=0.2), log_steps(draw_log(rng, 1e6, 1e8))
    return _case(rng, power(0.0), steps, noise=noise, replicates=20)


@families.holds("A single run of 2% noise.", decidable=False)
def single_noisy_run(rng: Rng) -> Case:
    noise, steps = Noise(0.02, correlation=0.9), log_steps(draw_log(rng, 1e5, 1e7))
    return _case(rng, power(0.0), steps, noise=noise)
