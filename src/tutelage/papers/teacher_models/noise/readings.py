"""How the runs of `teacher-models/noise` are read: windows from theory alone, slopes and ratios in
them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from tutelage.claims.claim import NotYet
from tutelage.claims.curve import Theory
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.theory import noise
from tutelage.problem.build import build
from tutelage.run import Run
from tutelage.settings import Setting

SETTLED = 30  # plateaus, from which on slopes are read, as in teacher-models/rates
Read = Callable[[Run, Setting], float]
Window = Callable[[Setting], tuple[float, float]]  # the first and the last step, from theory alone


def each(read: Read) -> Callable[[Sequence[Run]], list[float]]:
    """One number per run: the replications of a claim."""
    return lambda runs: [read(run, run.setting) for run in runs if run.setting is not None]


# --- windows


def before_crossing(setting: Setting) -> tuple[float, float]:
    """From the 30th plateau to a tenth of the crossing."""
    return SETTLED * theory.plateau(setting), noise.crossing(setting) / 10


def around_crossing(setting: Setting) -> tuple[float, float]:
    """Half a decade on each side."""
    crossing = noise.crossing(setting)
    return crossing / np.sqrt(10), min(crossing * np.sqrt(10), setting.steps)


def after_crossing(setting: Setting) -> tuple[float, float]:
    return noise.crossing(setting), float(setting.steps)


def last_decade(setting: Setting) -> tuple[float, float]:
    """The last factor of ten of the steps, from the 30th plateau on."""
    return max(SETTLED * theory.plateau(setting), setting.steps / 10), float(setting.steps)


def steps_within(run: Run, first: float, last: float) -> Bool[np.ndarray, "points"]:
    """Which measured steps lie between two, of which there must be enough."""
    inside = (run.steps >= max(1.0, first)) & (run.steps <= last)
    if inside.sum() < 10 or run.steps[-1] < 0.9 * last:
        raise NotYet(
            f"Too short to tell: it is read from step {first:,.0f} to {last:,.0f}, and the run "
            f"ends at {run.steps[-1]:,}."
        )
    return inside


# --- slopes


def fit_line(
    steps: Int[np.ndarray, "points"], curve: Float[np.ndarray, "points"]
) -> tuple[float, float]:
    """(b, c) of log(curve) ≈ b log(step) + c, by least squares through the curve's means over
    sixths of a decade.

    Of means, since the excess fluctuates like a χ² of p degrees: the mean of its logarithm lies
    about 1/p below the logarithm of its mean.
    """
    # Of equal width: a last one of a single draw would have the most leverage.
    many = max(2, round(6 * math.log10(steps[-1] / steps[0])))
    along = np.log(steps / steps[0]) / math.log(steps[-1] / steps[0])
    bins = np.minimum(along * many, many - 1).astype(int)
    x = [float(np.log(steps[bins == b]).mean()) for b in np.unique(bins)]
    y = [float(np.log(curve[bins == b].mean())) for b in np.unique(bins)]
    tilt, level = np.polyfit(x, y, 1)
    return float(tilt), float(level)


def fit_slope(steps: Int[np.ndarray, "points"], curve: Float[np.ndarray, "points"]) -> float:
    """d log(curve)/d log(step)."""
    return fit_line(steps, curve)[0]


def slope_in(window: Window) -> Read:
    """The slope of the excess in a window."""

    def read(run: Run, setting: Setting) -> float:
        seen = steps_within(run, *window(setting))
        return fit_slope(run.steps[seen], run.curves["excess_risk"][seen])

    return read


def expected_slope_in(window: Window) -> Callable[[Setting], float]:
    """That of theory itself, over steps that are even in log time."""

    def at(setting: Setting) -> float:
        first, last = window(setting)
        steps = np.unique(np.rint(np.geomspace(max(1.0, first), last, 200)).astype(np.int64))
        return fit_slope(steps, noise.expected(setting, steps))

    return at


# --- numbers over their predictions


def ratio_in(window: Window, curve: str, expected: Theory) -> Read:
    """The curve over its prediction: the mean over log time in a window."""

    def read(run: Run, setting: Setting) -> float:
        seen = steps_within(run, *window(setting))
        return float(np.mean(run.curves[curve][seen] / expected(setting, run.steps[seen])))

    return read


def read_crossing(run: Run, setting: Setting) -> float:
    """The step at which the online excess is twice the exact one, over the predicted crossing.

    Around the crossing excess/exact − 1 is about T/T_cross; a line through its means over sixths of
    a decade in log-log has its zero there.
    """
    seen = steps_within(run, *around_crossing(setting))
    steps = run.steps[seen]
    above = run.curves["excess_risk"][seen] / noise.exact(setting, steps) - 1
    tilt, level = fit_line(steps, above)
    return float(np.exp(-level / tilt) / noise.crossing(setting))


def read_over_floor(run: Run, setting: Setting) -> float:
    """The mean excess over time after the crossing, over the floor."""
    seen = steps_within(run, *after_crossing(setting))
    gaps = np.gradient(run.steps.astype(float))[seen]
    mean = np.average(run.curves["excess_risk"][seen], weights=gaps)
    return float(mean / theory.noise_floor(setting))


def read_averaged_noise(run: Run, setting: Setting) -> float:
    """Averaged excess × T over (k+1)²/(2k+1)·τ²p/(2N), the mean over log time from the 400th step
    on, where the start is forgotten.
    """
    seen = steps_within(run, 400, run.steps[-1])
    kept = (run.curves["averaged_excess"] * run.steps)[seen].mean()
    return float(kept / noise.averaged_noise(setting))


def read_bias(run: Run, setting: Setting) -> float:
    """The averaged excess at the end, over its predicted limit and what noise still leaves
    there.
    """
    left = noise.kept(setting, run.steps[-1:]).averaged[0]
    return float(run.curves["averaged_excess"][-1] / (noise.averaged_bias(setting) + left))


# --- runs with label noise beside runs without


def noisy_and_not(runs: Sequence[Run]) -> list[tuple[Run, Run]]:
    """(with label noise, without) for each seed."""
    found: dict[int, dict[bool, Run]] = {}
    for run in runs:
        if run.setting is not None:
            found.setdefault(run.setting.seed, {})[run.setting.teacher.options["noise"] > 0] = run
    return [(pair[True], pair[False]) for pair in found.values()]


def largest_differences(runs: Sequence[Run]) -> list[float]:
    """The largest relative difference of the excess between the run with label noise and the one
    without, over all measured steps.
    """
    return [
        float(np.max(np.abs(noisy.curves["excess_risk"] / plain.curves["excess_risk"] - 1)))
        for noisy, plain in noisy_and_not(runs)
    ]


def risk_differences(runs: Sequence[Run]) -> list[float]:
    """L with label noise less L without it, each at the end of its own run, over ½MQτ²."""
    found = []
    for noisy, plain in noisy_and_not(runs):
        assert noisy.setting is not None
        assert plain.setting is not None
        f = theory.facts(noisy.setting)
        gap = float(
            build(noisy.setting).objective(noisy.student)
            - build(plain.setting).objective(plain.student)
        )
        found.append(gap / (0.5 * f.outputs * f.queries * f.noise**2))
    return found
