"""The one runner: settings in, runs out. Everything that trains from a setting goes through here."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tutelage.registry import Problem, build
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.store import Store
from tutelage.training import train_batch

Watch = Callable[[Setting, int, dict[str, np.ndarray]], None]

LARGEST_BATCH = 64
CACHE = 2**19  # bytes: a batch on a CPU should stay in a core's own cache
ARRAYS = 10  # of the student's size, that one step reads and writes


def execute(
    settings: Sequence[Setting],
    *,
    store: Store | None = None,
    watch: Watch | None = None,
    threads: int | None = None,
) -> Iterator[Run]:
    """Runs every setting and yields each run as it completes.

    Every setting is built, and so validated, before the first one trains. Settings of one shape train together as one
    vmapped batch; the batches are spread over threads, one a core, since one batch fills one core. With a store, a
    run that is already there is read and not repeated, and every other is saved as soon as it is done.
    """
    todo: list[Setting] = []
    done: list[Run] = []
    for setting in dict.fromkeys(settings):
        saved = store.find(setting) if store is not None else None
        todo.append(setting) if saved is None else done.append(saved)
    problems = {setting: build(setting) for setting in todo}
    for run in done:
        if watch is not None:
            watch(run.setting, run.setting.steps, run.curves)  # type: ignore[union-attr,arg-type]
        yield run
    workers = max(1, threads if threads is not None else os.cpu_count() or 1)
    stop = threading.Event()
    with ThreadPoolExecutor(workers) as pool:
        batches = _batches(problems, workers)
        pending: set[Future[list[Run]]] = {pool.submit(_train, batch, problems, watch, stop) for batch in batches}
        try:
            while pending:
                finished, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in finished:
                    for run in future.result():
                        if store is not None:
                            store.save(run)
                        yield run
        finally:
            stop.set()
            for future in pending:
                future.cancel()


class _Stopped(Exception):
    """Raised inside a batch when the caller has gone away."""


def _train(batch: Sequence[Setting], problems: dict[Setting, Problem], watch: Watch | None, stop: threading.Event) -> list[Run]:
    def see(member: int, step: int, curves: dict[str, np.ndarray]) -> None:
        if stop.is_set():
            raise _Stopped
        if watch is not None:
            watch(batch[member], step, curves)

    first = problems[batch[0]]
    runs = train_batch(
        [problems[s].student for s in batch],
        [problems[s].objective for s in batch],
        rates=[s.rate for s in batch],
        steps=batch[0].steps,
        optimiser=first.optimiser,
        measures=first.measures,
        keys=[problems[s].key for s in batch] if first.key is not None else None,
        watch=see,
    )
    if watch is not None:
        for setting, run in zip(batch, runs, strict=True):
            watch(setting, setting.steps, run.curves)  # also where a run ended early
    return [replace(run, setting=setting) for run, setting in zip(runs, batch, strict=True)]


def _batches(problems: dict[Setting, Problem], workers: int) -> list[list[Setting]]:
    """Settings of one shape and horizon together, no batch larger than its share of a core, the longest first."""
    groups: dict[Any, list[Setting]] = {}
    for setting, problem in problems.items():
        groups.setdefault(_shape(setting, problem), []).append(setting)
    batches, first = [], set()
    for members in groups.values():
        # A group on its own is split over the cores; beside other groups it stays whole and costs one compilation.
        parts = workers if len(groups) < workers else 1
        size = min(_largest(problems[members[0]]), -(-len(members) // parts))
        first.add(members[0])
        batches += [members[i : i + size] for i in range(0, len(members), size)]

    def order(batch: list[Setting]) -> tuple[bool, bool, int]:
        # Drawn batches of inputs cost far more a step than their student's size says: they go first. Then one batch of every shape,
        # since each compiles its program, and cores that wanted the same one would wait for each other.
        drawn = problems[batch[0]].key is not None
        return not drawn, batch[0] not in first, -len(batch) * batch[0].steps * _size(problems[batch[0]])

    return sorted(batches, key=order)


def _largest(problem: Problem) -> int:
    """How many runs of one shape to train together: as many as the cache holds on a CPU."""
    if jax.default_backend() != "cpu":
        return LARGEST_BATCH
    if problem.key is not None or getattr(problem.objective, "fills_a_core", False):
        return 1  # a batch of inputs, or a whole sample, fills a core's cache by itself
    return max(1, min(LARGEST_BATCH, CACHE // (8 * ARRAYS * _size(problem))))


def _shape(setting: Setting, problem: Problem) -> Any:
    """What two runs must share to train as one batch."""
    tree = (problem.student, problem.objective)
    leaves = tuple(jnp.shape(leaf) for leaf in jax.tree.leaves(tree))
    return jax.tree.structure(tree), leaves, problem.optimiser, problem.measures, setting.steps


def _size(problem: Problem) -> int:
    return sum(leaf.size for leaf in jax.tree.leaves(problem.student))
