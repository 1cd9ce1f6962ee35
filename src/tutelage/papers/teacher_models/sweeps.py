"""Sweeps of one number of a setting, and the exponents that are read from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tutelage.claims.exponent import fitted_exponent
from tutelage.run import Run
from tutelage.settings import Setting

Points = list[tuple[float, float, int]]  # (place on the axis, what was read, seed)


@dataclass(frozen=True)
class Sweep:
    """One axis, and where its number stands in a setting."""

    name: str
    letter: str
    held: str  # what stays as it is
    axis: Callable[[Setting], float]
    axis_label: str = ""  # in a figure; "" where it is not drawn

    @property
    def label(self) -> str:
        return f"{self.letter} at {self.held}"


def tokens(setting: Setting) -> float:
    return float(setting.teacher.options["tokens"])


def queries(setting: Setting) -> float:
    return float(setting.teacher.options["queries"])


def support(setting: Setting) -> float:
    return float(setting.teacher.options["support"])


def norm(setting: Setting) -> float:
    return float(setting.teacher.options["norm"])


def rate(setting: Setting) -> float:
    return float(setting.rate)


def read_along(
    axis: Callable[[Setting], float], read: Callable[[Run], float]
) -> Callable[[Sequence[Run]], Points]:
    """What is read of each run of a sweep, as the claim of an exponent wants it."""

    def points(runs: Sequence[Run]) -> Points:
        return [
            (axis(run.setting), read(run), run.setting.seed)
            for run in runs
            if run.setting is not None
        ]

    return points


def exponent_through(
    predict: Callable[[Setting], float], settings: Mapping[float, Setting]
) -> Callable[[Sequence[float]], float]:
    """The exponent that a theory has through its own values at the places of a sweep."""

    def exponent(places: Sequence[float]) -> float:
        return fitted_exponent([(place, predict(settings[place])) for place in places])

    return exponent
