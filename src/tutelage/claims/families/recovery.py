"""Recovery: the curve ends within `within` of `target`, or is still falling towards it.

The truth is about the limit. Where a family is decidable, the end of the runs agrees with it.
"""

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
    log_grid,
    log_uniform,
    power,
    sign,
    stretched,
    times,
)
from tutelage.claims.families.family import Case, Collection, LogCurve, RecoveryAsked

families = Collection("recovery")


def _falling(rng: np.random.Generator, low: float, high: float, height: float) -> LogCurve:
    """1 + height·t^-p with p between `low` and `high`."""
    return corrected(0.0, [(height, rng.uniform(low, high))])


def _case(
    rng: np.random.Generator,
    shape: LogCurve,
    steps: Int[np.ndarray, "points"],
    *,
    within: float,
    off: float = 0.0,
    noise: Noise = SILENT,
    replicates: int = 1,
    from_step: int | None = None,
) -> Case:
    """`shape` tends to 1, which is `off` the target; `within` and `off` are relative to it."""
    limit = log_uniform(rng, 1e-3, 1e3)
    asked = RecoveryAsked(limit * (1.0 - off), limit * within, from_step)
    whole = times(power(0.0, limit), shape)
    return curve_case(rng, whole, steps, asked, limit, noise=noise, replicates=replicates)


def _within(rng: np.random.Generator) -> float:
    return log_uniform(rng, 0.01, 0.2)


# ---------------------------------------------------------------------------- without noise


@families.holds("It is there to less than a tenth of `within`, like 1/t or faster.", decidable=True)
def power_law_to_the_target(rng: np.random.Generator) -> Case:
    steps = log_grid(log_uniform(rng, 1e4, 1e8))
    return _case(rng, _falling(rng, 1.0, 2.0, rng.uniform(0.5, 5.0)), steps, within=_within(rng))


# At T = 10⁷ at most 2·10^-3.5 are left, and the class allows three times as much.
@families.holds("Like t^-p with p from 0.5 on, and long.", decidable=True)
def slow_law_to_the_target(rng: np.random.Generator) -> Case:
    steps = log_grid(log_uniform(rng, 1e7, 1e9), per_decade=5)
    return _case(rng, _falling(rng, 0.5, 1.0, rng.uniform(0.5, 2.0)), steps, within=_within(rng))


@families.holds("Exponential, and there for ten times its time.", decidable=True)
def exponential_to_the_target(rng: np.random.Generator) -> Case:
    time, within = log_uniform(rng, 100.0, 1e4), _within(rng)
    decay = stretched(time, scale=log_uniform(rng, 0.5, 10.0))
    steps = linear_grid(time * rng.uniform(20.0, 40.0))
    return _case(rng, lambda x: np.log1p(np.exp(decay(x))), steps, within=within)


@families.holds("The limit is half of `within` off, and reached.", decidable=True)
def limit_beside_the_target(rng: np.random.Generator) -> Case:
    within, steps = _within(rng), jittered_grid(rng, log_uniform(rng, 1e5, 1e8))
    shape = _falling(rng, 1.0, 2.0, rng.uniform(0.5, 2.0))
    return _case(rng, shape, steps, within=within, off=0.5 * within * sign(rng))


# The curve rises 2- to 10-fold at the shock, a decade or more before the end, and returns.
@families.holds("A shock is over by 5 of its widths in ln t.", decidable=True)
def return_from_a_shock(rng: np.random.Generator) -> Case:
    shock, width = log_uniform(rng, 1e3, 1e5), rng.uniform(0.2, 0.4)
    shape = bump(rng.uniform(0.7, 2.3), np.log(shock), width)
    steps = dense_grid(shock * log_uniform(rng, 10.0, 30.0))
    return _case(rng, shape, steps, within=_within(rng), from_step=int(shock))


@families.holds("The target is 0, and the curve is a power law.", decidable=True)
def fall_to_zero(rng: np.random.Generator) -> Case:
    steps, slope = log_grid(log_uniform(rng, 1e5, 1e8)), -rng.uniform(0.5, 2.0)
    within = log_uniform(rng, 50.0, 500.0) * float(steps[-1]) ** slope
    return curve_case(rng, power(slope), steps, RecoveryAsked(0.0, within), 0.0)


@families.fails("It stalls 1.5 to 5 times `within` above the target.", decidable=True)
def stall_above(rng: np.random.Generator) -> Case:
    within, steps = _within(rng), log_grid(log_uniform(rng, 1e5, 1e8))
    shape = _falling(rng, 1.0, 2.0, rng.uniform(0.5, 2.0))
    off = min(within * log_uniform(rng, 1.5, 5.0), 0.9)
    return _case(rng, shape, steps, within=within, off=off)


