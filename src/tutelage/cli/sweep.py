"""`sweep`: many settings, kept as they are done, on this machine or on others."""

from __future__ import annotations

import json as json_
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from tutelage.cli.run import change_of, steps_of
from tutelage.refuse import Refused, whole

if TYPE_CHECKING:
    from tutelage.run import Run
    from tutelage.settings import Setting
    from tutelage.studies.study import Answered, Case
    from tutelage.studies.sweeps import Sweep


def sweep(
    what: Annotated[str, Parameter(allow_leading_hyphen=True)],  # for "-" alone
    *,
    axis: Annotated[list[str] | None, Parameter(name="--axis", negative="")] = None,
    set: Annotated[list[str] | None, Parameter(name="--set", negative="")] = None,
    case: Annotated[list[str] | None, Parameter(name="--case", negative="")] = None,
    seeds: int | None = None,
    steps: str | None = None,
    extend: str | None = None,
    full: Annotated[bool, Parameter(negative="")] = False,
    out: str = "out",
    workers: int | None = None,
    scheduler: str | None = None,
    slurm: Path | None = None,
    shard: str | None = None,
    device: str | None = None,
    precision: str = "float64",
    literal: str | None = None,
    rerun_foreign: Annotated[bool, Parameter(negative="")] = False,
    sync: Annotated[bool, Parameter(negative="")] = False,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
    strict: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Run a sweep: every setting once, each kept as soon as it is done; the same command again runs
    only what is missing.

    Parameters
    ----------
    what
        A TOML file (docs/sweeps.md), - for one from standard input, or the name of a study with
        --axis.
    axis
        KEY=V1,V2,…, again and again: every combination is run. KEY=1e-3..1e-1/5 gives five values
        on a log scale.
    set
        KEY=VALUE, again and again: the same for all.
    case
        Only this case of a study, again and again.
    seeds
        How many seeds.
    steps
        How many steps (1e5 is fine). Runs that are stored with fewer go on from there.
    extend
        At least so many steps: settings that ask for fewer go on from where they ended, others stay
        as they are.
    full
        The study's full preset.
    out
        A folder, or the address of an object store (s3://…); runs lie in OUT/runs.
    workers
        So many local Dask workers, instead of the threads of this process.
    scheduler
        The address of a Dask scheduler whose workers do the work.
    slurm
        A TOML file of SLURM options: workers are jobs of dask-jobqueue.
    shard
        I/N: only the I-th of N equal parts, for job arrays; the parts share OUT.
    device
        cpu, gpu, cuda:1, …: where to compute.
    precision
        float64, or float32 for a faster and less exact run.
    literal
        Take so many steps one by one (1e6 by default) before plain descent on an exact risk goes on
        by gradient flow (docs/horizon.md).
    rerun_foreign
        Do not use runs that other versions or another precision made.
    sync
        Have every write on the disk before the next, against loss of power.
    dry_run
        Say what would run, what is there already and what is refused, and stop.
    json
        Print the rows (and verdicts) as JSON on standard output, and nothing else there.
    strict
        Exit with 1 if a claim fails or a control holds.
    """
    from rich.console import Console

    from tutelage.cli.engines import engine_of
    from tutelage.cli.programs import keep_programs
    from tutelage.cli.stopping import stopping_on_signals
    from tutelage.cli.sweep_screen import Progress, print_rows, print_verdict_table
    from tutelage.refuse import one_of
    from tutelage.running.store import Store
    from tutelage.settings import LITERAL, PRECISIONS

    one_of("precision", precision, PRECISIONS)
    given = sweep_of(what, axis or [], set or [], tuple(case or ()), seeds, steps, full)
    if extend is not None:
        given = replace(given, at_least=steps_of(extend))
    cases = given.cases()
    later = (
        frozenset(setting for one in cases for setting in one.after)
        if shard is not None
        else frozenset()
    )
    mine = _shard(
        [
            s
            for s in dict.fromkeys(setting for one in cases for setting in one.settings)
            if s not in later
        ],
        shard,
    )
    log = Console(stderr=True, highlight=False)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    by_step = LITERAL if literal is None else steps_of(literal, "literal")
    store = Store(
        f"{out.rstrip('/')}/runs",
        sync=sync,
        rerun_foreign=rerun_foreign,
        precision=precision,
        literal=by_step,
    )
    stored = frozenset(setting for setting in mine if store.holds(setting))
    log.print(
        f"[bold]{given.name}[/]: {len(mine):,} settings, {len(stored):,} of them stored "
        f"already{_foreign(store)}"
    )
    if later:
        log.print(
            f"{len(later):,} settings go on from where others end, and are left to the same "
            "command without --shard."
        )
    if dry_run:
        refused = _refused(
            [setting for setting in mine if setting not in stored], precision, by_step
        )
        print_rows(
            [
                sweep_row(given, s, None, "stored" if s in stored else refused.get(s, "to run"))
                for s in mine
            ],
            console,
            written=False,
        )
        return 0
    keep_programs()
    with (
        engine_of(workers, scheduler, slurm, given.imports) as engine,
        stopping_on_signals(),
        Progress(mine) as bar,
    ):
        how: dict[str, Any] = {
            "engine": engine,
            "keep_going": True,
            "precision": precision,
            "device": device,
        }
        answered, rows = _run(given, cases, mine, store, bar, how, whole_sweep=shard is None)
    verdicts = [verdict for a in answered for verdict in a.verdicts]
    table = ""
    if "://" not in out:
        table = _write(
            Path(out) / given.name, shard, rows, [verdict.plain() for verdict in verdicts]
        )
    if json:
        print(
            json_.dumps(
                {"rows": rows, "verdicts": [verdict.plain() for verdict in verdicts]},
                indent=1,
                ensure_ascii=False,
            )
        )
    else:
        print_rows(rows, console)
        if verdicts:
            print_verdict_table(given.name, answered, console)
        if shard is not None and any(one.claims for one in cases):
            console.print(
                "The verdicts are answered by the same command without --shard, once all parts "
                "are done."
            )
        console.print((f"rows      {table}\n" if table else "") + f"runs      {store.root}")
    failed = sum(row["outcome"] == "FAILED" for row in rows)
    if failed:
        log.print(f"[red]{failed} settings could not be run[/]; the same command tries them again.")
    return 1 if failed or (strict and any(verdict.surprising for verdict in verdicts)) else 0


def _run(
    given: Sweep,
    cases: Sequence[Case],
    mine: Sequence[Setting],
    store: Any,
    bar: Any,
    how: dict[str, Any],
    *,
    whole_sweep: bool,
) -> tuple[list[Answered], list[dict[str, Any]]]:
    """Rows in the order of the settings, and the claims answered where the whole sweep is here."""
    from tutelage.running.execute import execute
    from tutelage.settings import Setting
    from tutelage.studies.study import answer, run_study

    bar.asked(mine)
    if whole_sweep and not isinstance(given.base, Setting):
        answered = run_study(cases, store=store, watch=bar, **how)
        found = {
            setting: run
            for a in answered
            for setting, run in zip(a.case.settings, a.runs, strict=True)
        }
        return answered, [sweep_row(given, setting, found[setting]) for setting in mine]
    # Of each run only what its row and the claims need is kept, so that ten thousand take no more
    # memory than their curves.
    wanted = {claim["measure"] for claim in given.claims}
    rows: dict[Setting, dict[str, Any]] = {}
    runs: dict[Setting, Run] = {}
    for run in execute(mine, store=store, watch=bar, **how):
        assert run.setting is not None
        rows[run.setting] = sweep_row(given, run.setting, run)
        bar.done(run)
        if wanted:
            runs[run.setting] = replace(
                run,
                student=None,
                rest=None,
                curves={k: v for k, v in run.curves.items() if k in wanted},
            )
    ordered = [rows[setting] for setting in mine]
    if not whole_sweep:
        return [], ordered
    return answer([case for case in cases if case.claims], runs, store), ordered


def sweep_of(
    what: str,
    axis: Sequence[str],
    changes: Sequence[str],
    case: tuple[str, ...],
    seeds: int | None,
    steps: str | None,
    full: bool,
) -> Sweep:
    """The sweep of a file, or of a study and the axes on the command line; the options change
    either.
    """
    from tutelage.papers import studies
    from tutelage.studies.sweeps import Sweep, read_sweep

    if what == "-" or what.endswith(".toml") or Path(what).exists():
        given = read_sweep(what)
    else:
        found = studies(what)
        if len(found) != 1:
            raise Refused(
                f"A sweep varies one study, such as {found[0].name}. Got the whole paper {what!r}."
            )
        given = Sweep(found[0].name.replace("/", "-"), found[0])
    return replace(
        given,
        axes={**given.axes, **dict(_axis(item) for item in axis)},
        changes={**given.changes, **dict(change_of(item) for item in changes)},
        only=case or given.only,
        seeds=given.seeds
        if seeds is None
        else tuple(range(whole("seeds", seeds, least=1, reason="at least one run is needed"))),
        steps=given.steps if steps is None else steps_of(steps),
        preset="full" if full else given.preset,
    )


def _axis(item: str) -> tuple[str, list[Any]]:
    from tutelage.studies.sweeps import log_range

    key, equals, text = item.partition("=")
    if not equals or not key or not text:
        raise Refused(f"`--axis` takes KEY=V1,V2,… or KEY=FROM..TO/COUNT. Got {item!r}.")
    if ".." in text:
        first, _, rest = text.partition("..")
        last, _, count = rest.partition("/")
        try:
            return key, log_range(key, json_.loads(first), json_.loads(last), json_.loads(count))
        except ValueError:
            raise Refused(
                f"A log range is FROM..TO/COUNT, such as 1e-3..1e-1/5. Got {item!r}."
            ) from None
    return key, [change_of(f"{key}={value}")[1] for value in text.split(",")]


def _shard(settings: list[Setting], shard: str | None) -> list[Setting]:
    """Every N-th setting from the I-th on, so that long and short ones are spread evenly."""
    if shard is None:
        return settings
    part, _, parts = shard.partition("/")
    if not (part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise Refused(f"`--shard` is I/N with I from 1 to N, such as 3/8. Got {shard!r}.")
    return settings[int(part) - 1 :: int(parts)]


def _refused(settings: Sequence[Setting], precision: str, literal: int) -> dict[Setting, str]:
    from tutelage.running.execute import checked

    found = {}
    for setting in settings:
        try:
            checked(setting, precision, literal)
        except Refused as refused:
            found[setting] = f"refused: {refused}"
    return found


def _foreign(store: Any) -> str:
    if not store.foreign:
        return ""
    made = f"{len(store.foreign):,} by other versions of tutelage or JAX, or in another precision"
    return f" ({made}: `--rerun-foreign` runs them again, `tutelage runs` shows them)"


def sweep_row(given: Sweep, setting: Setting, run: Run | None, state: str = "") -> dict[str, Any]:
    """What was asked along the axes, how it ended, why, and the last values."""
    from tutelage.running.store.tables import flat
    from tutelage.settings import Setting as Plain

    keys = [*given.axes, *(key for together in given.zips for key in together)]
    asked: Mapping[str, Any] = flat(setting.plain())
    letters = {} if isinstance(given.base, Plain) else given.base.letters
    row: dict[str, Any] = {"run": setting.identity(), "teacher": setting.teacher.name}
    for key in keys:
        path = letters.get(key, key)
        row[key] = asked.get(
            path, next((value for name, value in asked.items() if name.endswith(f".{path}")), None)
        )
    row |= {"seed": setting.seed, "steps": setting.steps}
    if run is None:
        return row | {"outcome": state}
    row |= {"outcome": run.outcome.name, "reason": run.note}
    return row | {name: float(curve[-1].mean()) for name, curve in run.curves.items() if len(curve)}


def _write(
    folder: Path,
    shard: str | None,
    rows: Sequence[Mapping[str, Any]],
    verdicts: Sequence[Mapping[str, Any]],
) -> str:
    """The rows as a table (each shard its own) and the verdicts; says where."""
    import csv

    folder.mkdir(parents=True, exist_ok=True)
    names = list(dict.fromkeys(name for row in rows for name in row))
    place = folder / ("table.csv" if shard is None else f"table-{shard.replace('/', '-of-')}.csv")
    with open(place, "w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    if verdicts:
        (folder / "verdicts.json").write_text(json_.dumps(verdicts, indent=1, ensure_ascii=False))
    return str(place)
