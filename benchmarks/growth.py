"""How cost grows: in D, M·d, steps and seeds for the exact step; in n, m and T for heads. An
exponent is a slope in the log-log plane.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.problems import CORES, DIM, SAMPLES, TOKENS, D, M
from benchmarks.processes import Work, once

ROUNDS = 3


def _seconds(work: Work, tries: int = ROUNDS) -> float:
    """Of one unit, the least of some tries after a first: what other work on the machine adds is
    not growth.
    """
    work.run()
    return min(once(work.run)[0] for _ in range(tries))


def _curve(sizes: Sequence[int], make: Callable[[int], Work]) -> dict[str, list[float]]:
    return {"size": list(sizes), "seconds": [_seconds(make(size)) for size in sizes]}


def exact(*, quick: bool) -> dict[str, Any]:
    """Ours: seconds a step over D and M·d; of a whole run over steps; of all seeds over their
    number, a step.
    """
    ours = importlib.import_module("benchmarks.ours")
    cut = 3 if quick else None
    tokens, sides = (16, 36, 64, 128, 256, 512)[:cut], (1, 2, 4, 8, 16)

    def steps_of(work: float) -> int:
        return max(20, int((2e4 if quick else 1e5) * D * D / work))

    def by_tokens(d: int) -> Work:
        return ours.exact(tokens=d, steps=steps_of(d * d))

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

    found = {
        "D": _curve(tokens, by_tokens),
        "steps": _curve((1_000, 10_000, 100_000, 300_000)[:cut], by_steps),
    }
    if quick:
        return found
    sized = _curve(sides, by_size)
    found["M·d"] = sized | {"size": [M * DIM * side**2 for side in sides]}
    found["seeds"] = _curve((1, 4, 16, 64), by_seeds)
    return found


def heads(*, module: str, quick: bool) -> dict[str, Any]:
    """Seconds a step over n, m and T: ours, or a script's."""
    rows, cut = importlib.import_module(f"benchmarks.{module}"), 3 if quick else None

    def step(n: int = SAMPLES, m: int = 64, tokens: int = TOKENS) -> Work:
        steps = max(2, int(3e7 / (n * m * tokens)))
        how = (
            {"seconds": 0.1}
            if module == "scripts_torch"
            else {"steps": steps, "devices_tried": (CORES,)}
        )
        return rows.heads_step(n=n, m=m, tokens=tokens, **how)

    found = {"m": _curve((8, 32, 128, 256)[:cut], lambda m: step(m=m))}
    if not quick:
        found["n"] = _curve((500, 2000, 8000), lambda n: step(n=n))
        found["T"] = _curve((8, 16, 32, 64), lambda tokens: step(tokens=tokens))
    return found


def online() -> dict[str, Any]:
    """Seconds of PyTorch's sampled step over D."""
    rows = importlib.import_module("benchmarks.scripts_torch")
    return {
        "D": _curve(
            (16, 36, 64, 128, 256), lambda d: rows.online(tokens=d, dtype="float32", seconds=0.1)
        )
    }


def exponents(curve: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The slope of log seconds in log size, by least squares over all sizes, and between the last
    two.
    """
    import numpy as np

    x, y = np.log(curve["size"]), np.log(curve["seconds"])
    return {
        "exponent": float(np.polyfit(x, y, 1)[0]),
        "last": float((y[-1] - y[-2]) / (x[-1] - x[-2])),
    }
