"""Workers of a Dask cluster: the same batches, done and saved by whichever worker takes them.

A worker writes its runs into the store itself, so that they survive the death of the client. What
travels is plain: settings as JSON, arrays as safetensors. When a worker dies its batches go to
another; a batch that kills three is cut up, and a single setting that does is a failure with that
reason.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutelage.log import LOG
from tutelage.plugins import import_all
from tutelage.problem.room import allow_any_size, is_any_size_allowed
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.running.store import Store
from tutelage.running.store.encoding import decode, encode
from tutelage.running.work import Result, Stop, Work, failure, note_failure, unbegun
from tutelage.settings import Setting
from tutelage.training.method import Method

if TYPE_CHECKING:
    import distributed

AHEAD = 2  # batches a worker has in hand, so that it never waits for the client
LOOKS = 10  # times, a second apart, to look for a run that a worker has saved
HEED = 0.2  # seconds between two looks whether the caller wants no more
PATIENCE = 60.0  # seconds to wait for workers to save, when the client stops
LOST = (
    "A cluster needs its scheduler, which hands the work to the workers, and the connection to it "
    "was lost. Finished runs are in the store. Start the scheduler and its workers again, and the "
    "same command goes on."
)


class Cluster:
    """An engine on the workers of a `distributed.Client`. `imports` are the user's own modules or
    files, imported there first.
    """

    remote = True

    def __init__(
        self, client: distributed.Client, workers: int, imports: Sequence[str] = ()
    ) -> None:
        self.client, self.workers = client, max(1, workers)
        self.imports = imports
        self.client.register_plugin(_plugin())

    def run(self, batches: Sequence[Sequence[Setting]], work: Work) -> Iterator[Result]:
        from distributed import KilledWorker, as_completed
        from distributed.client import FutureCancelledError

        store = work.store
        if store is None:
            raise Refused(
                "Workers of a cluster need a store, since they save their runs themselves. Got "
                "none."
            )
        name = uuid.uuid4().hex  # by which workers know whose batches to stop
        how = describe_work(work, store, self.imports, name)
        waiting = iter(batches)
        batch_of: dict[Any, Sequence[Setting]] = {}
        futures = as_completed()

        def send(batch: Sequence[Setting]) -> None:
            future = self.client.submit(remote, *packed(batch), how, pure=False)
            batch_of[future] = batch
            futures.add(future)

        over = threading.Event()
        threading.Thread(target=self._heed, args=(work.stop, over, name), daemon=True).start()
        try:
            for _ in range(AHEAD * self.workers):
                if (batch := next(waiting, None)) is not None:
                    send(batch)
            for future in futures:
                batch = batch_of.pop(future)
                try:
                    yield read_answer(batch, future.result(), work)
                except KilledWorker as error:
                    if len(batch) > 1:
                        for setting in batch:
                            send([setting])
                        continue
                    killed = RuntimeError(
                        f"its workers died, {error.allowed_failures + 1} in a row"
                    )
                    if not work.keep_going:
                        raise killed from None
                    yield fail_batch(store, batch, killed)
                except FutureCancelledError:  # of every future at once
                    batch_of.clear()
                    raise Refused(LOST) from None
                except Exception as error:
                    if future.status != "error" or not work.keep_going:
                        raise
                    yield fail_batch(store, batch, error)  # the worker has not even begun
                if (batch := next(waiting, None)) is not None:
                    send(batch)
        finally:
            over.set()
            work.stop.set()
            if batch_of:
                self._stop(list(batch_of), name)

    def _heed(self, stop: Stop, over: threading.Event, name: str) -> None:
        """Tells the workers once the caller wants no more, while `run` waits for them."""
        while not over.wait(HEED):
            if stop.is_set():
                self.client.run(stop_batches_of, name)
                return

    def _stop(self, futures: Sequence[Any], name: str) -> None:
        """Has the workers save what they have under way for this client, and waits for that; other
        clients' batches go on.
        """
        from distributed import wait

        try:
            self.client.run(stop_batches_of, name)
            wait(futures, timeout=PATIENCE)
        except (TimeoutError, OSError) as error:
            told = error or "no answer"
            LOG.warning(
                "not every worker said that it had saved (%s); what is lost is run again.", told
            )
        self.client.cancel(futures, force=True)


def describe_work(work: Work, store: Store, imports: Sequence[str], client: str) -> dict[str, Any]:
    """How to do a batch, as plain data for `remote`; workers know the `client` by its name."""
    return {
        "root": store.root if "://" in store.root else str(Path(store.root).resolve()),
        "sync": store.sync,
        "rerun_foreign": store.rerun_foreign,
        "keep_going": work.keep_going,
        "method": asdict(work.method),
        "imports": [
            str(Path(name).resolve()) if name.endswith(".py") else name for name in imports
        ],
        "any_size": is_any_size_allowed(),
        "client": client,
    }


def read_answer(batch: Sequence[Setting], said: Mapping[str, Any], work: Work) -> Result:
    """What came of a batch, from what `remote` said about it and from the store."""
    result, store = Result(), work.store
    assert store is not None
    for number, setting in enumerate(batch):
        if number in said["stopped"] and work.stop.is_set():
            result.runs.append(read_stopped(store, setting))
        elif number in said["held"] or number in said["stopped"]:
            result.held.append(setting)  # by another client, or by a worker that had to end
        elif str(number) in said["unsaved"]:
            result.runs.append(_taken_back(store, setting, said["unsaved"][str(number)]))
        elif str(number) in said["failed"]:
            result.runs.append(failure(setting, Refused(said["failed"][str(number)])))
        elif (run := _found(store, setting)) is not None:
            result.runs.append(run)
        else:
            store.refuse_newer(setting)
            raise Refused(
                f"A worker saved a run under {said['root']}, and it cannot be seen from "
                "here. `--out` must be a path that all "
                "machines share, or the address of an object store; with `--rerun-foreign` "
                "the versions must be the same, too."
            )
    return result


def fail_batch(store: Store, batch: Sequence[Setting], error: Exception) -> Result:
    for setting in batch:
        note_failure(store, setting, error)
    return Result([failure(setting, error) for setting in batch])


def _found(store: Store, setting: Setting) -> Run | None:
    """The run that a worker has saved; a shared file system may show it some seconds late."""
    for _ in range(LOOKS):
        if (run := store.find(setting)) is not None:
            return run
        time.sleep(1.0)
    return None


def _taken_back(store: Store, setting: Setting, sent: Mapping[str, Any]) -> Run:
    """The run that a worker could not save, and sent instead."""
    store.unsaved[setting.identity()] = sent["why"]
    run = decode(sent["pieces"])
    return replace(run, setting=setting, made=())


def read_stopped(store: Store, setting: Setting) -> Run:
    """The run as far as a worker has saved it."""
    begun = store.begun(setting)
    if begun is None or begun.outcome is not Outcome.STOPPED:
        return unbegun(setting)
    return replace(begun, setting=setting)


def packed(batch: Sequence[Setting]) -> tuple[str, bytes]:
    """Settings as plain data: JSON, and the arrays given by hand."""
    from safetensors.numpy import save

    arrays = {key: array for setting in batch for key, array in setting.arrays().items()}
    return json.dumps([setting.plain() for setting in batch]), save(arrays) if arrays else b""


def unpacked(text: str, data: bytes) -> list[Setting]:
    from safetensors.numpy import load

    arrays = load(data) if data else {}
    return [Setting.from_plain(plain, arrays) for plain in json.loads(text)]


def _import_on_worker(names: Sequence[str]) -> None:
    """What the client imported; where a worker lacks it, the refusal says that it is the worker."""
    try:
        import_all(names)
    except Refused as refused:
        raise Refused(
            f"The worker {socket.gethostname()} (process {os.getpid()}) must be able to import "
            f"what the sweep imports, since it makes the parts itself. {refused}"
        ) from None


def remote(text: str, data: bytes, how: Mapping[str, Any]) -> dict[str, Any]:
    """One batch on a worker; what came of each of its settings, by number."""
    _import_on_worker(how["imports"])
    allow_any_size(how["any_size"])
    batch = unpacked(text, data)
    stop = _Stop(how["client"])
    nothing: dict[str, Any] = {"root": how["root"], "held": [], "failed": {}, "unsaved": {}}
    if stop.is_set():
        return {**nothing, "stopped": list(range(len(batch)))}
    method = Method(**how["method"])
    store = Store(how["root"], sync=how["sync"], rerun_foreign=how["rerun_foreign"], method=method)
    work = Work(store, keep_going=how["keep_going"], method=method, stop=stop)
    result = work(batch)
    number = {setting: i for i, setting in enumerate(batch)}
    ended = {number[run.setting]: run for run in result.runs if run.setting is not None}
    return nothing | {
        "held": [number[setting] for setting in result.held],
        "failed": {str(i): run.note for i, run in ended.items() if run.outcome is Outcome.FAILED},
        "stopped": [i for i, run in ended.items() if run.outcome is Outcome.STOPPED],
        "unsaved": {str(i): _sent(store, run) for i, run in ended.items() if _is_lost(store, run)},
    }


def _is_lost(store: Store, run: Run) -> bool:
    """Whether a whole run could not be saved here, so that only what is sent back is left of it."""
    return run.complete and run.setting is not None and run.setting.identity() in store.unsaved


def _sent(store: Store, run: Run) -> dict[str, Any]:
    assert run.setting is not None
    return {"why": store.unsaved[run.setting.identity()], "pieces": encode(run, run.setting)}


# Set in a worker that is told to end, so that what it has under way is saved.
CLOSING = threading.Event()
_STOPPED: set[str] = set()  # clients that have stopped, and wait for a worker to save


def stop_batches_of(client: str) -> None:
    """On a worker: ends the batches of one client at their next pause."""
    _STOPPED.add(client)


class _Stop:
    """Whether a batch of this client should end: the client has stopped, or the worker must."""

    def __init__(self, client: str) -> None:
        self.client = client

    def is_set(self) -> bool:
        return CLOSING.is_set() or self.client in _STOPPED

    def set(self) -> None:
        _STOPPED.add(self.client)


def _plugin() -> Any:
    from distributed import WorkerPlugin

    class SaveOnClose(WorkerPlugin):  # type: ignore[misc]
        name = "tutelage-save-on-close"

        def teardown(self, worker: distributed.Worker) -> None:
            from distributed.core import Status

            from tutelage.running.engines import cluster

            if (
                worker.status is not Status.running
            ):  # not where a second client only registers it again
                cluster.CLOSING.set()

    return SaveOnClose()
