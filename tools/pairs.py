"""The main workloads of this tree beside those of another revision, in interleaved pairs.

python -m tools.pairs TREE [STUDY …] [--pairs 9]     TREE: a checkout of the other revision

Each workload stays in one process per tree, which builds and compiles once and then works when it
is its turn. The order within a pair alternates, so that a machine that slows down slows both.
Studies are run whole from the command line, start-up and compilation included.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

ROOT = Path(__file__).parents[1]
HEADS = {"n": 1000, "m": 64, "tokens": 16, "steps": 20, "devices_tried": (1,)}
WORKLOADS = {
    "exact step, D = 36": ("ours:exact", {"tokens": 36, "steps": 20_000}),
    "exact step, D = 128": ("ours:exact", {"tokens": 128, "steps": 2_000}),
    "16 seeds together": ("ours:together", {"tokens": 36, "steps": 2_000, "seeds": 16}),
    "online step": ("ours:online", {"tokens": 36, "steps": 300}),
    "collapsed, 10^6 tokens": (
        "ours:collapsed",
        {"tokens": 10**6, "support": 1000, "steps": 20_000},
    ),
    "heads step, m = 64": ("ours:heads_step", HEADS),
    "tangent kernel": ("ours:gram", {"n": 300, "m": 256}),
}


class Rival:
    """One workload in one tree, warm and waiting for its turn."""

    def __init__(self, tree: Path, function: str, options: dict[str, Any]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.processes", function, json.dumps(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(tree),
            cwd=tree,
        )
        self._read()

    def _read(self) -> dict[str, list[float]]:
        assert self._process.stdout is not None
        answer: dict[str, list[float]] = json.loads(self._process.stdout.readline())
        if "failed" in answer:
            raise SystemExit(str(answer["failed"]))
        return answer

    def measure(self) -> float:
        """Wall seconds per unit of work."""
        assert self._process.stdin is not None
        self._process.stdin.write("cost\n")
        self._process.stdin.flush()
        return self._read()["cost"][0]

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class Study:
    """One study from the command line, always into a fresh folder and without kept programs."""

    def __init__(self, tree: Path, name: str) -> None:
        self.tree, self.name = tree, name

    def measure(self) -> float:
        with tempfile.TemporaryDirectory() as out:
            began = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "tutelage", "run", self.name, "--out", out],
                env={**environment(self.tree), "TUTELAGE_PROGRAMS": "off"},
                cwd=out,
                check=True,
                capture_output=True,
            )
            return time.perf_counter() - began

    def close(self) -> None:
        """Nothing stays open."""


def environment(tree: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(tree / "src"), str(tree)])}


def measure_pairs(old: Rival | Study, new: Rival | Study, pairs: int) -> list[tuple[float, float]]:
    measured = []
    for turn in range(pairs):
        if turn % 2:
            after = new.measure()
            measured.append((old.measure(), after))
        else:
            measured.append((old.measure(), new.measure()))
    return measured


def describe(name: str, measured: list[tuple[float, float]]) -> str:
    """Geometric mean of new ÷ old with Student's 95% interval over the pairs."""
    ratios = np.log([after / before for before, after in measured])
    half = stats.t.ppf(0.975, len(ratios) - 1) * ratios.std(ddof=1) / np.sqrt(len(ratios))
    mean, low, high = np.exp([ratios.mean(), ratios.mean() - half, ratios.mean() + half])
    before, after = np.median(measured, axis=0)
    return f"{name:28} {before:10.3g} s {after:10.3g} s   {mean:.3f}  [{low:.3f}, {high:.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("studies", nargs="*", metavar="STUDY")
    parser.add_argument("--pairs", type=int, default=9)
    given = parser.parse_args()
    print(f"{'workload':28} {'old':>12} {'new':>12}   new/old, 95% interval")
    for name, (function, options) in WORKLOADS.items():
        rivals = [Rival(tree, function, options) for tree in (given.tree, ROOT)]
        print(describe(name, measure_pairs(*rivals, given.pairs)), flush=True)
        for rival in rivals:
            rival.close()
    for study in given.studies:
        trees = [Study(tree, study) for tree in (given.tree, ROOT)]
        print(describe(study, measure_pairs(*trees, given.pairs)), flush=True)


if __name__ == "__main__":
    main()
