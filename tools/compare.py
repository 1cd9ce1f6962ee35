"""Compares the results of this tree with those of another revision, claim by claim and run by run.

python -m tools.compare keep REVISION     all studies at quick size, as that revision gives them
python -m tools.compare [STUDY …]         all studies (or some) in this tree, against what was kept

The same from make: `make compare-keep BASE=REVISION`, `make compare`, and
`make compare STUDIES="paper/study …"`.

What was kept is machine-bound (rounding differs between processors), so that it is not committed.
A paper lists in `results/unsteady.txt` the beginnings of verdict ids whose numbers are read off the
process, such as its memory. They are never twice the same, and near a threshold nor is the status:
such a verdict only has to be there.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
KEPT = Path(os.environ.get("TUTELAGE_KEPT", ROOT / "out" / "compare" / "kept"))
NOW = Path(os.environ.get("TUTELAGE_NOW", ROOT / "out" / "compare" / "now"))
TOLERANCE = 1e-9  # relative; numbers below NEGLIGIBLE are rounding themselves
NEGLIGIBLE = 1e-9
UNSTEADY = "unsteady.txt"


def keep(revision: str) -> None:
    """Runs all studies in a checkout of another revision, with this environment's packages."""
    tree = KEPT.parent / f"tree-{revision}"
    if not tree.exists():
        subprocess.run(["git", "worktree", "add", "--detach", str(tree), revision], check=True)
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    listed = subprocess.run(
        [sys.executable, "-m", "tutelage", "list"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = [line.split()[0] for line in listed.splitlines() if "/" in line.split()[0]]
    command = [sys.executable, "-m", "tutelage", "run", *names, "--out", str(KEPT)]
    subprocess.run(command, env=environment, check=True)


def run_now(names: list[str]) -> None:
    command = [sys.executable, "-m", "tutelage", "run", *names, "--out", str(NOW)]
    subprocess.run(command, check=True)


def read_by_id(path: Path) -> dict[str, dict[str, Any]]:
    """The verdicts of a file, of today's form or an older one."""
    given = json.loads(path.read_text(encoding="utf-8"))
    given = given["verdicts"] if isinstance(given, dict) else given
    return {verdict["id"]: verdict for verdict in given}


def compare_study(study: str) -> list[str]:
    """Every difference in ids, statuses and numbers, a line each."""
    old, new = (read_by_id(folder / study / "verdicts.json") for folder in (KEPT, NOW))
    unsteady = read_unsteady(study)
    found = [f"{name}: gone" for name in old if name not in new]
    found += [f"{name}: new" for name in new if name not in old]
    for name in old.keys() & new.keys():
        a, b = old[name], new[name]
        if bool(a["control"]) != bool(b["control"]):
            found.append(f"{name}: control {a['control']!r} is now {b['control']!r}")
        if name.startswith(unsteady):
            continue
        if a["status"] != b["status"]:
            found.append(f"{name}: {a['status']} is now {b['status']}")
        for key in ("predicted", "measured", "interval", "horizon", "spread", "tolerance"):
            if not same(a[key], b[key]):
                found.append(f"{name}: {key} {a[key]} is now {b[key]}")
    return sorted(found)


def read_unsteady(study: str) -> tuple[str, ...]:
    """Beginnings of the ids of a paper's verdicts that differ from run to run."""
    path = find_results(study) / UNSTEADY
    return tuple(path.read_text().split()) if path.exists() else ()


def find_results(study: str) -> Path:
    """The folder of a paper's committed results."""
    from tutelage.studies.discovery import find_paper

    return find_paper(study).folder / "results"


def same(a: object, b: object) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, int | float) and isinstance(b, int | float):
        both_nan = math.isnan(a) and math.isnan(b)
        return both_nan or a == b or math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=NEGLIGIBLE)
    return a == b


def compare_runs() -> list[str]:
    """Runs that both stores hold, curve by curve: the same random streams give the same numbers."""
    from tutelage.running.store import Store

    old, new = Store(KEPT / "runs"), Store(NOW / "runs")
    theirs = {entry.name: entry for entry in old.entries() if not entry.trouble}
    found, shared = [], 0
    for entry in new.entries():
        if entry.name not in theirs or entry.trouble or entry.outcome == "FAILED":
            continue
        shared += 1
        (steps, curves), (before, was) = new.curves(entry), old.curves(theirs[entry.name])
        if not np.array_equal(steps, before):
            found.append(f"run {entry.name}: measured at other steps")
            continue
        for name in curves.keys() & was.keys():
            scale = np.nanmax(np.abs(was[name])) if was[name].size else 0.0
            close = np.isclose(
                curves[name], was[name], rtol=TOLERANCE, atol=1e-12 * scale, equal_nan=True
            )
            if not close.all():
                found.append(f"run {entry.name}: {name} differs")
    print(f"{shared:,} runs are in both stores")
    return found


def compare_committed(study: str) -> list[str]:
    """Statuses against the committed results, which another machine may have made."""
    path = find_results(study) / f"{study.partition('/')[2]}.json"
    if not path.exists():
        return [f"{study}: no committed results"]
    committed, new = read_by_id(path), read_by_id(NOW / study / "verdicts.json")
    unsteady = read_unsteady(study)
    return [
        f"{name}: committed as {was['status']}, now {new[name]['status']}"
        for name, was in committed.items()
        if name in new and was["status"] != new[name]["status"] and not name.startswith(unsteady)
    ]


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["keep"]:
        keep(arguments[1])
        return 0
    every = sorted(str(path.parent.relative_to(KEPT)) for path in KEPT.glob("*/*/study.json"))
    if not every:
        print(f"Nothing is kept under {KEPT}: `make compare-keep BASE=<revision>` first.")
        return 2
    names = arguments or every
    if unknown := [name for name in names if name not in every]:
        print(f"Only studies that were kept can be compared. Got {', '.join(unknown)}.")
        return 2
    run_now(names)
    found = [line for name in names for line in compare_study(name)] + compare_runs()
    for line in found:
        print(line)
    beside = [line for name in names for line in compare_committed(name)]
    for line in beside:
        print(f"beside the committed results, {line}")
    print(
        f"{len(names)} studies: {len(found)} differences, {len(beside)} from the committed statuses"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
