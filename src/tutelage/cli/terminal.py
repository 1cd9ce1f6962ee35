"""What a person sees in the terminal of a study: its plan, and the table of verdicts at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tutelage.claims.discoveries import find_discoveries
from tutelage.claims.verdict import Status, Verdict
from tutelage.settings import Setting
from tutelage.studies.counts import Counts
from tutelage.studies.study import Answered, Case

if TYPE_CHECKING:
    from tutelage.studies.planning import PlannedStudy

MARK = {
    Status.HOLDS: ("green", "✓ HOLDS"),
    Status.FAILS: ("red", "✗ FAILS"),
    Status.UNDECIDED: ("yellow", "? UNDECIDED"),
    Status.MEASURED: ("cyan", "• MEASURED"),
    Status.OUTSIDE: ("blue", "○ OUTSIDE"),
    Status.VACUOUS: ("blue", "∅ VACUOUS"),
}


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
    together = find_discoveries(v for a in answered for v in a.verdicts)
    for a in answered:
        for i, v in enumerate(a.verdicts):
            table.add_row(
                "" if i else a.case.name,
                escape(v.statement),
                _format_number(v.predicted),
                _format_number(v.measured),
                _format_interval(v),
                _format_number(v.tolerance),
                _mark(v, together.mark(v)),
            )
        table.add_section()
    console.print(table)
    console.print()
    _print_hypotheses(answered, console)
    for a in answered:
        for v in a.verdicts:
            if v.status not in (Status.HOLDS, Status.MEASURED):
                passed = v.control and v.status is Status.FAILS
                colour = "dim" if passed else MARK[v.status][0]
                why = f" Breaks {v.control}." if v.control else ""
                said = escape(f"{v.id}: {v.sentence}{why}")
                console.print(f"[{colour}]{v.status.value}[/] {said}")
    console.print(f"\n{Counts.of(v for a in answered for v in a.verdicts).sentence}")
    if together.sentence:
        console.print(escape(together.sentence), soft_wrap=True)


def _print_hypotheses(answered: Sequence[Answered], console: Console) -> None:
    rows: dict[tuple[str, str], list[str]] = {}
    for a in answered:
        hypotheses = a.verdicts[0].hypotheses if a.verdicts and not a.case.control else ()
        for h in hypotheses:
            if h.met is not True:
                where = f"{a.case.name} ({h.detail})" if h.detail else a.case.name
                rows.setdefault((h.text, h.word), []).append(where)
    for (text, word), places in rows.items():
        more = f" and {len(places) - 1} more cases" if len(places) > 1 else ""
        console.print(f"hypothesis [bold]{escape(text)}[/]: {word}, at {escape(places[0])}{more}")
    if rows:
        console.print(
            "every other hypothesis of the theorem is met in every case that is not a control\n"
        )


def _mark(verdict: Verdict, note: str = "") -> str:
    colour, word = MARK[verdict.status]
    if not verdict.control:
        return f"[{colour}]{word}[/]" + (f" ({note})" if note else "")
    if verdict.status is Status.FAILS:
        return f"[dim]{word[2:]} (control, as expected)[/]"
    if verdict.status is Status.UNDECIDED:
        return f"[{colour}]{word} (control, not passed)[/]"
    return f"[bold red]{word}: control broken[/]"


def _format_number(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.5g}"


def _format_interval(verdict: Verdict) -> str:
    if verdict.interval is None:
        return "–"
    low, high = verdict.interval
    return f"\\[{low:.5g}, {high:.5g}]"  # a bracket would begin markup


def describe_plan(planned: PlannedStudy) -> str:
    """What would run, and (as the preset says it) in what time and memory."""
    # One setting may serve two cases.
    settings = {setting for case in planned.cases for setting in case.settings}
    steps = sum(setting.steps for setting in settings)
    said = f"{len(planned.cases)} cases, {len(settings)} runs, {steps:,} steps in all"
    if planned.expected is not None:
        seconds, gigabytes = planned.expected
        said += f"; about {format_seconds(seconds)} on two cores and {gigabytes:g} GB of memory"
    if planned.left_out:
        left_out = ", ".join(planned.left_out)
        said += f". Left out, since they have no such option: {left_out}"
    return said


def print_cases(cases: Sequence[Case], console: Console) -> None:
    """A row per case: how many runs and steps, and the setting of its first run."""
    table = Table("case", "runs", "steps", "setting", box=None, pad_edge=False)
    for case in cases:
        first = case.settings[0]
        steps = "" if first.calculation is not None else f"{first.steps:,}"
        table.add_row(case.name, str(len(case.settings)), steps, _describe_first(first))
    console.print(table)


def format_seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _describe_first(setting: Setting) -> str:
    if setting.calculation is not None:
        return setting.calculation.name
    return f"{setting.teacher.name}, rate {setting.rate:g}"
