"""Progress on standard error: one bar for everything and a line per running study on a terminal,
plain lines elsewhere.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

from tutelage.durations import say_seconds
from tutelage.studies.standing import Standing

SECONDS_PER_LINE = 60.0  # between two plain lines, where no case ends meanwhile
KNOWN_FROM = 0.03  # of all work, from which on its own pace says how much time is left
REFRESHES_PER_SECOND = 4


class Display:
    """Shows how far studies are.

    `seconds` says what each is expected to take, by its name, and `stored` which share of that is
    stored already and takes no time.
    """

    def __init__(
        self, seconds: Mapping[str, float], stored: Mapping[str, float] | None = None
    ) -> None:
        self.console = Console(stderr=True, highlight=False)
        self.seconds = dict(seconds)
        self.total = max(sum(seconds.values()), 1e-9)  # never 0, since shares are taken of it
        self.stored = sum(share * seconds[name] for name, share in (stored or {}).items())
        self.shares = dict.fromkeys(seconds, 0.0)  # of each that is done, from 0 to 1
        self.cases = dict.fromkeys(seconds, 0)  # how many are done
        self.ended = 0
        self.begin = self.said = time.perf_counter()
        self.overall = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f}%"),
            _TimeLeft(self),
        )
        self.running = Progress(
            TextColumn("  {task.description}"),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("[dim]{task.fields[seen]}"),
        )
        one = next(iter(seconds)) if len(seconds) == 1 else f"{len(seconds)} studies"
        self.all = self.overall.add_task(one, total=self.total)
        self.tasks: dict[str, TaskID] = {}
        self.live = self._make_live()

    def __enter__(self) -> Display:
        self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.live.stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Nothing is shown in here, so that something else can be printed."""
        self.live.stop()
        yield
        self.live = self._make_live()
        self._start()

    def start(self, name: str) -> None:
        """A study begins."""
        if name not in self.tasks:
            self.tasks[name] = self.running.add_task(name, total=1.0, seen="starting")

    def show(self, name: str, share: float, standing: Standing) -> None:
        """A study is so far, as a share of its runs."""
        self.shares[name] = share
        self.cases[name] += bool(standing.case)
        seen = self._describe(name, standing)
        self.running.update(self.tasks[name], completed=share, seen=seen)
        self._update()
        if standing.case:
            runs = "1 run" if standing.runs == 1 else f"{standing.runs:,} runs"
            self._print(f"{name}, {standing.case}: {runs} done")
        elif time.perf_counter() - self.said > SECONDS_PER_LINE:
            self._print(f"{name}, {seen}" if seen else f"{name} is running")

    def end(self, name: str, *, done: bool) -> None:
        """A study is done, or could not be finished."""
        self.ended += 1
        self.shares[name] = 1.0
        if name in self.tasks:
            self.running.remove_task(self.tasks.pop(name))
        self._update()
        what = f"{name} is {'done' if done else 'not finished'}"
        if len(self.seconds) > 1:
            what += f", {self.ended} of {len(self.seconds)} studies"
        self._print(what)

    def describe_left(self) -> str:
        """How much time is left, by the pace so far or, at the beginning, as was expected."""
        done, total = self._count_done(), self.total
        if self.ended == len(self.seconds):
            return ""
        made, missing = done - self.stored, total - max(done, self.stored)
        if made > KNOWN_FROM * (total - self.stored):
            missing *= (time.perf_counter() - self.begin) / made
        return f"about {say_seconds(missing)} left" if missing > 1 else "nearly done"

    def _describe(self, name: str, standing: Standing) -> str:
        """What is seen of a study: its cases that are done, and what was measured last."""
        count = self.cases[name]
        done = f"{count} case{'' if count == 1 else 's'} done" if count else ""
        return ", ".join(said for said in (done, standing.seen) if said)

    def _make_live(self) -> Live:
        return Live(
            Group(self.overall, self.running),
            console=self.console,
            transient=True,
            refresh_per_second=REFRESHES_PER_SECOND,
        )

    def _start(self) -> None:
        if self.console.is_terminal:
            self.live.start()

    def _update(self) -> None:
        self.overall.update(self.all, completed=self._count_done())

    def _count_done(self) -> float:
        return sum(share * self.seconds[name] for name, share in self.shares.items())

    def _print(self, line: str) -> None:
        """A plain line, where there is no terminal: the time, how far all of it is, and what."""
        if self.console.is_terminal:
            return
        self.said = time.perf_counter()
        percent = 100 * self._count_done() / self.total
        left = self.describe_left()
        far = f"{percent:3.0f}%{f', {left}' if left else ''}"
        print(f"[{self.said - self.begin:6.1f} s] {far}: {line}", file=sys.stderr)


class _TimeLeft(ProgressColumn):
    """The time spent and the time left."""

    def __init__(self, display: Display) -> None:
        self.display = display
        super().__init__()

    def render(self, task: Task) -> Text:
        minutes, seconds = divmod(int(time.perf_counter() - self.display.begin), 60)
        hours, minutes = divmod(minutes, 60)
        spent = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
        left = self.display.describe_left()
        return Text(f"{spent}, {left}" if left else spent)
