"""One run, one table: our times, what a user would write instead, what the machine can do, memory,
growth, and where the time goes.

    python -m benchmarks [--quick] [--out out/bench]

writes bench.json and bench.png there. The full bench takes about twenty minutes on two idle
cores, the quick one a minute and a half.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import growth, startup, table
from benchmarks.plan import FULL, HORIZON, QUICK, Size, groups
from benchmarks.problems import CORES
from benchmarks.processes import Failed, Row, in_turn, told
from benchmarks.workloads import Promise, Workload, median, quickest, ratio, workloads

ADD = (
    'PyTorch is not installed: "pip install torch==2.13.0" gives a CPU build and adds its columns.'
)


def _row(row: Row) -> dict[str, Any]:
    return asdict(row) | {"wall": median(row), "cpu": median(row, 1)}


def _promise(promise: Promise, rows: Mapping[str, Row]) -> dict[str, Any] | None:
    value = promise.of(rows)
    if value is None:
        return None
    met = value <= promise.bound if promise.most else value >= promise.bound
    return {
        "said": promise.said,
        "value": value,
        "bound": promise.bound,
        "most": promise.most,
        "met": bool(met),
    }


def _line(
    workload: Workload, rows: Mapping[str, Row], rates: Mapping[str, float]
) -> dict[str, Any]:
    ours = rows[workload.ours]
    rivals = (
        {name: row for name, row in rows.items() if name.startswith(workload.rivals)}
        if workload.rivals
        else {}
    )
    limit = None if workload.limit is None else workload.limit(rates)
    promises = [
        seen for promise in workload.promises if (seen := _promise(promise, rows)) is not None
    ]
    if workload.percent is not None and limit is not None:
        percent = 100 * limit.seconds / median(ours)
        promises.append(_least("limit over ours, %", percent, workload.percent))
    return {
        "name": workload.name,
        "unit": workload.unit,
        "ours": _row(ours),
        "rivals": {
            name: _row(row) | {"ratio": ratio(row, ours), "cpu_ratio": ratio(row, ours, 1)}
            for name, row in rivals.items()
        },
        "limit": None if limit is None else limit._asdict(),
        "promises": promises,
    }


def _alone(name: str, rounds: list[float], **more: Any) -> dict[str, Any]:
    """A line of seconds that were measured by themselves."""
    row = Row([(seconds, seconds) for seconds in rounds], more.pop("peak_mb", 0.0), 0.0)
    return {
        "name": name,
        "unit": "s",
        "ours": _row(row),
        "rivals": {},
        "limit": None,
        "promises": [],
    } | more


def _bound(said: str, value: float, bound: float) -> dict[str, Any]:
    return {"said": said, "value": value, "bound": bound, "most": True, "met": bool(value <= bound)}


def _least(said: str, value: float, bound: float) -> dict[str, Any]:
    met = bool(value >= bound)
    return {"said": said, "value": value, "bound": bound, "most": False, "met": met}


def start_lines(size: Size, torch: bool) -> Iterator[dict[str, Any]]:
    """Help, a first curve, and what compiles again."""
    seen = startup.cold(1 if size.quick else 3, torch)
    rows = {name: Row([(s, s) for s in seconds], 0.0, 0.0) for name, seconds in seen.items()}
    least = {"seconds": median(rows["Python alone"]), "by": "Python itself"}
    yield _alone(
        "tutelage --help",
        seen["help"],
        limit=least,
        promises=[_bound("s", median(rows["help"]), 0.2)],
    )
    yield _alone(
        "import tutelage, after JAX",
        [
            both - alone
            for both, alone in zip(seen["importing both"], seen["importing JAX"], strict=True)
        ],
        promises=[_bound("s", median(rows["importing both"]) - median(rows["importing JAX"]), 0.2)],
    )
    compiled = told("startup:compilations")
    again = [
        _bound(f"programs compiled for {what}", count, 0)
        for what, count in compiled.items()
        if what != "first run"
    ]
    rivals = {name: rows[f"first curve, {name}"] for name in ("JAX", "PyTorch")[: 1 + torch]}
    yield _alone(
        "first curve, cold process",
        seen["first curve"],
        rivals={
            name: _row(row) | {"ratio": ratio(row, rows["first curve"])}
            for name, row in rivals.items()
        },
        limit={"seconds": median(rows["importing JAX"]), "by": "importing JAX and one array"},
        promises=[_bound("s", median(rows["first curve"]), 3.0), *again],
    )
    yield _alone(
        "first curve of a shape seen before, cold process",
        seen["first curve, seen before"],
        limit={"seconds": median(rows["importing JAX"]), "by": "importing JAX and one array"},
        promises=[_bound("s", median(rows["first curve, seen before"]), 1.5)],
    )


def sweep_line(size: Size) -> dict[str, Any]:
    seen = told("sweep:sweep", settings=256 if size.quick else 5_000)
    return _alone(
        f"sweep of {seen['settings']:,}, overhead a setting",
        [seen["overhead_s"]],
        unit="ms",
        peak_mb=seen["peak_mb"],
        limit={"seconds": seen["written_s"], "by": "writing the same files by hand"},
        promises=[
            _bound("ms a setting", 1e3 * seen["overhead_s"], 2.0),
            _bound(
                f"s to list 10,000 runs, by {seen['settings']:,}",
                seen["listing_s"] * 10_000 / seen["settings"],
                2.0,
            ),
        ],
        facts=seen,
    )


def horizon_line(rows: Mapping[str, Row]) -> dict[str, Any]:
    """The paper's CNN run to 10¹² steps, collapsed; beside it as many steps of a script, at the
    pace just measured.
    """
    seen = told("ours:horizon", steps=HORIZON)
    rivals = {}
    for library in ("PyTorch single", "JAX single"):
        if (name := quickest(rows, library)) is not None:
            seconds = HORIZON * median(rows[name])
            rivals[name] = {
                "wall": seconds,
                "cpu": seconds,
                "ratio": seconds / seen["wall"],
                "peak_mb": 0.0,
                "note": "extrapolated",
            }
    return _alone(
        "horizon 10¹², collapsed",
        [seen["wall"]],
        peak_mb=seen["peak_mb"],
        rivals=rivals,
        promises=[
            _bound("excess·ηT over its constant, distance from 1", abs(seen["ratio"] - 1), 1e-5),
            _bound("its reported error", seen["solver"] + seen["stepping"], 1e-5),
        ],
        facts=seen,
    )


def grown(torch: bool) -> dict[str, Any]:
    """Curves of cost over size, for us and for each rival."""
    found = {
        "tutelage": told("growth:exact") | told("growth:heads", devices=CORES, module="ours"),
    }
    for library, module in (("JAX", "scripts_jax"), ("PyTorch", "scripts_torch"))[: 1 + torch]:
        found[library] = told("growth:online", module=module) | growth.over_cores(module)
        found[library] |= told("growth:heads", module=module)
    return {
        who: {axis: curve | growth.exponents(curve) for axis, curve in curves.items()}
        for who, curves in found.items()
    }


def profiles(size: Size) -> dict[str, Any]:
    """Where the time goes: of a step, and of a cold start."""
    return {
        "exact": told("profile:exact", tries=5 if size.quick else 20),
        "heads": told("profile:heads", n=4000, m=64, tries=2 if size.quick else 5),
        "cold": told("profile:cold"),
    }


def bench(size: Size, torch: bool) -> dict[str, Any]:
    begin = time.perf_counter()
    said = [] if torch else [ADD]

    def say(sentence: str) -> None:
        print(f"[{time.perf_counter() - begin:4.0f} s] {sentence}", file=sys.stderr, flush=True)

    def try_to(measure: Callable[[], Any], what: str) -> list[Any]:
        """What was measured, in a list; none where it failed, which is said: the rest goes on."""
        say(what)
        try:
            return [measure()]
        except Failed as reason:
            said.append(f"{what}: left out ({reason})")
            say(said[-1])
            return []

    found: dict[str, Any] = {
        "preset": "quick" if size.quick else "full",
        "machine": told("limits:machine"),
    }
    say("checks")
    found["checks"] = [
        told("checks:online", batches=300 if size.quick else 1000)["said"],
        told("checks:shallow", devices=2)["said"],
    ]
    say("limits of the machine")
    found["limits"] = told("limits:limits", seconds=0.1 if size.quick else 0.3)
    measured: dict[str, dict[str, Row]] = {}
    for name, rows in groups(size, torch).items():
        say(name)
        measured[name] = in_turn(
            rows, size.rounds, lambda sentence: (said.append(sentence), say(sentence))[1]
        )
    lines = [
        _line(w, measured[w.group], found["limits"]["rates"])
        for w in workloads()
        if w.ours in measured.get(w.group, {})
    ]
    if not size.quick:
        lines += try_to(lambda: horizon_line(measured["cnn"]), "horizon")
    for more in try_to(lambda: list(start_lines(size, torch)), "start-up"):
        lines += more
    lines += try_to(lambda: sweep_line(size), "a sweep")
    found |= {"said": said, "workloads": lines, "growth": {}, "profile": {}}
    if not size.quick:
        for curves in try_to(lambda: grown(torch), "growth"):
            found["growth"] = curves
    for parts in try_to(lambda: profiles(size), "where the time goes"):
        found["profile"] = parts
    return found | {"seconds": round(time.perf_counter() - begin)}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("out/bench"),
        help="the folder for bench.json and bench.png",
    )
    parser.add_argument(
        "--quick", action="store_true", help="fewer workloads, shorter and with fewer rounds"
    )
    given = parser.parse_args()
    found = bench(QUICK if given.quick else FULL, importlib.util.find_spec("torch") is not None)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "bench.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    from benchmarks.picture import (
        draw,  # only now: matplotlib is not in the way of what was measured
    )

    draw(found, given.out)
    print(table.told(found))
    print(f"\nwritten to {given.out}: bench.json, bench.png ({found['seconds']} s)")


if __name__ == "__main__":
    main()
