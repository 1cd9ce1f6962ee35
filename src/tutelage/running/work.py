"""What is done with one batch, wherever it is done: claim, build, go on from what is stored, train,
save.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from tutelage.problem.build import Problem, build
from tutelage.refuse import OWN_ERRORS, Newer, reason
from tutelage.run import Outcome, Run
from tutelage.running.calculating import calculate
from tutelage.running.store import Store
from tutelage.settings import Setting
from tutelage.training.batch import Curves, CurvesSoFar
from tutelage.training.devices import devices_of, working_on
from tutelage.training.loop import train_batch
from tutelage.training.method import USUAL, Method

Watch = Callable[[Setting, int, Curves], None]

CHECKPOINT_SECONDS = 60.0  # between two saves of runs that are under way


class Stop(Protocol):
    """An event: whether to end at the next pause."""

    def is_set(self) -> bool: ...

    def set(self) -> None: ...


class Asked(Protocol):
    """What a caller of `execute` may stop its runs by, as a `threading.Event` is."""

    def is_set(self) -> bool: ...


class Stopping:
    """Whether to end: the engine is done, or the caller of `execute` asks for it."""

    def __init__(self, asked: Asked | Callable[[], bool] | None = None) -> None:
        self._over = threading.Event()
        self._asked = asked

    @property
    def asked(self) -> bool:
        """Whether the caller wants no more of it."""
        if self._asked is None:
            return False
        return self._asked() if callable(self._asked) else self._asked.is_set()

    def is_set(self) -> bool:
        return self._over.is_set() or self.asked

    def set(self) -> None:
        self._over.set()


@dataclass(frozen=True)
class Result:
    """What came of a batch: its runs, and the settings that another client is working on."""

    runs: list[Run] = field(default_factory=list)
    held: list[Setting] = field(default_factory=list)


@dataclass(frozen=True)
class Work:
    """How to do a batch. With `keep_going` a setting that errs becomes a run whose outcome is
    FAILED, and the others go on.
    """

    store: Store | None = None
    watch: Watch | None = None
    keep_going: bool = False
    method: Method = USUAL
    problems: Mapping[Setting, Problem] = field(
        default_factory=dict
    )  # those that are built already
    stop: Stop = field(default_factory=threading.Event)

    def __call__(self, batch: Sequence[Setting]) -> Result:
        if self.stop.is_set():
            return Result([unbegun(setting) for setting in batch])
        result, mine = Result(), []
        leases = None if self.store is None else self.store.leases
        try:
            for setting in batch:
                if leases is not None and not leases.take(setting.identity()):
                    result.held.append(setting)
                    continue
                mine.append(setting)
            result.runs.extend(self._do(mine))
            return result
        finally:
            for setting in mine:
                if leases is not None:
                    leases.release(setting.identity())

    def _do(self, batch: Sequence[Setting]) -> list[Run]:
        """The runs of settings that no one else works on: those stored meanwhile are read, the
        others grouped by where they stand.
        """
        runs: list[Run] = []
        calculations: list[Setting] = []
        groups: dict[tuple[int, bool], list[tuple[Setting, Run | None]]] = {}
        for setting in batch:
            found = begun = None
            try:
                if self.store is not None and (found := self.store.find(setting)) is None:
                    self.store.refuse_newer(setting)
                    begun = self.store.begun(setting)
            except Newer as newer:  # written since the settings were looked for
                runs.append(self._failed(setting, newer))
                continue
            if found is not None:
                runs.append(found)
            elif setting.calculation is not None:
                calculations.append(setting)
            else:
                at = begun.rest.taken if begun is not None and begun.rest is not None else 0
                groups.setdefault(
                    (at, begun is not None and begun.continued is not None), []
                ).append((setting, begun))
        with working_on(self.method):
            for members in groups.values():
                runs += self._train(
                    [setting for setting, _ in members],
                    [run for _, run in members if run is not None],
                )
            for setting in calculations:
                runs += self._calculate(setting)
        return runs

    def _calculate(self, setting: Setting) -> list[Run]:
        try:
            run = calculate(setting)
            if self.watch is not None:
                self.watch(setting, setting.steps, CurvesSoFar(run.steps, run.curves))
        except OWN_ERRORS as error:
            return [self._failed(setting, error)]
        return self._saved([run])

    def _failed(self, setting: Setting, error: BaseException) -> Run:
        """A run that says why, where others go on; otherwise the error goes to the caller."""
        if not self.keep_going:
            raise error
        note_failure(self.store, setting, error)
        return failure(setting, error)

    def _train(self, batch: Sequence[Setting], begun: Sequence[Run]) -> list[Run]:
        try:
            trained = self._trained(batch, begun)
        except OWN_ERRORS as error:
            if len(batch) > 1:  # one member may have spoiled it, or memory was too small for all
                half = len(batch) // 2
                return self._train(batch[:half], begun[:half]) + self._train(
                    batch[half:], begun[half:]
                )
            return [self._failed(batch[0], error)]
        return self._saved(trained)

    def _trained(self, batch: Sequence[Setting], begun: Sequence[Run]) -> list[Run]:
        problems = [self.problems.get(setting) or build(setting) for setting in batch]
        first, last_save = problems[0], time.monotonic()

        def see(member: int, step: int, curves: Curves) -> None:
            if self.watch is not None:
                self.watch(batch[member], step, curves)

        def named(runs: Sequence[Run]) -> list[Run]:
            made = [run.made for run in begun] or [()] * len(batch)
            return [
                replace(run, setting=s, made=m) for run, s, m in zip(runs, batch, made, strict=True)
            ]

        def pause(so_far: Callable[[], list[Run]]) -> bool:
            nonlocal last_save
            if self.store is not None and time.monotonic() - last_save > CHECKPOINT_SECONDS:
                self._saved([run for run in named(so_far()) if run.outcome is Outcome.STOPPED])
                last_save = time.monotonic()
            return self.stop.is_set()

        runs = train_batch(
            [problem.student for problem in problems],
            [problem.objective for problem in problems],
            rates=[setting.rate for setting in batch],
            steps=batch[0].steps,
            optimiser=first.optimiser,
            measures=first.measures,
            keys=[problem.key for problem in problems if problem.key is not None] or None,
            watch=see,
            begin=list(begun) or None,
            pause=pause,
            method=self.method,
            devices=[] if first.objective.fills_a_core else devices_of(self.method.device),
        )
        if self.watch is not None and not self.stop.is_set():
            for setting, run in zip(batch, runs, strict=True):
                # Also where a run ended early.
                self.watch(setting, setting.steps, CurvesSoFar(run.steps, run.curves))
        return named(runs)

    def _saved(self, runs: list[Run]) -> list[Run]:
        """The runs, each saved; one that cannot be says so in its note, and is not run again."""
        return runs if self.store is None else [self._keep(self.store, run) for run in runs]

    def _keep(self, store: Store, run: Run) -> Run:
        try:
            return store.keep(run)
        except Exception as error:  # what no store takes, such as a run of other code
            assert run.setting is not None
            return self._failed(run.setting, error)


def note_failure(store: Store | None, setting: Setting, error: BaseException) -> None:
    """Leaves a note of a failure in the store, where there is one that takes it."""
    if store is not None and not isinstance(error, Newer):
        with suppress(OSError, ValueError):  # the run says why itself
            store.save_failure(setting, error)


def failure(setting: Setting, error: BaseException) -> Run:
    """A run that could not be: no curves, and the reason."""
    return Run(
        np.zeros(0, np.int64), {}, None, Outcome.FAILED, reason(error), _rate(setting), setting
    )


def unbegun(setting: Setting) -> Run:
    """A run that was stopped before its first step."""
    said = "That was before its first step."
    return Run(np.zeros(0, np.int64), {}, None, Outcome.STOPPED, said, _rate(setting), setting)


def _rate(setting: Setting) -> float | None:
    return setting.rate if setting.calculation is None else None
