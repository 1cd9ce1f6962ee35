"""The start of a setting of the shallow transformer: its student and its sample, as theory sees
them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tutelage.objectives.squared_loss import SquaredLoss
from tutelage.problem.build import build
from tutelage.settings import Setting
from tutelage.students.shallow_transformer import ShallowTransformer


@dataclass(frozen=True)
class Start:
    """A student that is not trained yet, and the sample that it will be."""

    student: ShallowTransformer
    sample: SquaredLoss


def build_start(setting: Setting) -> Start:
    """Both as the setting names them."""
    problem = build(setting)
    assert isinstance(problem.student, ShallowTransformer)
    assert isinstance(problem.objective, SquaredLoss)
    return Start(problem.student, problem.objective)


def trained_form(setting: Setting) -> Setting:
    """A setting of which only the start is looked at, as one that could be trained."""
    return replace(setting, calculation=None, rate=1.0, steps=1)
