"""How a number is read off a run, where more than one study of this paper reads it."""

from __future__ import annotations

from collections.abc import Callable

from tutelage.run import Run
from tutelage.settings import Setting

Reading = Callable[[Run], float]
Point = tuple[float, float, int]  # x, y and the seed, of a sweep

# How far a head may go at most, of its radius, that was not stopped there. One that was stands at 1
# but for rounding, which in single precision is some 1e-6.
NOT_STOPPED = 0.9999


def setting_of(run: Run) -> Setting:
    """The setting that the run was made from."""
    assert run.setting is not None
    return run.setting


def heads_of(run: Run) -> int:
    """m, the width of the student."""
    return int(setting_of(run).student.options["heads"])


def samples_of(run: Run) -> int:
    """n, the number of samples."""
    return int(setting_of(run).objective.options["samples"])


def read_start(curve: str, entry: int | None = None) -> Reading:
    """A measure of the start, or one entry of it."""
    return lambda run: float(run.curves[curve][0] if entry is None else run.curves[curve][0][entry])


def read_last(curve: str, over: str | None = None) -> Reading:
    """The last value of a curve, or of its ratio to another."""
    if over is None:
        return lambda run: float(run.curves[curve][-1])
    return lambda run: float(run.curves[curve][-1] / run.curves[over][-1])