@families.fails("It never moves from 2 to 20 times `within` away.", decidable=True)
def no_recovery(rng: np.random.Generator) -> Case:
    within, steps = log_uniform(rng, 0.005, 0.04), linear_grid(log_uniform(rng, 1e4, 1e5))
    off = sign(rng) * within * log_uniform(rng, 2.0, 20.0)
    return _case(rng, power(0.0), steps, within=within, off=off)


# It falls like t^-½ from 1 + b to 1; the target is 1, and 1.5 to 4 times `within` are left.
@families.holds("Still outside at the end, and falling.", decidable=False)
def still_falling(rng: np.random.Generator) -> Case:
    horizon, height, p = log_uniform(rng, 1e4, 1e7), rng.uniform(0.5, 5.0), rng.uniform(0.3, 0.7)
    within = height * horizon**-p / rng.uniform(1.5, 4.0)
    return _case(rng, corrected(0.0, [(height, p)]), log_grid(horizon), within=within)


@families.holds("δ is between 0.03 and 0.1; most is still to fall.", decidable=False)
def falling_slower_than_the_class(rng: np.random.Generator) -> Case:
    horizon, p = log_uniform(rng, 1e4, 1e9), log_uniform(rng, 0.03, 0.1)
    height = rng.uniform(0.5, 5.0)
    within = height * horizon**-p / rng.uniform(1.5, 4.0)
    return _case(rng, corrected(0.0, [(height, p)]), log_grid(horizon), within=within)


# A stall at 1.5 to 3 times `within` above the target; 1 to 5 times `within` are still to fall.
@families.fails("It falls towards a stall that is not yet in sight.", decidable=False)
def falling_to_a_stall(rng: np.random.Generator) -> Case:
    horizon, height, p = log_uniform(rng, 1e4, 1e7), rng.uniform(0.5, 5.0), rng.uniform(0.3, 0.5)
    within = height * horizon**-p / rng.uniform(1.0, 5.0)
    off = min(within * rng.uniform(1.5, 3.0), 0.9)
    return _case(rng, corrected(0.0, [(height, p)]), log_grid(horizon), within=within, off=off)


# ------------------------------------------------------------------------------- with noise


def _noisy(
    rng: np.random.Generator,
    size: float,
    replicates: int,
    *,
    off: float = 0.0,
    correlation: float = 0.0,
    offset: float = 0.0,
) -> Case:
    """`size`, `offset` and `off` are relative to `within`."""
    within, steps = log_uniform(rng, 0.01, 0.1), log_grid(log_uniform(rng, 1e5, 1e8))
    noise = Noise(size * within, correlation=correlation, offset=offset * within)
    shape = _falling(rng, 1.0, 2.0, rng.uniform(0.5, 2.0))
    return _case(
        rng, shape, steps, within=within, off=off * within, noise=noise, replicates=replicates
    )


@families.holds("There, with noise of up to 0.3 times `within`; 10 replicates.", decidable=True)
def there_with_noise(rng: np.random.Generator) -> Case:
    return _noisy(rng, log_uniform(rng, 0.05, 0.3), 10)


@families.holds("There, with AR(1) and offsets of 0.1 times `within`; 10.", decidable=True)
def there_with_correlated_noise(rng: np.random.Generator) -> Case:
    return _noisy(rng, 0.1, 10, correlation=rng.uniform(0.3, 0.9), offset=0.1)


@families.fails("2 to 5 times `within` off, with noise of 0.3; 10 replicates.", decidable=True)
def stall_with_noise(rng: np.random.Generator) -> Case:
    return _noisy(rng, log_uniform(rng, 0.05, 0.3), 10, off=log_uniform(rng, 2.0, 5.0))


@families.fails("3 to 8 times `within` off, with offsets of 0.2; 5 replicates.", decidable=True)
def stall_in_five_runs(rng: np.random.Generator) -> Case:
    return _noisy(rng, 0.1, 5, off=log_uniform(rng, 3.0, 8.0), offset=0.2)


@families.holds("Constants differ between 5 runs by 1 to 3 times `within`.", decidable=False)
def there_on_average(rng: np.random.Generator) -> Case:
    return _noisy(rng, 0.2, 5, offset=log_uniform(rng, 1.0, 3.0))


@families.holds("Noise of a single run, of no declared model.", decidable=False)
def single_noisy_run(rng: np.random.Generator) -> Case:
    return _noisy(rng, log_uniform(rng, 0.3, 2.0), 1)


@families.fails("Noise of a single run, of no declared model.", decidable=False)
def single_noisy_run_that_stalls(rng: np.random.Generator) -> Case:
    return _noisy(rng, log_uniform(rng, 0.3, 2.0), 1, off=rng.uniform(1.2, 2.0))
