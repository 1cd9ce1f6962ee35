"""What a sweep costs beside its training: ten thousand tiny settings, each built, checked, leased, trained for ten steps and stored.

Overhead is the sweep's time less that of a plain loop which builds the same objects and trains them in the same batches, keeping
nothing. The sweep is then found again (nothing is trained), listed, and made into a table; memory is the largest so far.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tutelage

SETTING = tutelage.Setting(
    tutelage.Part("convolution", tokens=4, support=2, outputs=1, dim=2), rate=0.1, steps=10, measures=("excess_risk",)
)


BATCH = 64


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    found = work()
    return time.perf_counter() - begin, found


def plain(settings: Sequence[tutelage.Setting]) -> None:
    """What anyone would have to do: build and train, sixty-four at a time."""
    for first in range(0, len(settings), BATCH):
        problems = [tutelage.build(setting) for setting in settings[first : first + BATCH]]
        tutelage.train_batch(
            [problem.student for problem in problems],
            [problem.objective for problem in problems],
            rates=[SETTING.rate] * len(problems),
            steps=SETTING.steps,
            measures=problems[0].measures,
            optimiser=problems[0].optimiser,
        )


def count(runs: Any) -> int:
    return sum(1 for _ in runs)  # none is kept


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def places() -> dict[str, str | None]:
    """A folder in memory, where the time is ours alone, and one on the disk, which makes some five files a run."""
    memory = {"in memory": "/dev/shm"} if Path("/dev/shm").is_dir() else {}
    return {**memory, "on disk": None}


def swept(settings: Sequence[tutelage.Setting], folder: str, bare: float) -> dict[str, float]:
    """The sweep into one folder, in two parts, and what is done with it after."""
    store, fifth = tutelage.Store(f"{folder}/runs"), BATCH * (len(settings) // (5 * BATCH))
    first, _ = timed(lambda: count(tutelage.execute(settings[:fifth], store=store)))
    after_fifth = megabytes()
    rest, _ = timed(lambda: count(tutelage.execute(settings[fifth:], store=store)))
    after_all = megabytes()
    again, found = timed(lambda: count(tutelage.execute(settings, store=store)))
    listing, listed = timed(lambda: count(tutelage.Store(f"{folder}/runs").entries()))
    table, frame = timed(lambda: tutelage.table(store))
    assert found == listed == len(frame) == len(settings)
    return {
        "overhead of the sweep a setting, ms (at most 2)": 1e3 * (first + rest - bare) / len(settings),
        "a stored setting found again, ms": 1e3 * again / len(settings),
        f"listing {len(settings):,} runs, s (under 2)": listing,
        f"a table of {len(settings):,} runs, s": table,
        f"memory after {fifth:,} settings, MB": after_fifth,
        f"memory after {len(settings):,} settings, MB": after_all,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--settings", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    settings = [SETTING.change(seed=seed) for seed in range(given.settings)]
    settings = settings[: BATCH * (len(settings) // BATCH)]
    count(tutelage.execute(settings[: 2 * BATCH]))  # compiles
    plain(settings[:BATCH])
    bare, _ = timed(lambda: plain(settings))
    rows = {"a setting built and trained plainly, ms": 1e3 * bare / len(settings)}
    for where, root in places().items():
        with tempfile.TemporaryDirectory(dir=root) as folder:
            rows |= {f"{name}, {where}": value for name, value in swept(settings, folder, bare).items()}
    for name, value in rows.items():
        print(f"{name:<62} {value:10.3g}")
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
