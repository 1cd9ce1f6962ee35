"""What a person sees of a sweep: one bar with the time to finish, and the rows at the end."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table

from tutelage.cli.terminal import effort, print_verdicts
from tutelage.run import Outcome, Run
from tutelage.settings import Setting

if TYPE_CHECKING:
    from tutelage.studies.study import Answered

SHOWN = 40  # rows on the screen; the file has all
LINE = 10.0  # seconds between two lines where there is no terminal
COLOUR = {
    "FINISHED": "green",
    "CONVERGED": "green",
    "DIVERGED": "yellow",
    "UNSTEADY": "yellow",
    "FAILED": "red",
}


class Progress:
    """Steps done of all that are asked for, and runs done; a line every few seconds where there is
    no terminal.
    """

    def __init__(self, settings: Sequence[Setting]) -> None:
        self.console = Console(stderr=True, highlight=False)
        self.steps: dict[Setting, int] = {}
        self.runs = self.failed = 0
        self.total, self.count = sum(effort(setting.steps) for setting in settings), len(settings)
        self.completed = 0.0
        self.begin = self.said = time.perf_counter()
        self.lock = threading.Lock()
        self.bar = Bar(
            BarColumn(bar_width=40),
            TextColumn("{task.percentage:>3.0f}% "
" spent"), TimeElapsedColumn(), TextColumn(" left"), TimeRemainingColumn(),
            TextColumn("{task.fields[seen]}"), console=self.console, transient=True, disable=not self.console.is_terminal,
        )  # fmt: skip
        self.task = self.bar.add_task("sweep", total=self.total, seen="")

    def asked(self, settings: Sequence[Setting]) -> None:
        """Which settings count; others are not watched."""
        self.steps = dict.fromkeys(settings, 0)

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

    def __call__(self, setting: Setting, step: int, curves: Mapping[str, Any]) -> None:
        if setting not in self.steps:
            return  # one that goes on from another's end
        with self.lock:
            self.completed += effort(step) - effort(self.steps[setting])
            self.steps[setting] = step
        self._show()

    def done(self, run: Run) -> None:
        assert run.setting is not None
        self.runs += 1
        self.failed += run.outcome is Outcome.FAILED
        self(run.setting, run.setting.steps, run.curves)

    def _show(self) -> None:
        failed = f", {self.failed} failed" if self.failed else ""
        seen = f"{self.runs:,} of {self.count:,} runs{failed}" if self.runs else ""
        self.bar.update(self.task, completed=self.completed, seen=seen)
        now = time.perf_counter()
        if self.bar.disable and now - self.said > LINE and self.completed:
            self.said, spent = now, now - self.begin
            percent = 100 * self.completed / self.total
            # The first steps are few and their compilation long: what they foretell is nothing.
            left = (
                f"about {spent * (100 - percent) / percent:.0f} s to go"
                if percent > 2
                else "time to finish not known yet"
            )
            print(f"[{spent:7.1f} s] {percent:3.0f}%, {seen or 'running'}, {left}", file=sys.stderr)


def print_rows(
    rows: Sequence[Mapping[str, Any]], console: Console, *, written: bool = True
) -> None:
    """A row a setting: first those that failed or diverged, with the reason."""
    troubled = [
        row for row in rows if row["outcome"] not in ("FINISHED", "CONVERGED", "stored", "to run")
    ]
    shown = [*troubled, *(row for row in rows if row not in troubled)][:SHOWN]
    hidden = {"run", "reason", "value_error", "attention_error", "support_mass", "entropy"}
    names = [
        name for name in dict.fromkeys(name for row in shown for name in row) if name not in hidden
    ]
    table = Table(*names, "", box=None, pad_edge=False)
    for row in shown:
        colour = COLOUR.get(str(row["outcome"]), "dim")
        cells = [
            f"[{colour}]{escape(_cell(row.get(name)))}[/]"
            if name == "outcome"
            else escape(_cell(row.get(name)))
            for name in names
        ]
        table.add_row(*cells, f"[dim]{escape(str(row.get('reason', '')))}[/]")
    console.print(table)
    if len(rows) > len(shown):
        console.print(
            f"… and {len(rows) - len(shown):,} more rows{' in the file' if written else ''}"
        )


def print_verdict_table(name: str, answered: Sequence[Answered], console: Console) -> None:
    console.print()
    print_verdicts(name, [a for a in answered if a.verdicts], console)


def _cell(value: Any) -> str:
    return (
        ""
        if value is None
        else f"{value:.5g}"
        if isinstance(value, float)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )
