"""What is known of a setting before it runs: theory, hypotheses, the teacher's pattern, and code
that makes the same run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tutelage.explorer.code import command_of, python_of
from tutelage.explorer.reading import Event, Json, plain_lines, plain_phases
from tutelage.explorer.states import State, query_of
from tutelage.explorer.stream import Known

if TYPE_CHECKING:
    from tutelage.teachers.base import Teacher


def describe(
    state: State,
    known: Known,
    store: str = "out",
    before: Callable[[str], None] = lambda kind: None,
) -> Event:
    """JSON-ready; refused where the setting is. `before` is that of `checked`."""
    from tutelage.running.execute import checked
    from tutelage.studies.record import describe_setting

    setting = state.setting
    problem = checked(setting, before=before)
    reading = state.placed.page.reading(setting)
    return {
        "ok": True,
        "setting": setting.plain(),
        "summary": describe_setting(setting),
        "identity": setting.identity(),
        "known": known.shape(setting, problem) in known,
        "predicted": plain_lines(reading.predicted()),
        "phases": plain_phases(reading.phases(None)),
        "hypotheses": [
            {"text": h.text, "met": h.met, "word": h.word, "detail": h.detail}
            for h in reading.hypotheses()
        ],
        "sentence": reading.sentence,
        "teacher": describe_teacher(problem.teacher),
        "python": python_of(setting),
        "command": command_of(setting, store),
        "query": query_of(setting),
    }


def describe_teacher(teacher: Teacher) -> dict[str, Json]:
    """(M, d, D, Q); of a teacher σ(V* X S*) also S* and ‖V*‖."""
    from tutelage.teachers.base import BilinearClass

    about: dict[str, Json] = {"shape": [int(size) for size in teacher.shape]}
    if isinstance(teacher, BilinearClass):
        about["selection"] = np.asarray(teacher.selection).tolist()
        about["value_norm"] = float(np.linalg.norm(np.asarray(teacher.value)))
    return about
