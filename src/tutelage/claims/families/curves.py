"""Shapes of curves, grids of steps and noises, from which the families of curves are made.

A shape gives ln y as a function of ln t, so that it can be evaluated at horizons which no float
could hold otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from tutelage.claims.families.family import CURVE, Asked, Case, LogCurve
from tutelage.run import Outcome, Run

LARGEST_EXPONENT = 700.0  # e^700 is still a float
SMALLEST_LOG = float(np.log(1e-300))  # of a value of a curve
FIRST_STEP = 1  # whose value step 0 has as well
DECADE = float(np.log(10.0))


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def sign(rng: np.random.Generator) -> float:
    return float(rng.choice([-1.0, 1.0]))


# ------------------------------------------------------------------------------------- shapes


def power(slope: float, scale: float = 1.0) -> LogCurve:
    """y = scale·t^slope."""
    return lambda x: np.log(scale) + slope * x


def corrected(slope: float, terms: Sequence[tuple[float, float]], scale: float = 1.0) -> LogCurve:
    """y = scale·t^slope·(1 + Σ b·t^-p) over the pairs (b, p)."""
    return lambda x: np.log(scale) + slope * x + np.log1p(sum(b * np.exp(-p * x) for b, p in terms))


def plateau(slope: float, end: float, sharpness: float = 1.0, scale: float = 1.0) -> LogCurve:
    """y = scale·(1 + (t/end)^sharpness)^(slope/sharpness): flat until `end`, then a power law."""
    return lambda x: (
        np.log(scale) + slope / sharpness * np.logaddexp(0.0, sharpness * (x - np.log(end)))
    )


def stretched(time: float, power: float = 1.0, scale: float = 1.0) -> LogCurve:
    """y = scale·exp(−(t/time)^power)."""
    return lambda x: (
        np.log(scale) - np.exp(np.minimum(power * (x - np.log(time)), LARGEST_EXPONENT))
    )


def times(*factors: LogCurve) -> LogCurve:
    return lambda x: np.sum([factor(x) for factor in factors], axis=0)


def plus(first: LogCurve, second: LogCurve) -> LogCurve:
    return lambda x: np.logaddexp(first(x), second(x))


def log_factor(power: float) -> LogCurve:
    """(1 + log(1 + t))^power, which is finite at every step."""
    return lambda x: power * np.log1p(np.logaddexp(0.0, x))


def log_log_factor() -> LogCurve:
    """1 + log(1 + log(1 + t))."""
    return lambda x: np.log1p(np.log1p(np.logaddexp(0.0, x)))


def slow_log(size: float) -> LogCurve:
    """1 + size/(1 + log(1 + t)), which tends to 1 as slowly as 1/log t."""
    return lambda x: np.log1p(size / (1.0 + np.logaddexp(0.0, x)))


def log_periodic(size: float, frequency: float, phase: float) -> LogCurve:
    """1 + size·cos(frequency·ln t + phase)."""
    return lambda x: np.log1p(size * np.cos(frequency * x + phase))


def bump(size: float, centre: float, width: float) -> LogCurve:
    """exp(size·exp(−((ln t − centre)/width)²)): the curve leaves its law and returns to it."""
    return lambda x: size * np.exp(-(((x - centre) / width) ** 2))


# -------------------------------------------------------------------------------------- grids


def log_grid(horizon: float, per_decade: int = 24) -> Int[np.ndarray, "points"]:
    count = int(per_decade * np.log10(horizon)) + 1
    return np.unique(np.round(np.geomspace(1.0, horizon, count)).astype(np.int64))


def linear_grid(horizon: float, every: int = 50) -> Int[np.ndarray, "points"]:
    """Every 50th step from step 0 on, as a log file has it."""
    return np.arange(0, int(horizon) + 1, every, dtype=np.int64)


def dense_grid(horizon: float, points: int = 10_000) -> Int[np.ndarray, "points"]:
    return linear_grid(horizon, max(int(horizon) // points, 1))


def jittered_grid(
    rng: np.random.Generator, horizon: float, per_decade: int = 24
) -> Int[np.ndarray, "points"]:
    """Steps at random, on average evenly in ln t; the last is the horizon."""
    count = int(per_decade * np.log10(horizon))
    steps = np.exp(rng.uniform(0.0, np.log(horizon), count))
    return np.unique(np.round([*steps, 1.0, horizon]).astype(np.int64))


# ------------------------------------------------------------------------------------- noises


@dataclass(frozen=True)
class Noise:
    """What is added to ln y: along each run, with standard deviation `size`, and to a whole run.

    `correlation` is that of neighbouring points (AR(1)). `heavy` noise is Student's t with three
    degrees of freedom. `spikes` is the probability per point that y is too large by a factor
    between 1.6 and 2.7.
    """

    size: float = 0.0
    correlation: float = 0.0
    offset: float = 0.0  # standard deviation between runs
    heavy: bool = False
    spikes: float = 0.0

    def draw(self, rng: np.random.Generator, points: int) -> Float[np.ndarray, "points"]:
        shocks = (
            rng.standard_t(3, points) / np.sqrt(3.0) if self.heavy else rng.standard_normal(points)
        )
        if self.correlation:
            fresh = np.sqrt(1.0 - self.correlation**2)
            for i in range(1, points):
                shocks[i] = self.correlation * shocks[i - 1] + fresh * shocks[i]
        hit = rng.random(points) < self.spikes
        spikes = hit * rng.uniform(0.5, 1.0, points)
        return self.size * shocks + spikes + self.offset * rng.standard_normal()


SILENT = Noise()


def curve_case(
    rng: np.random.Generator,
    shape: LogCurve,
    steps: Int[np.ndarray, "points"],
    asked: Asked,
    limit: float | None,
    *,
    noise: Noise = SILENT,
    replicates: int = 1,
    rate: float | None = None,
    outcome: Outcome = Outcome.FINISHED,
) -> Case:
    """Runs along one noiseless curve, each with noise of its own."""
    exact = shape(np.log(np.maximum(steps, FIRST_STEP)))
    runs = tuple(
        Run(
            steps=steps.copy(),
            curves={CURVE: np.exp(np.maximum(exact + noise.draw(rng, len(steps)), SMALLEST_LOG))},
            student=None,
            outcome=outcome,
            rate=rate,
        )
        for _ in range(replicates)
    )
    return Case(runs, asked, limit, shape, noisy=noise.size > 0 or noise.spikes > 0)
