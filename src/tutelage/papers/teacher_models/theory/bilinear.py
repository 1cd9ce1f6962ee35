"""The teacher of a setting where a prediction looks at V* and S*."""

from __future__ import annotations

from tutelage.claims.claim import NoPrediction
from tutelage.problem.build import build_teacher
from tutelage.settings import Setting
from tutelage.teachers.base import Teacher
from tutelage.teachers.bilinear import BilinearTeacher
from tutelage.teachers.collapsed import CollapsedTeacher

Bilinear = BilinearTeacher | CollapsedTeacher


def bilinear_teacher(setting: Setting) -> Bilinear:
    """The setting's teacher σ(V* X S*)."""
    return as_bilinear(build_teacher(setting))


def as_bilinear(teacher: Teacher) -> Bilinear:
    """The same teacher, known to be σ(V* X S*)."""
    if not isinstance(teacher, BilinearTeacher | CollapsedTeacher):
        raise NoPrediction(
            "This prediction is for teachers σ(V* X S*), since it is made of V* and S*. Got a "
            f"{type(teacher).__name__}."
        )
    return teacher
