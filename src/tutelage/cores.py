"""How many cores there are to work on; asked before JAX is there."""

from __future__ import annotations

import os


def cores() -> int:
    """How many cores this process may use: what SLURM gave the task, or what the system lets it run
    on.
    """
    if given := os.environ.get("SLURM_CPUS_PER_TASK", ""):
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
