"""The teacher σ(V* X S*) of a setting, for predictions that are made of V* and S*."""

from __future__ import annotations

from tutelage.claims.claim import NoPrediction
from tutelage.problem.build import build_teacher
from tutelage.settings import Setting
from tutelage.teachers.base import BilinearClass


def build_bilinear(setting: Setting) -> BilinearClass:
    """The teacher of a setting, with its `value`, `selection` and `activation`."""
    teacher = build_teacher(setting)
    if not isinstance(teacher, BilinearClass):
        raise NoPrediction(
            f"The theory is for teachers σ(V* X S*). Got the teacher {setting.teacher.name!r}."
        )
    return teacher
