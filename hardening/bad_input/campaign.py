"""All cases of all targets, in processes that are watched from outside: one that hangs beyond its
own alarm, or dies, costs one case and is started again behind it.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from hardening.bad_input.piece import Outcome
from hardening.bad_input.targets import TARGETS

PIECE = 20_000  # cases per process at most; it ends before when it has gathered too much
PATIENCE = 120.0  # seconds of processor time without a word; a target's alarm comes long before
LONGEST_SILENCE = 900.0  # seconds without a word, where other work leaves the process little time
DEFECTS = ("traceback", "hang", "outside", "partial")
LAST_WORDS = 1500  # characters of what a process said before it died


@dataclass
class Tally:
    """What became of the cases of one target."""

    target: str
    counts: Counter[str] = field(default_factory=Counter)
    defects: list[Outcome] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def cases(self) -> int:
        return sum(self.counts.values())

    def add(self, outcome: Outcome) -> None:
        self.counts[outcome.kind] += 1
        if outcome.kind in DEFECTS:
            self.defects.append(outcome)


def share_cases(cases: int) -> dict[str, int]:
    """How many cases each target has: its share, rounded up, so that no fewer than `cases` run."""
    total = sum(target.share for target in TARGETS.values())
    return {name: -(-cases * target.share // total) for name, target in TARGETS.items()}


def attack(target: str, seed: int, first: int, last: int) -> Tally:
    """The cases of one target."""
    tally, start, at = Tally(target), time.monotonic(), first
    while at < last:
        for outcome in _run_piece(target, seed, at, min(at + PIECE, last)):
            tally.add(outcome)
            at = outcome.case + 1
    tally.seconds = time.monotonic() - start
    return tally


def _run_piece(target: str, seed: int, first: int, last: int) -> Iterator[Outcome]:
    """The outcomes of one process; the case in which it died or fell silent is its last.

    An outcome is held back until the next case begins: what a case left behind may kill the process
    after it.
    """
    command = [sys.executable, "-m", "hardening.bad_input.piece", target, *map(str, (seed, first))]
    with tempfile.TemporaryFile("w+", errors="replace") as words:
        process = subprocess.Popen(
            [*command, str(last)], stdout=subprocess.PIPE, stderr=words, text=True
        )
        assert process.stdout is not None
        lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
        at, held = -1, None
        while True:
            line = _next_line(lines, process.pid)
            if line is None:
                process.kill()
                process.wait()
                _refuse_unprepared(target, at, words)
                yield Outcome(at, "hang", f"no word for {PATIENCE:g} s")
                return
            if not line:
                break
            if line.startswith("{"):
                held = Outcome(**json.loads(line))
                continue
            if held is not None:
                yield held
            at, held = int(line), None
        code = process.wait()
        _refuse_unprepared(target, at, words)
        if code != 0:
            when = "in this case" if held is None else "after this case"
            yield Outcome(at, "traceback", f"{_end_of(words)}\nended with {code} {when}")
        elif held is not None:
            yield held


def _refuse_unprepared(target: str, at: int, words: IO[str]) -> None:
    if at < 0:
        raise RuntimeError(f"the target {target!r} could not be prepared: {_end_of(words)}")


def _next_line(lines: queue.Queue[str], process: int) -> str | None:
    """What a process says next; "" at its end, and None where it hangs."""
    start, before = time.monotonic(), _processor_seconds(process)
    while time.monotonic() - start < LONGEST_SILENCE:
        try:
            return lines.get(timeout=min(PATIENCE, LONGEST_SILENCE) / 4)
        except queue.Empty:
            if _processor_seconds(process) - before >= PATIENCE:
                return None
    return None


def _processor_seconds(process: int) -> float:
    """What a process has used; the time that went by, on systems that do not say."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _end_of(words: IO[str]) -> str:
    words.seek(0)
    return words.read()[-LAST_WORDS:]


def _read(source: IO[str], lines: queue.Queue[str]) -> None:
    for line in source:
        lines.put(line)
    source.close()
    lines.put("")
