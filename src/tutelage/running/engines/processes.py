"""Whole tasks side by side, each in a process of its own that lives on for the next task.

A process is a fresh interpreter (`child.py`). Tasks go to it and answers come back as lines of
JSON, so that nothing of the program that asks is imported there. One that dies ends its own task
and no other.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import cast

from tutelage.cores import cores
from tutelage.forms import Json
from tutelage.log import LOG
from tutelage.problem.room import free_bytes, resident_bytes
from tutelage.running.engines import child

START = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from {module} import main; main()"
LOOK_SECONDS = 0.5  # between two looks at free memory, where a task waits for some
# What XLA and the libraries of linear algebra read when they start their threads. XLA's own flag
# for one thread leaves its pool as it is, and a process bound to a core waits there for others.
POOL = "NPROC"
LINEAR_ALGEBRA = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# Options of JAX that a program may have set, and that hold for its processes too.
INHERITED = (
    "jax_compilation_cache_dir",
    "jax_persistent_cache_min_compile_time_secs",
    "jax_persistent_cache_min_entry_size_bytes",
)


@dataclass(frozen=True)
class Task:
    """A function of a module, and the plain data that it is given."""

    name: str
    module: str
    function: str  # of the type `child.Function`
    given: Mapping[str, Json]
    seconds: float = 0.0  # that it is expected to take: the longest begins first
    bytes: float = 0.0  # of memory, likewise: it begins once so much is free
    makes: frozenset[str] = frozenset()  # what no two tasks should make at the same time


@dataclass(frozen=True)
class Begun:
    """A process has begun with a task."""

    task: Task


@dataclass(frozen=True)
class Told:
    """What a task says while it runs."""

    task: Task
    message: Json


@dataclass(frozen=True)
class Done:
    """What a task gave."""

    task: Task
    result: Json


@dataclass(frozen=True)
class Failed:
    """A task erred, or its process died; why, without a full stop."""

    task: Task
    why: str
    refused: bool = False  # whether the reason is a sentence for the person who gave the input
    died: bool = False


Event = Begun | Told | Done | Failed


class Processes:
    """Up to `count` processes, each with so many threads of computation. They are started when
    there is a task for them, and all end with the block.
    """

    def __init__(self, count: int, threads: int = 1) -> None:
        self.count, self.threads = count, threads
        self._children: list[_Child] = []
        self._heard: queue.SimpleQueue[tuple[_Child, child.Answer | None]] = queue.SimpleQueue()
        self._waiting: list[Task] = []
        self._stopped = False

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Asks every process to save what it has under way and to end, and waits for that."""
        for one in self._children:
            one.close()
        end = time.monotonic() + child.PATIENCE_SECONDS
        for one in self._children:
            one.wait(max(0.0, end - time.monotonic()))
        self._children.clear()

    def stop(self) -> None:
        """Begins no other task, and has every process save what it has under way and end; `run`
        then says that these tasks failed.
        """
        self._stopped = True
        for one in list(self._children):
            one.close()

    def add(self, tasks: Sequence[Task]) -> None:
        """Has `run` do these too."""
        self._waiting = sorted([*self._waiting, *tasks], key=lambda task: -task.seconds)

    def run(self) -> Iterator[Event]:
        """What happens, as it happens, until every task is done or has failed."""
        while True:
            while (task := self._choose()) is not None:
                self._waiting.remove(task)
                self._find_child().begin(task)
                yield Begun(task)
            busy = [one for one in self._children if one.task is not None]
            if not busy:
                return
            try:
                one, answer = self._heard.get(timeout=LOOK_SECONDS if self._waiting else None)
            except queue.Empty:
                continue
            event = one.read(answer)
            if answer is None:
                self._children.remove(one)
            if event is not None:
                yield event

    def _choose(self) -> Task | None:
        """The next task that a process is free for and memory is there for, rather one that makes
        nothing that is being made; the first of all where nothing else runs.
        """
        busy = [one for one in self._children if one.task is not None]
        if self._stopped or not self._waiting or len(busy) >= self.count:
            return None
        if not busy:
            return self._waiting[0]
        room = free_bytes() - sum(one.promised_bytes for one in busy)
        fitting = [task for task in self._waiting if task.bytes <= room]
        made = frozenset[str]().union(*(one.task.makes for one in busy if one.task is not None))
        apart = [task for task in fitting if made.isdisjoint(task.makes)]
        return next(iter(apart or fitting), None)

    def _find_child(self) -> _Child:
        idle = next((one for one in self._children if one.task is None), None)
        if idle is None:
            idle = _Child(self._heard, self.threads)
            self._children.append(idle)
        return idle


class _Child:
    """A process, and the task that it works on."""

    def __init__(
        self, heard: queue.SimpleQueue[tuple[_Child, child.Answer | None]], threads: int
    ) -> None:
        self.task: Task | None = None
        self._heard = heard
        self._process = subprocess.Popen(
            [sys.executable, "-c", START.format(module=child.__name__), json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=make_environment(threads),
            start_new_session=True,  # Ctrl-C of a terminal reaches the program alone, which asks
        )
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def promised_bytes(self) -> float:
        """Memory that its task is expected to take beside what it has."""
        if self.task is None:
            return 0.0
        return max(0.0, self.task.bytes - resident_bytes(self._process.pid))

    def begin(self, task: Task) -> None:
        self.task = task
        asked = {"module": task.module, "function": task.function, "given": task.given}
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # where it died, as `_listen` says
            self._process.stdin.write(json.dumps(asked).encode() + b"\n")
            self._process.stdin.flush()

    def read(self, answer: child.Answer | None) -> Event | None:
        """What an answer of the process means; None stands for its end."""
        task = self.task
        if answer is None:
            self.close()
            code = self._process.wait()
            return None if task is None else Failed(task, describe_end(code), died=True)
        if answer["kind"] == "warning":
            LOG.warning("%s", answer["value"])
            return None
        assert task is not None
        if answer["kind"] == "told":
            return Told(task, answer["value"])
        self.task = None
        if answer["kind"] == "done":
            return Done(task, answer["value"])
        return Failed(task, str(answer["value"]), refused=answer["kind"] == "refused")

    def close(self) -> None:
        """Lets the process know that no one waits for it any more."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()

    def wait(self, seconds: float) -> None:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._heard.put((self, cast(child.Answer, json.loads(line))))
        self._heard.put((self, None))


def make_environment(threads: int) -> dict[str, str]:
    """The variables of a process that computes in so many threads."""
    import jax

    found = dict(os.environ)
    if threads < cores():
        found[POOL] = str(threads)
        for name in LINEAR_ALGEBRA:
            found.setdefault(name, str(threads))
    for name in INHERITED:
        value = jax.config.values.get(name)
        if value is not None:
            found[name.upper()] = str(value)
    return found


def describe_end(code: int) -> str:
    """How a process ended, from its exit code."""
    if code >= 0:
        return f"its process ended with the code {code}"
    if -code == signal.SIGKILL:
        return "its process was killed (SIGKILL), probably because memory ran out"
    names = {one.value: one.name for one in signal.Signals}
    return f"its process was ended by {names.get(-code, f'the signal {-code}')}"
