"""The other side of `processes.py`: one process that does the tasks it is sent, one by one.

Tasks are lines of JSON on its standard input. When that ends, no one waits any more: what is under
way is saved as after Ctrl-C, and the process ends.
"""

from __future__ import annotations

import _thread
import gc
import importlib
import json
import logging
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Literal, TextIO, TypeAlias, TypedDict

from tutelage.forms import Json
from tutelage.log import LOG
from tutelage.refuse import Refused, reason

Tell: TypeAlias = Callable[[Json], None]
Function: TypeAlias = Callable[[Mapping[str, Json], Tell], Json]

PATIENCE_SECONDS = 60.0  # to save what is under way
STOP = ("SIGTERM", "SIGUSR1", "SIGUSR2", "SIGHUP")  # what a cluster sends before it kills


class Asked(TypedDict):
    """A task as it is sent."""

    module: str
    function: str
    given: Mapping[str, Json]


class Answer(TypedDict):
    """What a process says about its task."""

    kind: Literal["told", "warning", "done", "refused", "failed"]
    value: Json


class Stopped(KeyboardInterrupt):
    """No one waits for the task any more."""


class _Answers(logging.Handler):
    """Answers on what was standard output; the library's messages are among them."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream, self._one_by_one = stream, threading.Lock()

    def send(self, answer: Answer) -> None:
        with self._one_by_one:
            self._stream.write(json.dumps(answer) + "\n")
            self._stream.flush()

    def tell(self, message: Json) -> None:
        self.send({"kind": "told", "value": message})

    def emit(self, record: logging.LogRecord) -> None:
        self.send({"kind": "warning", "value": record.getMessage()})


def main() -> None:
    """Does tasks until standard input ends."""
    answers = _Answers(os.fdopen(os.dup(sys.stdout.fileno()), "w"))
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what anything else prints
    LOG.addHandler(answers)
    # Compiled programs are kept by the hundred, and each collection of garbage walks over all that
    # they are made of.
    gc.set_threshold(100_000, 50, 100)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for known in (one for one in signal.Signals if one.name in STOP):
        signal.signal(known, _stop)
    tasks: queue.SimpleQueue[Asked | None] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(tasks,), daemon=True).start()
    try:
        while (asked := tasks.get()) is not None:
            answers.send(_do(asked, answers.tell))
    except (Stopped, BrokenPipeError):
        pass
    os._exit(0)  # at once: the thread that listens holds standard input


def _do(asked: Asked, tell: Tell) -> Answer:
    try:
        function: Function = vars(importlib.import_module(asked["module"]))[asked["function"]]
        return {"kind": "done", "value": function(asked["given"], tell)}
    except Refused as refused:
        return {"kind": "refused", "value": str(refused)}
    except BrokenPipeError:
        raise
    except Exception as error:
        return {"kind": "failed", "value": reason(error)}


def _listen(tasks: queue.SimpleQueue[Asked | None]) -> None:
    for line in sys.stdin:
        tasks.put(json.loads(line))
    tasks.put(None)
    if sys.platform == "win32":
        _thread.interrupt_main(signal.SIGTERM)
    else:  # also where it waits for something
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
    threading.Event().wait(PATIENCE_SECONDS)
    os._exit(1)


def _stop(number: int, frame: FrameType | None) -> None:
    for known in (one for one in signal.Signals if one.name in STOP):
        signal.signal(known, signal.SIG_IGN)  # a second one must not break into the saving
    raise Stopped
