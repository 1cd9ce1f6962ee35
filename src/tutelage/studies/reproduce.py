"""Reproducing a study: its plan is run, its claims are answered, and its files are written.

The command line and the notebook both come here: `tutelage.reproduce("teacher-models/rates")`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

from tutelage.claims.verdict import PlainVerdict, Verdict
from tutelage.log import LOG
from tutelage.notebook import card
from tutelage.plugins import import_all
from tutelage.problem.options import Value
from tutelage.provenance import made_by
from tutelage.refuse import Refused, whole
from tutelage.running.execute import Engine
from tutelage.running.store import Store
from tutelage.running.store.places import say_why
from tutelage.running.store.store import WHAT_TO_DO
from tutelage.running.work import Watch
from tutelage.settings import LITERAL
from tutelage.studies import outputs
from tutelage.studies.answering import Execution, check_setting, run_cases
from tutelage.studies.counts import Counts
from tutelage.studies.discovery import find_paper, load_studies, study_names
from tutelage.studies.ledger import read_ledger
from tutelage.studies.record import record_study
from tutelage.studies.study import Answered, AnyStudy, Case, Plan
from tutelage.training.method import USUAL, Method


@dataclass(frozen=True)
class PlannedStudy:
    """A study with the cases that a plan asks of it, before anything is run."""

    study: AnyStudy
    plan: Plan
    cases: tuple[Case, ...]
    left_out: tuple[str, ...]  # names of cases that the plan's changes do not apply to

    @property
    def expected(self) -> tuple[float, float] | None:
        """Seconds on two cores and gigabytes, as the preset says; None where it was changed."""
        preset = self.study.preset(self.plan)
        return (preset.seconds, preset.gigabytes) if self.plan.as_preset else None


@dataclass(frozen=True)
class Reproduced:
    """A study as it was run: its answered cases, and where its files are."""

    study: AnyStudy
    plan: Plan
    answered: tuple[Answered, ...]
    figures: tuple[Path, ...] = ()
    folder: Path | None = None  # None where nothing was written

    @property
    def name(self) -> str:
        return self.study.name

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return tuple(verdict for answered in self.answered for verdict in answered.verdicts)

    @property
    def counts(self) -> Counts:
        return Counts.of(self.verdicts)

    @property
    def surprising(self) -> bool:
        """Whether a claim fails or a control holds."""
        return any(verdict.surprising for verdict in self.verdicts)

    def plain_verdicts(self) -> list[PlainVerdict]:
        """The verdicts as JSON-ready data, each with its preset."""
        return [_with_preset(verdict, self.plan.preset) for verdict in self.verdicts]

    def __repr__(self) -> str:
        return f"Reproduced({self.name}, {self.plan.preset}: {self.counts.sentence})"

    def _repr_html_(self) -> str:
        """The counts, and a row per verdict."""
        counts = self.counts
        word = "FAILS" if self.surprising else "UNDECIDED" if counts.undecided else "HOLDS"
        rows = {
            verdict.id.removeprefix(f"{self.name}/"): _describe_verdict(verdict)
            for verdict in self.verdicts
        }
        return card(word, f"{self.name} ({self.plan.preset})", [counts.sentence], rows, "")


def reproduce(
    name: str,
    *,
    preset: str = "quick",
    out: str | Path | None = None,
    seeds: int | None = None,
    steps: int | None = None,
    changes: Mapping[str, Value] | None = None,
    cases: Sequence[str] = (),
    imports: Sequence[str] = (),
    progress: bool = False,
    engine: Engine | None = None,
    method: Method = USUAL,
) -> Reproduced | dict[str, Reproduced]:
    """Runs a study and answers its claims; for the name of a paper, all studies that run with it.

    `changes` are those of `--set`: `{"D": 24, "teacher.norm": 10.0}`. `cases` are the only ones to
    run. With `out`, runs are kept under `out/runs` and used again, and verdicts and figures are
    written to `out/<paper>/<study>`; without it nothing is written and no figure is drawn.
    `imports` are Python files or modules that bring a paper or parts. `method` says in which
    precision, on which device and how far step by step. Nothing is printed unless `progress` asks
    for it.
    """
    import_all(imports)
    plan = make_plan(preset=preset, seeds=seeds, steps=steps, changes=changes, cases=cases)
    planned, missing = plan_studies([name], plan)
    for absent, why in missing.items():
        LOG.warning("%s is left out. %s", absent, why)
    check_horizons(planned, method)
    store = None
    if out is not None:
        store = outputs.open_store(out, method=method)
    found = {
        one.study.name: run_planned(
            one,
            out=out,
            store=store,
            imports=imports,
            progress=progress,
            engine=engine,
            method=method,
        )
        for one in planned
    }
    return found.get(name, found)


def make_plan(
    *,
    preset: str = "quick",
    seeds: int | None = None,
    steps: int | None = None,
    changes: Mapping[str, Value] | None = None,
    cases: Sequence[str] = (),
    data: str | None = None,
) -> Plan:
    """A plan, its numbers checked."""
    if seeds is not None:
        seeds = whole("seeds", seeds, least=1, reason="at least one run is needed")
    if steps is not None:
        steps = whole("steps", steps, least=1, reason="a run takes at least one step")
    return Plan(preset, seeds, steps, dict(changes or {}), tuple(cases), data)


def plan_studies(
    names: Sequence[str], plan: Plan, *, also: Sequence[str] = ()
) -> tuple[list[PlannedStudy], dict[str, str]]:
    """The studies of some names (of studies or papers) as planned, and why others cannot run here.

    Everything is refused here, before anything runs. A study that is named itself and cannot be
    imported or run is refused, too. One of a paper, or of `also`, is left out.
    """
    every = dict.fromkeys(full for name in (*names, *also) for full in study_names(name))
    chosen, missing = load_studies(every)
    missing |= {name: why for name, study in chosen.items() if (why := study.missing(plan))}
    for name in names:
        if name in missing:
            raise Refused(missing[name])
    planned = []
    for name, study in chosen.items():
        if name not in missing:
            cases, left_out = study.plan(plan)
            planned.append(PlannedStudy(study, plan, tuple(cases), tuple(left_out)))
    return planned, missing


def check_horizons(planned: Sequence[PlannedStudy], method: Method) -> None:
    """Refuses a long horizon that some setting cannot reach, before another study has run."""
    for one in planned:
        if one.plan.steps is not None and one.plan.steps > LITERAL:
            for case in one.cases:
                for setting in case.settings:
                    if setting not in case.after:
                        check_setting(setting, method)


def run_planned(
    planned: PlannedStudy,
    *,
    out: str | Path | None = None,
    store: Store | None = None,
    imports: Sequence[str] = (),
    progress: bool = False,
    **how: Unpack[Execution],
) -> Reproduced:
    """Runs one planned study, and writes its files under `out` where that is given.

    Where they cannot be written that is told, and the answers are returned without a folder.
    """
    study, plan, cases = planned.study, planned.plan, planned.cases
    if out is not None:
        outputs.refuse_newer_outputs(outputs.locate_study(out, study.name))
    with contextlib.ExitStack() as stack:
        watch: Watch | None = None
        if progress:
            from tutelage.studies.progress import Bars

            watch = stack.enter_context(Bars(cases))
        ledger = read_ledger(find_paper(study.name).folder)
        answered = tuple(
            run_cases(study.name, cases, store=store, watch=watch, ledger=ledger, **how)
        )
    reproduced = Reproduced(study, plan, answered)
    if out is None:
        return reproduced
    try:
        return write_outputs(reproduced, out, imports)
    except OSError as error:  # the answers are there, whatever becomes of their files
        LOG.warning(
            "the verdicts and figures of %s cannot be written under %s: %s. %s; the same command "
            "then writes them.",
            study.name,
            out,
            say_why(error),
            WHAT_TO_DO,
        )
        return reproduced


def write_outputs(
    reproduced: Reproduced, out: str | Path, imports: Sequence[str] = ()
) -> Reproduced:
    """Writes verdicts, figures and `study.json`, which appear together or not at all."""
    study, answered = reproduced.study, reproduced.answered
    folder = outputs.locate_study(out, study.name)
    with outputs.replace_outputs(folder) as built:
        outputs.write_verdicts(built / outputs.VERDICTS, reproduced.plain_verdicts())
        record = record_study(study, reproduced.plan, answered, str(out), imports)
        runs = [run["identity"] for case in record["cases"] for run in case["runs"]]
        with made_by(record["command"], runs):
            drawn = study.figures(answered, built / outputs.FIGURES)
        outputs.write_json(built / outputs.STUDY, record)
        figures = tuple(folder / path.relative_to(built) for path in drawn)
    return replace(reproduced, figures=figures, folder=folder)


def _with_preset(verdict: Verdict, preset: str) -> PlainVerdict:
    plain = verdict.plain()
    plain["preset"] = preset
    return plain


def _describe_verdict(verdict: Verdict) -> str:
    measured = "" if verdict.measured is None else f", measured {verdict.measured:.5g}"
    predicted = "" if verdict.predicted is None else f" of {verdict.predicted:.5g}"
    control = " (control)" if verdict.control else ""
    return f"{verdict.status.value}{control}{measured}{predicted if measured else ''}"
