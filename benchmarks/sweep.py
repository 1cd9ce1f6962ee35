"""What a sweep costs beside its training: thousands of tiny settings, each built, checked, leased,
trained for ten steps and stored.

Overhead is the sweep's time less that of a plain loop which builds the same objects and trains them
in the same batches, keeping nothing. Its limit is the time to write as many bytes in as many files
by hand. The sweep is then found again (nothing is trained), listed, and made into a table.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tutelage
from benchmarks.processes import peak_mb

SETTING = tutelage.Setting(
    tutelage.Part("convolution", tokens=4, support=2, outputs=1, dim=2),
    rate=0.1,
    steps=10,
    measures=("excess_risk",),
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


def written(like: Path, folder: Path, times: int) -> float:
    """Seconds to write the files of one stored run again, by hand: into a new folder, which is then
    named.
    """
    files = {path.name: path.read_bytes() for path in like.iterdir() if path.is_file()}
    begin = time.perf_counter()
    for number in range(times):
        made = folder / f"{number}.part"
        made.mkdir(parents=True)
        for name, content in files.items():
            (made / name).write_bytes(content)
        os.rename(made, folder / str(number))
    return (time.perf_counter() - begin) / times


def sweep(*, settings: int) -> dict[str, Any]:
    asked = [SETTING.change(seed=seed) for seed in range(BATCH * (settings // BATCH))]
    count(tutelage.execute(asked[: 2 * BATCH]))  # compiles
    plain(asked[:BATCH])
    bare, _ = timed(lambda: plain(asked))
    with tempfile.TemporaryDirectory() as folder:
        store, fifth = tutelage.Store(f"{folder}/runs"), BATCH * max(1, len(asked) // (5 * BATCH))
        first, _ = timed(lambda: count(tutelage.execute(asked[:fifth], store=store)))
        after_fifth = peak_mb()
        rest, _ = timed(lambda: count(tutelage.execute(asked[fifth:], store=store)))
        after_all = peak_mb()
        again, found = timed(lambda: count(tutelage.execute(asked, store=store)))
        listing, listed = timed(lambda: count(tutelage.Store(f"{folder}/runs").entries()))
        table, frame = timed(lambda: tutelage.table(store))
        like = next(path.parent for path in Path(folder, "runs").rglob("run.json"))
        least = written(like, Path(folder, "by hand"), min(500, len(asked)))
    assert found == listed == len(frame) == len(asked)
    return {
        "settings": len(asked),
        "plain_s": bare / len(asked),
        "overhead_s": (first + rest - bare) / len(asked),
        "written_s": least,
        "found_s": again / len(asked),
        "listing_s": listing,
        "table_s": table,
        "after_fifth_mb": after_fifth,
        "peak_mb": after_all,
    }
