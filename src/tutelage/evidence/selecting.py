"""Which columns of a table are steps, values and runs; and the runs that they make."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tutelage.evidence.curves import find_unit, make_run
from tutelage.evidence.table import Column, Table
from tutelage.refuse import Refused, one_of
from tutelage.run import Run
from tutelage.settings import Setting

# What programs call the column of steps, the first that is there.
STEPS = (
    "step", "steps", "_step", "global_step", "trainer/global_step", "iteration", "iter", "epoch",
    "t", "x", "n",
)  # fmt: skip
# What they write beside a metric, and is none.
BESIDE = ("_runtime", "_timestamp", "wall time", "wall_time", "timestamp", "time", "epoch", "seed")
TAGS = ("tag", "key", "metric", "name")  # columns that name the metric of a row
VALUES = ("value", "values")
RANGES = ("__MIN", "__MAX")  # endings of columns that W&B adds to an averaged one
LISTED = 12  # names of columns in a message


@dataclass(frozen=True)
class Choice:
    """What is read of a table."""

    x: str | None = None
    y: tuple[str, ...] = ()  # all columns of numbers where none is named
    by: str | None = None


@dataclass(frozen=True)
class Selected:
    """Runs that were made of a table, and what was taken for what."""

    runs: tuple[Run[None], ...]
    labels: tuple[str, ...]  # of each run, by the column that tells them apart
    x: str
    y: tuple[str, ...]
    by: str | None
    left_out: int  # rows in which no value was logged
    unit: float = 1.0  # in which the steps of the runs are counted


def select(
    table: Table, choice: Choice, *, rate: float | None = None, setting: Setting | None = None
) -> Selected:
    """The runs of a table: one, or one for each value of the column `by`."""
    table, choice = _from_panels(table, choice)
    table = _from_tags(table, choice)
    x = choose_steps(table, choice)
    y = choose_values(table, choice, x)
    if choice.by is not None:
        one_of(f"column{_in(table)}", choice.by, table.columns)
    empty = np.logical_or.reduce([table.is_missing(name) for name in (x, *y)])
    if empty.all():
        raise Refused(
            f"`{y[0]}` must be logged in at least one row with its {x}, since a curve is judged "
            f"by its values. Got {table.rows:,} rows without."
        )
    kept = table.take(~empty)
    groups = _group(kept, choice.by)
    unit = find_unit(kept.columns[x])  # one for all runs
    runs = []
    for label, part in groups:
        where = f" of the run {label}" if label else ""
        curves = {name: part.columns[name] for name in y}
        try:
            run = make_run(
                part.columns[x], curves, rate=rate, x_name=x, setting=setting, where=where,
                unit=unit,
            )  # fmt: skip
        except Refused as refused:
            raise Refused(f"{refused}{_suggest(kept, x, y, choice.by)}") from None
        runs.append(run)
    return Selected(
        tuple(runs), tuple(label for label, _ in groups), x, y, choice.by, int(empty.sum()), unit
    )


def choose_steps(table: Table, choice: Choice) -> str:
    """The column of steps: the one that is named, the usual one, or the first of two."""
    if choice.x is not None:
        return _check_number(table, choice.x)
    lowered = {name.lower(): name for name in table.numbers}
    for usual in STEPS:
        if usual in lowered and lowered[usual] not in choice.y:
            return lowered[usual]
    rest = [name for name in table.numbers if name not in (*choice.y, choice.by)]
    if len(table.numbers) == 2 and rest:
        return rest[0]
    raise Refused(
        f"The column of steps must be named (`--x`, x=…) where it is none of {', '.join(STEPS)}. "
        f"Got the columns {_listed(table.columns)}{_in(table)}."
    )


def choose_values(table: Table, choice: Choice, x: str) -> tuple[str, ...]:
    """The columns of values: those that are named, or every one of numbers that can be one."""
    if choice.y:
        return tuple(_check_number(table, name) for name in choice.y)
    found = [
        name
        for name in table.numbers
        if name not in (x, choice.by)
        and name.lower() not in BESIDE
        and not name.endswith(RANGES)
        and not re.fullmatch(r"unnamed: \d+|index|", name.lower())
    ]
    if not found:
        raise Refused(
            f"A table must have a column of values beside `{x}`. Got the columns "
            f"{_listed(table.columns)}{_in(table)}."
        )
    return tuple(found)


def _check_number(table: Table, name: str) -> str:
    one_of(f"column{_in(table)}", name, table.columns)
    if name not in table.numbers:
        column = table.columns[name]
        if table.is_missing(name).all():
            raise Refused(f"`{name}` must hold numbers. Got a column of empty cells{_in(table)}.")
        filled = np.flatnonzero(~table.is_missing(name))
        # A number in quotes, as JSON may have it, is a text as well.
        row = next((i for i in filled if not _is_number(str(column[i]))), filled[0])
        raise Refused(
            f"`{name}` must be a column of numbers, since it is drawn and judged. Got the text "
            f"{str(column[row])!r} in row {row + 1:,}{_in(table)}."
        )
    return name


def _from_tags(table: Table, choice: Choice) -> Table:
    """A table with one row per metric and step as one with a column of that metric."""
    lowered = {name.lower(): name for name in table.columns}
    tag = next((lowered[name] for name in TAGS if name in lowered), None)
    value = next((lowered[name] for name in VALUES if name in lowered), None)
    if tag is None or value is None or tag in table.numbers or value not in table.numbers:
        return table
    tags = table.columns[tag]
    known = [str(name) for name in np.unique(tags)]
    if any(name in table.columns for name in choice.y):
        return table
    if len(choice.y) > 1 or (not choice.y and len(known) > 1):
        raise Refused(
            f"One metric must be named (`--y`, y=…), since each has steps of its own. Got "
            f"{_listed(known)}{_in(table)}."
        )
    metric = one_of(f"metric{_in(table)}", choice.y[0], known) if choice.y else known[0]
    part = table.take(tags == metric)
    columns = {metric if name == value else name: c for name, c in part.columns.items()}
    del columns[tag]
    missing = {metric if name == value else name: c for name, c in part.missing.items()}
    return Table(columns, table.source, {k: v for k, v in missing.items() if k != tag})


def _from_panels(table: Table, choice: Choice) -> tuple[Table, Choice]:
    """The panel of W&B, which has a column `run - metric` per run, as one with a column `run`."""
    if len(choice.y) > 1 or any(name in table.columns for name in choice.y):
        return table, choice
    ending = f" - {choice.y[0]}" if choice.y else " - "
    panels = [
        name
        for name in table.numbers
        if not name.endswith(RANGES) and (name.endswith(ending) if choice.y else ending in name)
    ]
    metrics = {name.rpartition(" - ")[2] for name in panels}
    if not panels or len(metrics) > 1:
        return table, choice
    (metric,) = metrics
    x = choose_steps(table, Choice(choice.x, tuple(panels)))
    run = np.repeat([name.rpartition(" - ")[0] for name in panels], table.rows)
    columns = {
        x: np.tile(table.columns[x], len(panels)),
        "run": run,
        metric: np.concatenate([table.columns[name] for name in panels]),
    }
    missing = {
        x: np.tile(table.is_missing(x), len(panels)),
        metric: np.concatenate([table.is_missing(name) for name in panels]),
    }
    by = choice.by or ("run" if len(panels) > 1 else None)
    return Table(columns, table.source, missing), Choice(x, (metric,), by)


def _group(table: Table, by: str | None) -> list[tuple[str, Table]]:
    if by is None:
        return [("", table)]
    column = table.columns[by]
    return [(_label(value), table.take(column == value)) for value in np.unique(column)]


def _label(value: float | str) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _suggest(table: Table, x: str, y: Sequence[str], by: str | None) -> str:
    """A column by which the runs of a mixed table come apart, where there is one."""
    for name in table.columns:
        if name in (x, *y, by) or name.lower() in STEPS:
            continue
        groups = [column for _, column in _parts(table, name, x)]
        several = 1 < len(groups) <= table.rows / 2
        if several and all((np.diff(steps) > 0).all() for steps in groups):
            return f" By the column `{name}` they come apart: `--by {name}` (by={name!r})."
    return ""


def _parts(table: Table, name: str, x: str) -> list[tuple[str, Column]]:
    if len(np.unique(table.columns[name])) > table.rows / 2:
        return []
    return [(label, part.columns[x]) for label, part in _group(table, name)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _in(table: Table) -> str:
    return f" in {table.source}" if table.source else ""


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - LISTED} more" if len(every) > LISTED else ""
    return ", ".join(every[:LISTED]) + more
