"""The table of a finished bench, from its JSON alone: as text for the terminal and as Markdown for
the docs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.counts import elementwise, exact_parts
from benchmarks.problems import DIM, D, M

UNITS = {"µs": 1e6, "ms": 1e3, "s": 1.0}
YEAR = 365.25 * 86400
HEAD = (
    "workload",
    "ours",
    "limit",
    "limit / ours",
    "PyTorch",
    "× ours",
    "JAX",
    "× ours",
    "peak MB: ours, PyTorch, JAX",
)


def number(x: float) -> str:
    """Three digits, commas from a thousand on, and two digits of a million and more: no ratio of
    times is known better.
    """
    if abs(x) >= 1e6:
        return f"{x:.1e}"
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}"


def time_of(seconds: float, unit: str) -> str:
    return (
        f"{number(seconds / YEAR)} years"
        if seconds > YEAR
        else f"{number(UNITS[unit] * seconds)} {unit}"
    )


def quickest(rows: Mapping[str, Any], start: str) -> tuple[str, Any] | None:
    named = [(name, row) for name, row in rows.items() if name.startswith(start)]
    return min(named, key=lambda pair: pair[1]["wall"], default=None)


def cells(workload: Mapping[str, Any]) -> list[str]:
    unit, ours = workload["unit"], workload["ours"]
    least = workload["limit"]
    row = [
        workload["name"],
        time_of(ours["wall"], unit),
        time_of(least["seconds"], unit) if least else "–",
        f"{least['seconds'] / ours['wall']:.0%}" if least else "–",
    ]
    memory = [f"{ours['peak_mb']:,.0f}" if ours["peak_mb"] else "–"]
    for library in ("PyTorch", "JAX"):
        found = quickest(workload["rivals"], library)
        if found is None:
            row += ["–", "–"]
            memory.append("–")
        else:
            name, rival = found
            variant = name.removeprefix(library).lstrip(" ,")
            row += [
                f"{time_of(rival['wall'], unit)}{f' ({variant})' if variant else ''}",
                number(rival["ratio"]),
            ]
            memory.append(f"{rival['peak_mb']:,.0f}" if rival["peak_mb"] else "–")
    return [*row, ", ".join(memory)]


def promises(workloads: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """A row a promise that could be measured."""
    rows = []
    for workload in workloads:
        for promise in workload["promises"]:
            bound = f"at {'most' if promise['most'] else 'least'} {number(promise['bound'])}"
            met = "met" if promise["met"] else "NOT met"
            rows.append(
                [f"{workload['name']}: {promise['said']}", bound, number(promise["value"]), met]
            )
    return rows


def text(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "| " + " | ".join("---" for _ in rows[0]) + " |", *lines[1:]])


def main_rows(bench: Mapping[str, Any]) -> list[list[str]]:
    return [list(HEAD), *(cells(workload) for workload in bench["workloads"])]


def promise_rows(bench: Mapping[str, Any]) -> list[list[str]]:
    return [["promise", "bound", "measured", ""], *promises(bench["workloads"])]


def limit_rows(bench: Mapping[str, Any]) -> list[list[str]]:
    rates = bench["limits"]["rates"]
    threads = sorted({int(name.rpartition(", ")[2]) for name in rates})
    names = list(dict.fromkeys(name.rpartition(", ")[0] for name in rates))
    head = ["10⁹ a second", *(f"{count} thread{'s' * (count > 1)}" for count in threads)]
    kinds = {
        "product": "multiply-adds of a product,",
        "elementwise": "multiply-adds element by element,",
        "bytes": "bytes, x ← b + s·x in",
    }
    rows = []
    for name in names:
        kind, where = name.split()
        rows.append(
            [f"{kinds[kind]} {where}", *(number(rates[f"{name}, {count}"]) for count in threads)]
        )
    return [head, *rows]


def growth_rows(bench: Mapping[str, Any]) -> list[list[str]]:
    rows = [["cost in", "from", "to", "exponent", "of the last two", "ended by"]]
    for who, axes in bench["growth"].items():
        for axis, curve in axes.items():
            ends = [
                f"{curve['size'][i]:,}: {time_of(curve['seconds'][i], _unit(curve['seconds'][i]))}"
                for i in (0, -1)
            ]
            slopes = (
                "–" if slope is None else f"{slope:.2f}"
                for slope in (curve["exponent"], curve["last"])
            )
            rows.append([f"{axis}, {who}", *ends, *slopes, curve.get("end", "not recorded")])
    return rows


def _unit(seconds: float) -> str:
    return "µs" if seconds < 1e-3 else "ms" if seconds < 1 else "s"


def exact_rows(bench: Mapping[str, Any]) -> list[list[str]]:
    """The parts of the exact step, each beside its own limit on one thread."""
    profile, rates = bench["profile"]["exact"], bench["limits"]["rates"]
    operations = exact_parts(D, D, M, DIM)
    least = {
        name: 1e6 * elementwise(rates, count, "double", 1).seconds
        for name, count in operations.items()
    }
    head, *rows = profile_rows(profile["parts_us"], profile["whole_us"], "exact step, µs")
    return [
        [*head, "limit, µs"],
        *([*row, f"{least.get(row[0], sum(least.values())):.2f}"] for row in rows),
    ]


def profile_rows(parts: Mapping[str, float], whole: float, unit: str) -> list[list[str]]:
    rows = [
        ["part", unit, "share"],
        *([name, f"{part:.2f}", f"{part / whole:.0%}"] for name, part in parts.items()),
    ]
    return [*rows, ["the whole", f"{whole:.2f}", "100%"]]


def machine_line(bench: Mapping[str, Any]) -> str:
    about = bench["machine"]
    caches = ", ".join(f"{name} {size}" for name, size in about["caches"].items())
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    cores = (
        f"{about['cpu']}, {about['cores']} cores ({caches}), {about['memory_gb']} GB, load "
        f"{about['load']:.1f} in the minute before"
    )
    busy = (
        " If others were still at work after that minute, wall times are too long."
        if about["load"] > 0.5 * about["cores"]
        else ""
    )
    return f"{cores}; {versions}; {about['date']}.{busy}"


def profiles(bench: Mapping[str, Any]) -> list[str]:
    """Where the time goes, as tables."""
    heads, cold = bench["profile"]["heads"], bench["profile"]["cold"]["stages_s"]
    stages = [[name, f"{seconds:.2f}"] for name, seconds in cold.items()]
    return [
        text(exact_rows(bench)),
        text(profile_rows(heads["parts_ms"], heads["whole_ms"], "heads step, ms of cpu")),
        text([["cold start", "s"], *stages]),
    ]


def told(bench: Mapping[str, Any]) -> str:
    """All of it for the terminal."""
    pieces = [
        machine_line(bench),
        *(f"checked: {said}" for said in bench["checks"]),
        *bench["said"],
        text(main_rows(bench)),
        text(promise_rows(bench)),
        text(limit_rows(bench)),
        text(
            [
                ["floor of the exact step", "µs"],
                *([name, f"{us:.2f}"] for name, us in bench["limits"]["latencies_us"].items()),
            ]
        ),
        *([text(growth_rows(bench))] if bench["growth"] else []),
        *(profiles(bench) if bench["profile"] else []),
    ]
    return "\n\n".join(pieces)
