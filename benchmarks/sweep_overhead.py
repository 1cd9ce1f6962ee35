"""What a sweep costs beside its training: ten thousand tiny settings, each built, checked, leased, trained for ten steps and stored.

Ten steps of a teacher with four tokens take some 20 µs of a compiled loop, so that nearly all of what is measured is our own. The
same is then found again (nothing is trained), listed, and made into a table; memory is the largest of the process so far.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tutelage

SETTING = tutelage.Setting(
    tutelage.Part("convolution", tokens=4, support=2, outputs=1, dim=2), rate=0.1, steps=10, measures=("excess_risk",)
)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    found = work()
    return time.perf_counter() - begin, found


def count(runs: Any) -> int:
    return sum(1 for _ in runs)  # none is kept


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--settings", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    settings = [SETTING.change(seed=seed) for seed in range(given.settings)]
    count(tutelage.execute(settings[:128]))  # compiles
    with tempfile.TemporaryDirectory() as folder:
        store = tutelage.Store(f"{folder}/runs")
        fifth = len(settings) // 5
        first, _ = timed(lambda: count(tutelage.execute(settings[:fifth], store=store)))
        after_fifth = megabytes()
        rest, _ = timed(lambda: count(tutelage.execute(settings[fifth:], store=store)))
        after_all = megabytes()
        again, found = timed(lambda: count(tutelage.execute(settings, store=store)))
        assert found == len(settings)
        listing, found = timed(lambda: count(tutelage.Store(f"{folder}/runs").entries()))
        assert found == len(settings)
        table, frame = timed(lambda: tutelage.table(store))
        assert len(frame) == len(settings)
    rows = {
        "a setting swept and stored, ms (at most 2)": 1e3 * (first + rest) / len(settings),
        "a stored setting found again, ms": 1e3 * again / len(settings),
        f"listing {len(settings):,} runs, s (under 2)": listing,
        f"a table of {len(settings):,} runs, s": table,
        f"memory after {fifth:,} settings, MB": after_fifth,
        f"memory after {len(settings):,} settings, MB": after_all,
    }
    for name, value in rows.items():
        print(f"{name:<48} {value:10.3g}")
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
