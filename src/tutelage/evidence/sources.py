"""Whatever a person has as evidence, as runs: frames, files, columns by name, arrays, or runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Union

import numpy as np

from tutelage.evidence.curves import Numbers, curve
from tutelage.evidence.files import columns_of, read_table
from tutelage.evidence.selecting import Choice, select
from tutelage.evidence.table import Table
from tutelage.refuse import Refused
from tutelage.run import Run
from tutelage.settings import Setting

if TYPE_CHECKING:
    import pandas
    import xarray

Evidence: TypeAlias = Union[
    Run,
    Sequence[Run],
    Iterator[Run],
    "pandas.DataFrame",
    "xarray.Dataset",
    "xarray.DataArray",
    Mapping[str, Numbers],
    np.ndarray,
    tuple[Numbers, Numbers],
    str,
    Path,
]
KINDS = (
    "a run or several, a DataFrame, a dataset of xarray, a dict of columns, a pair (steps, "
    "values), an array of two columns, or the path of a log"
)


def as_runs(
    given: Evidence,
    *,
    x: str | None = None,
    y: Sequence[str] = (),
    by: str | None = None,
    rate: float | None = None,
    setting: Setting | None = None,
) -> list[Run]:
    """Evidence as runs. `x` names the column of steps, `y` those of values, `by` the one that tells
    runs apart; what is a run already is taken as it is.
    """
    runs = given_runs(given)
    if runs is not None:
        for run in runs:
            _check_arrays(run)
        return runs
    if isinstance(given, tuple | np.ndarray):
        pair = _as_pair(given)
        return [curve(*pair, rate, name=y[0] if y else "loss", setting=setting)]
    found = select(as_table(given, y), Choice(x, tuple(y), by), rate=rate, setting=setting)
    return list(found.runs)


def _check_arrays(run: Run) -> None:
    """Refuses a run that was put together by hand from lists."""
    for name, values in {"steps": run.steps, **run.curves}.items():
        if isinstance(values, list | tuple):
            raise Refused(
                f"`{name}` of a Run must be an array of NumPy, since claims compute with it. Got "
                f"{type(values).__name__}; tutelage.curve(steps, values) makes a run of lists."
            )


def as_table(given: Evidence, y: Sequence[str] = ()) -> Table:
    """Evidence that has named columns, as a table."""
    import pandas

    if isinstance(given, str | Path):
        return read_table(given)
    xarray = sys.modules.get("xarray")  # who gives one has imported it
    if xarray is not None and isinstance(given, xarray.Dataset | xarray.DataArray):
        name = given.name or (y[0] if y else "loss") if isinstance(given, xarray.DataArray) else ""
        frame = given.to_dataframe(name) if name else given.to_dataframe()
        return _table_of_frame(frame)
    if isinstance(given, pandas.DataFrame):
        return _table_of_frame(given)
    if isinstance(given, Mapping):
        return columns_of(given, "")
    raise Refused(f"Evidence is {KINDS}. Got {type(given).__name__}.")


def given_runs(given: Evidence) -> list[Run] | None:
    """Runs that are runs already; None for anything else."""
    if isinstance(given, Run):
        return [given]
    if isinstance(given, Iterator):  # what `execute` gives
        given = list(given)
    if isinstance(given, list | tuple) and all(isinstance(one, Run) for one in given):
        if not given:
            raise Refused("A claim needs at least one run to be checked against. Got none.")
        return list(given)
    return None


def _as_pair(given: tuple[Numbers, Numbers] | np.ndarray) -> tuple[Numbers, Numbers]:
    """Steps and values."""
    if isinstance(given, np.ndarray):
        if given.ndim == 2 and given.shape[1] == 2:
            return given[:, 0], given[:, 1]
        raise Refused(
            "An array must have two columns, steps and values, since a value without its step is "
            f"no point of a curve. Got shape {given.shape}: give the steps too, as "
            "tt.curve(steps, values)."
        )
    if len(given) != 2:
        raise Refused(f"A pair is (steps, values). Got {len(given)} entries.")
    return given


def _table_of_frame(frame: pandas.DataFrame) -> Table:
    """A frame as a table, its index among the columns where it has a name."""
    named = [name for name in frame.index.names if name is not None]
    if named:
        frame = frame.reset_index(level=[name for name in named if name not in frame.columns])
    columns = {}
    for name in frame.columns:
        column = frame[name]
        numeric = column.dtype.kind in "fiu" or str(column.dtype) in ("Int64", "Float64")
        columns[str(name)] = (
            column.to_numpy(dtype=np.float64, na_value=np.nan)
            if numeric
            else column.astype(str).to_numpy(dtype=np.str_)
        )
    return Table(columns)
