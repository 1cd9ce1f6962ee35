"""The longest chain of `make reproduce`: how long it takes on so many cores, and what it waits for.

    python -m tools.critical_path [--cores 2 8] [--measure]

Parts go to processes as `tutelage run --reproduce` sends them, the longest first; a study in parts
is taken to split as its steps do. With enough cores the longest part alone decides. Times are what
the presets of the studies expect, on two cores, and nothing is run. With `--measure` every study is
run once, two side by side, and the times are what its process took of a core; that lasts as long as
`make reproduce` on two cores.
"""

from __future__ import annotations

import argparse
import heapq
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

CORES_OF_A_PRESET = 2  # that its expected seconds are for
SIDE_BY_SIDE = 2  # studies that are measured


class Part(NamedTuple):
    """Some cases of a study, and the seconds of one core that they take."""

    name: str
    seconds: float


class Schedule(NamedTuple):
    """When everything is done, and the parts that the last process to end had done."""

    seconds: float
    chain: tuple[Part, ...]


def plan_parts(cores: int, measured: Mapping[str, float] | None = None) -> list[Part]:
    """What `make reproduce` runs, cut for so many processes; with the seconds of one core that each
    study was measured to take, if it was.
    """
    from tutelage.studies.discovery import reproduced_names
    from tutelage.studies.planning import make_plan, plan_studies
    from tutelage.studies.side_by_side import cut_studies
    from tutelage.studies.weights import weigh_cases

    planned, _ = plan_studies((), make_plan(), also=reproduced_names())
    parts = []
    for study in cut_studies(planned, cores):
        whole = weigh_cases(study.planned.cases)
        for number, cases in enumerate(study.parts, 1):
            many = f", part {number} of {len(study.parts)}" if len(study.parts) > 1 else ""
            seconds = CORES_OF_A_PRESET * study.seconds
            if measured is not None:
                seconds = measured[study.name]
            seconds *= weigh_cases(cases) / whole
            parts.append(Part(study.name + many, seconds))
    return parts


def measure_studies() -> dict[str, float]:
    """The seconds of one core that each study takes, all of its process included."""
    from tutelage.studies.discovery import reproduced_names

    with tempfile.TemporaryDirectory() as out, ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        names = reproduced_names()
        return dict(zip(names, pool.map(lambda name: _measure(name, out), names), strict=True))


def _measure(name: str, out: str) -> float:
    command = [sys.executable, "-m", "tutelage", "run", name, "--jobs", "1", "--out", out]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise RuntimeError(f"`{' '.join(command[1:])}` ended with {running.returncode}.")
    seconds = used.ru_utime + used.ru_stime
    print(f"{seconds:7.1f} s  {name}", flush=True)
    return seconds


def schedule_parts(parts: Sequence[Part], cores: int) -> Schedule:
    """Parts on so many processes of one core each, the longest first."""
    free: list[tuple[float, int]] = [(0.0, process) for process in range(cores)]
    done: list[list[Part]] = [[] for _ in range(cores)]
    for part in sorted(parts, key=lambda part: -part.seconds):
        since, process = heapq.heappop(free)
        done[process].append(part)
        heapq.heappush(free, (since + part.seconds, process))
    seconds, last = max(free)
    return Schedule(seconds, tuple(done[last]))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.critical_path", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--cores", type=int, nargs="+", default=[2, 8])
    parser.add_argument("--measure", action="store_true")
    asked = parser.parse_args()
    measured = measure_studies() if asked.measure else None
    for cores in asked.cores:
        parts = plan_parts(cores, measured)
        found = schedule_parts(parts, cores)
        total = sum(part.seconds for part in parts)
        print(
            f"{cores} cores: {found.seconds:.0f} s, and {total / cores:.0f} s if every "
            f"core were busy to the end; {len(parts)} parts. The last process to end does:"
        )
        for part in found.chain:
            print(f"  {part.seconds:6.0f} s  {part.name}")


if __name__ == "__main__":
    main()
