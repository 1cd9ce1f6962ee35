"""What a person sees of a sweep: one bar with the time to finish, and the rows at the end."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from types import TracebackType

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table

from tutelage.cli.terminal import print_verdicts
from tutelage.run import Outcome, Run
from tutelage.settings import Setting
from tutelage.studies.counts import Counts
from tutelage.studies.study import Answered
from tutelage.studies.sweep_rows import Row
from tutelage.training.effort import estimate_effort

SHOWN_ROWS = 40  # on the screen; the file has all
SECONDS_PER_LINE = 10.0  # between two lines where there is no terminal
COLOURS = {
    "FINISHED": "green",
    "CONVERGED": "green",
    "CALCULATED": "green",
    "DIVERGED": "yellow",
    "UNSTEADY": "yellow",
    "STUCK": "yellow",
    "FAILED": "red",
}


class Progress:
    """Steps and runs done of all that are asked for; plain lines where there is no terminal."""

    def __init__(self, settings: Sequence[Setting]) -> None:
        self.console = Console(stderr=True, highlight=False)
        # Only these settings count: others, which go on from an end of these, are not watched.
        self.done: dict[Setting, float] = dict.fromkeys(settings, 0.0)  # effort
        self.runs = self.failed = 0
        self.total = sum(estimate_effort(setting.steps) for setting in settings)
        self.count = len(settings)
        self.completed = 0.0
        self.begin = self.said = time.perf_counter()
        self.lock = threading.Lock()
        self.bar = Bar(
            BarColumn(bar_width=40),
            TextColumn("{task.percentage:>3.0f}%  spent"),
            TimeElapsedColumn(),
            TextColumn(" left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[seen]}"),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )
        self.task = self.bar.add_task("sweep", total=self.total, seen="")

    def __enter__(self) -> Progress:
        self.bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bar.stop()

    def __call__(self, setting: Setting, step: int, curves: dict[str, np.ndarray]) -> None:
        if setting not in self.done:
            return
        with self.lock:
            reached = estimate_effort(step)
            self.completed += reached - self.done[setting]
            self.done[setting] = reached
        self._show()

    def count_run(self, run: Run) -> None:
        """Counts a run that is over."""
        assert run.setting is not None
        self.runs += 1
        self.failed += run.outcome is Outcome.FAILED
        self(run.setting, run.setting.steps, run.curves)

    def _show(self) -> None:
        failed = f", {self.failed} failed" if self.failed else ""
        seen = f"{self.runs:,} of {self.count:,} runs{failed}" if self.runs else ""
        self.bar.update(self.task, completed=self.completed, seen=seen)
        now = time.perf_counter()
        if self.bar.disable and now - self.said > SECONDS_PER_LINE and self.completed:
            self.said, spent = now, now - self.begin
            percent = 100 * self.completed / self.total
            # The first steps are few and their compilation long: what they foretell is nothing.
            left = (
                f"about {spent * (100 - percent) / percent:.0f} s to go"
                if percent > 2
                else "time to finish not known yet"
            )
            print(f"[{spent:7.1f} s] {percent:3.0f}%, {seen or 'running'}, {left}", file=sys.stderr)


def print_rows(rows: Sequence[Row], console: Console, *, written: bool = True) -> None:
    """One row per setting: first those that failed or diverged, with the reason."""
    fine = ("FINISHED", "CONVERGED", "CALCULATED", "stored", "to run")
    troubled = [row for row in rows if row["outcome"] not in fine]
    shown = [*troubled, *(row for row in rows if row["outcome"] in fine)][:SHOWN_ROWS]
    hidden = {"run", "reason", "value_error", "attention_error", "support_mass", "entropy"}
    found = dict.fromkeys(name for row in shown for name in row)
    names = [name for name in found if name not in hidden]
    table = Table(*names, "", box=None, pad_edge=False)
    for row in shown:
        cells = {name: escape(_format_cell(row.get(name))) for name in names}
        colour = COLOURS.get(str(row["outcome"]), "dim")
        cells["outcome"] = f"[{colour}]{cells['outcome']}[/]"
        reason = str(row.get("reason", ""))
        told = reason in str(row["outcome"])  # as of a setting that is refused before it is run
        table.add_row(*cells.values(), "" if told else f"[dim]{escape(reason)}[/]")
    console.print(table)
    if len(rows) > len(shown):
        more = f"… and {len(rows) - len(shown):,} more rows"
        console.print(f"{more}{' in the file' if written else ''}")


def print_verdict_table(name: str, answered: Sequence[Answered], console: Console) -> None:
    console.print()
    print_verdicts(name, [a for a in answered if a.verdicts], console)
    counts = Counts.of(verdict for a in answered for verdict in a.verdicts)
    console.print(f"\n{counts.sentence}", soft_wrap=not console.is_terminal)


def _format_cell(value: str | int | float | None) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.5g}"
    return f"{value:,}" if isinstance(value, int) else value
