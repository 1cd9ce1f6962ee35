"""Many short runs, and many shapes, in one process: its memory must level off."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tutelage.problem.room import resident_bytes
from tutelage.running.execute import execute
from tutelage.settings import Part, Setting

TOGETHER = 100  # runs that are asked for at once
TEACHER = Part("convolution", tokens=4, support=2, outputs=1, dim=2)
SHORT = Setting(TEACHER, rate=0.1, steps=5, measures=("excess_risk",))
LOOKS = 10  # at the memory


@dataclass(frozen=True)
class Life:
    """Megabytes that the process held, from look to look."""

    runs: int
    megabytes: tuple[float, ...]

    @property
    def growth(self) -> float:
        """Megabytes from the middle look to the last."""
        return self.megabytes[-1] - self.megabytes[len(self.megabytes) // 2]


def live_long(settings: Iterable[Setting], count: int) -> Life:
    """Runs them all, `TOGETHER` at a time, and looks at the memory ten times on the way."""
    held, done = [_held()], 0
    for chunk in _chunks(settings, min(TOGETHER, max(1, count // LOOKS))):
        done += sum(1 for _ in execute(chunk, threads=1))
        if done * LOOKS >= len(held) * count:
            held.append(_held())
    return Life(done, tuple(held))


def short_runs(count: int) -> Iterator[Setting]:
    """One shape, and many seeds."""
    return (SHORT.change(seed=seed) for seed in range(count))


def many_shapes(count: int) -> Iterator[Setting]:
    """As many shapes: numbers of features and outputs."""
    for number in range(count):
        yield SHORT.change(**{"teacher.dim": 1 + number % 25, "teacher.outputs": 1 + number // 25})


def _chunks(settings: Iterable[Setting], size: int) -> Iterator[list[Setting]]:
    chunk: list[Setting] = []
    for setting in settings:
        chunk.append(setting)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _held() -> float:
    gc.collect()
    return resident_bytes(os.getpid()) / 1e6
