"""What is done to a sweep on a Dask cluster of this machine, which listens on loopback alone."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from hardening.faults.sweeps import PATIENCE, SETTINGS, Place
from hardening.faults.told import Told, make_place

CONNECTED = (4.0, 14.0)  # seconds after which a sweep that imports and connects may be at work
STARTING = 60.0  # seconds for a scheduler to say where it is, and for a worker to come
FILE = "scheduler.json"


def read_address(folder: Path) -> str:
    """Where the scheduler of a folder listens."""
    return str(json.loads((folder / FILE).read_text())["address"])


@contextmanager
def dask_cluster(folder: Path) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """A scheduler and a worker, each a process of its own; both end with the block."""
    from distributed import Client

    file = folder / FILE
    common = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    started: dict[str, subprocess.Popen[bytes]] = {}

    def start(name: str, *more: str) -> None:
        module = f"distributed.cli.dask_{name}"
        started[name] = subprocess.Popen([sys.executable, "-m", module, *common, *more], **quiet)

    try:
        start("scheduler", "--port", "0")
        until = time.monotonic() + STARTING
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.1)
        start("worker", "--nworkers", "1", "--nthreads", "1")
        with Client(read_address(folder), timeout=STARTING) as client:
            client.wait_for_workers(1, timeout=STARTING)
        yield started
    finally:
        for process in started.values():
            process.kill()
            process.wait()


def lose(name: str, root: Path, draw: Random, times: int) -> Told:
    """The scheduler or the worker is killed while a sweep uses it."""
    told = Told(f"the {name} of a Dask cluster killed")
    for _ in range(times):
        place = make_place(root)
        with dask_cluster(place.folder) as cluster:
            process = place.start("--scheduler", read_address(place.folder))
            time.sleep(draw.uniform(*CONNECTED))
            cluster[name].send_signal(signal.SIGKILL)
            if name == "worker":  # its work waits for another one, which does not come
                process.send_signal(signal.SIGTERM)
            told.troubles += _end_in_words(process)
        told.tried += 1
        told.troubles += place.look()
        told.troubles += complete(place)
    return told


def lose_scheduler(root: Path, draw: Random, times: int) -> Told:
    """The scheduler dies: the sweep ends in words, and the next one is whole."""
    return lose("scheduler", root, draw, times)


def lose_worker(root: Path, draw: Random, times: int) -> Told:
    """The only worker dies, and the sweep is then stopped: the next one is whole."""
    return lose("worker", root, draw, times)


def _end_in_words(process: subprocess.Popen[str]) -> list[str]:
    try:
        out, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return [f"it did not end within {PATIENCE:g} seconds"]
    if "Traceback" in out + errors:
        return [f"exit {process.returncode}: {errors[-300:]}"]
    return []


def complete(place: Place) -> list[str]:
    """What is wrong once the same sweep has run again, without a disturbance."""
    code, said = place.finish()
    troubles = place.look()
    if code != 0 or len(place.finished) != SETTINGS:
        troubles.append(f"afterwards exit {code}: {said[-300:]}")
    return troubles
