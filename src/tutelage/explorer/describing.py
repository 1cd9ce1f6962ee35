"""What is known of a setting before it runs: theory, hypotheses, the teacher's pattern, and code
that makes the same run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tutelage.explorer.code import command_of, python_of
from tutelage.explorer.reading import reading_of
from tutelage.explorer.states import query_of
from tutelage.explorer.stream import Known
from tutelage.settings import Setting


def describe(setting: Setting, known: Known, store: str = "out") -> dict[str, Any]:
    """JSON-ready; refused where the setting is."""
    from tutelage.report import words
    from tutelage.running.execute import checked

    problem = checked(setting)
    reading = reading_of(setting)
    return {
        "ok": True,
        "setting": setting.plain(),
        "summary": words(setting),
        "identity": setting.identity(),
        "known": known.shape(setting, problem) in known,
        "predicted": reading.predicted(),
        "phases": reading.phases(None),
        "hypotheses": [
            {"text": h.text, "met": h.met, "word": h.word, "detail": h.detail}
            for h in reading.hypotheses()
        ],
        "sentence": reading.sentence,
        "teacher": teacher_of(problem.teacher),
        "python": python_of(setting),
        "command": command_of(setting, store),
        "query": query_of(setting),
    }


def teacher_of(teacher: Any) -> dict[str, Any]:
    """(M, d, D, Q), S* where there is one, ‖V*‖."""
    about: dict[str, Any] = {"shape": [int(size) for size in teacher.shape]}
    if hasattr(teacher, "selection"):
        about["selection"] = np.asarray(teacher.selection).tolist()
    if hasattr(teacher, "value"):
        about["value_norm"] = float(np.linalg.norm(np.asarray(teacher.value)))
    return about
