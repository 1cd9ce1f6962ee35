"""`runs`: what is stored, listed, shown, compared, removed and checked. None of it imports JAX."""

from __future__ import annotations

import json as json_
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from tutelage.cli.options import Flag, PlanOptions, StorePlace, Texts
from tutelage.refuse import Refused, one_of

if TYPE_CHECKING:
    from tutelage.running.store import Entry, Store
    from tutelage.running.store.choosing import Row

runs = App(name="runs", help="List, show, compare, remove and check stored runs.")


@runs.default
def list_(
    *words: Annotated[str, Parameter(show=False)],
    store: StorePlace = "out",
    where: Texts = (),
    columns: Texts = (),
    sort: str | None = None,
    all: Flag = False,
    json: Flag = False,
    csv: Flag = False,
) -> None:
    """List stored runs: what tells them apart, how they ended, their last excess risk, and which
    other versions made them.

    Parameters
    ----------
    where
        KEY=VALUE with = != < <= > or >=: an option (tokens>16), a path (teacher.tokens>16), the
        outcome (outcome=DIVERGED) or a last value (excess_risk<1e-6). Runs without that key are
        left out. Repeatable.
    columns
        The columns to show, separated by commas. Repeatable.
    sort
        Sort by this column; -KEY puts the largest first.
    all
        All rows, however many.
    json
        Everything known of each run, as JSON.
    csv
        The same as comma-separated values.
    """
    from tutelage.cli import runs_screen as screen

    if words:  # this is what runs when no command is named
        one_of(
            "command of `tutelage runs`",
            words[0],
            ("list", "show", "compare", "remove", "check", "lacking"),
        )
        raise Refused(
            f"`runs list` lists all runs, and `--where` chooses among them. Got {words[0]!r}."
        )
    if json and csv:
        raise Refused(
            "`--json` and `--csv` exclude each other, since each is a form of the whole output. "
            "Got both."
        )
    opened = _open(store)
    rows = _sort_rows(_select_rows(opened, where), sort)
    wanted = [name for text in columns for name in text.split(",") if name]
    if json or csv:
        screen.print_data(rows, wanted, as_json=json)
    else:
        screen.print_list(rows, wanted, opened.root, everything=all, filtered=bool(where))


@runs.command
def show(*ids: str, store: StorePlace = "out") -> None:
    """Show runs: the setting, how each horizon ended, what made it, its files, and the Python that
    repeats it.

    Parameters
    ----------
    ids
        The beginning of an identity is enough where it is the only one; ID/STEPS means one horizon.
    """
    from tutelage.cli import runs_screen as screen

    opened = _open(store)
    for entries in _group_by_identity(_find_entries(opened, ids)):
        screen.print_run(opened, entries)


@runs.command
def compare(*ids: str, store: StorePlace = "out") -> None:
    """Compare runs: settings that differ, last values side by side, and how far the curves are from
    those of the first.

    Parameters
    ----------
    ids
        Two or more runs, as for `runs show`; of several horizons the longest.
    """
    from tutelage.cli import runs_screen as screen

    opened = _open(store)
    chosen = [choose_longest(_find_entries(opened, [name]), name) for name in ids]
    if len(chosen) < 2:
        raise Refused(f"`runs compare` needs two runs or more. Got {len(chosen)}.")
    screen.print_comparison(opened, chosen)


@runs.command
def remove(
    *ids: str,
    store: StorePlace = "out",
    where: Texts = (),
    newer: Flag = False,
    yes: Flag = False,
    dry_run: Flag = False,
) -> int:
    """Remove runs for good, after asking.

    Parameters
    ----------
    ids
        Which runs, all horizons of each, as for `runs show`.
    where
        Only those that meet these conditions, as for `runs list`; without IDs, of all runs.
    newer
        Also those that a newer version of tutelage wrote, which are left alone otherwise.
    yes
        Do not ask.
    dry_run
        Say what would be removed, and stop.
    """
    from tutelage.running.store.choosing import meeting
    from tutelage.running.store.tables import row

    if not ids and not where:
        raise Refused(
            "`runs remove` needs to know which: the beginnings of identities, or conditions "
            "(`--where`). Got neither."
        )
    opened = _open(store)
    entries = _find_entries(opened, ids) if ids else list(opened.entries())
    chosen = meeting([row(entry) for entry in entries], where)
    names = [str(found["run"]) for found in chosen if newer or found["outcome"] != "NEWER"]
    if left := len(chosen) - len(names):
        print(f"{left:,} of a newer version of tutelage are left alone; --newer removes them, too.")
    for name in names:
        print(f"{opened.root}/{name}")
    amount = f"{len(names):,} run{'' if len(names) == 1 else 's'}"
    if dry_run or not names:
        print(f"{amount} would be removed." if names else "No run meets the conditions.")
        return 0
    if not yes:
        if not sys.stdin.isatty():
            raise Refused(
                "Removing asks first, and there is no terminal to answer on: `--yes` removes "
                "without asking. Nothing was removed."
            )
        if input(f"Remove {amount} for good? [y/N] ").strip().lower() not in ("y", "yes"):
            print("Nothing was removed.")
            return 1
    kept = [name for name in names if not _remove(opened, name, newer)]
    print(f"{len(names) - len(kept):,} of {amount} removed." if kept else f"{amount} removed.")
    return 1 if kept else 0


