"""What `tutelage runs` prints: tables that fit the terminal."""

from __future__ import annotations

import csv
import json
import sys
import textwrap
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tutelage.cli.python_code import write_python
from tutelage.run import Outcome
from tutelage.running.store.about import Damaged
from tutelage.running.store.choosing import Row, asked, column_of, differing
from tutelage.running.store.tables import flat
from tutelage.settings import KINDS

if TYPE_CHECKING:
    from tutelage.running.store import Entry, Store

SHOWN_ROWS = 40  # rows, unless all are asked for
SHORT_IDENTITY = 8  # letters of one, where they tell it from all others
COLOURS = {
    "FINISHED": "green",
    "CONVERGED": "green",
    "CALCULATED": "green",
    "DIVERGED": "yellow",
    "UNSTEADY": "yellow",
    "STUCK": "yellow",
    "STOPPED": "yellow",
    "FAILED": "red",
    "DAMAGED": "red",
    "NEWER": "yellow",
}
REASON = {
    "FAILED": "could not be run",
    "DAMAGED": "is damaged and not used",
    "NEWER": "is a newer version's, and left alone",
}
UNREAD = ("DAMAGED", "NEWER")
MADE = "made by"
# Columns of words stand to the left, numbers to the right.
WORDS = ("run", "outcome", *KINDS, "calculation", "note", "foreign", "precision", MADE)
GAP = 2  # spaces between two columns
Cell = str | int | float | None
Curves = tuple[np.ndarray, Mapping[str, np.ndarray]]  # steps, and the curves along them


