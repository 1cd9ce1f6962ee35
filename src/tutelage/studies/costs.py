"""What planned studies cost, case by case, less what is stored. Estimates, and never more."""

from __future__ import annotations

from dataclasses import dataclass

from tutelage.running.store import Store
from tutelage.settings import Setting
from tutelage.studies.planning import PlannedStudy
from tutelage.studies.study import Case
from tutelage.studies.weights import weigh_all
from tutelage.training.method import Method


@dataclass(frozen=True)
class CaseCost:
    """What a case still costs."""

    runs: int
    stored: int  # of them
    missing: int  # of them that no case before it makes, either
    seconds: float  # of those


@dataclass(frozen=True)
class StudyCost:
    """What a study still costs."""

    cases: dict[str, CaseCost]
    runs: int  # one that serves two cases counts once
    stored: int
    seconds: float
    share_stored: float  # of all work, as progress counts it


def estimate_cost(planned: PlannedStudy, store: Store, method: Method) -> StudyCost:
    """The cost of a study. Its preset says what all of it takes on two cores; each run has the
    share that it weighs.
    """
    stored = find_stored(planned, store.with_method(planned.choose_method(method)))
    settings = {setting for case in planned.cases for setting in case.settings}
    whole = weigh_all(settings)
    seconds = planned.estimate_seconds()
    cases: dict[str, CaseCost] = {}
    counted: set[Setting] = set()
    for case in planned.cases:
        missing = {*case.settings} - stored - counted
        counted |= missing
        cases[case.name] = CaseCost(
            len(case.settings),
            len(stored & {*case.settings}),
            len(missing),
            seconds * weigh_all(missing) / whole,
        )
    left = seconds * weigh_all(settings - stored) / whole
    return StudyCost(cases, len(settings), len(stored), left, weigh_all(stored) / whole)


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
