"""Logs on disk as tables: CSV, Parquet, JSON lines, NPZ, TensorBoard's event files, and what W&B
and MLflow export.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from tutelage.evidence.event_files import read_scalars
from tutelage.evidence.table import Table, table_of_records, table_of_texts
from tutelage.refuse import Refused, reason

EVENTS = "tfevents"  # in the name of every event file
METRICS = "metrics"  # the folder of a run of MLflow that has a file per metric
HISTORY = "log_history"  # where Hugging Face's trainer keeps its records
SEPARATORS = (",", "\t", ";")


def read_table(path: str | Path) -> Table:
    """The table that a file or a folder of logs holds."""
    path = Path(path)
    if not os.path.exists(path):
        raise Refused(f"A log must be a file or a folder that exists. Got {path}.")
    try:
        if path.is_dir():
            return _read_folder(path)
        return _reader_of(path)(path)
    except Refused:
        raise
    except Exception as error:  # of whatever library reads it
        raise Refused(f"The log {path} cannot be read: {reason(error)}.") from error


def _reader_of(path: Path) -> Callable[[Path], Table]:
    if EVENTS in path.name:
        return read_events
    found = READERS.get(path.suffix.lower())
    if found is not None:
        return found
    if path.parent.name == METRICS or METRICS in path.parts:
        return read_metric
    raise Refused(
        "A log says by its ending what it is: "
        f"{', '.join(READERS)}, `{EVENTS}` in the name of TensorBoard's, or a folder of those or "
        f"of MLflow. Got {path}."
    )


def read_csv(path: Path) -> Table:
    """Comma, tab or semicolon; the first line names the columns, an empty cell holds nothing."""
    import pandas

    with path.open(encoding="utf-8-sig") as file:
        first = file.readline().rstrip("\r\n")
    if not first.strip():
        raise Refused(
            f"A CSV must begin with a line that names its columns. Got {path}, which is empty."
        )
    separator = max(SEPARATORS, key=first.count)
    names = [name.strip().strip('"') for name in first.split(separator)]
    if any(_is_number(name) for name in names):
        raise Refused(
            "A CSV must begin with a line that names its columns, since steps and values are told "
            f"apart by their names. Got {first!r} in {path}."
        )
    frame = pandas.read_csv(
        path, sep=separator, dtype=str, keep_default_na=False, encoding="utf-8-sig"
    )
    columns = {str(name).strip(): frame[name].tolist() for name in frame.columns}
    return table_of_texts(columns, str(path))


def read_parquet(path: Path) -> Table:
    import pyarrow.parquet

    found = pyarrow.parquet.read_table(path)
    records = {name: found[name].to_pylist() for name in found.column_names}
    rows = [dict(zip(records, row, strict=True)) for row in zip(*records.values(), strict=True)]
    return table_of_records(rows, str(path))


def read_json(path: Path) -> Table:
    """One record per line, a list of records, or columns by name; also the state of a trainer."""
    text = path.read_text(encoding="utf-8").strip()
    if not text:
        raise Refused(f"A log of JSON must hold at least one record. Got {path}, which is empty.")
    try:
        found = json.loads(text)
    except ValueError:
        found = [_parse_line(line, number, path) for number, line in _lines(text)]
    if isinstance(found, dict) and HISTORY in found:
        found = found[HISTORY]
    if isinstance(found, dict) and all(isinstance(column, list) for column in found.values()):
        return columns_of(found, str(path))
    records = [found] if isinstance(found, dict) else found
    if not isinstance(records, list) or not all(isinstance(one, dict) for one in records):
        raise Refused(
            "A log of JSON must be one record per line, a list of records, or a table of columns. "
            f"Got {type(found).__name__} in {path}."
        )
    return table_of_records(records, str(path))


def read_npz(path: Path) -> Table:
    """Arrays by their names; those of the most frequent length are the columns."""
    with np.load(path, allow_pickle=False) as found:
        arrays = {name: found[name] for name in found.files}
    return columns_of({k: a for k, a in arrays.items() if a.ndim == 1}, str(path))


def read_events(path: Path) -> Table:
    """A row per scalar: its tag, its step and its value."""
    scalars = read_scalars(path.read_bytes(), str(path))
    return table_of_records([scalar._asdict() for scalar in scalars], str(path))


def read_metric(path: Path) -> Table:
    """A metric of MLflow: `timestamp value step` in each line."""
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    if not rows or not all(len(row) == 3 and all(map(_is_number, row)) for row in rows):
        raise Refused(
            "A metric of MLflow must be a file of lines `timestamp value step`. Got "
            f"{rows[0] if rows else 'no line'} in {path}."
        )
    *_, tag = str(path).rpartition(f"{METRICS}/")
    columns = {
        "tag": [tag] * len(rows),
        "step": [row[2] for row in rows],
        "value": [row[1] for row in rows],
    }
    return table_of_texts(columns, str(path))


def read_database(path: Path) -> Table:
    """The metrics of MLflow's database, in which it keeps its runs by default: a row per value.
    Runs that were deleted are left out.
    """
    asked = (
        "SELECT metrics.run_uuid, key, step, value, is_nan FROM metrics "
        "JOIN runs ON runs.run_uuid = metrics.run_uuid "
        "WHERE lifecycle_stage = 'active' ORDER BY metrics.rowid"  # as they were logged
    )
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            rows = database.execute(asked).fetchall()
    except sqlite3.DatabaseError as error:
        raise Refused(
            "A log that ends with .db must be a database of MLflow, with its tables `metrics` and "
            f"`runs`. Got {path}: {error}."
        ) from None
    if not rows:
        raise Refused(f"A database of MLflow must hold at least one metric. Got none in {path}.")
    runs, tags, steps, values, missing = zip(*rows, strict=True)
    columns = {
        "tag": np.asarray(tags, np.str_),
        "step": np.asarray(steps, np.float64),
        "value": np.where(np.asarray(missing, bool), np.nan, np.asarray(values, np.float64)),
    }
    if len(set(runs)) > 1:
        columns["run"] = np.asarray(runs, np.str_)
    return Table(columns, str(path))


READERS: Mapping[str, Callable[[Path], Table]] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".parquet": read_parquet,
    ".jsonl": read_json,
    ".ndjson": read_json,
    ".json": read_json,
    ".npz": read_npz,
    ".db": read_database,
}


def columns_of(given: Mapping[str, Sequence[float] | np.ndarray], source: str) -> Table:
    """Columns by name, each of numbers or words."""
    found = {}
    for name, column in given.items():
        try:
            array = np.asarray(column)
        except ValueError:
            array = np.zeros((0, 0))
        if array.ndim != 1:
            raise Refused(
                f"`{name}` must be a list of numbers, one per row. Got {str(column)[:60]}."
            )
        found[name] = array.astype(np.float64 if array.dtype.kind in "fiu" else np.str_)
    return Table(found, source)


def _read_folder(folder: Path) -> Table:
    """All event files below a folder, or all metrics of the runs of MLflow; the column `run` names
    the folder of each where there are several.
    """
    events = sorted(path for path in folder.rglob(f"*{EVENTS}*") if path.is_file())
    metrics = sorted(path for path in folder.rglob("*") if path.is_file() and METRICS in path.parts)
    files = {path: _run_of(path, METRICS) for path in metrics} if not events else {
        path: path.parent for path in events
    }  # fmt: skip
    if not files:
        raise Refused(
            "A folder of logs must hold event files of TensorBoard or runs of MLflow. Got "
            f"{folder}, which has neither. Name a file in it."
        )
    tables = [(run, read_events(p) if events else read_metric(p)) for p, run in files.items()]
    several = len(set(files.values())) > 1
    columns: dict[str, np.ndarray] = {
        name: np.concatenate([table.columns[name] for _, table in tables])
        for name in ("tag", "step", "value")
    }
    if several:
        names = [str(run.relative_to(folder)) for run, _ in tables]
        columns["run"] = np.repeat(names, [table.rows for _, table in tables])
    return Table(columns, str(folder))


def _run_of(path: Path, below: str) -> Path:
    """The folder of the run that a file belongs to: the one above `below`."""
    parts = path.parts
    return Path(*parts[: len(parts) - 1 - parts[::-1].index(below)])


def _lines(text: str) -> list[tuple[int, str]]:
    return [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


def _parse_line(line: str, number: int, path: Path) -> object:
    try:
        return json.loads(line)
    except ValueError as error:
        raise Refused(
            f"Every line of a log of JSON must be one record. Got {line[:60]!r} in line {number:,} "
            f"of {path}: {error}."
        ) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
