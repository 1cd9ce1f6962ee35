"""Runs as data frames: a row a measured step, or a row a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage.run import Run
from tutelage.settings import KINDS
from tutelage.store.encoding import read_curves
from tutelage.store.store import FAILED, Entry, Store

if TYPE_CHECKING:
    import pandas


def table(source: Store | Iterable[Run], *, curves: bool = False) -> pandas.DataFrame:
    """A row a run: what was asked, how it ended and the last value of every measure; with `curves`, a row a run and measured step.

    From a store only the small files are read, and no student is built.
    """
    import pandas

    rows: list[Any] = []
    for asked, ended, read in _rows(source):
        if not curves:
            steps, measured = (np.zeros(0), {}) if "last" in ended else read()
            last = ended.pop("last") if "last" in ended else {name: _mean(curve[-1]) for name, curve in measured.items() if len(curve)}
            rows.append(asked | ended | last)
            continue
        ended.pop("last", None)
        steps, measured = read()
        frame = pandas.DataFrame(columns_of(steps, measured))
        for name, value in reversed((asked | ended).items()):
            frame.insert(0, name, [value] * len(frame))
        rows.append(frame)
    if curves:
        return pandas.concat(rows, ignore_index=True) if rows else pandas.DataFrame()
    return pandas.DataFrame(rows)


def columns_of(steps: np.ndarray, curves: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """A column a measure; `name.0`, `name.1`, … where a measure has one entry a query."""
    columns = {"step": steps}
    for name, curve in curves.items():
        if curve.ndim == 1:
            columns[name] = curve
        else:
            flat = curve.reshape(len(curve), -1)
            columns |= {f"{name}.{i}": flat[:, i] for i in range(flat.shape[1])}
    return columns


def _rows(source: Store | Iterable[Run]) -> Iterable[tuple[dict[str, Any], dict[str, Any], Any]]:
    if isinstance(source, Store):
        for entry in source.entries():
            if not entry.trouble:
                yield flat(entry.about["setting"]), _ended(entry), lambda entry=entry: _curves_of(source, entry)
        return
    for run in source:
        asked = flat(run.setting.plain()) if run.setting is not None else {}
        yield asked, {"outcome": run.outcome.name, "note": run.note}, lambda run=run: (run.steps, run.curves)


def _ended(entry: Entry) -> dict[str, Any]:
    about = entry.about
    return {"run": entry.name, "outcome": about["outcome"], "note": about["note"], "last": about.get("last", {})}


def _curves_of(store: Store, entry: Entry) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    if entry.name.endswith(FAILED):
        return np.zeros(0, np.int64), {}
    return read_curves(store.place.read(f"{entry.name}/curves.parquet"))


def flat(setting: Mapping[str, Any]) -> dict[str, Any]:
    """A plain setting as columns: `teacher`, `teacher.tokens`, …, `rate`, `steps`, `seed`."""
    columns: dict[str, Any] = {}
    for key, value in setting.items():
        if key in KINDS:
            columns[key] = value["name"]
            columns |= {f"{key}.{k}": v["array"] if isinstance(v, dict) else v for k, v in value.items() if k != "name"}
        elif key != "measures":
            columns[key] = value
    return columns


def _mean(value: Any) -> float:
    return float(np.mean(value))
