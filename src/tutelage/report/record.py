"""What `run` writes beside a study's verdicts, so that a report needs nothing else:
`study.json`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from tutelage.settings import Setting
from tutelage.studies.study import Answered, Plan, Study

FORMAT = 1
USUAL = (
    "gaussian",
    "position_attention",
    "population",
    "gradient_descent",
)  # parts that are named only where they have options


def about(study: Study, plan: Plan, answered: Sequence[Answered], out: str) -> dict[str, Any]:
    """The study in words, the command that repeats it, what made it, and each case with its setting
    and the identities of its runs.
    """
    from tutelage.running.store.encoding import environment

    return {
        "format": FORMAT,
        "name": study.name,
        "sentence": study.title,
        "statement": study.statement,
        "equation": study.equation,
        "source": study.source,
        "choices": list(study.choices),
        "captions": dict(study.captions),
        "checked_in": study.checked_in,
        "preset": plan.preset,
        "command": command_of(study.name, plan, out),
        "made": environment(),
        "cases": [_case(a) for a in answered],
    }


def command_of(name: str, plan: Plan, out: str) -> str:
    """The command that makes this plan of a study again."""
    given = ["tutelage", "run", name, *(["--full"] if plan.preset == "full" else [])]
    for option, value in (("--seeds", plan.seeds), ("--steps", plan.steps), ("--data", plan.data)):
        given += [] if value is None else [option, str(value)]
    given += [item for key, value in plan.changes.items() for item in ("--set", f"{key}={value}")]
    given += [item for case in plan.only for item in ("--case", case)]
    return shlex.join([*given, *(["--out", out] if out != "out" else [])])


def words(setting: Setting) -> str:
    """A setting in one line, usual parts left out."""
    return words_of(setting.plain())


def words_of(data: Mapping[str, Any]) -> str:
    """The same from plain data, as a stored run has it."""
    parts = []
    for kind in ("teacher", "inputs", "student", "objective", "optimiser"):
        options = {key: value for key, value in data[kind].items() if key != "name"}
        if kind == "teacher" or options or data[kind]["name"] not in USUAL:
            inside = ", ".join(
                f"{key}={'…' if isinstance(value, dict) else value}"
                for key, value in options.items()
            )
            parts.append(f"{data[kind]['name']}({inside})")
    return "; ".join([*parts, f"rate={data['rate']:g}"])


def _case(answered: Answered) -> dict[str, Any]:
    runs = [
        {
            "identity": run.setting.identity(),
            "seed": run.setting.seed,
            "steps": run.setting.steps,
            "outcome": run.outcome.name,
        }
        for run in answered.runs
        if run.setting is not None
    ]
    case = answered.case
    return {
        "name": case.name,
        "label": case.label,
        "control": case.control,
        "setting": words(case.settings[0]),
        "runs": runs,
    }