def print_data(rows: Sequence[Row], wanted: Sequence[str], *, as_json: bool) -> None:
    """Everything known of each run, for other programs."""
    columns = [column_of(name, rows) for name in wanted] or list(
        dict.fromkeys(column for row in rows for column in row)
    )
    if as_json:
        kept = [{column: row[column] for column in columns if column in row} for row in rows]
        print(json.dumps(kept, indent=1, ensure_ascii=False))
        return
    writer = csv.DictWriter(sys.stdout, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def print_list(
    rows: Sequence[Row],
    wanted: Sequence[str],
    root: str,
    *,
    everything: bool,
    filtered: bool,
) -> None:
    """One row per run, in as many columns as there is room for; then what is wrong with others."""
    console = _make_console()
    if not rows:
        return _print_line(
            console, f"No run under {escape(root)}{' meets the conditions' if filtered else ''}."
        )
    sound = [row for row in rows if row["outcome"] not in UNREAD]
    troubled = [row for row in rows if row["outcome"] in REASON]
    shown = sound if everything else sound[:SHOWN_ROWS]
    letters = _count_letters(rows)
    columns = [column_of(name, rows) for name in wanted] or _choose_columns(sound)
    cells = [
        {
            column: _describe_unusual(row)
            if column == MADE
            else _format_cell(column, row.get(column), letters)
            for column in columns
        }
        for row in shown
    ]
    kept, left_out = _fit_columns(columns, cells, console.width) if not wanted else (columns, [])
    if len(shown) > SHOWN_ROWS:
        _print_plainly(kept, cells)
    elif shown:
        console.print(_make_table(kept, cells, _shorten_headers(kept)))
    for row in troubled if everything else troubled[:SHOWN_ROWS]:
        name = row["run"] if row["outcome"] in UNREAD else row["run"][:letters]
        _print_line(console, f"[red]{name}[/] {REASON[row['outcome']]}: {escape(row['note'])}")
    console.print()
    hidden = len(sound) - len(shown) + (0 if everything else max(0, len(troubled) - SHOWN_ROWS))
    amount = f"{len(rows):,} run{'' if len(rows) == 1 else 's'} under {escape(root)}"
    more = (
        f", {len(shown):,} of them shown: --all shows all, --where and --sort choose"
        if hidden
        else ""
    )
    _print_line(console, f"{amount}{more}.")
    if left_out:
        names = escape(", ".join(left_out))
        _print_line(console, f"No room for {names}: --columns chooses, --json and --csv have all.")


def print_run(store: Store, entries: Sequence[Entry]) -> None:
    """One setting with all its horizons."""
    console = _make_console()
    console.print(f"[bold]{entries[0].identity}[/]")
    about = next((entry.about for entry in entries if not entry.trouble), None)
    if about is not None:
        for column, value in flat(about["setting"]).items():
            if column != "steps":
                _print_field(console, column, _format_value(value), 22)
        if measures := about["setting"]["measures"]:
            _print_field(console, "measures", ", ".join(measures), 22)
    for entry in entries:
        _print_horizon(store, entry, console)
    if about is not None:
        console.print("\n[bold]Again, in Python[/]")
        sound = [entry for entry in entries if not entry.trouble]
        print(write_python(store, sound[-1]))


def print_comparison(store: Store, entries: Sequence[Entry]) -> None:
    """Settings that differ, last values, and the largest relative difference from the first run's
    curves at common steps.
    """
    console = _make_console()
    rows = [flat(entry.about["setting"]) for entry in entries]
    letters = _count_letters([{"run": entry.name} for entry in entries])
    names = [
        f"{entry.identity[:letters]}/{row['steps']}"
        for entry, row in zip(entries, rows, strict=True)
    ]
    table = Table("", *names, box=None, pad_edge=False, padding=(0, GAP, 0, 0))
    for column in differing(rows, dict.fromkeys(column for row in rows for column in row)):
        table.add_row(escape(column), *(escape(_format_value(row.get(column))) for row in rows))
    table.add_row(
        "outcome", *(f"[{COLOURS[entry.outcome]}]{entry.outcome}[/]" for entry in entries)
    )
    table.add_section()
    measures = list(dict.fromkeys(name for entry in entries for name in entry.about["last"]))
    for name in measures:
        table.add_row(
            escape(f"last {name}"),
            *(_format_value(entry.about["last"].get(name)) for entry in entries),
        )
    table.add_section()
    try:
        curves = [store.curves(entry) for entry in entries]
    except Damaged as damage:
        return _print_line(console, f"The curves cannot be compared: {escape(str(damage))}.")
    for name in measures:
        table.add_row(
            escape(f"off by, {name}"),
            "",
            *(_describe_difference(curves[0], other, name) for other in curves[1:]),
        )
    console.print(table)
    _print_line(
        console,
        "\noff by: the largest |a − b| / max(|a|, |b|) over the steps that both have measured, "
        "and where",
    )


def relative_difference(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """|a − b| / max(|a|, |b|) entry by entry; 0 where both are the same, also 0 or not a number."""
    one, two = one.astype(np.float64), two.astype(np.float64)  # also what is true or false
    scale = np.maximum(np.abs(one), np.abs(two))
    same = (one == two) | (np.isnan(one) & np.isnan(two))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(same, 0.0, np.abs(one - two) / scale)


def _describe_difference(one: Curves, two: Curves, name: str) -> str:
    if name not in one[1] or name not in two[1]:
        return "–"
    steps, first, second = np.intersect1d(one[0], two[0], return_indices=True)
    a, b = one[1][name][first], two[1][name][second]
    if not len(steps) or a.shape != b.shape:
        return "–"
    worst = relative_difference(a, b).reshape(len(steps), -1).max(axis=1)
    if np.isnan(worst).any():
        return f"not a number, step {steps[np.isnan(worst)][0]:,}"
    return "0" if not worst.max() else f"{worst.max():.2g}, step {steps[worst.argmax()]:,}"


def _print_horizon(store: Store, entry: Entry, console: Console) -> None:
    about = entry.about
    if entry.trouble:
        title, outcome = entry.horizon or "folder", f"[{COLOURS[entry.outcome]}]{entry.outcome}[/]"
        _print_line(console, f"\n[bold]{title}[/]  {outcome}  {escape(entry.trouble)}")
        return
    steps = _format_cell("steps", about["setting"]["steps"], 0)
    title = f"{escape(steps)} steps" if "calculation" not in about["setting"] else "calculation"
    sentence = f"{Outcome[about['outcome']].value} {about['note']}".strip()
    _print_line(
        console,
        f"\n[bold]{title}[/]  [{COLOURS[entry.outcome]}]{entry.outcome}[/]  {escape(sentence)}",
    )
    lines = [("path", f"{store.root}/{entry.name}")]
    lines += [
        ("last", f"{name} {_format_value(value)}") for name, value in about.get("last", {}).items()
    ]
    for piece in about["made"]:
        to = f"to step {piece['to']:,}: " if "to" in piece else ""
        lines.append(
            (
                "made",
                to + ", ".join(f"{name} {value}" for name, value in piece.items() if name != "to"),
            )
        )
    if entry.foreign:
        lines.append(("foreign", f"made by {entry.foreign}; other versions are at work here"))
    lines += [
        ("files", f"{name} {size:,} bytes")
        for name, size in sorted(store.place.sizes(entry.name).items())
    ]
    before = ""
    for label, text in lines:
        _print_field(console, label if label != before else "", text, 9)
        before = label


def _print_line(console: Console, text: str) -> None:
    """A line, broken between words on a terminal and never elsewhere."""
    console.print(text, soft_wrap=not console.is_terminal)


def _print_field(console: Console, label: str, text: str, room: int) -> None:
    """A label and what it says, whose further lines on a terminal stand below its first."""
    line = f"  {label:<{room}}{text}"
    if console.is_terminal:
        line = textwrap.fill(
            line,
            console.width,
            subsequent_indent=" " * (room + 2),
            break_long_words=False,
            break_on_hyphens=False,
        )
    console.print(line, markup=False, soft_wrap=True)


def _make_console() -> Console:
    return Console(highlight=False, width=None if sys.stdout.isatty() else 160)


def _choose_columns(rows: Sequence[Row]) -> list[str]:
    """The run, what tells the runs apart, the horizon, the seed, how they ended, and what is
    unusual in how they were made.
    """
    between = [column for column in differing(rows, asked(rows)) if column not in ("steps", "seed")]
    return [
        "run",
        *between,
        "steps",
        "seed",
        "outcome",
        *(["excess_risk"] if any("excess_risk" in row for row in rows) else []),
        *([MADE] if any(_describe_unusual(row) for row in rows) else []),
    ]


def _describe_unusual(row: Row) -> str:
    """What is unusual in how a run was made: single precision, other versions, gradient flow."""
    by_flow = f"by flow from step {row['literal']:,.0f}" if row.get("literal") else ""
    return ", ".join(
        said
        for said in (row.get("precision"), row.get("foreign"), by_flow)
        if said and said != "float64"
    )


def _fit_columns(
    columns: Sequence[str], cells: Sequence[Mapping[str, str]], width: int
) -> tuple[list[str], list[str]]:
    """The columns that there is room for, and the others: of what tells the runs apart, what fewest
    of them have goes first.
    """
    always = {"run", "steps", "seed", "outcome", "excess_risk", MADE}
    spare = sorted(
        (column for column in columns if column not in always),
        key=lambda column: sum(row[column] != "–" for row in cells),
    )
    kept = list(columns)
    while _measure_width(kept, cells) > width and spare:
        kept.remove(spare.pop(0))
    return kept, [column for column in columns if column not in kept]


def _measure_width(columns: Sequence[str], cells: Sequence[Mapping[str, str]]) -> int:
    headers = _shorten_headers(columns)
    return (
        sum(max(len(headers[c]), *(len(row[c]) for row in cells), 0) + GAP for c in columns) - GAP
    )


def _shorten_headers(columns: Sequence[str]) -> dict[str, str]:
    """The option's name alone, where no other column has it."""
    short = [column.rpartition(".")[2] for column in columns]
    return {
        column: name if short.count(name) == 1 else column
        for column, name in zip(columns, short, strict=True)
    }


def _make_table(
    columns: Sequence[str], cells: Sequence[Mapping[str, str]], headers: Mapping[str, str]
) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
    for column in columns:
        table.add_column(
            escape(headers[column]),
            justify="left" if column in WORDS else "right",
            no_wrap=True,
            overflow="ellipsis",
        )
    for row in cells:
        table.add_row(
            *(
                f"[{COLOURS[row[c]]}]{row[c]}[/]" if c == "outcome" else escape(row[c])
                for c in columns
            )
        )
    return table


def _print_plainly(columns: Sequence[str], cells: Sequence[Mapping[str, str]]) -> None:
    """The same table without colour: rich takes a millisecond per row, too long for thousands."""
    headers = _shorten_headers(columns)
    width = {column: max(len(row[column]) for row in (headers, *cells)) for column in columns}
    for row in (headers, *cells):
        padded = (row[c].ljust(width[c]) if c in WORDS else row[c].rjust(width[c]) for c in columns)
        print((" " * GAP).join(padded).rstrip())


def _count_letters(rows: Sequence[Row]) -> int:
    """How many letters tell every identity here from the others."""
    identities = sorted({row["run"].partition("/")[0] for row in rows})
    letters = SHORT_IDENTITY
    for one, two in pairwise(identities):
        common = next(i for i in range(len(one)) if one[i] != two[i])
        letters = max(letters, common + 1)
    return letters


def _format_cell(column: str, value: Cell, letters: int) -> str:
    if column == "run":
        return str(value)[:letters]
    return f"{value:,}" if column == "steps" and isinstance(value, int) else _format_value(value)


def _format_value(value: Cell) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.5g}"
    return (
        f"{value[:15]}…" if isinstance(value, str) and value.startswith("sha256:") else str(value)
    )
