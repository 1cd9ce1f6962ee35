"""Exponent: y ∝ x^exponent over a sweep, within `tolerance` (0.02).

- A law HOLDS if every local exponent over the sweep is within the tolerance. It FAILS otherwise.
- A pure power is decidable on either side. A bent law is decidable if its local exponents are all
  inside, or if they differ by ten tolerances or more.
- Where the x are few, local exponents are those between neighbouring points. A single bad point
  that every seed shares is part of the law.
- Noise that is correlated along a sweep can be decidable: seeds are still independent, and their
  exponents are Gaussian.
- With exponents of the seeds' own, truth is about the mean of their distribution.
- Rounding y to integers is noise only where it is coarse and differs from seed to seed.
"""

from __future__ import annotations

import numpy as np

from tutelage.claims.families.family import Case, Collection
from tutelage.claims.families_2.shapes import (
    DECADE,
    Rng,
    draw_log,
    draw_scale,
    draw_sign,
    knee,
    log_power,
    power,
    product,
    total,
)
from tutelage.claims.families_3.sweeps import (
    REPEATED,
    TOLERANCE,
    Chance,
    LogXs,
    bend_law,
    draw_even,
    draw_exponent,
    draw_off,
    draw_uneven,
    fit_line,
    leave_out_some,
    make_case,
    wave_law,
)

families = Collection("exponent")


# --------------------------------------------------------------------- without chance: it holds


