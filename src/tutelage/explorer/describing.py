"""What is known of a setting before it runs: theory, hypotheses, the teacher's pattern, and code that makes the same run."""

from __future__ import annotations

from typing import Any

import numpy as np

from tutelage.explorer.reading import Reading
from tutelage.explorer.states import query_of
from tutelage.explorer.stream import Known
from tutelage.settings import Setting


def describe(setting: Setting, known: Known) -> dict[str, Any]:
    """JSON-ready; refused where the setting is."""
    from tutelage.execution import checked

    problem = checked(setting)
    teacher = problem.teacher
    about: dict[str, Any] = {"shape": list(teacher.shape)}
    if hasattr(teacher, "selection"):
        about["selection"] = np.asarray(teacher.selection).tolist()
    if hasattr(teacher, "value"):
        about["value_norm"] = float(np.linalg.norm(np.asarray(teacher.value)))
    return {
        "ok": True,
        "setting": setting.plain(),
        "identity": setting.identity(),
        "known": known.shape(setting, problem) in known,
        "predicted": Reading(setting).predicted(),
        "teacher": about,
        "query": query_of(setting),
    }
