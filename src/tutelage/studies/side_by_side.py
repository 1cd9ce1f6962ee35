"""Several studies: in this process one after the other, or side by side in processes, the longest
first and a long one in parts.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tutelage.cores import cores
from tutelage.refuse import Refused, reason, whole
from tutelage.running.engines.processes import Processes
from tutelage.running.execute import Engine
from tutelage.running.store import Store
from tutelage.studies.parts_of_studies import cut_cases
from tutelage.studies.planning import PlannedStudy
from tutelage.studies.reproduced import Reproduced, run_planned
from tutelage.studies.standing import Standing
from tutelage.studies.study_processes import (
    Running,
    StudyProcesses,
    Unfinished,
    Where,
    describe_trouble,
)
from tutelage.studies.study_tasks import join_parts
from tutelage.studies.weights import weigh_cases
from tutelage.training.devices import devices_of
from tutelage.training.method import USUAL, Method

if TYPE_CHECKING:
    from tutelage.studies.progress import Display

# Below this much expected work a process of its own, which has to start JAX, is not worth it.
SECONDS_WORTH_PROCESSES = 20.0
# A study in two processes takes a third more work than in two threads of one, since each compiles
# its own programs; threads fill two cores, and not many more.
CORES_PER_PART = 2


def run_studies(
    planned: Sequence[PlannedStudy],
    where: Where = Where(),  # noqa: B008  it is frozen
    *,
    jobs: int | None = None,
    display: Display | None = None,
    engine: Engine | None = None,
    method: Method = USUAL,
    with_runs: bool = True,
) -> Iterator[Reproduced | Unfinished]:
    """What came of each study, as it is done.

    Of several studies one that errs, or whose process dies, ends no other. Without `with_runs` what
    other processes did is given without its runs, which are in the store.
    """
    count = choose_jobs(planned, jobs, engine, method)
    studies = cut_studies(planned, count)
    count = min(count, sum(len(one.parts) for one in studies))
    if count < 2:
        for one in planned:
            yield _run_here(one, where, len(planned) > 1, display, engine, method)
        return
    with contextlib.ExitStack() as stack:
        store = where.store
        if store is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tutelage-"))
            store = Store(folder, method=method)
        pool = stack.enter_context(Processes(count, max(1, cores() // count)))
        for study, found in StudyProcesses(studies, pool, where, store, display).run():
            if with_runs and isinstance(found, Reproduced):
                answered = join_parts(study.planned, study.verdicts, store, method)
                found = replace(found, answered=answered)
            yield found


def choose_jobs(
    planned: Sequence[PlannedStudy], jobs: int | None, engine: Engine | None, method: Method
) -> int:
    """How many processes to use: as many as are asked for, or one per core where the work is worth
    it and no other engine or accelerator does it. A study alone has two cores in each.
    """
    if jobs is not None:
        jobs = whole("jobs", jobs, least=1, reason="each job is one process")
        if jobs > 1 and engine is not None:
            raise Refused(
                "`jobs` and `engine` exclude each other, since each chooses where the work is "
                f"done. Got jobs={jobs} and an engine of the type {type(engine).__name__}."
            )
        return jobs
    if engine is not None or devices_of(method.device)[0].platform != "cpu":
        return 1
    if sum(one.estimate_seconds() for one in planned) <= SECONDS_WORTH_PROCESSES:
        return 1
    return cores() if len(planned) > 1 else max(1, cores() // CORES_PER_PART)


def cut_studies(planned: Sequence[PlannedStudy], count: int) -> list[Running]:
    """The studies, each in so many parts that none takes much more than a process's share."""
    if count < 2:
        return []
    seconds = [one.estimate_seconds() for one in planned]
    share = sum(seconds) / count
    return [
        Running(one, expected, cut_cases(one.cases, max(1, round(expected / share))))
        for one, expected in zip(planned, seconds, strict=True)
    ]


def _run_here(
    one: PlannedStudy,
    where: Where,
    among_others: bool,
    display: Display | None,
    engine: Engine | None,
    method: Method,
) -> Reproduced | Unfinished:
    """A study in this process. One alone that errs does so to the caller."""
    name, whole = one.study.name, weigh_cases(one.cases)
    found: Reproduced | Unfinished

    def tell(standing: Standing) -> None:
        if display is not None:
            display.show(name, min(1.0, standing.weight / whole), standing)

    if display is not None:
        display.start(name)
    try:
        found = run_planned(
            one,
            out=where.out,
            store=where.store,
            imports=where.imports,
            tell=None if display is None else tell,
            engine=engine,
            method=method,
        )
    except Exception as error:
        if not among_others:
            raise
        refused = isinstance(error, Refused)
        found = Unfinished(name, describe_trouble(name, reason(error), where, refused=refused))
    if display is not None:
        display.end(name, done=isinstance(found, Reproduced))
    return found
