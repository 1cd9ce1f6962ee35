"""Every row is measured in a process of its own, which does its work once a round, when it is asked
to.

So libraries do not disturb one another, peak memory is that of one row, and rounds visit all rows
of a workload in turn, which lets a busy moment fall on all of them. A row is a function of this
package: it builds what it needs and gives `Work`. What is no row but a set of numbers (limits,
checks, growth) is a function that gives a dict, and is asked for by `told`.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
OURS = ("ours", "checks", "limits")  # modules that import both JAX and tutelage
REST = 0.05  # seconds between two rows: threads of the one before may still spin


@dataclass(frozen=True)
class Work:
    """`run` does some units of work and says how many; `note` says how; `facts` are other things
    seen on the way.
    """

    run: Callable[[], int]
    note: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """What was measured of one row: wall and cpu seconds a unit, one pair a round; megabytes at the
    peak, and before it built anything.
    """

    rounds: list[tuple[float, float]]
    peak_mb: float
    imported_mb: float
    note: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


class Failed(Exception):
    """A process ended without an answer; the sentence says why."""


def once(work: Callable[[], int]) -> tuple[float, float]:
    """Seconds a unit: wall, and processor time of the whole process."""
    wall, cpu = time.perf_counter(), time.process_time()
    units = work()
    return (time.perf_counter() - wall) / units, (time.process_time() - cpu) / units


def fastest(variants: Mapping[str, Callable[[], int]]) -> Work:
    """The variant that takes the least wall time in two tries after a first; its name is the
    note.
    """
    least: dict[str, float] = {}
    for name, run in variants.items():
        run()
        least[name] = min(once(run)[0] for _ in range(2)) if len(variants) > 1 else 0.0
    best = min(least, key=least.__getitem__)
    return Work(variants[best], best)


def peak_mb() -> float:
    """Largest resident memory of this process. In `ru_maxrss` Linux also counts the parent's,
    before exec, so VmHWM is preferred.
    """
    status = Path("/proc/self/status")
    if status.exists() and "VmHWM:" in (text := status.read_text()):
        return int(text.partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1024 if sys.platform != "darwin" else 2**20
    )


class Process:
    """The parent's side: a process that has built one row, or is told to give a dict."""

    def __init__(self, function: str, options: Mapping[str, Any], *, devices: int = 1) -> None:
        environment = dict(os.environ)
        if devices > 1:  # read when JAX is first imported
            environment["XLA_FLAGS"] = (
                f"{environment.get('XLA_FLAGS', '')} "
                f"--xla_force_host_platform_device_count={devices}"
            )
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.processes", function, json.dumps(dict(options))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=ROOT,
        )

    def answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        answer: dict[str, Any] = (
            json.loads(line) if line else {"failed": f"ended with code {self._process.wait()}"}
        )
        if "failed" in answer:
            self.end()
            raise Failed(answer["failed"])
        return answer

    def ask(self, what: str) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{what}\n")
        self._process.stdin.flush()
        return self.answer()[what]

    def end(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def told(function: str, *, devices: int = 1, **options: Any) -> dict[str, Any]:
    """What a function of this package gives, run in a process of its own."""
    process = Process(function, options, devices=devices)
    told = process.answer()
    process.end()
    return told


def in_turn(
    rows: Mapping[str, tuple[str, dict[str, Any]]], rounds: int, say: Callable[[str], None]
) -> dict[str, Row]:
    """Each row as often as there are rounds, one row after the other in each; a row that fails is
    left out, and said.
    """
    processes: dict[str, Process] = {}
    built: dict[str, dict[str, Any]] = {}
    for name, (function, options) in rows.items():
        options = dict(options)
        process = Process(function, options, devices=options.pop("devices", 1))
        try:
            built[name], processes[name] = process.answer(), process
        except Failed as reason:
            say(f"{name}: left out ({reason})")
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in processes}
    for _ in range(rounds):
        for name, process in processes.items():
            time.sleep(REST)
            costs[name].append(tuple(process.ask("cost")))
    found = {}
    for name, process in processes.items():
        about, peak = built[name], process.ask("peak")
        process.end()
        facts = about["facts"]
        found[name] = Row(
            costs[name], facts.pop("peak_mb", peak), about["imported_mb"], about["note"], facts
        )
    return found


def _serve(function: str, options: dict[str, Any]) -> None:
    """The child's side: answers are lines on what was standard output; what libraries print goes to
    standard error.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(answer: Mapping[str, Any]) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    try:
        module, _, name = function.partition(":")
        if module in OURS:  # before it imports JAX, which tutelage sets to double precision
            importlib.import_module("tutelage")
        make = getattr(importlib.import_module(f"benchmarks.{module}"), name)
        imported = peak_mb()
        made = make(**options)
        if not isinstance(made, Work):
            say(made)
            return
        made.run()  # compiles, and warms caches
    except Exception as error:  # torch.compile needs a C++ compiler, and fails in many ways
        say(
            {
                "failed": f"{type(error).__name__}: "
                f"{str(error).splitlines()[0] if str(error) else ''}"
            }
        )
        return
    say({"imported_mb": imported, "note": made.note, "facts": dict(made.facts)})
    for line in sys.stdin:
        say({"cost": once(made.run)} if line.strip() == "cost" else {"peak": peak_mb()})


if __name__ == "__main__":
    # Under its own name, so that rows, which import it by that, give the same `Work`.
    importlib.import_module("benchmarks.processes")._serve(sys.argv[1], json.loads(sys.argv[2]))
