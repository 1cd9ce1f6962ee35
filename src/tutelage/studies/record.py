"""What is written beside a study's verdicts, so that a report needs nothing else: `study.json`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

from tutelage.forms import (
    count,
    list_of,
    number,
    read_json,
    refuse_newer,
    table,
    table_of,
    text,
)
from tutelage.refuse import Refused, show
from tutelage.settings import KINDS, Setting
from tutelage.studies.study import Answered, AnyStudy, Plan

FORMAT = 1
# Parts that are named only where they have options.
USUAL = ("none", "gaussian", "position_attention", "population", "gradient_descent")


class RunRecord(TypedDict):
    """One run of a case."""

    identity: str
    seed: int
    steps: int
    outcome: str


class CaseRecord(TypedDict):
    """One case with the setting of its first run."""

    name: str
    label: str
    control: str
    setting: str
    runs: list[RunRecord]


class StudyRecord(TypedDict):
    """What `study.json` holds."""

    format: int
    name: str
    sentence: str
    statement: str
    equation: str
    source: str
    choices: list[str]
    captions: NotRequired[dict[str, str]]  # not in the oldest files
    history: NotRequired[list[str]]  # what was changed after verdicts had been seen; likewise
    checked_in: str
    preset: str
    command: str
    made: dict[str, str]
    cases: list[CaseRecord]


_WORDS = ("name", "sentence", "statement", "equation", "source", "checked_in", "preset", "command")
_RUN = table({"identity": text, "seed": number, "steps": number, "outcome": text})
_CASE = table(
    {"name": text, "label": text, "control": text, "setting": text, "runs": list_of(_RUN)}
)
_FORM = table(
    {
        "format": count,
        **dict.fromkeys(_WORDS, text),
        "choices": list_of(text),
        "made": table_of(text),
        "cases": list_of(_CASE),
    },
    {"captions": table_of(text), "history": list_of(text)},
)


def read_record(path: Path) -> StudyRecord:
    """What a `study.json` says, if it has the form of one."""
    document = read_json(path.read_bytes())
    refuse_newer(document, str(path), FORMAT)
    if said := _FORM(document, ""):
        raise Refused(f"{path.name} is a table that `tutelage run` writes: {said}.")
    return cast("StudyRecord", document)


def record_study(
    study: AnyStudy,
    plan: Plan,
    answered: Sequence[Answered],
    out: str,
    imports: Sequence[str] = (),
) -> StudyRecord:
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
        "command": write_command(study.name, plan, out, imports),
        "made": environment(),
        "cases": [_record_case(a) for a in answered],
    }


def write_command(name: str, plan: Plan, out: str, imports: Sequence[str] = ()) -> str:
    """The command that makes this plan of a study again."""
    preset = {"quick": [], "full": ["--full"]}.get(plan.preset, ["--preset", plan.preset])
    given = ["tutelage", "run", name, *preset]
    numbers = {"--seeds": plan.seeds, "--steps": plan.steps, "--literal": plan.literal}
    for option, value in {**numbers, "--data": plan.data}.items():
        given += [] if value is None else [option, str(value)]
    given += [item for key, value in plan.changes.items() for item in ("--set", f"{key}={value}")]
    given += [item for case in plan.only for item in ("--case", case)]
    given += [item for file in imports for item in ("--import", file)]
    return shlex.join([*given, *(["--out", out] if out != "out" else [])])


def describe_setting(setting: Setting) -> str:
    """A setting in one line, usual parts left out."""
    return describe_plain_setting(setting.plain())


def describe_plain_setting(data: Mapping[str, Any]) -> str:
    """The same from plain data, as a stored run has it."""
    parts = []
    calculated = "calculation" in data
    for kind in ("calculation", *KINDS) if calculated else KINDS:
        name = data[kind]["name"]
        options = {key: value for key, value in data[kind].items() if key != "name"}
        always = kind == "calculation" or (kind == "teacher" and not calculated)
        if always or options or name not in USUAL:
            inside = ", ".join(
                f"{key}={'…' if isinstance(value, dict) else value}"
                for key, value in options.items()
            )
            parts.append(f"{name}({inside})")
    rate = data["rate"]
    shown = f"{rate:g}" if isinstance(rate, int | float) else show(rate)
    return "; ".join(parts if calculated else [*parts, f"rate={shown}"])


def _record_case(answered: Answered) -> CaseRecord:
    case = answered.case
    return {
        "name": case.name,
        "label": case.label,
        "control": case.control,
        "setting": describe_setting(case.settings[0]) if case.settings else "",
        "runs": [
            {
                "identity": run.setting.identity(),
                "seed": run.setting.seed,
                "steps": run.setting.steps,
                "outcome": run.outcome.name,
            }
            for run in answered.runs
            if run.setting is not None
        ],
    }
