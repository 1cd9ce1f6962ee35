"""The workloads that are read from the rows of the plan, each with its limit and its promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from benchmarks import counts
from benchmarks.counts import Limit
from benchmarks.plan import LARGE, MIDDLE
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

Rows = Mapping[str, Row]


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
                Promise(
                    "PyTorch single over ours",
                    _over("PyTorch single", "online, single"),
                    2.0,
                    False,
                ),
                Promise("JAX single over ours", _over("JAX single", "online, single"), 2.0, False),
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
            (
                Promise("PyTorch over ours", _over("PyTorch", "kernel"), 6.0, False),
                Promise("JAX over ours", _over("JAX", "kernel"), 6.0, False),
            ),
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
