"""What planned studies cost, case by case, less what is stored. Estimates, and never more."""

from __future__ import annotations

from dataclasses import dataclass

from tutelage.problem.room import estimate_sizes
from tutelage.running.store import Store
from tutelage.settings import Setting
from tutelage.studies.planning import PlannedStudy
from tutelage.studies.standing import sum_effort
from tutelage.studies.study import Case
from tutelage.training.effort import estimate_effort
from tutelage.training.method import Method

# However small a student is, a step takes about as long as for one of so many numbers.
SMALLEST_STUDENT = 1000.0


@dataclass(frozen=True)
class CaseCost:
    """What a case still costs."""

    runs: int
    stored: int  # of them
    missing: int  # of them that no case before it makes, either
    seconds: float | None  # of those; None where that is not known


@dataclass(frozen=True)
class StudyCost:
    """What a study still costs."""

    cases: dict[str, CaseCost]
    runs: int  # one that serves two cases counts once
    stored: int
    seconds: float
    share_stored: float  # of all work, as progress counts it


def estimate_cost(planned: PlannedStudy, store: Store, method: Method) -> StudyCost:
    """The cost of a study. Its preset says what all of it takes on two cores; that is divided by
    the steps and sizes of the runs.
    """
    stored = find_stored(planned, store.with_method(planned.choose_method(method)))
    settings = {setting for case in planned.cases for setting in case.settings}
    whole = sum(map(_weigh, settings))
    seconds = planned.estimate_seconds()
    trains = any(setting.calculation is None for setting in settings)
    cases: dict[str, CaseCost] = {}
    counted: set[Setting] = set()
    for case in planned.cases:
        missing = {*case.settings} - stored - counted
        counted |= missing
        known = not (trains and any(setting.calculation is not None for setting in missing))
        cases[case.name] = CaseCost(
            len(case.settings),
            len(stored & {*case.settings}),
            len(missing),
            seconds * sum(map(_weigh, missing)) / whole if known else None,
        )
    left = seconds * sum(map(_weigh, settings - stored)) / whole
    share = sum(estimate_effort(setting.steps) for setting in stored) / sum_effort(planned.cases)
    return StudyCost(cases, len(settings), len(stored), left, share)


def find_stored(planned: PlannedStudy, store: Store) -> frozenset[Setting]:
    """The settings of a study whose runs are stored."""
    if not store.place.exists(""):
        return frozenset()
    return frozenset(
        setting
        for case in planned.cases
        for setting in case.settings
        if _is_stored(setting, case, store)
    )


def _is_stored(setting: Setting, case: Case, store: Store) -> bool:
    """Also of a setting that begins where another run ended, which must be read for that."""
    if setting not in case.after:
        return store.holds(setting)
    before = case.after[setting]
    run = store.find(before) if store.holds(before) else None
    if run is None or case.begin is None or not run.complete:
        return False
    return store.holds(case.begin(setting, run))


def _weigh(setting: Setting) -> float:
    """What a run costs beside others of its study. Nothing is known of a calculation."""
    if setting.calculation is not None:
        return 1.0
    return estimate_effort(setting.steps) * max(SMALLEST_STUDENT, estimate_sizes(setting).student)
