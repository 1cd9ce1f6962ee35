"""How a study is run: its settings through `execute`, then every claim against its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypedDict, Unpack

import numpy as np

from tutelage.claims.check import check
from tutelage.claims.verdict import Verdict
from tutelage.problem.build import build_calculation
from tutelage.run import Run
from tutelage.running.execute import Engine, checked, execute
from tutelage.running.store import Store
from tutelage.running.work import Watch, failure
from tutelage.settings import Setting
from tutelage.studies.errors import known_errors
from tutelage.studies.history import NONE, History
from tutelage.studies.replicates import describe_replicates
from tutelage.studies.study import Answered, Case
from tutelage.training.method import Method


class Execution(TypedDict, total=False):
    """How settings are run, as `execute` takes it."""

    engine: Engine | None
    keep_going: bool  # when a setting fails
    method: Method | None


def run_cases(
    name: str,
    cases: Sequence[Case],
    *,
    store: Store | None = None,
    watch: Watch | None = None,
    history: History = NONE,
    **how: Unpack[Execution],
) -> list[Answered]:
    """Runs all settings of all cases, then checks every claim.

    `name` begins the id of every verdict: `name/case/claim`. `history` says which claims were
    registered or changed.
    """
    runs = run_settings(cases, store=store, watch=watch, **how)
    return answer(name, cases, runs, store, history)


def run_settings(
    cases: Sequence[Case],
    *,
    store: Store | None = None,
    watch: Watch | None = None,
    **how: Unpack[Execution],
) -> dict[Setting, Run]:
    """The runs of all settings of all cases. Settings that go on from another run come after it."""
    later = {setting: case for case in cases for setting in case.after}
    settings = [setting for case in cases for setting in case.settings if setting not in later]
    runs = {
        run.setting: run
        for run in execute(settings, store=store, watch=watch, **how)
        if run.setting is not None
    }
    begun: dict[Setting, Setting] = {}
    for setting, case in later.items():
        before = runs[case.after[setting]]
        if case.begin is None or not before.complete:
            continue
        try:
            begun[case.begin(setting, before)] = setting
        except Exception as error:
            if not how.get("keep_going"):
                raise
            runs[setting] = failure(setting, error)

    def watch_under_its_own_name(
        setting: Setting, step: int, curves: dict[str, np.ndarray]
    ) -> None:
        if watch is not None:
            watch(begun[setting], step, curves)

    runs |= {
        begun[run.setting]: run
        for run in execute(list(begun), store=store, watch=watch_under_its_own_name, **how)
        if run.setting is not None
    }
    for setting, case in later.items():  # one whose beginning failed has failed with it
        runs.setdefault(setting, replace(runs[case.after[setting]], setting=setting))
    return runs


def check_setting(setting: Setting, method: Method) -> None:
    """Refuses a setting that cannot be run, without running it."""
    if setting.calculation is not None:
        build_calculation(setting)
    else:
        checked(setting, method)


def answer(
    name: str,
    cases: Sequence[Case],
    runs: Mapping[Setting, Run],
    store: Store | None = None,
    history: History = NONE,
) -> list[Answered]:
    """Each case with a verdict for each of its claims; a stored run gets all that it served."""
    answered, served = [], dict[Setting, list[Verdict]]()
    for case in cases:
        evidence = read_evidence(case, runs)
        prefix, varies = f"{name}/{case.name}/", case.varies or describe_replicates(evidence)
        verdicts = tuple(
            check(
                claim,
                evidence,
                control=case.control,
                prefix=prefix,
                varies=varies,
                registered=history.ledger.is_registered(f"{prefix}{claim.id}", claim, evidence),
                history=history.of_claim(f"{prefix}{claim.id}", claim, case.settings),
            )
            for claim in case.claims
        )
        answered.append(Answered(case, evidence, verdicts))
        for run in evidence:
            if run.setting is not None and verdicts:
                served.setdefault(run.setting, []).extend(verdicts)
    if store is not None:
        for setting, all_of_them in served.items():
            store.attach(setting, all_of_them)
    return answered


def read_evidence(case: Case, runs: Mapping[Setting, Run]) -> tuple[Run, ...]:
    """The runs of a case, as its claims read them."""
    return tuple(read_run(runs[setting], case) for setting in case.settings)


def read_run(run: Run, case: Case) -> Run:
    """A run with what is known of its errors, and with the curves that a case derives."""
    run = replace(run, errors=(*run.errors, *known_errors(run)))
    if case.derived is None or not run.complete:
        return run
    return replace(run, curves={**run.curves, **case.derived(run)})
