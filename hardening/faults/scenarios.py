"""What is done to a sweep. Each scenario says how often it was tried and what went wrong."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from hardening.faults.clusters import complete, lose_scheduler, lose_worker
from hardening.faults.sweeps import SETTINGS, compare
from hardening.faults.told import Told, make_place

IMPORTING = 3.0  # seconds in which a process still imports
LEAST_BYTES = 1500  # of a file, where the disk is "full": less than a run's largest
YEAR = 365 * 86_400.0
# Of Linux: what keeps root from writing where a mode forbids it, in a process and its children.
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1


def _end(process: subprocess.Popen[str], number: int) -> tuple[int, str]:
    os.killpg(process.pid, number)
    out, errors = process.communicate(timeout=120)
    return process.returncode, out + errors


def kill_at_random(root: Path, draw: Random, times: int) -> Told:
    """SIGKILL at random moments of sweeps that are started again until they are done."""
    told, place = Told("SIGKILL at random moments"), make_place(root)
    start = time.monotonic()
    code, said = place.finish()
    lasts, whole = time.monotonic() - start, place.curves()
    if code != 0 or len(whole) != SETTINGS:
        told.troubles.append(f"an undisturbed sweep ends with {code}: {said[-300:]}")
        return told
    place = make_place(root)
    for _ in range(times):
        process = place.start()
        try:
            process.wait(timeout=draw.uniform(0.0, 1.1 * lasts))
        except subprocess.TimeoutExpired:
            _end(process, signal.SIGKILL)
        else:
            process.communicate()
        told.tried += 1
        told.troubles += place.look()
        if len(place.finished) == SETTINGS:
            told.troubles += compare(place.curves(), whole)
            place = make_place(root)
    code, said = place.finish()
    told.troubles += place.look()
    if code != 0 or len(place.finished) != SETTINGS:
        told.troubles.append(f"the last sweep ends with {code}: {said[-300:]}")
    else:
        told.troubles += compare(place.curves(), whole)
    return told


def signal_at_random(root: Path, draw: Random, times: int) -> Told:
    """SIGTERM and Ctrl-C, also while modules are imported: a sentence, and no traceback."""
    told, place = Told("SIGTERM and Ctrl-C, also during imports"), make_place(root)
    for number in range(times):
        process = place.start()
        time.sleep(draw.uniform(0.05, IMPORTING))
        code, said = _end(process, draw.choice((signal.SIGTERM, signal.SIGINT)))
        told.tried += 1
        told.troubles += place.look()
        if "Traceback" in said:
            told.troubles.append(f"{number}: exit {code} with a traceback: {said[-300:]}")
    return told


def fill_disk(root: Path, draw: Random, times: int) -> Told:
    """Files may grow to a few hundred bytes: nothing half-written is taken, and it is said."""
    told = Told("a full disk (RLIMIT_FSIZE)")
    for _ in range(times):
        place, most = make_place(root), draw.randrange(1, LEAST_BYTES)

        def limit(most: int = most) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        process = place.start(before=limit)
        _, errors = process.communicate(timeout=600)
        told.tried += 1
        told.troubles += place.look()
        if process.returncode == 0 or "Traceback" in errors:
            told.troubles.append(f"{most} bytes: exit {process.returncode}: {errors[-300:]}")
        code, said = place.finish()
        told.troubles += place.look()
        if code != 0 or len(place.finished) != SETTINGS:
            told.troubles.append(f"with room again: exit {code}: {said[-300:]}")
    return told


def remove_folder(root: Path, draw: Random, times: int) -> Told:
    """The store vanishes in mid-work: the sweep ends in words, and the next one is whole."""
    told = Told("a folder that vanishes")
    for _ in range(times):
        place = make_place(root)
        process = place.start()
        time.sleep(draw.uniform(1.0, 6.0))
        shutil.rmtree(place.out, ignore_errors=True)
        out, errors = process.communicate(timeout=600)
        told.tried += 1
        if "Traceback" in out + errors:
            told.troubles.append(f"exit {process.returncode}: {errors[-300:]}")
        told.troubles += complete(place)
    return told


def obey_modes() -> None:
    """Root may write into every folder; the command that this process becomes may not."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


def lock_folder(root: Path, draw: Random, times: int) -> Told:
    """The store becomes read-only, before the sweep or in mid-work: it is said, and what was
    finished stays.
    """
    told = Told("a folder that is or becomes read-only")
    for number in range(times):
        place = make_place(root)
        runs = place.out / "runs"
        runs.mkdir(parents=True)
        if number % 2 == 0:
            runs.chmod(0o555)
        process = place.start(before=obey_modes)
        if number % 2:
            time.sleep(draw.uniform(1.0, 6.0))
            runs.chmod(0o555)
        out, errors = process.communicate(timeout=600)
        told.tried += 1
        if "Traceback" in out + errors or (number % 2 == 0 and process.returncode == 0):
            told.troubles.append(f"exit {process.returncode}: {errors[-300:]}")
        runs.chmod(0o755)
        told.troubles += place.look() + complete(place)
    return told


def meet(root: Path, draw: Random, times: int) -> Told:
    """Two and three clients on one store: every setting once, and all of them whole."""
    told = Told("two and three clients on one store")
    for number in range(times):
        place = make_place(root)
        clients = [place.start() for _ in range(2 + number % 2)]
        for client in clients:
            _, errors = client.communicate(timeout=600)
            if client.returncode != 0:
                told.troubles.append(f"exit {client.returncode}: {errors[-300:]}")
        told.tried += 1
        told.troubles += place.look()
        if len(place.finished) != SETTINGS:
            told.troubles.append(f"{len(place.finished)} of {SETTINGS} settings")
    return told


def set_clocks_wrong(root: Path, draw: Random, times: int) -> Told:
    """Leases of a client that died, dated a year ahead or back: the next sweep goes on."""
    told = Told("wrong clocks on leases")
    for number in range(times):
        place = make_place(root)
        process = place.start()
        time.sleep(draw.uniform(2.0, 5.0))
        _end(process, signal.SIGKILL)
        when = time.time() + (YEAR if number % 2 else -YEAR)
        for path in (place.out / "runs").rglob(".leases/*"):
            os.utime(path, (when, when))
        code, said = place.finish()
        told.tried += 1
        told.troubles += place.look()
        if code != 0 or len(place.finished) != SETTINGS:
            told.troubles.append(f"exit {code}: {said[-300:]}")
    return told


def kill_a_job(root: Path, draw: Random, times: int) -> Told:
    """One process of `--jobs 2` is killed: the others' runs stay, and the next sweep is whole."""
    told = Told("one process of --jobs killed")
    for _ in range(times):
        place = make_place(root)
        process = place.start("--jobs", "2")
        time.sleep(draw.uniform(2.0, 8.0))
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(process.pid)],
            capture_output=True,
            text=True,
            check=False,
        ).stdout.split()
        if children:
            os.kill(int(draw.choice(children)), signal.SIGKILL)
        _, errors = process.communicate(timeout=600)
        told.tried += 1
        told.troubles += place.look()
        if "Traceback" in errors:
            told.troubles.append(f"exit {process.returncode}: {errors[-300:]}")
        told.troubles += complete(place)
    return told


# Every scenario, and how often it is tried for each hundred kills.
SCENARIOS: dict[Callable[[Path, Random, int], Told], int] = {
    kill_at_random: 100,
    signal_at_random: 20,
    fill_disk: 5,
    remove_folder: 5,
    lock_folder: 5,
    meet: 5,
    set_clocks_wrong: 3,
    kill_a_job: 5,
    lose_worker: 2,
    lose_scheduler: 2,
}
