"""Progress on standard error: a line for all studies and one for each that runs on a terminal,
plain lines elsewhere.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from tutelage.studies.standing import Standing

ALL = "all studies"


class Display:
    """Shows how far studies are. `seconds` says what each is expected to take, by its name."""

    def __init__(self, seconds: Mapping[str, float]) -> None:
        self.console = Console(stderr=True, highlight=False)
        self.seconds = dict(seconds)
        self.shares = dict.fromkeys(seconds, 0.0)  # of each that is done, from 0 to 1
        self.ended = 0
        self.begin = time.perf_counter()
        width = max(map(len, [*seconds, ALL]))
        self.progress = Progress(
            TextColumn(f"{{task.description:<{width}}}"),
            BarColumn(bar_width=30),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("[dim]{task.fields[seen]}"),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )
        self.tasks: dict[str, TaskID] = {}
        if len(seconds) > 1:
            total = sum(self.seconds.values())
            self.tasks[ALL] = self.progress.add_task(ALL, total=total, seen="")

    def __enter__(self) -> Display:
        self.progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.progress.stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Nothing is shown in here, so that something else can be printed."""
        self.progress.stop()
        yield
        self.progress.start()

    def start(self, name: str) -> None:
        """A study begins."""
        if name not in self.tasks:
            self.tasks[name] = self.progress.add_task(name, total=1.0, seen="")

    def show(self, name: str, share: float, standing: Standing) -> None:
        """A study is so far, as a share of its runs."""
        self.shares[name] = share
        self.progress.update(self.tasks[name], completed=share, seen=standing.seen)
        self._show_all()
        if standing.case:
            runs = "1 run" if standing.runs == 1 else f"{standing.runs:,} runs"
            self._print(f"{name}, {standing.case}: {runs} done")

    def end(self, name: str, *, done: bool) -> None:
        """A study is done, or could not be finished."""
        self.ended += 1
        self.shares[name] = 1.0
        if name in self.tasks:
            self.progress.remove_task(self.tasks.pop(name))
        self._show_all()
        what = f"{name} is {'done' if done else 'not finished'}"
        if len(self.seconds) > 1:
            what += f", {self.ended} of {len(self.seconds)} studies{self._describe_rest()}"
        self._print(what)

    def _show_all(self) -> None:
        if ALL in self.tasks:
            self.progress.update(self.tasks[ALL], completed=self._count_done())

    def _count_done(self) -> float:
        return sum(share * self.seconds[name] for name, share in self.shares.items())

    def _describe_rest(self) -> str:
        done, total = self._count_done(), sum(self.seconds.values())
        if self.ended == len(self.seconds) or not done:
            return ""
        left = (time.perf_counter() - self.begin) * (total - done) / done
        return f", about {left:.0f} s left" if left < 90 else f", about {left / 60:.0f} min left"

    def _print(self, line: str) -> None:
        if self.progress.disable:
            print(f"[{time.perf_counter() - self.begin:6.1f} s] {line}", file=sys.stderr)
