"""How many cores there are, without JAX."""

from __future__ import annotations

import os


def cores() -> int:
    """As in engines/threads.py, which imports JAX."""
    if given := os.environ.get("SLURM_CPUS_PER_TASK", ""):
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
