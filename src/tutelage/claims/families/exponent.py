"""Exponent: y ∝ x^exponent over the points of a sweep, within `tolerance`; seeds are replicates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tutelage.claims.families.curves import Noise, log_uniform, plus, power, sign
from tutelage.claims.families.family import Case, Collection, ExponentAsked, LogCurve, Point
from tutelage.run import Outcome, Run

families = Collection("exponent")


def read_points(runs: Sequence[Run]) -> list[Point]:
    return [
        (float(run.curves["x"][-1]), float(run.curves["y"][-1]), int(run.curves["seed"][-1]))
        for run in runs
    ]


def _sweep(
    rng: np.random.Generator,
    law: LogCurve,
    slope: float | None,
    asked: float,
    tolerance: float,
    *,
    points: int,
    seeds: int,
    decades: float,
    noise: Noise,
) -> Case:
    """A run per point and seed: points are evenly spaced in ln x, and a seed has one offset."""
    x = log_uniform(rng, 1.0, 100.0) * np.logspace(0.0, decades, points)
    exact = law(np.log(x))
    runs = []
    for seed in range(seeds):
        y = np.exp(exact + noise.draw(rng, points))
        runs += [
            Run(
                np.array([1]),
                {"x": x[[i]], "y": y[[i]], "seed": np.array([float(seed)])},
                None,
                Outcome.FINISHED,
            )
            for i in range(points)
        ]
    claim = ExponentAsked(read_points, asked, tolerance)
    return Case(tuple(runs), claim, slope, law, noisy=noise.size > 0)


def _law(
    rng: np.random.Generator,
    noise: float,
    *,
    points: int,
    seeds: int,
    decades: float,
    off: float = 0.0,
    tolerance: float = 0.02,
    heavy: bool = False,
    offset: float = 0.0,
) -> Case:
    """A power law, whose exponent is `off` the claimed one."""
    slope = float(rng.uniform(-2.0, 2.0))
    law = power(slope, log_uniform(rng, 1e-3, 1e3))
    full = Noise(noise, heavy=heavy, offset=offset)
    return _sweep(
        rng, law, slope, slope - off, tolerance,
        points=points, seeds=seeds, decades=decades, noise=full,
    )  # fmt: skip


# Standard errors below are noise/√(points·seeds)/sd(ln x). Over d decades, sd(ln x) is about 0.75·d
# for 8 points and 0.81·d for 5.


@families.holds("The law is exact at 3 to 8 points.", decidable=True)
def exact_law(rng: np.random.Generator) -> Case:
    return _law(rng, 0.0, points=int(rng.integers(3, 9)), seeds=1, decades=rng.uniform(1.0, 3.0))


@families.holds("1 tolerance is 12 standard errors or more.", decidable=True)
def noise_of_one_percent(rng: np.random.Generator) -> Case:
    noise = log_uniform(rng, 0.003, 0.01)
    return _law(rng, noise, points=5, seeds=5, decades=rng.uniform(1.5, 3.0))


@families.holds("1 tolerance is 9 standard errors or more, of 80 points.", decidable=True)
def noise_of_few_percent(rng: np.random.Generator) -> Case:
    noise = log_uniform(rng, 0.01, 0.03)
    return _law(rng, noise, points=8, seeds=10, decades=rng.uniform(2.0, 3.0))


@families.holds("A tolerance of 0.1 is 10 standard errors or more.", decidable=True)
def ten_percent_in_a_wide_tolerance(rng: np.random.Generator) -> Case:
    noise = log_uniform(rng, 0.03, 0.1)
    return _law(rng, noise, points=5, seeds=10, decades=rng.uniform(2.0, 3.0), tolerance=0.1)


@families.holds("Half a tolerance off, which leaves 12 standard errors.", decidable=True)
def half_a_tolerance_off(rng: np.random.Generator) -> Case:
    noise, off = log_uniform(rng, 0.003, 0.01), 0.01 * sign(rng)
    return _law(rng, noise, points=8, seeds=10, decades=rng.uniform(2.0, 3.0), off=off)


@families.holds("Seeds differ by a constant; each has the exact law.", decidable=True)
def offsets_between_seeds(rng: np.random.Generator) -> Case:
    offset, points = log_uniform(rng, 0.1, 0.5), int(rng.integers(3, 9))
    return _law(rng, 0.0, points=points, seeds=5, decades=rng.uniform(1.0, 2.0), offset=offset)


@families.holds("t3 noise of 1–2%: 1 tolerance is 12 standard errors.", decidable=True)
def heavy_tails(rng: np.random.Generator) -> Case:
    noise = log_uniform(rng, 0.01, 0.02)
    return _law(rng, noise, points=8, seeds=10, decades=rng.uniform(2.0, 3.0), heavy=True)


@families.holds("30% at three points with one seed.", decidable=False)
def three_points_of_one_seed(rng: np.random.Generator) -> Case:
    noise = log_uniform(rng, 0.1, 0.3)
    return _law(rng, noise, points=3, seeds=1, decades=rng.uniform(1.0, 2.0))


@families.holds("1–5% at 5 to 8 points with one seed: no replicates.", decidable=False)
def one_seed(rng: np.random.Generator) -> Case:
    noise, points = log_uniform(rng, 0.01, 0.05), int(rng.integers(5, 9))
    return _law(rng, noise, points=points, seeds=1, decades=rng.uniform(1.0, 2.0))


@families.holds("1 tolerance is a standard error or less.", decidable=False)
def noise_of_thirty_percent(rng: np.random.Generator) -> Case:
    noise, points = log_uniform(rng, 0.1, 0.3), int(rng.integers(3, 6))
    return _law(rng, noise, points=points, seeds=3, decades=rng.uniform(1.0, 2.0))


@families.fails("The exact law of an exponent 1.5 to 3 tolerances off.", decidable=True)
def missed_by_little(rng: np.random.Generator) -> Case:
    points, off = int(rng.integers(3, 9)), sign(rng) * rng.uniform(0.03, 0.06)
    return _law(rng, 0.0, points=points, seeds=1, decades=rng.uniform(1.0, 3.0), off=off)


@families.fails("Off by 0.2 and more, which is 20 standard errors.", decidable=True)
def missed_under_noise(rng: np.random.Generator) -> Case:
    noise, off = log_uniform(rng, 0.01, 0.05), sign(rng) * log_uniform(rng, 0.2, 0.6)
    return _law(rng, noise, points=5, seeds=5, decades=rng.uniform(1.5, 3.0), off=off)


@families.fails("Off by 0.5 and more, which is 20 standard errors.", decidable=True)
def missed_under_thirty_percent(rng: np.random.Generator) -> Case:
    noise, off = log_uniform(rng, 0.1, 0.3), sign(rng) * log_uniform(rng, 0.5, 1.0)
    return _law(rng, noise, points=8, seeds=10, decades=rng.uniform(2.0, 3.0), off=off)


@families.fails("Off by 0.06 and more; seeds differ by a constant alone.", decidable=True)
def missed_with_offsets_between_seeds(rng: np.random.Generator) -> Case:
    offset, off = log_uniform(rng, 0.1, 0.5), sign(rng) * log_uniform(rng, 0.06, 0.3)
    points = int(rng.integers(3, 9))
    return _law(
        rng, 0.0, points=points, seeds=5, decades=rng.uniform(1.0, 2.0), off=off, offset=offset
    )


@families.fails("Off by 0.1 under 10–30% at three points with one seed.", decidable=False)
def missed_at_three_points_of_one_seed(rng: np.random.Generator) -> Case:
    noise, off = log_uniform(rng, 0.1, 0.3), 0.1 * sign(rng)
    return _law(rng, noise, points=3, seeds=1, decades=rng.uniform(1.0, 2.0), off=off)


# ----------------------------------------------------------------------------------- curved


# y = x^b(1 + κ/x): the local exponent is off by at most κ/x ≤ κ = 0.008 at the first point.
@families.holds("Curved by less than half a tolerance, under 0.3–1%.", decidable=False)
def slightly_curved(rng: np.random.Generator) -> Case:
    slope, kappa = float(rng.uniform(-2.0, 2.0)), sign(rng) * rng.uniform(0.002, 0.008)
    return _sweep(
        rng, lambda x: slope * x + np.log1p(kappa * np.exp(-x)), slope, slope, 0.02,
        points=int(rng.integers(4, 9)), seeds=10, decades=2.0,
        noise=Noise(log_uniform(rng, 0.003, 0.01)),
    )  # fmt: skip


def _two_laws(rng: np.random.Generator, asked: float) -> Case:
    """y = x^b + k·x^(b−1), whose local exponent passes from b − 1 to b; b − `asked` is claimed."""
    slope = float(rng.uniform(-1.0, 2.0))
    law = plus(power(slope), power(slope - 1.0, log_uniform(rng, 1e2, 1e3)))
    return _sweep(
        rng, law, None, slope - asked, 0.02,
        points=int(rng.integers(4, 9)), seeds=int(rng.choice([1, 3, 10])), decades=4.0,
        noise=Noise(log_uniform(rng, 0.003, 0.1)),
    )  # fmt: skip


@families.fails("All local exponents are off by 0.1 and more, and differ.", decidable=False)
def two_laws(rng: np.random.Generator) -> Case:
    return _two_laws(rng, -rng.uniform(0.1, 0.3))


# The local exponents at the ends of the sweep differ by 0.5 and more.
@families.fails("The claimed exponent lies between those of two laws.", decidable=False)
def right_in_the_mean(rng: np.random.Generator) -> Case:
    return _two_laws(rng, rng.uniform(0.3, 0.5))
