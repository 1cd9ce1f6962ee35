"""Shapes of curves, grids of steps and noises from which the families of curves are built.

A shape is ln y as a function of x = ln t. Every shape can be evaluated far beyond any run, to
x = 10⁶, so that its limit can be computed and not only claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from tutelage.claims.families.family import CURVE, Asked, Case, LogCurve
from tutelage.run import Outcome, Run

Rng = np.random.Generator
Steps = Int[np.ndarray, "points"]
Values = Float[np.ndarray, "points"]
DECADE = float(np.log(10.0))


# --------------------------------------------------------------------------------- parameters


def draw_log(rng: Rng, low: float, high: float) -> float:
    """A number between `low` and `high` whose logarithm is uniform."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def draw_sign(rng: Rng) -> float:
    return 1.0 if rng.random() < 0.5 else -1.0


def draw_slope(rng: Rng) -> float:
    return -float(rng.uniform(0.25, 1.6))


def draw_scale(rng: Rng) -> float:
    return draw_log(rng, 0.01, 100.0)


# ------------------------------------------------------------------------------------- shapes


def power(slope: float, scale: float = 1.0) -> LogCurve:
    """y = scale · t^slope."""
    return lambda x: slope * x + np.log(scale)


def approach(amount: float, exponent: float) -> LogCurve:
    """A factor 1 + amount · t^-exponent; amount > −1."""
    return lambda x: np.log1p(amount * np.exp(-exponent * x))


def log_power(beta: float, shift: float = 1.0) -> LogCurve:
    """A factor (shift + log t)^beta."""
    return lambda x: beta * np.log(shift + x)


def log_approach(amount: float, shift: float = 1.0) -> LogCurve:
    """A factor 1 + amount/(shift + log t); it tends to one as slowly as 1/log t."""
    return lambda x: np.log1p(amount / (shift + x))


def knee(before: float, after: float, at: float, sharpness: float) -> LogCurve:
    """Slope `before` until t = at, then slope `after`, which is approached like t^-sharpness."""

    def log_curve(x: Values) -> Values:
        return before * x + (after - before) / sharpness * np.logaddexp(
            0.0, sharpness * (x - np.log(at))
        )

    return log_curve


def hump(height: float, at: float, width: float) -> LogCurve:
    """A factor exp(height / cosh((x − ln at)/width)), which dies like t^(-1/width)."""
    return lambda x: 2.0 * height * np.exp(-np.logaddexp(u := (x - np.log(at)) / width, -u))


def wave(amplitude: float, frequency: float, phase: float, fade: float = 0.0) -> LogCurve:
    """A factor exp(amplitude · t^-fade · sin(frequency · ln t + phase))."""
    return lambda x: amplitude * np.exp(-fade * x) * np.sin(frequency * x + phase)


def cutoff(time: float, exponent: float = 1.0) -> LogCurve:
    """A factor exp(−(t/time)^exponent)."""
    return lambda x: -np.exp(exponent * (x - np.log(time)))


def product(*curves: LogCurve) -> LogCurve:
    return lambda x: np.sum([curve(x) for curve in curves], axis=0)


def total(*curves: LogCurve) -> LogCurve:
    return lambda x: np.logaddexp.reduce([curve(x) for curve in curves])


# -------------------------------------------------------------------------------------- grids


def log_steps(horizon: float, per_decade: int = 20) -> Steps:
    points = int(np.ceil(np.log10(horizon) * per_decade)) + 1
    return np.unique(np.round(np.geomspace(1.0, horizon, points)).astype(np.int64))


def even_steps(horizon: float, every: int = 50) -> Steps:
    return np.arange(every, int(horizon) + 1, every, dtype=np.int64)


def scattered_steps(rng: Rng, horizon: float, points: int) -> Steps:
    """Steps at random, uniform in ln t, with the last one at the horizon."""
    inner = np.exp(rng.uniform(0.0, np.log(horizon), points))
    return np.unique(np.append(np.round(inner), np.round(horizon)).astype(np.int64))


def checkpoints(horizon: float) -> Steps:
    """1, 2, 4, 8, …: the powers of two up to the horizon."""
    return 2 ** np.arange(int(np.log2(horizon)) + 1, dtype=np.int64)


# -------------------------------------------------------------------------------------- noise


@dataclass(frozen=True)
class Noise:
    """Chance in the replicates of a curve: sizes are standard deviations, of ln y where not said.

    `tails` is the number of degrees of freedom of Student's t, scaled to `size` by its quartiles
    alone; 0 is the Gaussian.
    """

    size: float = 0.0  # at every measured step
    correlation: float = 0.0  # of the noise at neighbouring measured steps
    growth: float = 0.0  # `size` is that at the last step, and grows like t^growth
    additive: float = 0.0  # of y itself, relative to y at the last step
    offset: float = 0.0  # of each run's own constant
    slopes: float = 0.0  # of each run's own slope
    tails: float = 0.0  # of `size` and `offset`
    outliers: float = 0.0  # the chance that a run's constant is off by a factor of 3, up or down

    def draw(self, rng: Rng, log_curve: LogCurve, steps: Steps) -> Values:
        """One replicate of y at these steps."""
        x = np.log(steps)
        log_y = log_curve(x) + self.size * np.exp(self.growth * (x - x[-1])) * self._along(
            rng, len(x)
        )
        log_y = log_y + self.offset * self._deviates(rng, 1)[0] + self.slopes * rng.normal() * x
        if rng.random() < self.outliers:
            log_y = log_y + draw_sign(rng) * np.log(3.0)
        end = np.exp(log_curve(x[-1:])[0])
        return np.exp(log_y) + self.additive * end * rng.normal(size=len(x))

    def _along(self, rng: Rng, points: int) -> Values:
        fresh = self._deviates(rng, points)
        kept, own = self.correlation, np.sqrt(1.0 - self.correlation**2)
        along = np.empty(points)
        along[0] = fresh[0]
        for point in range(1, points):
            along[point] = kept * along[point - 1] + own * fresh[point]
        return along

    def _deviates(self, rng: Rng, number: int) -> Values:
        if self.tails:
            return rng.standard_t(self.tails, size=number)
        return rng.normal(size=number)

    @property
    def is_along(self) -> bool:
        return self.size > 0.0 or self.additive > 0.0


QUIET = Noise()


def make_run(
    steps: Steps, y: Values, rate: float | None = None, outcome: Outcome = Outcome.FINISHED
) -> Run:
    return Run(steps=steps, curves={CURVE: y}, student=None, outcome=outcome, rate=rate)


def make_case(
    rng: Rng,
    log_curve: LogCurve,
    steps: Steps,
    asked: Asked,
    limit: float | None,
    *,
    noise: Noise = QUIET,
    replicates: int = 1,
    rate: float | None = None,
    outcome: Outcome = Outcome.FINISHED,
) -> Case:
    """Replicates of one curve, all at the same steps."""
    runs: Sequence[Run] = [
        make_run(steps, noise.draw(rng, log_curve, steps), rate, outcome) for _ in range(replicates)
    ]
    return Case(tuple(runs), asked, limit, log_curve, noise.is_along)
