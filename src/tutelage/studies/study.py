"""A study: a statement, the cases that test it and the claims they answer. A value, no class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from jaxtyping import Float
from numpy import ndarray

from tutelage.claims.claim import Claim
from tutelage.claims.verdict import Verdict
from tutelage.plugins import describe_error
from tutelage.problem.options import Value
from tutelage.refuse import Refused, one_of, show, whole
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.fields import NUMBER, check_fields, check_functions, check_members

Curves = Mapping[str, Float[ndarray, "points ..."]]


@dataclass(frozen=True)
class Preset:
    """The sizes of a study, and what they cost on two cores. A study may add fields of its own."""

    seconds: float
    gigabytes: float = 1.0
    seeds: int = 1
    literal: int | None = None  # steps one by one before gradient flow goes on; None: the usual
    only: tuple[str, ...] = ()  # the cases that it has, by name; empty: all of the study

    def __post_init__(self) -> None:
        check_fields(self, {"seconds": NUMBER, "gigabytes": NUMBER, "seeds": int})


@dataclass(frozen=True)
class Plan:
    """What the user asked of a study: a preset, and what to change in it."""

    preset: str = "quick"
    seeds: int | None = None
    steps: int | None = None
    changes: Mapping[str, Value] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    data: str | None = None  # the name of images to use instead of a study's own
    literal: int | None = None  # steps one by one that the user asked for, whatever the preset says

    @property
    def as_preset(self) -> bool:
        """Whether it is the preset itself, unchanged, so that its expected cost applies."""
        return not (self.changes or self.only or self.seeds or self.steps)


@dataclass(frozen=True)
class Case:
    """Settings that answer some claims together: the seeds of one, or the points of a sweep.

    `derived` computes further curves from those that a run has measured. Settings in `after` go on
    from where the run of another ends, and `begin` says how: it gives the setting with that run's
    end as its start.
    """

    name: str
    label: str
    settings: tuple[Setting, ...]
    claims: tuple[Claim, ...]
    control: str = ""  # for a negative control: which hypothesis it breaks
    left_out: str = ""  # why a plan's changes do not apply here; such a case has no settings
    derived: Callable[[Run], Curves] | None = None
    varies: str = ""  # what differs between replicates; "" where it is found from their settings
    after: Mapping[Setting, Setting] = field(default_factory=dict)
    begin: Callable[[Setting, Run], Setting] | None = None

    def __post_init__(self) -> None:
        check_fields(self, {"name": str, "label": str, "settings": tuple, "claims": tuple})
        check_members(self, "settings", Setting)
        check_members(self, "claims", Claim)


@dataclass(frozen=True)
class Control:
    """A setting that breaks one hypothesis, and the claim that rests on it: it must not hold."""

    name: str
    label: str
    setting: Setting
    claim: Claim
    breaks: str

    def case(self, seeds: int = 1, steps: int | None = None) -> Case:
        setting = self.setting if steps is None else replace(self.setting, steps=steps)
        return Case(self.name, self.label, over_seeds(setting, seeds), (self.claim,), self.breaks)


@dataclass(frozen=True)
class Answered:
    """A case with its runs, in the order of its settings, and a verdict for each of its claims."""

    case: Case
    runs: tuple[Run, ...]
    verdicts: tuple[Verdict, ...]

    def find(self, claim: str) -> tuple[Claim, Verdict]:
        """A claim of the case by its short id, and its verdict."""
        both = {c.id: (c, v) for c, v in zip(self.case.claims, self.verdicts, strict=True)}
        return both[one_of(f"claim of the case {self.case.name!r}", claim, both)]


P = TypeVar("P", bound=Preset)
MOST_SEEDS = 100_000  # of a study; a sweep takes more of its one setting


def _installed_already(plan: Plan) -> str:
    return ""


def no_figures(answered: Sequence[Answered], folder: Path) -> list[Path]:
    return []


@dataclass(frozen=True)
class Study(Generic[P]):
    """What is claimed, how it is tested, and how the answer is drawn.

    `cases(plan, preset)` gives the cases of a plan at the sizes of its preset. `name`, `title` and
    `letters` come from the paper that lists the study.
    """

    source: str
    statement: str
    equation: str
    presets: Mapping[str, P]
    cases: Callable[[Plan, P], Sequence[Case]]
    figures: Callable[[Sequence[Answered], Path], list[Path]] = no_figures
    captions: Mapping[str, str] = field(default_factory=dict)  # of each figure, by its file's name
    choices: tuple[str, ...] = ()  # what the paper leaves open, and what is chosen here
    checked_in: str = ""  # the file that computes the predictions
    # What it claims of runs at one setting of the user's, as a case (see `at_setting`), for
    # `tt.claims`. A study whose claims compare settings has none, and says in `compares` which.
    case_at: Callable[[Setting], Case] | None = None
    compares: str = ""
    # Why the study cannot run here, in a sentence that says what to install; "" where it can.
    missing: Callable[[Plan], str] = _installed_already
    # The table of its page in the docs; None for the usual one, a row per claim.
    table: Callable[[Sequence[Verdict]], str] | None = None
    name: str = ""  # paper/study
    title: str = ""
    letters: Mapping[str, str] = field(default_factory=dict)  # the paper's letters -> paths

    def __post_init__(self) -> None:
        texts = dict.fromkeys(("source", "statement", "equation", "checked_in"), str)
        check_fields(self, {**texts, "presets": Mapping, "choices": tuple})
        check_functions(self, ("cases", "figures", "missing"))
        check_members(self, "presets", Preset)
        if not self.presets:
            raise Refused(
                "A study must have at least one preset, since it says how large the study is. Got "
                "none."
            )

    def preset(self, plan: Plan) -> P:
        """The preset of a plan."""
        return self.presets[one_of(f"preset of {self.name}", plan.preset, self.presets)]

    def plan(self, plan: Plan) -> tuple[list[Case], list[str]]:
        """The cases of a plan, and the names of those that its changes do not apply to."""
        within = self.preset(plan).only
        for name in plan.only if within else ():
            one_of(f"case of {self.name}", name, within)
        cases = _choose(self.name, self._make_cases(plan), plan.only or within)
        kept = [case for case in cases if not case.left_out]
        if not kept:
            raise Refused(cases[0].left_out)
        return kept, [case.name for case in cases if case.left_out]

    def _make_cases(self, plan: Plan) -> list[Case]:
        """What the study's own code gives, if it gives cases."""
        preset = self.preset(plan)
        try:
            cases = list(self.cases(plan, preset))
        except (Refused, MemoryError):
            raise
        except Exception as error:
            raise Refused(
                f"The cases of {self.name} could not be made: {describe_error(error)}."
            ) from error
        if not cases or not all(isinstance(case, Case) for case in cases):
            raise Refused(
                f"`cases` of a study gives a list of values of the type Case. Got {show(cases)} "
                f"from {self.name}."
            )
        return cases


def _choose(study: str, cases: list[Case], names: Sequence[str]) -> list[Case]:
    """The named cases of a study, and all of them where none is named."""
    if not names:
        return cases
    for name in names:
        one_of(f"case of {study}", name, [case.name for case in cases])
    return [case for case in cases if case.name in names]


def at_setting(
    setting: Setting,
    claims: Iterable[Claim],
    *,
    measures: Sequence[str] = (),
    derived: Callable[[Run], Curves] | None = None,
) -> Case:
    """The case of one setting: the claims, and the setting with the measures that they read."""
    if setting.calculation is None:
        setting = replace(setting, measures=tuple(dict.fromkeys((*setting.measures, *measures))))
    return Case("setting", "this setting", (setting,), tuple(claims), derived=derived)


AnyStudy: TypeAlias = Study[Any]  # of whatever preset


def over_seeds(setting: Setting, seeds: int) -> tuple[Setting, ...]:
    """The same setting with successive seeds, beginning with its own."""
    seeds = whole(
        "seeds",
        seeds,
        least=0,
        reason="each is a run",
        most=MOST_SEEDS,
        beyond="each is a run of every case",
    )
    return tuple(replace(setting, seed=setting.seed + i) for i in range(seeds))
