"""The longest chain of `make reproduce`: how long it takes on so many cores, and what it waits for.

    python -m tools.critical_path [--cores 2 8]

Nothing is run. Times are what the presets of the studies expect, on two cores; a study in parts is
taken to split as its steps do. Parts go to processes as `tutelage run --reproduce` sends them, the
longest first. With enough cores the longest part alone decides.
"""

from __future__ import annotations

import argparse
import heapq
from collections.abc import Sequence
from typing import NamedTuple

CORES_OF_A_PRESET = 2  # that its expected seconds are for


class Part(NamedTuple):
    """Some cases of a study, and the seconds of one core that they take."""

    name: str
    seconds: float


class Schedule(NamedTuple):
    """When everything is done, and the parts that the last process to end had done."""

    seconds: float
    chain: tuple[Part, ...]


def plan_parts(cores: int) -> list[Part]:
    """What `make reproduce` runs, cut for so many processes."""
    from tutelage.studies.discovery import reproduced_names
    from tutelage.studies.planning import make_plan, plan_studies
    from tutelage.studies.side_by_side import cut_studies
    from tutelage.studies.standing import sum_effort

    planned, _ = plan_studies((), make_plan(), also=reproduced_names())
    parts = []
    for study in cut_studies(planned, cores):
        whole = sum_effort(study.planned.cases)
        for number, cases in enumerate(study.parts, 1):
            many = f", part {number} of {len(study.parts)}" if len(study.parts) > 1 else ""
            seconds = CORES_OF_A_PRESET * study.seconds * sum_effort(cases) / whole
            parts.append(Part(study.name + many, seconds))
    return parts


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
    for cores in parser.parse_args().cores:
        parts = plan_parts(cores)
        found = schedule_parts(parts, cores)
        total = sum(part.seconds for part in parts)
        print(
            f"{cores} cores: {found.seconds:.0f} s expected, and {total / cores:.0f} s if every "
            f"core were busy to the end; {len(parts)} parts. The last process to end does:"
        )
        for part in found.chain:
            print(f"  {part.seconds:6.0f} s  {part.name}")


if __name__ == "__main__":
    main()
