"""The one runner: settings in, runs out. Everything that trains from a setting goes through
here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from tutelage.log import LOG
from tutelage.problem.build import Before, Problem, build, build_calculation, go_on
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.running.batches import Load, batches, mostly_python
from tutelage.running.engines import Result, Threads, Work
from tutelage.running.store import Store
from tutelage.running.work import (
    Asked,
    Stopping,
    failure,
    note_failure,
    unbegun,
)
from tutelage.running.work import Watch as Watch
from tutelage.settings import Setting
from tutelage.training.batch import CurvesSoFar
from tutelage.training.checks import check_horizon
from tutelage.training.devices import devices_of
from tutelage.training.method import USUAL, Method

# Built problems that are kept until they train; the others are built again then.
MOST_BYTES_KEPT = 2**28
SECONDS_BETWEEN_LOOKS = 2.0  # at settings that another client works on


class Engine(Protocol):
    """Does batches and gives back their results as they come; `work.stop` is set when no one waits
    for them any more.
    """

    workers: int
    remote: bool  # whether the workers are other processes, with devices of their own

    def run(self, batches: Sequence[Sequence[Setting]], work: Work) -> Iterator[Result]: ...


def execute(
    settings: Sequence[Setting],
    *,
    store: Store | None = None,
    watch: Watch | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    keep_going: bool = False,
    stop: Asked | Callable[[], bool] | None = None,
    method: Method | None = None,
) -> Iterator[Run]:
    """Runs every setting and yields each run as it completes.

    Every setting that is not stored is built, and so validated, before the first one trains.
    Settings of one shape train together as one vmapped batch; the engine spreads the batches. With
    a store, a run that is there is read and not repeated; one that is there with a shorter horizon
    goes on from its end; every other is saved as soon as it is done, by whoever did it; and a
    setting that another client works on is waited for. A store that cannot be written is refused
    before anything trains; one that becomes so is told, and the runs are yielded all the same
    (`store.unsaved` names them). With `keep_going` a setting that is refused
    or errs gives a run whose outcome is FAILED and whose note says why. `method` says in
    which precision, on which device and how far step by step; it is that of the store, where there
    is one.

    `stop` is an event, or a function without arguments, that is asked every now and then. Once it
    is set, every run that is under way ends where it stands (and is saved, so that it can go on),
    no other begins, and all of them are yielded with the outcome STOPPED.

    A setting that names a calculation is calculated: its run has no student, and its steps are the
    axis of the calculation.
    """
    method = _method(method, store)
    remote = engine is not None and engine.remote  # its workers have devices of their own
    devices = devices_of(None if remote else method.device)
    if store is not None:
        store.place.tidy()
    todo: dict[Setting, None] = {}
    for setting in dict.fromkeys(settings):
        if (
            store is not None
            and store.holds(setting)
            and (saved := store.find(setting)) is not None
        ):
            if watch is not None:
                watch(setting, setting.steps, CurvesSoFar(saved.steps, saved.curves))
            yield saved
        else:
            todo[setting] = None
    if store is not None and todo:
        store.probe()
    loads: dict[Setting, Load] = {}
    calculations: dict[Setting, None] = {}
    problems: dict[Setting, Problem] = {}
    kept, asked = 0, Stopping(stop)
    for setting in todo:
        if asked.is_set():
            yield unbegun(setting)
            continue
        try:
            if store is not None:
                store.refuse_newer(setting)
            if setting.calculation is not None:
                build_calculation(setting)
                calculations[setting] = None
                continue
            problem = checked(setting, method)
            loads[setting] = Load.of(setting, problem, devices)
        except Exception as error:  # refused, or a factory of the user's own erred
            if not keep_going:
                raise
            note_failure(store, setting, error)
            yield failure(setting, error)
            continue
        if len(todo) == 1 or kept + loads[setting].bytes <= MOST_BYTES_KEPT:
            problems[setting], kept = problem, kept + loads[setting].bytes
        del problem  # the last one would otherwise stay, beside the one that trains
    engine = engine or Threads(1 if threads is None and mostly_python(loads) else threads)
    work = Work(store, watch, keep_going, method, problems)
    waiting = _planned(loads, calculations, engine.workers)
    told: set[str | None] = set()  # of those whose runs are waited for
    while waiting:
        held: list[Setting] = []
        # An engine sets `stop` when its round is over, so that each round has its own.
        for result in engine.run(waiting, replace(work, stop=Stopping(stop))):
            held += result.held
            for run in result.runs:
                if run.setting is not None:
                    problems.pop(run.setting, None)
                if run.outcome is not Outcome.STOPPED or asked.is_set():
                    yield run
        if asked.is_set():
            yield from map(unbegun, held)
            return
        waiting = _planned(
            {setting: loads[setting] for setting in held if setting in loads},
            [setting for setting in held if setting in calculations],
            engine.workers,
        )
        if waiting:
            _tell_holders(store, held, told)
            time.sleep(SECONDS_BETWEEN_LOOKS)


def _tell_holders(store: Store | None, held: Sequence[Setting], told: set[str | None]) -> None:
    """Says once of each other client that its runs are waited for."""
    if store is None or store.leases is None:
        return
    for setting in held:
        owner = store.leases.owner(setting.identity())
        if owner is not None and owner not in told:
            told.add(owner)
            LOG.warning(
                "waiting for runs that another client works on: %s.",
                store.leases.describe(setting.identity()),
            )


def _planned(
    loads: dict[Setting, Load], calculations: Iterable[Setting], workers: int
) -> list[list[Setting]]:
    """Calculations one by one, since no one knows how long they take; then batches that train."""
    return [*([setting] for setting in calculations), *batches(loads, workers)]


def checked(setting: Setting, method: Method = USUAL, before: Before = go_on) -> Problem:
    """The problem of a setting, ready to train; refused where anything in it is wrong, or its
    horizon out of reach.
    """
    problem = build(setting, before)
    check_horizon(setting.steps, method, problem.student, problem.objective, problem.optimiser)
    return problem


def _method(asked: Method | None, store: Store | None) -> Method:
    """The method that is asked for, which a store must know; its own where none is."""
    if store is None or asked is None:
        return asked or (USUAL if store is None else store.method)
    own = store.method
    if (asked.precision, asked.literal) != (own.precision, own.literal):
        raise Refused(
            f"Runs in {asked.precision} with {asked.literal:,} literal steps need a store that "
            f"knows: Store(…, method=…). Got one for {own.precision} and {own.literal:,}."
        )
    return asked
