"""Runs as data frames: one row per run, or one row per run and measured step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage.log import LOG
from tutelage.refuse import Refused
from tutelage.run import Run, columns_of
from tutelage.running.store.about import Damaged
from tutelage.running.store.entry import Entry
from tutelage.running.store.store import Store
from tutelage.settings import KINDS, Part, Setting

if TYPE_CHECKING:
    import pandas

NOT_GIVEN = Setting.of_calculation(Part("")).plain()  # the parts that a calculation was not given


def table(source: Store | str | Path | Iterable[Run], *, curves: bool = False) -> pandas.DataFrame:
    """One row per run: what was asked, how it ended and the last value of every measure; with
    `curves`, one row per run and measured step.

    The last value of a measure with one entry per query is its mean over them. From a store (or its
    folder or address) only the small files are read, and with `curves` the curves; no student is
    built. Damaged runs are named and left out.
    """
    import pandas

    if isinstance(source, str | Path):
        source = Store(source)
    rows = _of_store(source, curves) if isinstance(source, Store) else _of_runs(source, curves)
    if not curves:
        return pandas.DataFrame(list(rows))
    frames = [pandas.DataFrame(row) for row in rows]
    return pandas.concat(frames, ignore_index=True) if frames else pandas.DataFrame()


def look_through(source: Iterable[Run]) -> Iterator[Run]:
    """The runs of a list, one by one; what is no list of runs is refused."""
    if not isinstance(source, Iterable):
        raise _holds_no_runs(source)
    for run in source:
        if not isinstance(run, Run):
            raise _holds_no_runs(run)
        yield run


def _holds_no_runs(got: Iterable[Run] | Run) -> Refused:
    hints = {
        Run: "; write [run], or run.table() for its curves",
        Setting: "; tutelage.execute([setting]) makes its run",
    }
    return Refused(
        "Rows are made of a store, its folder or address, or a list of runs, since each row is "
        f"about one run. Got an object of the type {type(got).__name__}{hints.get(type(got), '')}."
    )


def row(entry: Entry) -> dict[str, Any]:
    """A listed run as one row: its name, what was asked, how it ended, the last values; of a
    damaged one, the trouble.
    """
    about = entry.about
    if entry.trouble:
        return {"run": entry.name, "outcome": entry.outcome, "note": entry.trouble}
    ended = {
        "outcome": entry.outcome,
        "note": about["note"],
        "precision": about["made"][-1].get("precision"),
        "foreign": entry.foreign,
    }
    if about.get("continued"):
        ended["literal"] = about["continued"]["literal"]
    columns = {"run": entry.name, **flat(about["setting"]), **ended}
    # A measure that has the name of another column does not hide it.
    return columns | {key: v for key, v in about.get("last", {}).items() if key not in columns}


def flat(setting: Mapping[str, Any]) -> dict[str, Any]:
    """A plain setting as columns: `teacher`, `teacher.tokens`, …, `rate`, `steps`, `seed`.

    A calculation has no rate, and of the parts only those that it was given.
    """
    calculated = "calculation" in setting
    columns: dict[str, Any] = {}
    for key, value in setting.items():
        if key in (*KINDS, "calculation"):
            if calculated and value == NOT_GIVEN.get(key):
                continue
            columns[key] = value["name"]
            columns |= {
                f"{key}.{k}": v["array"] if isinstance(v, dict) else v
                for k, v in value.items()
                if k != "name"
            }
        elif key != "measures" and not (calculated and key == "rate"):
            columns[key] = value
    return columns


def _of_store(store: Store, curves: bool) -> Iterator[dict[str, Any]]:
    for entry in store.entries():
        try:
            if entry.trouble:
                raise Damaged(entry.trouble)
            if not curves:
                yield row(entry)
            elif "files" in entry.about:  # a setting that could not be run has no steps
                asked = {
                    "run": entry.name,
                    **flat(entry.about["setting"]),
                    "outcome": entry.outcome,
                }
                yield _long(asked, *store.curves(entry))
        except Damaged as damage:
            LOG.warning("the stored run %s is left out: %s.", entry.name, damage)


def _of_runs(runs: Iterable[Run], curves: bool) -> Iterator[dict[str, Any]]:
    for run in look_through(runs):
        asked = flat(run.setting.plain()) if run.setting is not None else {}
        if not curves:
            last = {
                name: float(np.mean(curve[-1])) for name, curve in run.curves.items() if len(curve)
            }
            yield {**asked, "outcome": run.outcome.name, "note": run.note, **last}
        elif len(run.steps):
            yield _long({**asked, "outcome": run.outcome.name}, run.steps, run.curves)


def _long(
    asked: Mapping[str, Any], steps: np.ndarray, curves: Mapping[str, np.ndarray]
) -> dict[str, Any]:
    return {
        **{name: [value] * len(steps) for name, value in asked.items()},
        **columns_of(steps, curves),
    }
