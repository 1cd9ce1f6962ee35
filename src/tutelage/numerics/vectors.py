"""How wide the vectors of this machine are: XLA uses half of 512 bits unless it is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SYSTEM = Path("/proc/cpuinfo")


def wide_vectors() -> dict[str, Any]:
    """The option for vectors of 512 bits, on a processor that has them (as Linux says); else none.

    Steps of heads take a tenth to a quarter less time with them. Those of the exact risk take a
    tenth more, since half of their vectors would be filled up.
    """
    try:
        has = "avx512f" in SYSTEM.read_text(errors="replace").split()
    except OSError:
        has = False
    return {"xla_cpu_prefer_vector_width": 512} if has else {}