@families.holds("Three exact points lie on a line well inside the tolerance.", decidable=True)
def three_exact_points_over_a_factor_of_three(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_uneven(rng, 3, np.log10(rng.uniform(3.0, 4.0)))
    true = exponent + draw_off(rng, 0.0, 0.5)
    return make_case(rng, power(true, draw_scale(rng)), [log_x], exponent, true)


@families.holds("Exact and inside the tolerance, by a tenth of it or more.", decidable=True)
def just_inside_in_three_equal_seeds(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_uneven(rng, 6, 5.0)
    true = exponent + draw_off(rng, 0.8, 0.9)
    law = power(true, draw_scale(rng))
    return make_case(rng, law, [log_x] * 3, exponent, true, chance=REPEATED)


@families.holds("The claim is the exponent at these x, where log x hardly turns.", decidable=True)
def logarithm_that_the_claim_includes(rng: Rng) -> Case:
    bare, beta = draw_exponent(rng), draw_sign(rng) * rng.uniform(0.2, 0.5)
    log_x = np.linspace(0.0, 3.0 * DECADE, 7) + np.log(draw_log(rng, 1e5, 1e6))
    law = product(power(bare, draw_scale(rng)), log_power(beta, 0.0))
    claimed = bare + 0.5 * beta * (1.0 / log_x[0] + 1.0 / log_x[-1])
    return make_case(rng, law, [log_x], claimed, fit_line(law, log_x))


@families.holds("Waves move the local exponent by 0.6 tolerances at most.", decidable=True)
def slight_waves(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_even(rng, 20, 4.0)
    law = wave_law(rng, exponent, log_x, rng.uniform(0.3, 0.6) * TOLERANCE)
    return make_case(rng, law, [log_x], exponent, fit_line(law, log_x))


@families.holds("Counts of 1,000 and more: rounding moves no exponent by 0.002.", decidable=True)
def large_counts(rng: Rng) -> Case:
    exponent, log_x = rng.uniform(0.5, 2.0), draw_even(rng, 8, 2.0)
    true = exponent + draw_off(rng, 0.0, 0.5)
    law = power(true, draw_log(rng, 1e3, 3e3) * np.exp(-true * log_x[0]))
    return make_case(rng, law, [log_x], exponent, true, integers=True)


# ------------------------------------------------------------------------ with chance: it holds


@families.holds("Seeds resolve the bend, but it stays inside the tolerance.", decidable=True)
def slight_bend_that_forty_seeds_resolve(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_even(rng, 11, 3.0)
    law = bend_law(rng, exponent + draw_off(rng, 0.0, 0.15), log_x, draw_sign(rng) * TOLERANCE)
    limit = fit_line(law, log_x)
    return make_case(rng, law, [log_x] * 40, exponent, limit, chance=Chance(points=0.002))


@families.holds("Noise grows along x, but 30 seeds average it away.", decidable=True)
def noise_that_grows_along_x(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_even(rng, 10, 3.0)
    true = exponent + draw_off(rng, 0.0, 0.5)
    chance = Chance(points=0.06, first=0.1)
    law = power(true, draw_scale(rng))
    return make_case(rng, law, [log_x] * 30, exponent, true, chance=chance)


@families.holds("Constants differ, but each seed alone shows its exponent.", decidable=True)
def missing_points_and_own_constants(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_uneven(rng, 9, 2.0)
    true = exponent + draw_off(rng, 0.0, 0.4)
    axes = leave_out_some(rng, log_x, 8)
    chance = Chance(points=0.006, constants=1.0)
    return make_case(rng, power(true, draw_scale(rng)), axes, exponent, true, chance=chance)


@families.holds("The mean of 16 exponents is known to 0.1 tolerances.", decidable=True)
def own_exponents_of_sixteen_seeds(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_even(rng, 5, 1.5)
    true = exponent + draw_off(rng, 0.0, 0.2)
    chance = Chance(points=0.002, exponents=0.007, constants=0.5)
    law = power(true, draw_scale(rng))
    return make_case(rng, law, [log_x] * 16, exponent, true, chance=chance)


@families.holds("Correlated noise bends each seed, but not all in one way.", decidable=True)
def correlated_noise_of_many_seeds(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_even(rng, 15, 4.0)
    true = exponent + draw_off(rng, 0.0, 0.4)
    chance = Chance(points=0.04, correlation=0.9)
    law = power(true, draw_scale(rng))
    return make_case(rng, law, [log_x] * 24, exponent, true, chance=chance)


@families.holds("Four seeds of correlated noise leave the exponent open.", decidable=False)
def correlated_noise_of_four_seeds(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_even(rng, 16, 2.0)
    true = exponent + draw_off(rng, 0.0, 0.5)
    chance = Chance(points=0.2, correlation=0.95)
    law = power(true, draw_scale(rng))
    return make_case(rng, law, [log_x] * 4, exponent, true, chance=chance)


@families.holds("Heavy tails.", decidable=False)
def heavy_tails(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_even(rng, 8, 2.0)
    true = exponent + draw_off(rng, 0.0, 0.5)
    law = power(true, draw_scale(rng))
    return make_case(rng, law, [log_x] * 10, exponent, true, chance=Chance(points=0.03, tails=2.0))


@families.holds("The mean of five exponents is open by more than a tolerance.", decidable=False)
def scattered_exponents_of_five_seeds(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_even(rng, 6, 3.0)
    true = exponent + draw_off(rng, 0.0, 0.5)
    law = power(true, draw_scale(rng))
    return make_case(rng, law, [log_x] * 5, exponent, true, chance=Chance(exponents=0.05))


@families.holds("A single seed with noise.", decidable=False)
def one_noisy_seed(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_even(rng, 8, 2.0)
    true = exponent + draw_off(rng, 0.0, 0.8)
    law = power(true, draw_scale(rng))
    return make_case(rng, law, [log_x], exponent, true, chance=Chance(points=0.03))


@families.holds("Counts below ten: rounding is neither small nor Gaussian.", decidable=False)
def small_counts(rng: Rng) -> Case:
    exponent, log_x = rng.uniform(0.5, 1.0), draw_even(rng, 6, 1.0)
    true = exponent + draw_off(rng, 0.0, 0.5)
    law = power(true, rng.uniform(4.0, 7.0) * np.exp(-true * log_x[0]))
    chance = Chance(constants=0.3)
    return make_case(rng, law, [log_x] * 3, exponent, true, chance=chance, integers=True)


# -------------------------------------------------------------------- without chance: it fails


@families.fails("Exact and outside the tolerance, by a tenth of it or more.", decidable=True)
def just_outside_in_four_equal_seeds(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_uneven(rng, 12, 1.5)
    true = exponent + draw_off(rng, 1.1, 1.25)
    law = power(true, draw_scale(rng))
    return make_case(rng, law, [log_x] * 4, exponent, true, chance=REPEATED)


@families.fails("Local exponents differ by 15 tolerances or more.", decidable=True)
def strong_bend_of_five_points(rng: Rng) -> Case:
    log_x = draw_even(rng, 5, 2.0)
    law = bend_law(rng, draw_exponent(rng), log_x, draw_sign(rng) * rng.uniform(0.3, 0.7))
    return make_case(rng, law, [log_x], fit_line(law, log_x), None)


@families.fails("A floor at least halves the last local exponents.", decidable=True)
def floor_at_the_end(rng: Rng) -> Case:
    exponent, log_x = -rng.uniform(0.8, 1.8), draw_even(rng, 8, 3.0)
    level = draw_log(rng, 1.0, 5.0) * np.exp(exponent * log_x[-1])
    law = total(power(exponent), power(0.0, level))
    chance = Chance(constants=0.5)
    return make_case(rng, law, [log_x] * 3, exponent, None, chance=chance)


@families.fails("One point, the same in all seeds, is off; the line is right.", decidable=True)
def bad_point_in_the_middle(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_even(rng, 9, 2.0)
    step = draw_sign(rng) * np.log(rng.uniform(1.2, 1.5))
    straight, at = power(exponent, draw_scale(rng)), log_x[4]

    def law(x: LogXs) -> LogXs:
        return straight(x) + np.where(np.isclose(x, at), step, 0.0)

    return make_case(rng, law, [log_x] * 5, exponent, None, chance=Chance(constants=1.0))


@families.fails("A bend between two and ten tolerances.", decidable=False)
def bend_of_a_few_tolerances(rng: Rng) -> Case:
    log_x = draw_even(rng, 7, 2.5)
    law = bend_law(rng, draw_exponent(rng), log_x, draw_sign(rng) * rng.uniform(0.08, 0.15))
    return make_case(rng, law, [log_x] * 6, fit_line(law, log_x), None, chance=REPEATED)


@families.fails("Log x moves all local exponents out, by two to ten tolerances.", decidable=False)
def logarithm_that_the_claim_leaves_out(rng: Rng) -> Case:
    exponent, beta = draw_exponent(rng), draw_sign(rng) * rng.uniform(1.0, 2.0)
    log_x = np.linspace(0.0, 3.0 * DECADE, 12) + np.log(draw_log(rng, 1e3, 2e3))
    law = product(power(exponent, draw_scale(rng)), log_power(beta, 0.0))
    return make_case(rng, law, [log_x], exponent, None)


# ----------------------------------------------------------------------- with chance: it fails


@families.fails("Off by 40 tolerances and more.", decidable=True)
def wildly_wrong_with_three_points(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_even(rng, 3, 1.0)
    true = exponent + draw_off(rng, 40.0, 100.0)
    law = power(true, draw_scale(rng))
    return make_case(rng, law, [log_x] * 4, exponent, true, chance=Chance(points=0.05))


@families.fails("Twelve seeds tell 1.75 tolerances from one.", decidable=True)
def noise_that_falls_along_x(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_even(rng, 7, 2.0)
    true = exponent + draw_off(rng, 1.75, 2.5)
    law = power(true, draw_scale(rng))
    chance = Chance(points=0.002, first=10.0)
    return make_case(rng, law, [log_x] * 12, exponent, true, chance=chance)


@families.fails("Constants hide it between seeds, but each alone shows it.", decidable=True)
def own_constants_and_own_ranges_of_x(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_even(rng, 6, rng.uniform(0.7, 1.0))
    true = exponent + draw_off(rng, 3.0, 5.0)
    axes = [log_x + rng.uniform(0.0, 3.0 * DECADE) for _ in range(12)]
    chance = Chance(points=0.01, constants=1.5)
    return make_case(rng, power(true, draw_scale(rng)), axes, exponent, true, chance=chance)


@families.fails("Two exponents, 15 tolerances apart or more.", decidable=True)
def two_exponents_and_missing_points(rng: Rng) -> Case:
    before, log_x = draw_exponent(rng), draw_even(rng, 10, 3.0)
    after = before + draw_sign(rng) * rng.uniform(0.3, 0.7)
    at = np.exp(log_x[0] + rng.uniform(0.35, 0.65) * (log_x[-1] - log_x[0]))
    law = product(knee(before, after, float(at), 20.0), power(0.0, draw_scale(rng)))
    axes = leave_out_some(rng, log_x, 10)
    return make_case(rng, law, axes, fit_line(law, log_x), None, chance=Chance(points=0.01))


@families.fails("A ceiling at least halves the last local exponents.", decidable=True)
def ceiling_with_own_values_of_x(rng: Rng) -> Case:
    exponent, log_x = rng.uniform(0.6, 1.5), draw_even(rng, 20, 5.0)
    full = float(np.exp(log_x[-1] - rng.uniform(0.0, 1.0) * DECADE))
    law = product(knee(exponent, 0.0, full, exponent), power(0.0, draw_scale(rng)))
    axes = [np.sort(log_x + rng.uniform(0.0, 0.5, len(log_x))) for _ in range(6)]
    return make_case(rng, law, axes, exponent, None, chance=Chance(points=0.02))


@families.fails("Local exponents differ by 16 tolerances or more along the waves.", decidable=True)
def strong_waves(rng: Rng) -> Case:
    log_x = draw_even(rng, 20, 5.0)
    law = wave_law(rng, draw_exponent(rng), log_x, rng.uniform(0.16, 0.4))
    chance = Chance(points=0.02)
    return make_case(rng, law, [log_x] * 10, fit_line(law, log_x), None, chance=chance)


@families.fails("Noise of three seeds over a short range covers the bend.", decidable=False)
def bend_below_the_noise(rng: Rng) -> Case:
    log_x = draw_even(rng, 6, np.log10(4.0))
    law = bend_law(rng, draw_exponent(rng), log_x, draw_sign(rng) * rng.uniform(0.25, 0.4))
    chance = Chance(points=0.05)
    return make_case(rng, law, [log_x] * 3, fit_line(law, log_x), None, chance=chance)


@families.fails("Outlying seeds.", decidable=False)
def outlying_seeds(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_even(rng, 5, 2.0)
    true = exponent + draw_off(rng, 1.75, 3.0)
    law = power(true, draw_scale(rng))
    chance = Chance(points=0.01, strays=0.1)
    return make_case(rng, law, [log_x] * 8, exponent, true, chance=chance)


@families.fails(
    "Skewed exponents: most seeds lie nearer to the claim than the mean.", decidable=False
)
def skewed_exponents(rng: Rng) -> Case:
    exponent, log_x = draw_exponent(rng), draw_even(rng, 4, 2.0)
    true = exponent + rng.uniform(1.5, 2.0) * TOLERANCE
    law = power(true, draw_scale(rng))
    chance = Chance(points=0.005, exponents=0.05, skewed=True)
    return make_case(rng, law, [log_x] * 7, exponent, true, chance=chance)
