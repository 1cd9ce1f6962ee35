"""The one runner: settings in, runs out. Everything that trains from a setting goes through
here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import jax

from tutelage.log import LOG
from tutelage.problem.build import Before, Problem, build, build_calculation, go_on
from tutelage.refuse import OWN_ERRORS, Refused
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
from tutelage.settings import Setting, several_settings
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

    Every setting that is not stored is built, and so validated, when this is called. Nothing is run
    until the runs are asked for: loop over them, or take list(execute(…)).
    Settings of one shape train together as one vmapped batch; the engine spreads the batches. With
    a store, a run that is there is read and not repeated; one that is there with a shorter horizon
    goes on from its end; every other is saved as soon as it is done, by whoever did it; and a
    setting that another client works on is waited for. A store that cannot be written is refused
    before anything trains; one that becomes so is told, and the runs are yielded anyway
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
    given = dict.fromkeys(several_settings(settings))
    method = _method(method, store)
    remote = engine is not None and engine.remote  # its workers have devices of their own
    devices = devices_of(None if remote else method.device)
    if store is not None:
        store.place.tidy()
    stored = dict.fromkeys(s for s in given if store is not None and store.holds(s))
    todo = [setting for setting in given if setting not in stored]
    prepared = _Prepared(store, method, devices, keep_going, Stopping(stop))
    if todo:
        prepared.add(todo)
    work = Work(store, watch, keep_going, method, prepared.problems)
    return _run(prepared, stored, work, engine, threads, stop)


class _Prepared:
    """Settings that are built, and so validated, before the first one trains."""

    def __init__(
        self,
        store: Store | None,
        method: Method,
        devices: Sequence[jax.Device],
        keep_going: bool,
        asked: Stopping,
    ) -> None:
        self._store, self._method, self._devices = store, method, devices
        self._keep_going, self.asked = keep_going, asked
        self.loads: dict[Setting, Load] = {}
        self.calculations: dict[Setting, None] = {}
        self.problems: dict[Setting, Problem] = {}
        self.ended: list[Run] = []  # that failed or are not begun
        self._kept = 0  # bytes of problems

    def add(self, todo: Sequence[Setting]) -> None:
        """Builds settings; one that is refused fails alone where others go on."""
        if self._store is not None:
            self._store.probe()
        for setting in todo:
            if self.asked.is_set():
                self.ended.append(unbegun(setting))
                continue
            try:
                self._build(setting, alone=len(todo) == 1)
            except OWN_ERRORS as error:  # refused, or a factory of the user's own erred
                if not self._keep_going:
                    raise
                note_failure(self._store, setting, error)
                self.ended.append(failure(setting, error))

    def _build(self, setting: Setting, *, alone: bool) -> None:
        if self._store is not None:
            self._store.refuse_newer(setting)
        if setting.calculation is not None:
            build_calculation(setting)
            self.calculations[setting] = None
            return
        problem = checked(setting, self._method)
        load = self.loads[setting] = Load.of(setting, problem, self._devices)
        if alone or self._kept + load.bytes <= MOST_BYTES_KEPT:
            self.problems[setting] = problem
            self._kept += load.bytes


def _run(
    prepared: _Prepared,
    stored: Iterable[Setting],
    work: Work,
    engine: Engine | None,
    threads: int | None,
    stop: Asked | Callable[[], bool] | None,
) -> Iterator[Run]:
    """Reads what is stored and runs what is prepared, as it is asked for."""
    store, watch, asked = work.store, work.watch, prepared.asked
    for setting in stored:
        assert store is not None
        saved = store.find(setting)
        if saved is None:  # damaged
            prepared.add([setting])
            continue
        if watch is not None:
            watch(setting, setting.steps, CurvesSoFar(saved.steps, saved.curves))
        yield saved
    yield from prepared.ended
    loads, calculations = prepared.loads, prepared.calculations
    engine = engine or Threads(1 if threads is None and mostly_python(loads) else threads)
    waiting = _planned(loads, calculations, engine.workers)
    told: set[str | None] = set()  # of those whose runs are waited for
    while waiting:
        held: list[Setting] = []
        # An engine sets `stop` when its round is over, so that each round has its own.
        for result in engine.run(waiting, replace(work, stop=Stopping(stop))):
            held += result.held
            for run in result.runs:
                if run.setting is not None:
                    prepared.problems.pop(run.setting, None)
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
