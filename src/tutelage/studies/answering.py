"""How a study is run: its settings through `execute`, then every claim against its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tutelage.claims.check import check
from tutelage.claims.verdict import Verdict
from tutelage.run import Run
from tutelage.running.execute import execute
from tutelage.running.store import Store
from tutelage.running.work import Watch
from tutelage.settings import Setting
from tutelage.studies.study import Answered, Case


def run_cases(
    name: str,
    cases: Sequence[Case],
    *,
    store: Store | None = None,
    watch: Watch | None = None,
    **how: Any,
) -> list[Answered]:
    """Runs all settings of all cases, those that go on from another's end after it, then checks
    every claim. `name` begins the id of every verdict: `name/case/claim`.

    `how` is passed on to `execute`: its engine, device, precision, and whether to keep going when a
    setting fails.
    """
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
            watch(begun[setting], step, curves)  # known by the name that the case gave it

    runs |= {
        begun[run.setting]: run
        for run in execute(list(begun), store=store, watch=see, **how)
        if run.setting is not None
    }
    for setting, case in later.items():  # one whose beginning failed has failed with it
        runs.setdefault(setting, replace(runs[case.after[setting]], setting=setting))
    return answer(name, cases, runs, store)


def answer(
    name: str, cases: Sequence[Case], runs: Mapping[Setting, Run], store: Store | None = None
) -> list[Answered]:
    """Each case with a verdict for each of its claims; a stored run gets all that it served."""
    answered, served = [], dict[Setting, list[Verdict]]()
    for case in cases:
        evidence = tuple(_with_derived(runs[setting], case) for setting in case.settings)
        verdicts = tuple(
            check(claim, evidence, control=case.control, prefix=f"{name}/{case.name}/")
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


def _with_derived(run: Run, case: Case) -> Run:
    if case.derived is None or not run.complete:
        return run
    return replace(run, curves={**run.curves, **case.derived(run)})
