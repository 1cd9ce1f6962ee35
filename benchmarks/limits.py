"""What the machine can do, measured in the same run: multiply-adds, bytes, and what the exact step
cannot do without.

Rates are the best of many short tries, since a limit is what is possible; two threads are two
Python threads of one-thread work each.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = (
    "1"  # read when NumPy is first imported
)

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.problems import CORES, D, M
from tutelage.numerics.angle import angle
from tutelage.numerics.softmax import exponential
from tutelage.training.literal import COMPILER

# multiply-adds of one element, as in the exponential and the angle; in long chains each waits for
# the one before
CHAIN = 12
SIDE = 768  # of the matrices


def machine() -> dict[str, Any]:
    """The processor, its caches, memory and load, and the versions of what runs on it."""
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    caches = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (
            (index / name).read_text().strip() for name in ("level", "type", "size")
        )
        caches[f"L{level}{'i' if kind == 'Instruction' else 'd' if kind == 'Data' else ''}"] = size
    versions = {"python": platform.python_version()}
    for name in ("jax", "jaxlib", "numpy", "torch", "tutelage"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "absent"
    return {
        "cpu": info.partition("model name")[2].partition("\n")[0].strip("\t :")
        or platform.processor()
        or platform.machine(),
        "cores": CORES,
        "caches": caches,
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load": round(os.getloadavg()[0], 2),
        "versions": versions,
        "date": time.strftime("%Y-%m-%d"),
    }


def _loop(step: Callable[..., Any], start: Any, *constants: Any) -> Callable[[int], None]:
    """Repeats a step inside one compiled program, on one thread; constants are its arguments, or
    they would be folded into it.
    """
    options = COMPILER.get(jax.default_backend())
    repeated = jax.jit(
        lambda n, x, more: jax.lax.fori_loop(0, n, lambda _, x: step(x, *more), x),
        compiler_options=options,
    )
    run = lambda n: jax.block_until_ready(repeated(n, start, constants))  # noqa: E731
    run(1)
    return run


def _seconds(run: Callable[[int], Any], seconds: float, tries: int, threads: int = 1) -> float:
    """Of one repetition, where so many threads do it at once; the least of many tries.

    Processor time over threads, so that what others do on the machine is not counted; the work
    itself never waits.
    """
    count, taken = 1, 0.0
    while taken < seconds / tries:  # as many repetitions as fill a try
        begin = time.process_time()
        run(count)
        taken, count = time.process_time() - begin, 2 * count
    least = np.inf
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(tries):
            begin = time.process_time()
            list(pool.map(run, [count] * threads))
            least = min(least, time.process_time() - begin)
    return float(least / count / threads)


def _product(kind: Any) -> Callable[[int], None]:
    a, b = (np.random.default_rng(i).normal(size=(SIDE, SIDE)).astype(kind) for i in (0, 1))

    def run(count: int) -> None:
        out = np.empty((SIDE, SIDE), kind)  # of each thread its own
        for _ in range(count):
            np.matmul(a, b, out=out)

    return run


def _polynomial(kind: Any, size: int = 2048) -> Callable[[int], None]:
    """Horner's rule: a chain of multiply-adds for each of some numbers in the first cache."""
    factors = tuple(np.linspace(0.1, 0.5, CHAIN))

    def bounded(x: Any) -> Any:
        total = jnp.full_like(x, 0.3)
        for factor in factors:
            total = total * x + x.dtype.type(1e-3 * factor)
        return total  # |x| < 1 stays so

    return _loop(bounded, jnp.asarray(np.linspace(0, 0.5, size).astype(kind)))


def _axpy(numbers: int) -> Callable[[int], None]:
    """x ← b + s·x: two numbers read, one written, as in a step of descent."""
    return _loop(lambda x, b: b + 0.5 * x, jnp.zeros(numbers), jnp.ones(numbers))


def limits(*, seconds: float = 0.3, tries: int = 20) -> dict[str, Any]:
    """Multiply-adds a second (10⁹) of one thread and of all, in a large product and element by
    element; 10⁹ bytes a second; µs.
    """
    jax.config.update("jax_enable_x64", True)
    time_of = partial(_seconds, seconds=seconds, tries=tries)
    found: dict[str, Any] = {}
    for name, kind in (("double", np.float64), ("single", np.float32)):
        product, polynomial = _product(kind), _polynomial(kind)
        for threads in sorted({1, CORES}):
            found[f"product {name}, {threads}"] = (
                threads * SIDE**3 / time_of(product, threads=threads) / 1e9
            )
            found[f"elementwise {name}, {threads}"] = (
                threads * 2048 * CHAIN / time_of(polynomial, threads=threads) / 1e9
            )
    # Two arrays: within half of the second cache of a core, and ten times all caches.
    for name, numbers in (("L2", 2**14), ("DRAM", 2**23)):
        run = _axpy(numbers)
        for threads in sorted({1, CORES}):
            found[f"bytes {name}, {threads}"] = (
                threads * 24 * numbers / time_of(run, threads=threads) / 1e9
            )
    scores = jnp.asarray(-np.random.default_rng(0).exponential(size=(D, D)))
    y, x = (jnp.asarray(np.abs(np.random.default_rng(i).normal(size=(M, D)))) for i in (0, 1))
    # Each feeds its result back, so that no repetition can be left out; the sum costs one operation
    # an element.
    latencies = {
        f"{D * D:,} exponentials, XLA": _loop(lambda z, s: s + 1e-9 * jnp.exp(z), scores, scores),
        f"{D * D:,} exponentials, ours": _loop(
            lambda z, s: s + 1e-9 * exponential(z), scores, scores
        ),
        f"{M * D} arctangents, XLA": _loop(lambda z, y, x: y + 1e-9 * jnp.arctan2(z, x), y, y, x),
        f"{M * D} arctangents, ours": _loop(lambda z, y, x: y + 1e-9 * angle(z, x), y, y, x),
    }
    return {
        "rates": found,
        "latencies_us": {name: 1e6 * time_of(run) for name, run in latencies.items()},
    }
