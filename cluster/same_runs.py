"""Whether stores hold the same runs, each once and whole: python same_runs.py UNDISTURBED OTHER…
(exit code 1 where not).

A batch of another size may round otherwise, so numbers are compared and not bytes; the largest
difference is printed.
"""

import sys

import jax
import numpy as np

from tutelage.run import Run
from tutelage.running.store import Store, load

# Shares, and runs stopped and gone on, were equal to the last bit here; the room is for a vmapped
# batch of another size elsewhere.
TOLERANCE = 1e-10


def runs_of(root: str) -> dict[str, Run]:
    """Every run of a store by the identity of its setting; a second horizon, a failure or damage is
    an error.
    """
    found: dict[str, Run] = {}
    store = Store(root)
    for entry in store.entries():
        trouble = entry.trouble or store.verify(entry.name)
        if trouble or entry.outcome in ("STOPPED", "FAILED"):
            sys.exit(
                f"same_runs: {root}/{entry.name} is not a finished run: {trouble or entry.outcome}"
            )
        if entry.identity in found:
            sys.exit(f"same_runs: {root} has more than one run of {entry.identity}")
        found[entry.identity] = load(f"{root}/{entry.name}")
    return found


def numbers(run: Run) -> list[np.ndarray]:
    return [
        np.asarray(x, float)
        for x in (
            run.steps,
            *(run.curves[name] for name in sorted(run.curves)),
            *jax.tree.leaves(run.student),
        )
    ]


def difference(one: Run, two: Run) -> float:
    """max |a − b| / max |a| over the arrays of two runs, infinite where they are not of one
    shape.
    """
    a, b = numbers(one), numbers(two)
    if sorted(one.curves) != sorted(two.curves) or [x.shape for x in a] != [x.shape for x in b]:
        return float("inf")
    if any(np.any(np.isnan(x) != np.isnan(y)) for x, y in zip(a, b, strict=True)):
        return float("inf")
    return max(
        float(np.nanmax(np.abs(x - y), initial=0) / max(np.nanmax(np.abs(x), initial=0), 1e-300))
        for x, y in zip(a, b, strict=True)
    )


def main(undisturbed: str, *others: str) -> None:
    expected = runs_of(undisturbed)
    if not expected:
        sys.exit(f"same_runs: {undisturbed} is empty, so there is nothing to compare with")
    for root in others:
        found = runs_of(root)
        if found.keys() != expected.keys():
            lacking, extra = (
                len(expected.keys() - found.keys()),
                len(found.keys() - expected.keys()),
            )
            sys.exit(
                f"same_runs: {root} lacks {lacking} of {len(expected)} settings and has {extra} "
                "others"
            )
        worst = max(difference(expected[identity], found[identity]) for identity in expected)
        print(
            f"same_runs: {root}: {len(found)} settings, each once; largest relative difference "
            f"{worst:.1e}"
        )
        if worst > TOLERANCE:
            sys.exit(
                f"same_runs: {root} differs from {undisturbed} by {worst:.1e}, more than "
                f"{TOLERANCE:.0e}"
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
