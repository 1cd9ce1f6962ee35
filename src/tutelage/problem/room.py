"""Whether a setting fits: its memory and work, estimated before anything is built."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

import numpy as np

from tutelage.problem.registry import parse_options, registered
from tutelage.problem.sizes import USUAL, Options, Sizes, count
from tutelage.refuse import Refused, show
from tutelage.settings import KINDS, NO_TEACHER, Part, Setting

BYTES_PER_NUMBER = 8
# About a week on one core until the first step is done: no one means that.
MOST_WORK_HERE = 1e15
MOST_SHOWN = 10**30  # a larger count is told by its length
NAMED_COUNTS = 3  # options that a refusal names
CONTROL_GROUP = Path("/sys/fs/cgroup/memory.max")
IN_CONTROL_GROUP = Path("/sys/fs/cgroup/memory.current")  # bytes that the group holds now
SYSTEM = Path("/proc/meminfo")


@dataclass(frozen=True)
class Room:
    """How much one setting may ask for, and how a refusal says so."""

    bytes: float
    work: float  # multiplications until the first step is done
    who: str = "This machine"
    reason: str = ""


ANY = Room(math.inf, math.inf)


_any_size = False  # whether this process tries settings of any size


def allow_any_size(allowed: bool = True) -> None:
    """Let this process try settings that are estimated not to fit into memory."""
    global _any_size
    _any_size = allowed


def is_any_size_allowed() -> bool:
    return _any_size


def machine_room() -> Room:
    """What this machine has: its memory, that of its control group, or what `ulimit -v` says."""
    return ANY if _any_size else _measure_machine()


@cache
def _measure_machine() -> Room:
    reason = (
        "the system kills processes that do not fit; `--any-size`, or "
        "tutelage.allow_any_size(), tries anyway"
    )
    return Room(_physical_bytes(), MOST_WORK_HERE, reason=reason)


def estimate_sizes(setting: Setting, kinds: Sequence[str] = KINDS) -> Sizes:
    """The sizes of a setting with its parts of these kinds, which begin with the teacher."""
    sizes = Sizes(steps=count({"steps": setting.steps}, "steps"))
    for kind in kinds:
        part = setting.part(kind)
        if part == NO_TEACHER:
            continue
        options = _fill_in(kind, part)
        estimate = registered(kind, part.name).estimate or USUAL[kind]
        given = sum(value.size for value in options.values() if isinstance(value, np.ndarray))
        try:
            sizes = estimate(options, sizes).hold(2.0 * given)
        except OverflowError:  # a power of a size, or an integer, that no float holds
            sizes = sizes.hold(math.inf)
    return sizes


def check_room(setting: Setting, room: Room, kinds: Sequence[str] = KINDS) -> None:
    """Refuses a setting whose parts of these kinds take more memory or work than there is room."""
    sizes = estimate_sizes(setting, kinds)
    needed = BYTES_PER_NUMBER * sizes.held
    if needed > room.bytes:
        rule = f"settings of up to {describe_bytes(room.bytes)} of memory"
        got = f"an estimate of {describe_bytes(needed)}"
    elif sizes.work > room.work:
        rule = f"settings of up to {room.work:.0e} multiplications until the first step is done"
        got = f"an estimate of {sizes.work:.0e}"
    else:
        return
    largest = ", ".join(
        f"{path}={_shorten(value)}" for path, value in _largest_counts(setting, kinds)
    )
    made_by = f" from {largest}" if largest else ""
    raise Refused(f"{room.who} takes {rule}, since {room.reason}. Got {got}{made_by}.")


def _shorten(count: int) -> str:
    return f"{count:,}" if count < MOST_SHOWN else show(count)


def describe_bytes(size: float) -> str:
    """In the unit that leaves few digits."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} TB" if size < 1000 else f"{size:.1e} TB"


def _fill_in(kind: str, part: Part) -> Options:
    declared = registered(kind, part.name).options
    defaults = {name: o.default for name, o in declared.items() if not o.required}
    return cast(Options, {**defaults, **parse_options(kind, part)})


def _largest_counts(setting: Setting, kinds: Sequence[str]) -> list[tuple[str, int]]:
    """The largest whole numbers among the options, which make a setting large."""
    counts = [
        (f"{kind}.{name}", value)
        for kind in kinds
        if setting.part(kind) != NO_TEACHER
        for name, value in _fill_in(kind, setting.part(kind)).items()
        if isinstance(value, int) and not isinstance(value, bool)
    ]
    return sorted(counts, key=lambda pair: -pair[1])[:NAMED_COUNTS]


def _physical_bytes() -> float:
    try:
        whole = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):  # a system that does not say
        return math.inf
    whole = min(whole, _limit_of_process())
    try:
        return min(whole, float(CONTROL_GROUP.read_text()))
    except (OSError, ValueError):  # no group, or one without a limit: "max"
        return whole


def _limit_of_process() -> float:
    """Bytes that this process may address, where a cluster or a shell has set a limit."""
    try:
        import resource
    except ImportError:  # a system without such limits
        return math.inf
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return math.inf if limit == resource.RLIM_INFINITY else float(limit)


def free_bytes() -> float:
    """Memory that a new process can have now without another losing any; the whole memory where the
    system does not say.
    """
    try:
        said = dict(line.split(":", 1) for line in SYSTEM.read_text().splitlines())
        free = 1024.0 * int(said["MemAvailable"].split()[0])
    except (OSError, ValueError, KeyError):
        return _physical_bytes()
    try:
        limit, held = float(CONTROL_GROUP.read_text()), float(IN_CONTROL_GROUP.read_text())
    except (OSError, ValueError):  # no group, or one without a limit: "max"
        return free
    return min(free, max(0.0, limit - held))


def resident_bytes(process: int) -> float:
    """Memory that a process holds now; 0 where the system does not say."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return float(pages * os.sysconf("SC_PAGE_SIZE"))
