"""How cost grows: in D, M·d, steps, seeds and cores for the exact step; in D, seeds and cores for
the sampled step of the rivals; in n, m and T for heads. An exponent is a slope in the log-log
plane.

Sizes grow until one would take more than its share of memory or of time; a curve says which.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.problems import BATCH, CORES, DIM, FEATURES, SAMPLES, SEEDS, TOKENS, D, M
from benchmarks.processes import Work, once, told
from tutelage.problem.room import free_bytes

ROUNDS = 3
MOST_SECONDS = 30.0  # for all tries of one size, its compilation included
MOST_OF_A_CURVE = 25.0  # seconds for all its sizes
MOST_OVER_TOKENS = 60.0  # for the curve over D, which is to reach the end of memory
MOST_MEMORY = 0.5  # of what is free
TOKEN_COUNTS = (16, 36, 64, 128, 256, 512, *(2**power for power in range(10, 18)))
SEED_COUNTS = (1, 4, 16, SEEDS)
WIDE = 2048  # tokens from which on the loop alone is timed: a measurement costs as much as a step
# Numbers that a step holds: of ours six matrices of the size of the scores; of a rival's batch the
# inputs, and labels, outputs and their gradients of every query.
ARRAYS, ARRAYS_OF_A_BATCH = 6, 8
ARRAYS_OF_HEADS = 6  # of a rival's heads: scores, weights and their gradients, of every sample


def measure_curve(
    sizes: Sequence[int],
    make: Callable[[int], Work],
    needed_bytes: Callable[[int], float] | None = None,
    *,
    power: float = 1.0,
    most: float = MOST_OF_A_CURVE,
) -> dict[str, Any]:
    """Seconds of one unit at each size, and what ended the curve: the first size that needs more
    than its share of memory, or more than its share of time if cost goes with this power of the
    size, or the end of the list.

    Seconds are the least of some tries after a first: what other work on the machine adds is not
    growth.
    """
    found: dict[str, Any] = {"size": [], "seconds": [], "end": "the largest size"}
    expected, begin = 0.0, time.perf_counter()
    for number, size in enumerate(sizes):
        now = time.perf_counter()
        if needed_bytes is not None and needed_bytes(size) > MOST_MEMORY * free_bytes():
            return found | {"end": "memory"}
        if number and expected > min(MOST_SECONDS, most - (now - begin)):
            return found | {"end": "time"}
        work = make(size)
        work.run()  # compiles
        built = time.perf_counter()
        found["size"].append(size)
        found["seconds"].append(min(once(work.run)[0] for _ in range(ROUNDS)))
        if number + 1 < len(sizes):
            tries = time.perf_counter() - built
            expected = built - now + tries * (sizes[number + 1] / size) ** power
    return found


def exact() -> dict[str, Any]:
    """Ours: seconds a step over D and M·d; of a whole run over steps; of all seeds over their
    number, a step; of one step and run over cores.
    """
    ours = importlib.import_module("benchmarks.ours")
    sides = (1, 2, 4, 8, 16)

    def steps_of(work: float) -> int:
        return max(20, int(2e4 * D * D / work))

    def by_tokens(tokens: int) -> Work:
        if tokens >= WIDE:
            return ours.wide(tokens=tokens, steps=2)
        return ours.exact(tokens=tokens, steps=steps_of(tokens**2))

    def by_size(side: int) -> Work:
        return ours.exact(
            tokens=D, outputs=M * side, dim=DIM * side, steps=steps_of(D * D + 4 * M * side * D)
        )

    def by_steps(steps: int) -> Work:
        work = ours.exact(tokens=D, steps=steps)
        return Work(lambda: work.run() and 1)

    def by_seeds(seeds: int) -> Work:
        work = ours.together(
            tokens=D, steps=10_000, seeds=seeds
        )  # so many that what it takes to build them does not count
        return Work(lambda: work.run() // seeds)

    def by_cores(cores: int) -> Work:
        return ours.together(tokens=D, steps=10_000, seeds=32, threads=cores)

    sized = measure_curve(sides, by_size)
    return {
        "D": measure_curve(
            TOKEN_COUNTS,
            by_tokens,
            lambda tokens: 8 * ARRAYS * tokens**2,
            power=2.0,
            most=MOST_OVER_TOKENS,
        ),
        "steps": measure_curve((1_000, 10_000, 100_000, 300_000), by_steps),
        "M·d": sized | {"size": [M * DIM * side**2 for side in sides]},
        "seeds": measure_curve(SEED_COUNTS, by_seeds),
        **({"cores": measure_curve(_core_counts(), by_cores, power=0.0)} if CORES > 1 else {}),
    }


def _core_counts() -> list[int]:
    """1, 2, 4, … up to all."""
    return sorted({*(2**power for power in range(CORES.bit_length())), CORES})


def heads(*, module: str) -> dict[str, Any]:
    """Seconds a step over n, m and T: ours, or a script's."""
    rows = importlib.import_module(f"benchmarks.{module}")

    def step(n: int = SAMPLES, m: int = 64, tokens: int = TOKENS) -> Work:
        steps = max(2, int(3e7 / (n * m * tokens)))
        how: dict[str, Any] = {"steps": steps}
        if module == "scripts_torch":
            how = {"seconds": 0.1}
        elif module == "ours":
            how["devices_tried"] = (CORES,)
        return rows.heads_step(n=n, m=m, tokens=tokens, **how)

    def needed_bytes(n: int = SAMPLES, m: int = 64, tokens: int = TOKENS) -> float:
        scores = 0 if module == "ours" else ARRAYS_OF_HEADS * m  # ours hold those of a block
        return 4.0 * n * tokens * (scores + 2 * FEATURES)

    return {
        "m": measure_curve(
            (8, 32, 128, 256, 1024, 4096), lambda m: step(m=m), lambda m: needed_bytes(m=m)
        ),
        "n": measure_curve(
            (500, 2000, 8000, 32_000, 128_000), lambda n: step(n=n), lambda n: needed_bytes(n=n)
        ),
        "T": measure_curve(
            (8, 16, 32, 64, 128, 256), lambda T: step(tokens=T), lambda T: needed_bytes(tokens=T)
        ),
    }


