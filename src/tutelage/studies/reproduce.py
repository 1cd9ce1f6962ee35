"""Reproducing a study: its plan is run, its claims are answered, and its files are written.

The command line and the notebook both come here: `tutelage.reproduce("teacher-models/rates")`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tutelage.log import LOG
from tutelage.plugins import import_all
from tutelage.problem.options import Value
from tutelage.running.execute import Engine
from tutelage.studies import outputs
from tutelage.studies.discovery import find_full_name
from tutelage.studies.planning import check_horizons, make_plan, plan_studies
from tutelage.studies.reproduced import Reproduced
from tutelage.studies.side_by_side import run_studies
from tutelage.studies.study_processes import Unfinished, Where
from tutelage.training.method import USUAL, Method


def reproduce(
    name: str,
    *,
    preset: str = "quick",
    out: str | Path | None = None,
    seeds: int | None = None,
    steps: int | None = None,
    changes: Mapping[str, Value] | None = None,
    cases: Sequence[str] = (),
    imports: Sequence[str] = (),
    progress: bool = False,
    jobs: int | None = None,
    engine: Engine | None = None,
    method: Method = USUAL,
) -> Reproduced | dict[str, Reproduced]:
    """Runs a study and answers its claims; for the name of a paper, all studies that run with it.

    `changes` are those of `--set`: `{"D": 24, "teacher.norm": 10.0}`. `cases` are the only ones to
    run. With `out`, runs are kept under `out/runs` and used again, and verdicts and figures are
    written to `out/<paper>/<study>`; without it nothing is written and no figure is drawn.
    `imports` are Python files or modules that bring a paper or parts. `method` says in which
    precision, on which device and how far step by step. Nothing is printed unless `progress` asks
    for it.

    Studies, and the cases of a long one, run in `jobs` processes side by side: by default one per
    core where the work is worth it. These know only what is installed or given by `imports`; parts
    that a notebook registered itself need `jobs=1`, which does everything in this process. A study
    of a paper that could not be finished is told to the logger and left out of the answer.
    """
    import_all(imports)
    name = find_full_name(name)
    plan = make_plan(preset=preset, seeds=seeds, steps=steps, changes=changes, cases=cases)
    if method.literal != USUAL.literal:
        plan = replace(plan, literal=method.literal)
    planned, missing = plan_studies([name], plan)
    for absent, why in missing.items():
        LOG.warning("%s is left out. %s", absent, why)
    check_horizons(planned, method)
    store = None
    if out is not None:
        store = outputs.open_store(out, method=method)
    found: dict[str, Reproduced] = {}
    with contextlib.ExitStack() as stack:
        display = None
        if progress:
            from tutelage.studies.progress import Display

            seconds = {one.study.name: one.estimate_seconds() for one in planned}
            display = stack.enter_context(Display(seconds))
        for one in run_studies(
            planned,
            Where(out, store, imports),
            jobs=jobs,
            display=display,
            engine=engine,
            method=method,
        ):
            if not isinstance(one, Unfinished):
                found[one.name] = one
            elif one.name == name:
                raise RuntimeError(one.sentence)
            else:
                LOG.warning("%s", one.sentence)
    in_order = {one.study.name: found[one.study.name] for one in planned if one.study.name in found}
    return in_order.get(name, in_order)