@runs.command
def check(*, store: StorePlace = "out") -> int:
    """Read every byte of every stored run and compare it with its hash; exit 1 if a run is
    damaged.
    """
    opened = _open(store)
    count = damaged = newer = 0
    for entry in opened.entries():
        count += 1
        if entry.newer:
            newer += 1
            print(f"{opened.root}/{entry.name}: {entry.trouble}")
            continue
        if trouble := entry.trouble or opened.verify(entry.name):
            damaged += 1
            print(f"{opened.root}/{entry.name}: {trouble}")
    if newer:
        print(f"{newer:,} of {count:,} runs are a newer version's, and cannot be checked here.")
    if not damaged:
        print(f"{count - newer:,} runs, all checksums match.")
        return 0
    print(
        f"{damaged:,} of {count:,} runs are damaged. They are never used: the command that made "
        "them runs them again."
    )
    return 1


@runs.command
def lacking(
    what: str,
    *,
    axis: Texts = (),
    store: StorePlace = "out",
    json: Flag = False,
    options: PlanOptions = PlanOptions(),  # noqa: B008  it is frozen
) -> int:
    """Name what a sweep still lacks: settings that are not stored, stopped before their horizon,
    damaged or failed; exit 1 if any. A store that does not exist lacks everything.

    Parameters
    ----------
    what
        The sweep's file, or the name of a study, as for `sweep`; so are the other options.
    axis
        KEY=V1,V2,… Repeatable.
    json
        The rows as JSON.
    """
    from rich.console import Console

    from tutelage.cli.sweep import choose_sweep
    from tutelage.cli.sweep_screen import print_rows
    from tutelage.studies.outputs import open_store
    from tutelage.studies.sweep_rows import find_state, make_refused_row, make_row

    given = choose_sweep(what, axis, options)
    cases, refused = given.plan()
    settings = list(dict.fromkeys(setting for case in cases for setting in case.settings))
    opened = open_store(store)
    rows = [
        make_row(given, setting, None, find_state(opened, setting))
        for setting in settings
        if not opened.holds(setting)
    ]
    rows += [make_refused_row(given, each, f"refused: {each.reason}") for each in refused]
    if json:
        print(json_.dumps(rows, indent=1))
    elif rows:
        print_rows(rows, Console(highlight=False, width=None if sys.stdout.isatty() else 160))
        print(f"{len(rows):,} of {len(settings) + len(refused):,} settings are missing.")
    else:
        print(f"All {len(settings):,} settings are stored.")
    return 1 if rows else 0


runs.command(list_, name="list")


def _open(place: str) -> Store:
    from tutelage.studies.outputs import open_existing_store

    return open_existing_store(place)


def _remove(store: Store, name: str, newer: bool) -> bool:
    """Whether a run is gone now; where it is not, says why."""
    try:
        store.remove(name, newer=newer)
    except OSError as error:
        why = error.strerror or error
        print(f"tutelage: {store.root}/{name} cannot be removed: {why}.", file=sys.stderr)
        return False
    return True


def _select_rows(store: Store, where: Sequence[str]) -> list[Row]:
    from tutelage.running.store.choosing import meeting
    from tutelage.running.store.tables import row

    return meeting([row(entry) for entry in store.entries()], where)


def _sort_rows(rows: list[Row], key: str | None) -> list[Row]:
    """By a column; without one, by what tells the runs apart."""
    from tutelage.running.store.choosing import asked, column_of, differing

    by = [column_of(key.lstrip("-"), rows)] if key else differing(rows, asked(rows))

    def rank(row: Row) -> list[tuple[bool, bool, str | float]]:
        values = [row.get(column) for column in by]
        return [(v is None, isinstance(v, str), "" if v is None else v) for v in values]

    ordered = sorted(rows, key=rank)
    if key and key.startswith("-"):
        ordered.reverse()
        ordered.sort(key=lambda row: row.get(by[0]) is None)  # those without the column stay last
    return ordered


def _find_entries(store: Store, ids: Sequence[str]) -> list[Entry]:
    from tutelage.running.store.choosing import named

    if not ids:
        raise Refused("Which run? Give the beginning of its identity. `tutelage runs` lists them.")
    return named(store, ids)


def _group_by_identity(entries: Sequence[Entry]) -> list[list[Entry]]:
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.identity, []).append(entry)
    return list(groups.values())


def choose_longest(entries: Sequence[Entry], name: str) -> Entry:
    whole = [entry for entry in entries if "files" in entry.about and not entry.trouble]
    if not whole:
        reason = entries[-1].trouble or entries[-1].about["note"]
        raise Refused(f"Only complete runs have curves to compare or show. Got {name!r}: {reason}.")
    return whole[-1]
