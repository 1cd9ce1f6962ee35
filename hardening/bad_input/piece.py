"""Some cases of one target, in this process: `python -m hardening.bad_input.piece TARGET SEED FIRST
LAST`. Prints the number of a case when it begins, and a line of JSON for what it found.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import resource
import signal
import sys
import traceback
from dataclasses import asdict, dataclass
from random import Random
from types import FrameType

import psutil

from hardening.bad_input.amortise import amortise
from hardening.bad_input.target import Partial, Target
from hardening.bad_input.targets import TARGETS
from hardening.bad_input.yard import Yard
from tutelage.refuse import Refused

MEMORY = 8 * 2**30  # bytes of address space; JAX reserves some
GATHERED = 3 * 2**30  # bytes after which a process ends between two cases, and another goes on
LARGEST_FILE = 2**30  # bytes, since the yard may lie in memory
LONGEST = 1500  # characters of what is told of a defect


@dataclass(frozen=True)
class Outcome:
    """How one case ended."""

    case: int
    kind: str  # refused, taken, traceback, hang, outside, partial
    said: str = ""  # of a defect


class Hung(BaseException):
    """A case took longer than any may."""


def run_case(target: Target, seed: int, number: int) -> Outcome:
    """One attack, watched. The same seed and number give the same input."""
    draw = Random(f"{seed} {target.name} {number}")
    target.yard.clear()
    before = signal.signal(signal.SIGPROF, _hang)
    signal.setitimer(signal.ITIMER_PROF, target.seconds)
    kind, said = "refused", ""
    try:
        kind = "taken" if target.attack(draw) else "refused"
    except Refused:
        pass
    except Partial as partial:
        kind, said = "partial", str(partial)
    except Hung:
        kind, said = "hang", traceback.format_exc()
    except BaseException:
        kind, said = "traceback", traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    if outside := target.yard.written_outside():
        kind, said = "outside", f"{outside[:5]} {said}"
    return Outcome(number, kind, said[-LONGEST:])


def _hang(number: int, frame: FrameType | None) -> None:
    raise Hung


def main(name: str, seed: int, first: int, last: int) -> None:
    faulthandler.enable()  # what kills the process is told on its standard error
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    sys.dont_write_bytecode = True
    lines = os.fdopen(os.dup(1), "w", buffering=1)  # whatever a case does to standard output
    yard = Yard()
    for variable in ("HOME", "XDG_CACHE_HOME", "MPLCONFIGDIR", "TMPDIR"):
        os.environ[variable] = str(yard.kept)
    os.environ["TUTELAGE_PROGRAMS"] = "off"
    os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"  # what is compiled here runs once
    try:
        amortise()
        target = TARGETS[name](yard)
        target.warm()
        gc.freeze()
        for number in range(first, last):
            lines.write(f"{number}\n")
            lines.write(json.dumps(asdict(run_case(target, seed, number))) + "\n")
            # Held now: the most that was ever held is inherited from the process that started this.
            if psutil.Process().memory_info().rss > GATHERED:
                break
    finally:
        yard.remove()
    lines.flush()
    # A thread that still compiles for a request that was given up cannot be stopped, and an
    # interpreter that is taken down under it aborts.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
