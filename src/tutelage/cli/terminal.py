"""What a person sees in the terminal: progress while it runs, and the table of verdicts at the
end.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from tutelage.claims.verdict import Status, Verdict
from tutelage.settings import LITERAL, Setting
from tutelage.studies.study import Answered, Case

if TYPE_CHECKING:
    import numpy as np

MARK = {
    Status.HOLDS: ("green", "✓ HOLDS"),
    Status.FAILS: ("red", "✗ FAILS"),
    Status.UNDECIDED: ("yellow", "? UNDECIDED"),
    Status.MEASURED: ("cyan", "• MEASURED"),
}


def effort(steps: int) -> float:
    """What a run costs in steps taken one by one: by gradient flow (docs/horizon.md) a decade costs
    about as much as those before it.
    """
    return min(steps, LITERAL) * (1 + max(0.0, math.log10(max(steps, 1) / LITERAL)))


class Bars:
    """A bar for each case on a terminal; one plain line for each finished case elsewhere."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.console = Console(stderr=True, highlight=False)
        self.cases_of: dict[Setting, list[Case]] = {}  # a setting may serve two cases
        for case in cases:
            for setting in case.settings:
                self.cases_of.setdefault(setting, []).append(case)
        self.steps: dict[Setting, int] = {}
        self.begin = time.perf_counter()
        self.said: set[str] = set()
        self.progress = Progress(
            TextColumn("{task.description:<17}"), BarColumn(bar_width=30), TextColumn("{task.percentage:>3.0f}%"),
            TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("[dim]{task.fields[seen]}"),
            console=self.console, transient=True, disable=not self.console.is_terminal,
        )  # fmt: skip
        self.tasks: dict[str, TaskID] = {
            case.name: self.progress.add_task(
                case.name, total=sum(effort(s.steps) for s in case.settings), seen=""
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
        self.steps[setting] = step
        excess = (
            float(curves["excess_risk"][-1]) if len(curves.get("excess_risk", ())) else float("nan")
        )
        for case in self.cases_of[setting]:
            done = sum(effort(self.steps.get(s, 0)) for s in case.settings)
            self.progress.update(self.tasks[case.name], completed=done, seen=f"excess {excess:.2e}")
            if (
                self.progress.disable
                and case.name not in self.said
                and all(self.steps.get(s, 0) >= s.steps for s in case.settings)
            ):
                self.said.add(case.name)
                print(
                    f"[{time.perf_counter() - self.begin:6.1f} s] {case.name}: "
                    f"{len(case.settings)} runs done",
                    file=sys.stderr,
                )


def print_verdicts(name: str, answered: Sequence[Answered], console: Console) -> None:
    """The table of verdicts, then what is not met, what failed and what would decide the rest."""
    table = Table(
        "case",
        "claim",
        "predicted",
        "measured",
        "interval",
        "±",
        "verdict",
        title=name,
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    for a in answered:
        for i, v in enumerate(a.verdicts):
            table.add_row(
                "" if i else a.case.name,
                escape(v.statement),
                _number(v.predicted),
                _number(v.measured),
                _interval(v),
                _number(v.tolerance),
                _mark(v),
            )
        table.add_section()
    console.print(table)
    console.print()
    _print_hypotheses(answered, console)
    for a in answered:
        for v in a.verdicts:
            if v.status in (Status.FAILS, Status.UNDECIDED):
                colour = "dim" if v.control and not v.surprising else MARK[v.status][0]
                why = f" Breaks {v.control}." if v.control else ""
                console.print(f"[{colour}]{v.status.value}[/] {v.id}: {escape(v.sentence + why)}")
    console.print(f"\n{summary([v for a in answered for v in a.verdicts])}")


def summary(verdicts: Sequence[Verdict]) -> str:
    claims, measurements = (
        [v for v in verdicts if not v.control and v.measurement is kind] for kind in (False, True)
    )
    controls = [v for v in verdicts if v.control]
    said = []
    if claims or not measurements:
        counts = ", ".join(
            f"{sum(v.status is s for v in claims)} {s.value}"
            for s in (Status.HOLDS, Status.FAILS, Status.UNDECIDED)
        )
        said.append(f"{len(claims)} claims: {counts}.")
    if measurements:
        unread = sum(v.status is Status.UNDECIDED for v in measurements)
        said.append(
            f"{len(measurements)} measurements, about which nothing is claimed"
            + (f", {unread} UNDECIDED." if unread else ".")
        )
    if controls:
        sound = sum(not v.surprising for v in controls)
        said.append(f"{sound} of {len(controls)} negative controls do not hold, as they must not.")
    return " ".join(said)


def _print_hypotheses(answered: Sequence[Answered], console: Console) -> None:
    rows: dict[tuple[str, str], list[str]] = {}
    for a in answered:
        for h in a.verdicts[0].hypotheses if not a.case.control else ():
            if h.met is not True:
                rows.setdefault((h.text, h.word), []).append(
                    f"{a.case.name} ({h.detail})" if h.detail else a.case.name
                )
    for (text, word), where in rows.items():
        more = f" and {len(where) - 1} more cases" if len(where) > 1 else ""
        console.print(f"hypothesis [bold]{escape(text)}[/]: {word}, at {escape(where[0])}{more}")
    if rows:
        console.print(
            "every other hypothesis of the theorem is met in every case that is not a control\n"
        )


def _mark(verdict: Verdict) -> str:
    colour, word = MARK[verdict.status]
    if not verdict.control:
        return f"[{colour}]{word}[/]"
    return (
        f"[bold red]{word}: control broken[/]"
        if verdict.surprising
        else f"[dim]{word[2:]} (control, as it must)[/]"
    )


def _number(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.5g}"


def _interval(verdict: Verdict) -> str:
    return (
        "–"
        if verdict.interval is None
        else f"[{verdict.interval[0]:.5g}, {verdict.interval[1]:.5g}]".replace("[", "\\[")
    )


def plan_line(
    cases: Sequence[Case], left_out: Sequence[str], expected: tuple[float, float] | None
) -> str:
    """What would run, and (as the preset says it) in what time and memory."""
    settings = {setting for case in cases for setting in case.settings}  # one may serve two cases
    said = (
        f"{len(cases)} cases, {len(settings)} runs, "
        f"{sum(setting.steps for setting in settings):,} steps in all"
    )
    if expected is not None:
        seconds, gigabytes = expected
        time = f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
        said += f"; about {time} on two cores and {gigabytes:g} GB of memory"
    return said + (
        f". Left out, since they have no such option: {', '.join(left_out)}" if left_out else ""
    )


def describe_plan(cases: Sequence[Case], console: Console) -> None:
    table: Any = Table("case", "runs", "steps", "teacher", box=None, pad_edge=False)
    for case in cases:
        first = case.settings[0]
        table.add_row(
            case.name,
            str(len(case.settings)),
            f"{first.steps:,}",
            f"{first.teacher.name}, rate {first.rate:g}",
        )
    console.print(table)
