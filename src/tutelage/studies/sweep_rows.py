"""A sweep as a table, one row per setting. Nothing here imports JAX."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tutelage.forms import Json
from tutelage.run import Run
from tutelage.running.store import Store
from tutelage.running.store.tables import flat
from tutelage.settings import Setting, Value
from tutelage.studies.sweeps import RefusedPoint, Sweep

Row = Mapping[str, str | int | float | None]


def make_row(sweep: Sweep, setting: Setting, run: Run | None, state: str = "") -> Row:
    """What was asked along the axes, how it ended, why, and the last values.

    Without a run, `state` says how the setting stands.
    """
    asked = flat(setting.plain())
    row: dict[str, str | int | float | None] = {"run": setting.identity()}
    if setting.calculation is None:
        row["teacher"] = setting.teacher.name
    else:
        row["calculation"] = setting.calculation.name
    for key in sweep.varied:
        path = sweep.letters.get(key, key)
        ending = (value for name, value in asked.items() if name.endswith(f".{path}"))
        row[key] = _plain(asked[path] if path in asked else next(ending, None))
    row |= {"seed": setting.seed, "steps": setting.steps}
    if run is None:
        return row | {"outcome": state}
    row |= {"outcome": run.outcome.name, "reason": run.note}
    last = {name: float(np.mean(curve[-1])) for name, curve in run.curves.items() if len(curve)}
    return row | last


def make_refused_row(sweep: Sweep, refused: RefusedPoint, state: str = "FAILED") -> Row:
    """The row of a point at which no setting can be made: its values, and why."""
    row: dict[str, str | int | float | None] = {"run": ""}
    if isinstance(sweep.base, Setting):
        named = sweep.base.calculation
        row["teacher" if named is None else "calculation"] = (named or sweep.base.teacher).name
    row |= {key: _plain(value) for key, value in refused.point}
    return row | {"outcome": state, "reason": refused.reason}


def _plain(value: Json | Value) -> str | int | float | None:
    """As one cell holds it: names, such as measures, one after the other."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return value if isinstance(value, str | int | float | None) else str(value)


def find_state(store: Store, setting: Setting) -> str:
    """How a setting stands that has no whole run in the store."""
    entries = list(store.entries([setting.identity()]))
    if newer := [entry for entry in entries if entry.newer]:
        return f"newer: {newer[0].trouble}"
    taken = [
        int(entry.about["taken"])
        for entry in entries
        if not entry.trouble and entry.about.get("taken")
    ]
    if reached := [steps for steps in taken if steps < setting.steps]:
        return f"reached step {max(reached):,}"
    if entries and entries[-1].outcome == "FAILED":
        return f"failed: {entries[-1].about['note']}"
    return "damaged" if entries else "not begun"
