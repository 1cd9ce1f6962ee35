"""How a sweep is run: every setting once, each kept as soon as it is done, one row per setting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Unpack

from tutelage.refuse import OWN_ERRORS, reason
from tutelage.run import Run
from tutelage.running.execute import execute
from tutelage.running.store import Store
from tutelage.running.work import Watch
from tutelage.settings import Setting
from tutelage.studies.answering import Execution, answer, check_setting, run_cases
from tutelage.studies.study import Answered, Case
from tutelage.studies.sweep_rows import Row, make_row
from tutelage.studies.sweeps import Sweep
from tutelage.training.method import Method


def run_sweep(
    sweep: Sweep,
    cases: Sequence[Case],
    settings: Sequence[Setting],
    *,
    store: Store,
    whole: bool = True,
    watch: Watch | None = None,
    done: Callable[[Run], None] | None = None,
    **how: Unpack[Execution],
) -> tuple[list[Answered], list[Row]]:
    """Runs the settings, and gives a row for each in their order.

    The claims of the cases are answered where `settings` are those of the `whole` sweep. `done` is
    called with each run of a setting of your own when it has ended.
    """
    if whole and not isinstance(sweep.base, Setting):
        answered = run_cases(sweep.name, cases, store=store, watch=watch, **how)
        found = {
            setting: run
            for a in answered
            for setting, run in zip(a.case.settings, a.runs, strict=True)
        }
        return answered, [make_row(sweep, setting, found[setting]) for setting in settings]
    # Of each run only what its row and the claims need is kept, so that ten thousand take no more
    # memory than their curves.
    wanted = {str(table["measure"]) for table in sweep.claims}
    rows: dict[Setting, Row] = {}
    runs: dict[Setting, Run] = {}
    for run in execute(settings, store=store, watch=watch, **how):
        assert run.setting is not None
        rows[run.setting] = make_row(sweep, run.setting, run)
        if done is not None:
            done(run)
        if wanted:
            curves = {name: curve for name, curve in run.curves.items() if name in wanted}
            runs[run.setting] = replace(run, student=None, rest=None, curves=curves)
    ordered = [rows[setting] for setting in settings]
    if not whole:
        return [], ordered
    claimed = [case for case in cases if case.claims]
    return answer(sweep.name, claimed, runs, store), ordered


def find_refused(settings: Sequence[Setting], method: Method, store: Store) -> dict[Setting, str]:
    """The settings that cannot be run, each with the reason."""
    found = {}
    for setting in settings:
        try:
            store.refuse_newer(setting)
            check_setting(setting, method)
        except OWN_ERRORS as error:  # a part of the user's own may raise anything
            found[setting] = f"refused: {reason(error)}"
    return found
