"""How large a core's own cache is: what blocks of samples are cut to fit in."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

SYSTEM = Path("/sys/devices/system/cpu/cpu0/cache")  # one folder per cache of the first core
ASKED = "SC_LEVEL2_CACHE_SIZE"  # of `os.sysconf`, where the system knows it
USUAL = 2**19  # bytes, where nothing says: the smallest that is common
LEAST, MOST = 2**18, 2**22  # bytes: beyond these a virtual machine tells what is not so
UNITS = {"K": 2**10, "M": 2**20}


@cache
def second_cache_bytes() -> int:
    """The second-level cache of a core: what Linux says, then what the system's library says."""
    found = _read_system() or _ask_library() or USUAL
    return min(MOST, max(LEAST, found))


def _read_system() -> int:
    """Bytes of the second-level cache by sysfs; 0 where it does not say."""
    for folder in sorted(SYSTEM.glob("index*")):
        try:
            level, size = ((folder / name).read_text().strip() for name in ("level", "size"))
            if level == "2":
                unit = UNITS.get(size[-1:], 1)
                return int(size.rstrip("KM")) * unit
        except (OSError, ValueError):
            continue
    return 0


def _ask_library() -> int:
    """Bytes of the second-level cache by `sysconf`; 0 where it does not know."""
    try:
        return max(0, os.sysconf(ASKED))
    except (AttributeError, OSError, ValueError):
        return 0
