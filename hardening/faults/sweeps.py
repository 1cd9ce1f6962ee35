"""A small sweep in a process of its own, and what is true of its store whatever happened to it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tutelage.running.store import Store
from tutelage.running.store.about import ABOUT

TEXT = """seeds = 4
[setting]
rate = 0.1
steps = 2000
measures = ["excess_risk"]
teacher = { name = "convolution", tokens = 4, support = 2, outputs = 1, dim = 2 }
[axes]
rate = [0.05, 0.1, 0.2]
tokens = [4, 6]
"""
SETTINGS = 24
WHOLE = ("FINISHED", "CONVERGED")
PATIENCE = 600.0  # seconds for one sweep on a machine that does other things
Limits = Callable[[], None]


@dataclass
class Place:
    """A folder with a sweep's file and its store, and what was finished there before."""

    folder: Path
    finished: dict[str, bytes] = field(default_factory=dict)  # `run.json` of each finished run

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def start(self, *more: str, before: Limits | None = None) -> subprocess.Popen[str]:
        """Starts the sweep."""
        file = self.folder / "small.toml"
        file.write_text(TEXT)
        command = [sys.executable, "-m", "tutelage", "sweep", str(file), "--out", str(self.out)]
        return subprocess.Popen(
            [*command, *more],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=before,
            start_new_session=True,
        )

    def finish(self, *more: str) -> tuple[int, str]:
        """Runs the sweep to its end: its code, and what it said."""
        process = self.start(*more)
        out, errors = process.communicate(timeout=PATIENCE)
        return process.returncode, out + errors

    def look(self) -> list[str]:
        """What is wrong in the store: a finished run that is gone or changed, or one that is
        damaged and not known to be.
        """
        troubles, store = [], Store(self.out / "runs")
        now: dict[str, bytes] = {}
        for entry in store.entries() if (self.out / "runs").is_dir() else ():
            if entry.trouble:
                troubles.append(f"{entry.name}: {entry.trouble}")
            elif trouble := store.verify(entry.name):
                troubles.append(f"{entry.name}: {trouble}, and it is listed as whole")
            elif entry.outcome in WHOLE:
                now[entry.name] = (self.out / "runs" / entry.name / ABOUT).read_bytes()
        for name, about in self.finished.items():
            if now.get(name) != about:
                troubles.append(
                    f"{name}: it was finished, and is {'changed' if name in now else 'gone'}"
                )
        self.finished = now
        return troubles

    def curves(self) -> dict[str, np.ndarray]:
        """The excess risk of every finished run."""
        store = Store(self.out / "runs")
        return {
            entry.name: store.curves(entry)[1]["excess_risk"]
            for entry in store.entries()
            if entry.outcome in WHOLE
        }


def compare(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> list[str]:
    """Runs of two stores that are not the same run, to rounding: a run that goes on after a stop
    takes its steps in other blocks.
    """
    if set(one) != set(other):
        return [f"{len(one)} runs here and {len(other)} there"]
    return [
        name
        for name, curve in one.items()
        if curve.shape != other[name].shape
        or not np.allclose(curve, other[name], rtol=1e-12, atol=0)
    ]
