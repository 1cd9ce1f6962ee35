"""The sweeps of `teacher-models/online`: the noise floor in η, N and τ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.setup import SMALL
from tutelage.papers.teacher_models.sweeps import rate
from tutelage.settings import Part, Setting

BASE = Setting(SMALL, rate=0.05, steps=2000, objective=Part("online", batch=100))


@dataclass(frozen=True)
class FloorSweep:
    """One axis of the floor: what is changed in the base, and how long each point is run."""

    name: str
    letter: str
    axis_label: str
    power: str  # of the letter, to which the floor is proportional
    path: str
    axis: Callable[[Setting], float]
    # The base is among the values. About eight times as many steps as the exact run needs to pass
    # the floor.
    steps: Mapping[float | int, int]


def batch(setting: Setting) -> float:
    return float(theory.batch_of(setting))


def noise(setting: Setting) -> float:
    return float(setting.teacher.options["noise"])


SWEEPS = (
    FloorSweep("eta", "η", r"$\eta$", "η", "rate", rate, {0.1: 2000, 0.05: 2000, 0.025: 4000}),
    FloorSweep("N", "N", "$N$", "1/N", "objective.batch", batch, {25: 2000, 50: 2000, 100: 2000}),
    FloorSweep(
        "tau", "τ", r"$\tau$", "τ²", "teacher.noise", noise, {5.0: 5000, 10.0: 2000, 20.0: 2000}
    ),
)
