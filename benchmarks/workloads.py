"""What is measured: groups of rows that take turns, and the workloads that are read from them, each
with its limit and its promises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from benchmarks import counts
from benchmarks.counts import Limit
from benchmarks.problems import (
    BATCH,
    CORES,
    DIM,
    FEATURES,
    GRAM_HEADS,
    GRAM_SAMPLES,
    SAMPLES,
    SEEDS,
    TOKENS,
    WIDTHS,
    D,
    M,
)
from benchmarks.processes import Row

MIDDLE, LARGE, MILLION, HORIZON = 1024, 4096, 10**6, 10**12
Rows = Mapping[str, Row]


class Size(NamedTuple):
    """How long each row works, and how often: the full bench, or a quick look."""

    quick: bool
    rounds: int
    scale: float  # of the work in a round


FULL, QUICK = Size(False, 5, 1.0), Size(True, 2, 0.2)


class Promise(NamedTuple):
    """A number that was promised: what it is, the number as measured (None without PyTorch), and
    its bound.
    """

    said: str
    of: Callable[[Rows], float | None]
    bound: float
    most: bool  # at most the bound, or at least


class Workload(NamedTuple):
    """One line of the table: our row of a group beside its rivals, the least time the machine could
    take, and what was promised.
    """

    name: str
    unit: str
    group: str
    ours: str
    rivals: tuple[str, ...]
    limit: Callable[[Mapping[str, float]], Limit] | None = None
    promises: tuple[Promise, ...] = ()
    percent: float | None = None  # of the limit's speed that was promised


def median(row: Row, clock: int = 0) -> float:
    return float(np.median([cost[clock] for cost in row.rounds]))


def ratio(above: Row, below: Row, clock: int = 0) -> float:
    """The median of the ratios within a round; where rounds are not as many, that of the
    medians.
    """
    if len(above.rounds) != len(below.rounds):
        return median(above, clock) / median(below, clock)
    return float(
        np.median([a[clock] / b[clock] for a, b in zip(above.rounds, below.rounds, strict=True)])
    )


def quickest(rows: Rows, start: str) -> str | None:
    """The row with the least median among those whose names begin so."""
    return min(
        (name for name in rows if name.startswith(start)),
        key=lambda name: median(rows[name]),
        default=None,
    )


def _over(above: str, below: str, clock: int = 0) -> Callable[[Rows], float | None]:
    def of(rows: Rows) -> float | None:
        name = quickest(rows, above)
        return None if name is None else ratio(rows[name], rows[below], clock)

    return of


def _micro(name: str) -> Callable[[Rows], float]:
    return lambda rows: 1e6 * median(rows[name])


def groups(size: Size, torch: bool) -> dict[str, dict[str, tuple[str, dict[str, Any]]]]:
    """Name of a row to the function that makes it and its options."""

    def times(number: int) -> int:
        return max(1, int(number * size.scale))

    seconds = 0.6 * size.scale
    plain = {"tokens": D}
    found: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {}
    found["cnn"] = {
        "exact": ("ours:exact", plain | {"steps": times(100_000)}),
        "watched": ("ours:watched", plain | {"steps": times(100_000)}),
        "64 seeds": ("ours:together", plain | {"steps": times(20_000)}),
        "collapsed": ("ours:exact", plain | {"steps": times(300_000), "collapse": True}),
        "collapsed, 64 seeds": (
            "ours:together",
            plain | {"steps": times(100_000), "collapse": True},
        ),
        "online": ("ours:online", plain | {"steps": times(500)}),
        "online, single": (
            "ours:online",
            plain | {"steps": times(500), "precision": "float32"},
        ),
        "online, 64 seeds": (
            "ours:online_together",
            plain | {"steps": times(500), "precision": "float32"},
        ),
        "JAX double": ("scripts_jax:online", plain | {"dtype": "float64", "steps": times(500)}),
        "JAX single": ("scripts_jax:online", plain | {"dtype": "float32", "steps": times(500)}),
        "JAX, 64 seeds": (
            "scripts_jax:online",
            plain | {"dtype": "float32", "steps": times(10), "seeds": SEEDS},
        ),
    }
    found["D = 128"] = {
        "exact": ("ours:exact", {"tokens": 128, "steps": times(8_000)}),
        "JAX": ("scripts_jax:online", {"tokens": 128, "dtype": "float32", "steps": times(50)}),
    }
    for m in WIDTHS:
        shape = {"n": SAMPLES, "m": m, "tokens": TOKENS}
        found[f"heads, m = {m}"] = {
            "heads": (
                "ours:heads_step",
                shape | {"steps": max(2, times(2048 // m)), "devices": CORES},
            ),
            "JAX": ("scripts_jax:heads_step", shape | {"steps": max(2, times(512 // m))}),
        }
    found["kernel"] = {
        "kernel": ("ours:gram", {"n": GRAM_SAMPLES, "m": GRAM_HEADS}),
        "JAX": ("scripts_jax:gram", {"n": GRAM_SAMPLES, "m": GRAM_HEADS}),
    }
    found["middle"] = {
        "exact": ("ours:exact", {"tokens": MIDDLE, "steps": times(500)}),
        "JAX": ("scripts_jax:online", {"tokens": MIDDLE, "dtype": "float32", "steps": times(5)}),
    }
    found["large"] = {
        "exact": ("ours:wide", {"tokens": LARGE, "steps": times(5)}),
        "JAX": ("scripts_jax:online", {"tokens": LARGE, "dtype": "float32", "steps": 1}),
    }
    found["collapsed"] = {
        "collapsed": (
            "ours:collapsed",
            {"tokens": MILLION, "support": 1000, "steps": times(200_000)},
        )
    }
    if torch:
        for kind in ("double", "single"):
            options = plain | {
                "dtype": {"double": "float64", "single": "float32"}[kind],
                "seconds": seconds,
            }
            found["cnn"][f"PyTorch {kind}"] = ("scripts_torch:online", options)
            if not size.quick:
                found["cnn"][f"PyTorch {kind}, compiled"] = (
                    "scripts_torch:online",
                    options | {"compiled": True},
                )
        found["cnn"]["PyTorch, 64 seeds"] = (
            "scripts_torch:online",
            plain | {"dtype": "float32", "seconds": seconds, "seeds": SEEDS},
        )
        found["D = 128"]["PyTorch"] = (
            "scripts_torch:online",
            {"tokens": 128, "dtype": "float32", "seconds": seconds},
        )
        for m in WIDTHS:
            shape = {"n": SAMPLES, "m": m, "tokens": TOKENS, "seconds": seconds}
            found[f"heads, m = {m}"]["PyTorch"] = ("scripts_torch:heads_step", shape)
            if not size.quick:
                found[f"heads, m = {m}"]["PyTorch, compiled"] = (
                    "scripts_torch:heads_step",
                    shape | {"compiled": True},
                )
        found["kernel"]["PyTorch"] = ("scripts_torch:gram", {"n": GRAM_SAMPLES, "m": GRAM_HEADS})
        found["middle"]["PyTorch"] = (
            "scripts_torch:online",
            {"tokens": MIDDLE, "dtype": "float32", "seconds": seconds},
        )
        found["large"]["PyTorch"] = (
            "scripts_torch:online",
            {"tokens": LARGE, "dtype": "float32", "seconds": 0.0, "alone": False},
        )
    if size.quick:
        kept = ("exact", "64 seeds", "online, single", "JAX single", "PyTorch single")
        return {
            "cnn": {name: row for name, row in found["cnn"].items() if name in kept},
            "heads, m = 64": found["heads, m = 64"],
            "middle": found["middle"],
        }
    return found


def workloads() -> list[Workload]:
    """The lines that are read from the groups; what is told by a process of its own is added in
    `__main__`.
    """

    def exact(tokens: int, threads: int) -> Callable[[Mapping[str, float]], Limit]:
        return lambda rates: counts.elementwise(
            rates, counts.exact_step(tokens, tokens, M, DIM), "double", threads
        )

    def shallow(m: int) -> Callable[[Mapping[str, float]], Limit]:
        return lambda rates: counts.elementwise(
            rates, sum(counts.heads_step(SAMPLES, m, TOKENS, FEATURES)), "single", CORES
        )

    def online(kind: str) -> Callable[[Mapping[str, float]], Limit]:
        return lambda rates: counts.elementwise(
            rates, counts.online_step(D, M, DIM, BATCH), kind, CORES
        )

    lone = ("PyTorch double", "PyTorch single", "JAX double", "JAX single")
    found = [
        Workload(
            "exact step",
            "µs",
            "cnn",
            "exact",
            lone,
            exact(D, 1),
            (
                Promise("µs a step", _micro("exact"), 6.0, True),
                Promise("PyTorch double over ours", _over("PyTorch double", "exact"), 100.0, False),
                Promise("watched over unwatched", _over("watched", "exact", 1), 1.02, True),
            ),
        ),
        Workload(
            f"exact step, {SEEDS} seeds",
            "µs",
            "cnn",
            "64 seeds",
            ("PyTorch", "JAX"),
            exact(D, CORES),
            (
                Promise("µs a step and run", _micro("64 seeds"), 3.2, True),
                Promise(
                    "PyTorch single, one run, over ours",
                    _over("PyTorch single", "64 seeds"),
                    300.0,
                    False,
                ),
                Promise("over a run alone", _over("64 seeds", "exact"), 1.0, True),
            ),
        ),
        Workload(
            "exact step, collapsed",
            "µs",
            "cnn",
            "collapsed",
            lone,
            None,
            (Promise("µs a step", _micro("collapsed"), 6.0, True),),
        ),
        Workload(
            f"exact step, collapsed, {SEEDS} seeds",
            "µs",
            "cnn",
            "collapsed, 64 seeds",
            ("PyTorch", "JAX"),
            None,
            (
                Promise("µs a step and run", _micro("collapsed, 64 seeds"), 3.2, True),
                Promise(
                    "PyTorch single, one run, over ours",
                    _over("PyTorch single", "collapsed, 64 seeds"),
                    300.0,
                    False,
                ),
            ),
        ),
        Workload(
            f"online step, batch {BATCH}",
            "µs",
            "cnn",
            "online",
            ("PyTorch double", "JAX double"),
            online("double"),
            (
                Promise("PyTorch double over ours", _over("PyTorch double", "online"), 2.0, False),
                Promise("JAX double over ours", _over("JAX double", "online"), 2.0, False),
            ),
        ),
        Workload(
            f"online step, batch {BATCH}, single precision",
            "µs",
            "cnn",
            "online, single",
            lone,
            online("single"),
            (
                Promise("PyTorch over ours", _over("PyTorch", "online, single"), 2.0, False),
                Promise("JAX over ours", _over("JAX", "online, single"), 2.0, False),
            ),
        ),
        Workload(
            f"online step, batch {BATCH}, single precision, {SEEDS} seeds",
            "µs",
            "cnn",
            "online, 64 seeds",
            ("PyTorch", "JAX"),
            online("single"),
            (
                Promise("PyTorch over ours", _over("PyTorch", "online, 64 seeds"), 4.0, False),
                Promise("JAX over ours", _over("JAX", "online, 64 seeds"), 4.0, False),
            ),
        ),
        Workload(
            "exact step, D = 128", "µs", "D = 128", "exact", ("PyTorch", "JAX"), exact(128, 1)
        ),
    ]
    for m in WIDTHS:
        promised = Promise("PyTorch over ours", _over("PyTorch", "heads"), 4.0, False)
        found.append(
            Workload(
                f"heads step, m = {m}",
                "ms",
                f"heads, m = {m}",
                "heads",
                ("PyTorch", "JAX"),
                shallow(m),
                (promised,),
            ),
        )

    def wide(tokens: int) -> Callable[[Mapping[str, float]], Limit]:
        def limit(rates: Mapping[str, float]) -> Limit:
            operations = counts.elementwise(
                rates, counts.exact_step(tokens, tokens, M, DIM), "double", CORES
            )
            return max(operations, counts.moved(rates, counts.wide_bytes(tokens), CORES))

        return limit

    faster = (
        Promise("PyTorch over ours", _over("PyTorch", "exact"), 3.0, False),
        Promise("JAX over ours", _over("JAX", "exact"), 3.0, False),
    )

    found += [
        Workload(
            f"tangent kernel, n = {GRAM_SAMPLES:,}, m = {GRAM_HEADS:,}",
            "ms",
            "kernel",
            "kernel",
            ("PyTorch", "JAX"),
            lambda rates: counts.elementwise(
                rates, sum(counts.gram(GRAM_SAMPLES, GRAM_HEADS, TOKENS, FEATURES)), "single", CORES
            ),
            (Promise("PyTorch over ours", _over("PyTorch", "kernel"), 6.0, False),),
        ),
        Workload(
            f"exact step, D = {MIDDLE:,}",
            "ms",
            "middle",
            "exact",
            ("PyTorch", "JAX"),
            wide(MIDDLE),
            faster,
            20.0,
        ),
        Workload(
            f"exact step, D = {LARGE:,}",
            "ms",
            "large",
            "exact",
            ("PyTorch", "JAX"),
            wide(LARGE),
            (*faster, Promise("memory beside the process, of its budget", _of_budget, 1.0, True)),
            20.0,
        ),
        Workload("exact step, D = 10⁶, collapsed", "µs", "collapsed", "collapsed", ()),
    ]
    return found


def _of_budget(rows: Rows) -> float:
    """Twice the scores, their gradient and one scratch."""
    facts = rows["exact"].facts
    return float(facts["beside_mb"] / facts["budget_mb"])
