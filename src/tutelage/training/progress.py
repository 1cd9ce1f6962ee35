"""The bar of one run: on a terminal, in a notebook, or as plain lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType

from tutelage.durations import say_seconds
from tutelage.notebook import in_notebook, show_bar
from tutelage.training.batch import Curves
from tutelage.training.effort import estimate_effort

SECONDS_PER_LINE = 10.0  # between two plain lines
SECONDS_PER_LOOK = 0.2  # between two states of a bar in a notebook
KNOWN_FROM = 0.02  # of the work, from which on its own pace says how much time is left

Show = Callable[[float, str], None]  # of how much is done, from 0 to 1, and of what to say


class Bar(AbstractContextManager["Bar"]):
    """Shows how far a run of `steps` steps is; to be given to `train_batch` as its `watch`."""

    def __init__(self, steps: int, literal: int) -> None:
        self.steps, self.literal = steps, literal
        self.whole = estimate_effort(steps, literal)
        self.stack = ExitStack()
        self.begin = time.perf_counter()
        self.first: float | None = None  # the share that was done when it was first seen

    def __enter__(self) -> Bar:
        self.show = _open_display(self.stack)
        self.show(0.0, "compiling")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stack.close()

    def __call__(self, member: int, step: int, curves: Curves) -> None:
        share = min(1.0, estimate_effort(step, self.literal) / self.whole)
        excess = curves.get("excess_risk")
        said = [f"step {step:,} of {self.steps:,}"]
        if excess is not None and len(excess) and math.isfinite(excess[-1]):
            said.append(f"excess {float(excess[-1]):.2e}")
        if left := self._describe_left(share):
            said.append(left)
        self.show(share, ", ".join(said))

    def _describe_left(self, share: float) -> str:
        """How much time is left, by the pace since it was first seen: before that it compiled."""
        if self.first is None:
            self.first, self.begin = share, time.perf_counter()
        made = share - self.first
        if made < KNOWN_FROM or share >= 1.0:
            return ""
        spent = time.perf_counter() - self.begin
        return f"about {say_seconds(spent * (1.0 - share) / made)} left"


def _open_display(stack: ExitStack) -> Show:
    """Where a bar is shown: a notebook, a terminal, or a log of plain lines."""
    if in_notebook():
        return _in_notebook(stack)
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        return _in_lines()
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(bar_width=24), TextColumn("{task.percentage:>3.0f}%  {task.description}"))
    progress = stack.enter_context(Progress(*columns, console=console, transient=True))
    task = progress.add_task("", total=1.0)
    return lambda share, words: progress.update(task, completed=share, description=words)


def _in_notebook(stack: ExitStack) -> Show:
    update, shown, last = show_bar(), -math.inf, (0.0, "")

    def show(share: float, words: str) -> None:
        nonlocal shown, last
        last = share, words
        if time.perf_counter() - shown > SECONDS_PER_LOOK:
            shown = time.perf_counter()
            update(share, words)

    stack.callback(lambda: update(*last))
    return show


def _in_lines() -> Show:
    begin = said = time.perf_counter()

    def show(share: float, words: str) -> None:
        nonlocal said
        now = time.perf_counter()
        if now - said > SECONDS_PER_LINE:
            said = now
            print(f"[{now - begin:6.1f} s] {share:4.0%}, {words}", file=sys.stderr)

    return show
