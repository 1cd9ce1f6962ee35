"""Studies: named sets of cases, each a set of settings with the claims they are to answer; and how
a study is run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tutelage.claims.check import check
from tutelage.claims.claim import Claim
from tutelage.claims.verdict import Verdict
from tutelage.refuse import Refused, one_of
from tutelage.settings import KINDS, Setting

if TYPE_CHECKING:
    from tutelage.run import Run
    from tutelage.running.execute import Watch
    from tutelage.running.store import Store


@dataclass(frozen=True)
class Plan:
    """What the user asked of a study: a preset, and what to change in it."""

    preset: str = "quick"
    seeds: int | None = None
    steps: int | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    data: str | None = None  # the name of images to use instead of a study's own


@dataclass(frozen=True)
class Case:
    """Settings that answer some claims together: the seeds of one setting, or the points of a
    sweep.
    """

    name: str
    label: str
    settings: tuple[Setting, ...]
    claims: tuple[Claim, ...]
    control: str = ""  # for a negative control: which hypothesis it breaks
    left_out: str = ""  # why a plan's changes do not apply here; such a case has no settings
    derived: Callable[[Run], Mapping[str, Any]] | None = (
        None  # further curves, computed from those that a run has measured
    )
    after: Mapping[Setting, Setting] = field(
        default_factory=dict
    )  # settings that go on from where the run of another ends
    begin: Callable[[Setting, Run], Setting] | None = (
        None  # how they do: the setting with that run's end as its start
    )


@dataclass(frozen=True)
class Answered:
    """A case with its runs, in the order of its settings, and a verdict for each of its claims."""

    case: Case
    runs: tuple[Run, ...]
    verdicts: tuple[Verdict, ...]


class Study(Protocol):
    """A part of a paper that runs alone. A paper's package lists its studies."""

    name: str  # paper/study
    sentence: str  # for `tutelage list`
    statement: str
    equation: str
    source: str
    choices: tuple[str, ...]  # what the paper leaves open, and what is chosen here
    letters: Mapping[str, str]  # the paper's letters -> paths of a setting
    seconds: Mapping[str, float]  # expected time of each preset on two cores
    gigabytes: Mapping[str, float]  # and expected peak of memory
    checked_in: str  # the file that computes the predictions

    # A study that needs more than a plain install also has `missing(plan)`: a sentence that says
    # how to add it, or "".

    def cases(self, plan: Plan) -> list[Case]: ...

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]: ...


def plan_cases(study: Study, plan: Plan) -> tuple[list[Case], list[str]]:
    """The cases of a plan, and the names of those left out because they have no such thing as what
    was changed.
    """
    cases = study.cases(plan)
    if plan.only:
        for name in plan.only:
            one_of(f"case of {study.name}", name, [case.name for case in cases])
        cases = [case for case in cases if case.name in plan.only]
    kept = [case for case in cases if not case.left_out]
    if not kept:
        raise Refused(cases[0].left_out)
    return kept, [case.name for case in cases if case.left_out]


def missing(study: Study, plan: Plan) -> str:
    """Why a study cannot run here, in a sentence that says what to do about it; "" where it can."""
    return study.missing(plan) if hasattr(study, "missing") else ""


def run_study(
    cases: Sequence[Case], *, store: Store | None = None, watch: Watch | None = None, **how: Any
) -> list[Answered]:
    """Runs all settings of all cases through `execute`, those that go on from another's end after
    it, then checks every claim.

    `how` is passed on to `execute`: its engine, device, precision, and whether to keep going when a
    setting fails.
    """
    from tutelage.running.execute import execute

    later = {setting: case for case in cases for setting in case.after}
    settings = [setting for case in cases for setting in case.settings if setting not in later]
    runs = {
        run.setting: run
        for run in execute(settings, store=store, watch=watch, **how)
        if run.setting is not None
    }
    begun = {
        case.begin(setting, runs[case.after[setting]]): setting
        for setting, case in later.items()
        if case.begin is not None and runs[case.after[setting]].complete
    }

    def see(setting: Setting, step: int, curves: dict[str, Any]) -> None:
        if watch is not None:
            watch(
                begun[setting], step, curves
            )  # a watcher knows it by the name that the case gave it

    runs |= {
        begun[run.setting]: run
        for run in execute(list(begun), store=store, watch=see, **how)
        if run.setting is not None
    }
    for setting, case in later.items():  # one whose beginning failed has failed with it
        runs.setdefault(setting, replace(runs[case.after[setting]], setting=setting))
    return answer(cases, runs, store)


def answer(
    cases: Sequence[Case], runs: Mapping[Setting, Run], store: Store | None = None
) -> list[Answered]:
    """Each case with a verdict for each of its claims; a run that is stored gets all that it served
    beside it.
    """
    answered, served = [], dict[Setting, list[Verdict]]()
    for case in cases:
        evidence = tuple(_with_derived(runs[setting], case) for setting in case.settings)
        verdicts = tuple(check(claim, evidence, control=case.control) for claim in case.claims)
        answered.append(Answered(case, evidence, verdicts))
        for run in evidence:
            if run.setting is not None and verdicts:
                served.setdefault(run.setting, []).extend(verdicts)
    for setting, all_of_them in served.items() if store is not None else ():
        store.attach(setting, all_of_them)  # type: ignore[union-attr]
    return answered


def _with_derived(run: Run, case: Case) -> Run:
    return (
        run
        if case.derived is None or not run.complete
        else replace(run, curves={**run.curves, **case.derived(run)})
    )


class NoSuchOption(Refused):
    """A change that a setting's parts have no option for."""


def changed(setting: Setting, changes: Mapping[str, Any], letters: Mapping[str, str]) -> Setting:
    """The setting with a plan's changes, each key a letter of the paper, an option or a path."""
    from tutelage.problem.registry import option_names, resolve

    for key, value in changes.items():
        try:
            path = resolve(setting, key, letters)
            kind, _, option = path.partition(".")
            if option:
                part = getattr(setting, one_of("part of a setting", kind, KINDS))
                one_of(f"option of {kind} {part.name!r}", option, option_names(kind, part))
        except Refused as refused:
            raise NoSuchOption(str(refused)) from None
        setting = setting.change(**{path: value})
    return setting
