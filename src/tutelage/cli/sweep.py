"""`sweep`: many settings, kept as they are done, on this machine or on others."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tutelage.cli.options import PlanOptions, RunOptions, Texts
from tutelage.refuse import Newer, whole

if TYPE_CHECKING:
    from tutelage.claims.verdict import Verdict
    from tutelage.running.store import Store
    from tutelage.settings import Setting
    from tutelage.studies.study import Case
    from tutelage.studies.sweep_rows import Row
    from tutelage.studies.sweeps import Sweep


def sweep(
    what: Annotated[str, Parameter(allow_leading_hyphen=True)],  # for "-" alone
    *,
    axis: Texts = (),
    extend: str | None = None,
    shard: str | None = None,
    jobs: int | None = None,
    options: RunOptions = RunOptions(),  # noqa: B008  it is frozen
) -> int:
    """Run a sweep: every setting once, each saved when it is done. The same command again runs only
    what is missing.

    OUT may be the address of an object store (s3://…), too.

    Parameters
    ----------
    what
        A TOML file (`tutelage docs sweeps`), - for one from standard input, or the name of a study
        with --axis.
    axis
        KEY=V1,V2,…: every combination is run. KEY=1e-3..1e-1/5 gives five values on a log scale.
        Repeatable.
    extend
        Continue every setting to at least this many steps; longer ones stay as they are.
    shard
        I/N: only the I-th of N equal parts, for job arrays; the parts share OUT.
    jobs
        How many processes run batches of settings side by side. By default, and with 1, the threads
        of this process do it, one per core.
    """
    from rich.console import Console

    from tutelage.cli.engines import MOST_JOBS, TOO_MANY
    from tutelage.cli.parsing import parse_steps, select_shard
    from tutelage.cli.programs import keep_programs
    from tutelage.cli.stopping import stopping_on_signals
    from tutelage.cli.sweep_screen import Progress, print_rows, print_verdict_table
    from tutelage.problem.room import allow_any_size
    from tutelage.running.engines.jobs import Jobs
    from tutelage.running.store.places import say_why
    from tutelage.studies.outputs import refuse_newer_outputs
    from tutelage.studies.sweep_rows import make_refused_row
    from tutelage.studies.sweep_runs import run_sweep

    method = options.method  # first of all, since it may be refused
    if jobs is not None:
        whole(
            "jobs",
            jobs,
            least=1,
            reason="each job is a process that does work",
            most=MOST_JOBS,
            beyond=TOO_MANY,
        )
    allow_any_size(options.any_size)
    given = choose_sweep(what, axis, options)
    if extend is not None:
        given = replace(given, at_least=parse_steps(extend, "extend"))
    cases, refused = given.plan()
    settings = list(dict.fromkeys(setting for case in cases for setting in case.settings))
    later = frozenset(setting for case in cases for setting in case.after) if shard else frozenset()
    mine = select_shard([setting for setting in settings if setting not in later], shard)
    unmade = select_shard(refused, shard)
    log = Console(stderr=True, highlight=False)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    store = options.open_store()
    if "://" not in options.out:
        refuse_newer_outputs(Path(options.out) / given.name)
    stored = frozenset(setting for setting in mine if store.holds(setting))
    log.print(
        f"[bold]{given.name}[/]: {len(mine):,} settings, {len(stored):,} of them stored "
        f"already{_describe_foreign(store)}"
    )
    if later:
        log.print(
            f"{len(later):,} settings go on from where others end, and are left to the same "
            "command without --shard."
        )
    if unmade:
        points = "1 point" if len(unmade) == 1 else f"{len(unmade):,} points"
        log.print(f"No setting can be made at {points} of the axes; see the reasons below.")
    if options.dry_run:
        rows = _foretell(given, mine, stored, store)
        rows += [make_refused_row(given, each, f"refused: {each.reason}") for each in unmade]
        print_rows(rows, console, written=False)
        return 0
    if len(stored) < len(mine):
        store.probe()
    keep_programs()
    imports = (*given.imports, *options.imports)
    with (
        options.open_engine(imports, jobs) as opened,
        stopping_on_signals(store),
        Progress(mine) as bar,
    ):
        engine = Jobs(jobs, imports) if jobs is not None and jobs > 1 else opened
        answered, rows = run_sweep(
            given,
            cases,
            mine,
            store=store,
            whole=shard is None,
            watch=bar,
            done=bar.count_run,
            engine=engine,
            keep_going=True,
            method=method,
        )
    rows += [make_refused_row(given, each) for each in unmade]
    verdicts = [verdict for a in answered for verdict in a.verdicts]
    table, unwritten = "", ""
    if "://" not in options.out:
        try:
            table = _write(options.out, given.name, shard, rows, verdicts)
        except (OSError, Newer) as error:
            why = say_why(error) if isinstance(error, OSError) else str(error).rstrip(".")
            unwritten = f"The table could not be written under {options.out}: {why}."
    if options.json:
        _print_json(rows, verdicts)
    else:
        print_rows(rows, console)
        if verdicts:
            print_verdict_table(given.name, answered, console)
        if shard is not None and _claims_anything(cases):
            console.print(
                "The verdicts are answered by the same command without --shard, once all parts "
                "are done."
            )
        console.print((f"rows      {table}\n" if table else "") + f"runs      {store.root}")
    failed = sum(row["outcome"] == "FAILED" for row in rows)
    if failed:
        log.print(f"[red]{failed} settings could not be run[/]; the same command tries them again.")
    for sentence in filter(None, (store.lost, unwritten)):
        log.print(sentence, style="red", markup=False, soft_wrap=True)
    surprising = any(verdict.surprising for verdict in verdicts)
    return 1 if failed or store.lost or unwritten or (options.strict and surprising) else 0


def choose_sweep(what: str, axes: Sequence[str], options: PlanOptions) -> Sweep:
    """The sweep of a file, or of a study and the axes on the command line; the options change
    either.
    """
    from tutelage.cli.parsing import parse_axis, parse_changes, parse_steps
    from tutelage.plugins import import_all
    from tutelage.studies.sweep_files import choose_study, read_sweep
    from tutelage.studies.sweeps import Sweep, number_seeds

    import_all(options.imports)
    if what == "-" or what.endswith(".toml") or os.path.exists(Path(what)):
        given = read_sweep(what)
    else:
        study = choose_study(what)
        given = Sweep(study.name.replace("/", "-"), study)
    seeds = given.seeds
    if options.seeds is not None:
        seeds = number_seeds(options.seeds)
    return replace(
        given,
        axes={**given.axes, **dict(parse_axis(item) for item in axes)},
        changes={**given.changes, **parse_changes(options.set)},
        only=options.case or given.only,
        seeds=seeds,
        steps=given.steps if options.steps is None else parse_steps(options.steps),
        preset=options.choose_preset() or given.preset,
    )


def _claims_anything(cases: Sequence[Case]) -> bool:
    return any(case.claims for case in cases)


def _foretell(
    given: Sweep, settings: Sequence[Setting], stored: frozenset[Setting], store: Store
) -> list[Row]:
    """A row per setting that says whether it is stored, to run or refused."""
    from tutelage.studies.sweep_rows import make_row
    from tutelage.studies.sweep_runs import find_refused

    todo = [setting for setting in settings if setting not in stored]
    refused = find_refused(todo, store.method, store)
    states = dict.fromkeys(settings, "to run") | dict.fromkeys(stored, "stored") | refused
    return [make_row(given, setting, None, states[setting]) for setting in settings]


def _describe_foreign(store: Store) -> str:
    if not store.foreign:
        return ""
    made = f"{len(store.foreign):,} by other versions of tutelage or JAX, or in another precision"
    return f" ({made}: `--rerun-foreign` runs them again, `tutelage runs` shows them)"


def _print_json(rows: Sequence[Row], verdicts: Sequence[Verdict]) -> None:
    from tutelage.claims.verdict import pack_verdicts

    document = {"rows": list(rows), **pack_verdicts([verdict.plain() for verdict in verdicts])}
    print(json.dumps(document, indent=1, ensure_ascii=False))


def _write(
    out: str, name: str, shard: str | None, rows: Sequence[Row], verdicts: Sequence[Verdict]
) -> str:
    """The rows as a table (each shard its own) and the verdicts, which appear together; says where
    the table is.
    """
    from tutelage.claims.verdict import pack_verdicts
    from tutelage.studies.outputs import VERDICTS, refuse_newer_outputs, write_files

    folder = Path(out) / name
    folder.mkdir(parents=True, exist_ok=True)
    refuse_newer_outputs(folder)
    place = folder / ("table.csv" if shard is None else f"table-{shard.replace('/', '-of-')}.csv")
    files = {place: _format_csv(rows)}
    if verdicts:
        packed = pack_verdicts([verdict.plain() for verdict in verdicts])
        files[folder / VERDICTS] = json.dumps(packed, indent=1, ensure_ascii=False)
    write_files(files)
    return str(place)


def _format_csv(rows: Sequence[Row]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, names)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
