"""Batches in processes of this machine: the same batches as threads do, each done and saved by one
process.

Threads share one interpreter and one pool of XLA's threads; processes share nothing but the store.
One that dies takes its batch with it: its settings are tried again one by one, and a setting that
kills its process is a failure with that reason.
"""

from __future__ import annotations

import base64
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

from tutelage.cores import cores
from tutelage.forms import Json
from tutelage.problem.room import BYTES_PER_NUMBER, estimate_sizes
from tutelage.refuse import Refused, whole
from tutelage.running.engines.child import Tell
from tutelage.running.engines.cluster import (
    HEED,
    describe_work,
    fail_batch,
    packed,
    read_answer,
    read_stopped,
    remote,
    stop_batches_of,
)
from tutelage.running.engines.processes import Done, Failed, Processes, Task
from tutelage.running.store import Store
from tutelage.running.work import Result, Stop, Work, unbegun
from tutelage.settings import Setting


class Jobs:
    """An engine of several processes on this machine. `imports` are the user's own modules or
    files, imported there first.
    """

    remote = True

    def __init__(self, count: int, imports: Sequence[str] = ()) -> None:
        self.workers = whole("jobs", count, least=1, reason="each job is a process that does work")
        self.imports = imports

    def run(self, batches: Sequence[Sequence[Setting]], work: Work) -> Iterator[Result]:
        store = work.store
        if store is None:
            raise Refused("Jobs need a store, since they save their runs themselves. Got none.")
        how = describe_work(work, store, self.imports, uuid.uuid4().hex)
        batch_of: dict[str, Sequence[Setting]] = {}

        def make_task(batch: Sequence[Setting]) -> Task:
            text, arrays = packed(batch)
            name = uuid.uuid4().hex
            batch_of[name] = batch
            sent = base64.b64encode(arrays).decode()
            given: dict[str, Json] = {"settings": text, "arrays": sent, "how": how}
            return Task(name, __name__, "do_batch", given, bytes=_estimate_bytes(batch))

        over = threading.Event()
        with Processes(min(self.workers, len(batches)), max(1, cores() // self.workers)) as pool:
            threading.Thread(target=_heed, args=(work.stop, over, pool), daemon=True).start()
            try:
                pool.add([make_task(batch) for batch in batches])
                for event in pool.run():
                    if isinstance(event, Done):
                        said = _unpack(cast(dict[str, Any], event.result))
                        yield read_answer(batch_of.pop(event.task.name), said, work)
                    elif isinstance(event, Failed):
                        batch = batch_of.pop(event.task.name)
                        if work.stop.is_set():
                            yield Result([read_stopped(store, setting) for setting in batch])
                        elif event.died and len(batch) > 1:
                            pool.add([make_task([setting]) for setting in batch])
                        else:
                            yield _fail(store, batch, event, work)
                if batch_of:  # which the caller wanted no more
                    left = [setting for batch in batch_of.values() for setting in batch]
                    yield Result([unbegun(setting) for setting in left])
            finally:
                over.set()
                work.stop.set()


def _fail(store: Store, batch: Sequence[Setting], event: Failed, work: Work) -> Result:
    """Runs that say why they could not be, where others go on; otherwise the error."""
    error = Refused(event.why) if event.refused else RuntimeError(event.why)
    if not work.keep_going:
        raise error
    return fail_batch(store, batch, error)


def _heed(stop: Stop, over: threading.Event, pool: Processes) -> None:
    """Has the processes save and end once the caller wants no more, while `run` waits for them."""
    while not over.wait(HEED):
        if stop.is_set():
            pool.stop()
            return


def _estimate_bytes(batch: Sequence[Setting]) -> float:
    return float(sum(BYTES_PER_NUMBER * estimate_sizes(setting).held for setting in batch))


def do_batch(given: Mapping[str, Json], tell: Tell) -> Json:
    """In a process: one batch, and what came of each of its settings.

    It works in a thread of its own, so that where the process is told to end, which raises here,
    what is under way is saved first.
    """
    how = cast(dict[str, Any], given["how"])
    text, arrays = str(given["settings"]), base64.b64decode(str(given["arrays"]))
    with ThreadPoolExecutor(1) as pool:
        try:
            said = pool.submit(remote, text, arrays, how).result()
        except BaseException:
            stop_batches_of(how["client"])
            raise
    return cast(Json, _pack(said))


def _pack(said: dict[str, Any]) -> dict[str, Any]:
    """The answer of `remote` as JSON: pieces of runs that could not be saved are bytes."""
    unsaved = {
        number: {
            "why": sent["why"],
            "pieces": {
                name: base64.b64encode(piece).decode() for name, piece in sent["pieces"].items()
            },
        }
        for number, sent in said["unsaved"].items()
    }
    return said | {"unsaved": unsaved}


def _unpack(said: dict[str, Any]) -> dict[str, Any]:
    """The inverse of `_pack`."""
    unsaved = {
        number: {
            "why": sent["why"],
            "pieces": {name: base64.b64decode(text) for name, text in sent["pieces"].items()},
        }
        for number, sent in said["unsaved"].items()
    }
    return said | {"unsaved": unsaved}
