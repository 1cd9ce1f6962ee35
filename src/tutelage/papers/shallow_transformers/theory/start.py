"""The start of a setting of the shallow transformer: its student and its sample, as theory sees
them.
"""

from __future__ import annotations

from dataclasses import dataclass

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
