"""Progress of a study on standard error: a bar per case on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from types import TracebackType

import numpy as np
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from tutelage.settings import LITERAL, Setting
from tutelage.studies.study import Case


def estimate_effort(steps: int) -> float:
    """What a run costs, in steps taken one by one.

    By gradient flow (docs/horizon.md) a decade costs about as much as those before it. A
    calculation takes no steps, and counts as one.
    """
    return max(1.0, min(steps, LITERAL) * (1 + max(0.0, math.log10(max(steps, 1) / LITERAL))))


class Bars:
    """A bar for each case on a terminal; one plain line for each finished case elsewhere."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.console = Console(stderr=True, highlight=False)
        self.cases_of: dict[Setting, list[Case]] = {}  # a setting may serve two cases
        for case in cases:
            for setting in case.settings:
                self.cases_of.setdefault(setting, []).append(case)
        self.done: dict[Setting, float] = {}  # effort
        self.finished: set[Setting] = set()
        self.begin = time.perf_counter()
        self.said: set[str] = set()
        self.progress = Progress(
            TextColumn("{task.description:<17}"),
            BarColumn(bar_width=30),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("[dim]{task.fields[seen]}"),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )
        self.tasks: dict[str, TaskID] = {
            case.name: self.progress.add_task(
                case.name, total=sum(estimate_effort(s.steps) for s in case.settings), seen=""
            )
            for case in cases
        }

    def __enter__(self) -> Bars:
        self.progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.progress.stop()

    def __call__(self, setting: Setting, step: int, curves: dict[str, np.ndarray]) -> None:
        self.done[setting] = estimate_effort(step)
        if step >= setting.steps:
            self.finished.add(setting)
        seen = ""
        if "excess_risk" in curves and len(curves["excess_risk"]):
            seen = f"excess {float(curves['excess_risk'][-1]):.2e}"
        for case in self.cases_of[setting]:
            done = sum(self.done.get(s, 0.0) for s in case.settings)
            self.progress.update(self.tasks[case.name], completed=done, seen=seen)
            if self.progress.disable and self.finished.issuperset(case.settings):
                self._print_once(case)

    def _print_once(self, case: Case) -> None:
        if case.name not in self.said:
            self.said.add(case.name)
            spent = time.perf_counter() - self.begin
            line = f"[{spent:6.1f} s] {case.name}: {len(case.settings)} runs done"
            print(line, file=sys.stderr)