def online(*, module: str) -> dict[str, Any]:
    """Seconds of a script's sampled step, in single precision: over D, and of all seeds over their
    number.
    """

    def by_seeds(seeds: int) -> Work:
        work = _script(module, D, seeds)
        return Work(lambda: work.run() // seeds)

    def needed_bytes(tokens: int) -> float:
        batch = BATCH * tokens * (DIM + ARRAYS_OF_A_BATCH * M)
        return 4 * (batch + ARRAYS * tokens**2)

    return {
        "D": measure_curve(
            TOKEN_COUNTS,
            lambda tokens: _script(module, tokens),
            needed_bytes,
            power=2.0,
            most=MOST_OVER_TOKENS,
        ),
        "seeds": measure_curve(SEED_COUNTS, by_seeds),
    }


def _script(module: str, tokens: int, seeds: int = 0) -> Work:
    """A script's sampled step, by as many at a time as are over soon."""
    rows, how = importlib.import_module(f"benchmarks.{module}"), {"seconds": 0.1}
    if module == "scripts_jax":
        how = {"steps": max(1, int(200 * D / tokens / max(1, seeds)))}
    return rows.online(tokens=tokens, dtype="float32", seeds=seeds, **how)


def over_cores(module: str) -> dict[str, Any]:
    """Seconds of a script's step and seed over cores, each number in a process that has no more;
    none where a process cannot be kept to some cores.
    """
    if CORES == 1 or not hasattr(os, "sched_setaffinity"):
        return {}
    counts = _core_counts()
    seconds = [told("growth:on_cores", module=module, cores=count)["seconds"] for count in counts]
    return {"cores": {"size": counts, "seconds": seconds, "end": "the largest size"}}


def on_cores(*, module: str, cores: int) -> dict[str, float]:
    """Seconds of one step and seed on the first cores of this machine."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    work = _script(module, D, SEEDS)
    work.run()  # compiles
    return {"seconds": min(once(work.run)[0] for _ in range(ROUNDS))}


def exponents(curve: Mapping[str, Sequence[float]]) -> dict[str, float | None]:
    """The slope of log seconds in log size, by least squares over all sizes, and between the last
    two; none of a curve that ended after its first size.
    """
    import numpy as np

    if len(curve["size"]) < 2:
        return {"exponent": None, "last": None}
    x, y = np.log(curve["size"]), np.log(curve["seconds"])
    return {
        "exponent": float(np.polyfit(x, y, 1)[0]),
        "last": float((y[-1] - y[-2]) / (x[-1] - x[-2])),
    }
