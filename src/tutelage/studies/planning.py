"""What a plan asks of studies: their cases, and what they are expected to cost. Nothing is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tutelage.problem.options import Value
from tutelage.problem.room import BYTES_PER_NUMBER, estimate_sizes
from tutelage.refuse import Refused, whole
from tutelage.settings import LITERAL, check_numbers
from tutelage.studies.answering import check_setting
from tutelage.studies.discovery import find_full_name, load_studies, study_names
from tutelage.studies.study import MOST_SEEDS, AnyStudy, Case, Plan
from tutelage.studies.weights import weigh_cases
from tutelage.training.method import Method


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

    def choose_method(self, usual: Method) -> Method:
        """How its runs are made: with as many literal steps as the user asked for, or the preset,
        or as usual.
        """
        literal = self.plan.literal or self.study.preset(self.plan).literal
        return usual if literal is None else replace(usual, literal=literal)

    def estimate_seconds(self) -> float:
        """Roughly, on two cores: what the preset says, by what the runs of the plan and
        of the preset weigh.
        """
        seconds: float = self.study.preset(self.plan).seconds
        if self.plan.as_preset:
            return seconds
        usual = weigh_cases(self.study.plan(Plan(self.plan.preset, data=self.plan.data))[0])
        return seconds * weigh_cases(self.cases) / usual

    def estimate_bytes(self) -> float:
        """Of memory: what the preset says, or more where a setting alone takes more."""
        settings = {setting for case in self.cases for setting in case.settings}
        largest = max(BYTES_PER_NUMBER * estimate_sizes(setting).held for setting in settings)
        return max(1e9 * self.study.preset(self.plan).gigabytes, largest)


def make_plan(
    *,
    preset: str = "quick",
    seeds: int | None = None,
    steps: int | None = None,
    changes: Mapping[str, Value] | None = None,
    cases: Sequence[str] = (),
    data: str | None = None,
    literal: int | None = None,
) -> Plan:
    """A plan, its numbers checked."""
    if seeds is not None:
        seeds = whole(
            "seeds",
            seeds,
            least=1,
            reason="at least one run is needed",
            most=MOST_SEEDS,
            beyond="each is a run of every case",
        )
    if steps is not None:
        steps = whole("steps", steps, least=1, reason="a run takes at least one step")
    return Plan(preset, seeds, steps, dict(changes or {}), tuple(cases), data, literal)


def plan_studies(
    names: Sequence[str], plan: Plan, *, also: Sequence[str] = ()
) -> tuple[list[PlannedStudy], dict[str, str]]:
    """The studies of some names (of studies or papers) as planned, and why others cannot run here.

    Everything is refused here, before anything runs. A study that is named itself and cannot be
    imported or run, or lacks the preset, is refused, too. One of a paper, or of `also`, is left
    out.
    """
    names = [find_full_name(name) for name in names]
    every = dict.fromkeys(full for name in (*names, *also) for full in study_names(name))
    chosen, missing = load_studies(every)
    missing |= {name: why for name, study in chosen.items() if (why := study.missing(plan))}
    if any(plan.preset in study.presets for study in chosen.values()):
        missing |= {
            name: f"It has no preset {plan.preset!r}. Known: {', '.join(study.presets)}."
            for name, study in chosen.items()
            if plan.preset not in study.presets and name not in names
        }
    for name in names:
        if name in missing:
            raise Refused(missing[name])
    planned = []
    for name, study in chosen.items():
        if name not in missing:
            cases, left_out = study.plan(plan)
            for case in cases:
                for setting in case.settings:
                    check_numbers(setting)
            planned.append(PlannedStudy(study, plan, tuple(cases), tuple(left_out)))
    return planned, missing


def check_horizons(planned: Sequence[PlannedStudy], method: Method) -> None:
    """Refuses a long horizon that some setting cannot reach, before another study has run."""
    for one in planned:
        if one.plan.steps is not None and one.plan.steps > LITERAL:
            for case in one.cases:
                for setting in case.settings:
                    if setting not in case.after:
                        check_setting(setting, one.choose_method(method))
