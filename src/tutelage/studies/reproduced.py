"""A planned study is run, its claims are answered, and its files are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

from tutelage.claims.claim import NotYet
from tutelage.claims.verdict import PlainVerdict, Verdict
from tutelage.log import LOG
from tutelage.notebook import card
from tutelage.plugins import describe_error
from tutelage.provenance import made_by
from tutelage.refuse import Refused
from tutelage.running.store import Store
from tutelage.running.store.places import say_why
from tutelage.running.store.store import WHAT_TO_DO
from tutelage.studies import outputs
from tutelage.studies.answering import Execution, answer, run_settings
from tutelage.studies.counts import Counts
from tutelage.studies.discovery import find_paper
from tutelage.studies.history import read_history
from tutelage.studies.planning import PlannedStudy
from tutelage.studies.record import record_study
from tutelage.studies.standing import Tally, Tell
from tutelage.studies.study import Answered, AnyStudy, Plan
from tutelage.training.method import USUAL


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


def run_planned(
    planned: PlannedStudy,
    *,
    out: str | Path | None = None,
    store: Store | None = None,
    imports: Sequence[str] = (),
    tell: Tell | None = None,
    **how: Unpack[Execution],
) -> Reproduced:
    """Runs one planned study, and writes its files under `out` where that is given. `tell` is told
    how far it is.

    Where they cannot be written that is told, and the answers are returned without a folder.
    """
    study = planned.study
    if out is not None:
        outputs.refuse_newer_outputs(outputs.locate_study(out, study.name))
    answered = answer_cases(planned, store=store, tell=tell, **how)
    reproduced = Reproduced(study, planned.plan, answered)
    return reproduced if out is None else try_to_write(reproduced, out, imports)


def answer_cases(
    planned: PlannedStudy,
    *,
    store: Store | None = None,
    tell: Tell | None = None,
    **how: Unpack[Execution],
) -> tuple[Answered, ...]:
    """The cases of a planned study, run and with their claims checked."""
    name, cases = planned.study.name, planned.cases
    method = planned.choose_method(how.get("method") or (store.method if store else USUAL))
    how["method"], store = method, store and store.with_method(method)
    watch = None if tell is None else Tally(cases, tell)
    history = read_history(find_paper(name).folder)
    runs = run_settings(cases, store=store, watch=watch, **how)
    if watch is not None:
        watch.end()
    return tuple(answer(name, cases, runs, store, history))


def try_to_write(reproduced: Reproduced, out: str | Path, imports: Sequence[str]) -> Reproduced:
    """The study with its files; where they cannot be written that is told, and it has no folder."""
    try:
        return write_outputs(reproduced, out, imports)
    except OSError as error:  # the answers are there, whatever becomes of their files
        LOG.warning(
            "the verdicts and figures of %s cannot be written under %s: %s. %s; the same command "
            "then writes them.",
            reproduced.name,
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
        record["history"] = read_history(find_paper(study.name).folder).of_study(study.name)
        runs = [run["identity"] for case in record["cases"] for run in case["runs"]]
        with made_by(record["command"], runs):
            drawn = _draw_figures(study, answered, built / outputs.FIGURES)
        outputs.write_json(built / outputs.STUDY, record)
        figures = tuple(folder / path.relative_to(built) for path in drawn)
    return replace(reproduced, figures=figures, folder=folder)


def _draw_figures(study: AnyStudy, answered: Sequence[Answered], folder: Path) -> Sequence[Path]:
    """What the study draws: nothing where its runs are too short for that, which is told. An error
    in the code of its figures is refused in one sentence.
    """
    try:
        return study.figures(answered, folder)
    except NotYet as reason:
        LOG.warning("%s has no figures. %s", study.name, reason)
        return ()
    except (Refused, OSError):
        raise
    except Exception as error:
        home = str(find_paper(study.name).folder)
        raise Refused(
            f"The figures of {study.name} must be drawn, since its verdicts and figures are "
            f"written together. Got {describe_error(error, within=home)}. Its runs are kept: "
            "correct the figure, and the same command trains nothing again."
        ) from error


def _with_preset(verdict: Verdict, preset: str) -> PlainVerdict:
    plain = verdict.plain()
    plain["preset"] = preset
    return plain


def _describe_verdict(verdict: Verdict) -> str:
    measured = "" if verdict.measured is None else f", measured {verdict.measured:.5g}"
    predicted = "" if verdict.predicted is None else f" of {verdict.predicted:.5g}"
    control = " (control)" if verdict.control else ""
    return f"{verdict.status.value}{control}{measured}{predicted if measured else ''}"
