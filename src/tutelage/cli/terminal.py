"""What a person sees in the terminal of a study: its plan, and its verdicts at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from tutelage.claims.discoveries import Discoveries, find_discoveries
from tutelage.claims.verdict import Status, Verdict
from tutelage.durations import say_seconds
from tutelage.settings import Setting
from tutelage.studies.study import Answered

if TYPE_CHECKING:
    from tutelage.studies.costs import CaseCost, StudyCost
    from tutelage.studies.planning import PlannedStudy

MARK = {
    Status.HOLDS: ("green", "✓ HOLDS"),
    Status.FAILS: ("red", "✗ FAILS"),
    Status.UNDECIDED: ("yellow", "? UNDECIDED"),
    Status.MEASURED: ("cyan", "• MEASURED"),
    Status.OUTSIDE: ("blue", "○ OUTSIDE"),
    Status.VACUOUS: ("blue", "∅ VACUOUS"),
}
FAILS_AS_EXPECTED = "fails, as expected"
ANY_WIDTH = 10_000  # columns, to find out how many a table would take
UNREMARKABLE = (Status.HOLDS, Status.MEASURED)


def print_verdicts(name: str, answered: Sequence[Answered], console: Console) -> None:
    """The verdicts, as a table where it fits and stacked where it does not; then what is not met,
    what failed and what would decide the rest.
    """
    together = find_discoveries(v for a in answered for v in a.verdicts)
    table = _make_table(name, answered, together)
    unbounded = console.options.update(width=ANY_WIDTH)
    if Measurement.get(console, unbounded, table).maximum <= console.width:
        console.print(table)
    else:
        _print_stacked(name, answered, together, console)
    console.print()
    _print_hypotheses(answered, console)
    _print_sentences([verdict for a in answered for verdict in a.verdicts], console)
    if together.sentence:
        console.print(escape(together.sentence), soft_wrap=not console.is_terminal)


def _make_table(name: str, answered: Sequence[Answered], together: Discoveries) -> Table:
    heads = ("case", "claim", "predicted", "measured", "interval", "±", "verdict")
    table = Table(*heads, title=name, title_justify="left", box=None, pad_edge=False)
    for a in answered:
        for i, v in enumerate(a.verdicts):
            style = "dim" if is_passed_control(v) else ""
            table.add_row(
                "" if i else a.case.name,
                escape(v.statement),
                _format_predicted(v),
                _format_number(v.measured),
                escape(_format_interval(v)),
                _format_tolerance(v),
                mark_verdict(v, together.mark(v)),
                style=style,
            )
        table.add_section()
    return table


def _print_stacked(
    name: str, answered: Sequence[Answered], together: Discoveries, console: Console
) -> None:
    """Each verdict on lines of its own: nothing is left out, however narrow the terminal is."""
    console.print(escape(name), style="italic")
    for a in answered:
        if a.verdicts:
            console.print(f"\n[bold]{escape(a.case.name)}[/]")
        for v in a.verdicts:
            style = "dim" if is_passed_control(v) else ""
            status = Text.from_markup(mark_verdict(v, together.mark(v)))
            numbers = Text.assemble(status, "  ", _describe_numbers(v), style=style)
            _print_indented(Text(v.statement, style=style), 2, console)
            _print_indented(numbers, 4, console)


def _print_indented(text: Text, indent: int, console: Console) -> None:
    """A text whose lines all begin after so many spaces; elsewhere than on a terminal one line."""
    lines = text.wrap(console, console.width - indent) if console.is_terminal else [text]
    for line in lines:
        console.print(Text.assemble(" " * indent, line), soft_wrap=True)


def _describe_numbers(verdict: Verdict) -> str:
    """Predicted, measured, interval and tolerance in a line: "predicted ≤ 1, measured 3.7e-10"."""
    tolerance = _format_tolerance(verdict)
    predicted = _format_predicted(verdict)
    if tolerance not in ("", "–"):
        predicted = f"{predicted} ± {tolerance}"
    measured = _format_number(verdict.measured)
    if verdict.interval is not None and {*map(_format_number, verdict.interval)} != {measured}:
        measured = f"{measured} in {_format_interval(verdict)}"
    known = verdict.predicted is not None
    return f"predicted {predicted}, measured {measured}" if known else f"measured {measured}"


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
        where = f"{escape(places[0])}{more}"
        said = f"hypothesis [bold]{escape(text)}[/]: {word}, at {where}"
        console.print(said, soft_wrap=not console.is_terminal)
    if rows:
        console.print(
            "every other hypothesis of the theorem is met in every case that is not a control\n"
        )


def _print_sentences(verdicts: Sequence[Verdict], console: Console) -> None:
    """The sentences of verdicts that do not hold; controls that passed come first, and dim."""
    said = [v for v in verdicts if v.status not in UNREMARKABLE or (v.control and v.surprising)]
    for verdict in sorted(said, key=lambda v: not is_passed_control(v)):
        words = f"{verdict.id}: {verdict.sentence}"
        if is_passed_control(verdict):
            line = f"{FAILS_AS_EXPECTED}  {words} Breaks {verdict.control}."
            console.print(line, style="dim", markup=False, soft_wrap=not console.is_terminal)
            continue
        why = f" Breaks {verdict.control}." if verdict.control else ""
        colour = MARK[verdict.status][0]
        status = f"[{colour}]{verdict.status.value}[/]"
        console.print(f"{status} {escape(words + why)}", soft_wrap=not console.is_terminal)


def is_passed_control(verdict: Verdict) -> bool:
    """Whether it is a negative control that fails, as it must."""
    return bool(verdict.control) and verdict.status is Status.FAILS


def mark_verdict(verdict: Verdict, note: str = "") -> str:
    """The status of a verdict, in colour; that of a control says whether it passed."""
    colour, word = MARK[verdict.status]
    if is_passed_control(verdict):
        return f"[dim]{FAILS_AS_EXPECTED}[/]"
    if not verdict.control:
        return f"[{colour}]{word}[/]" + (f" ({note})" if note else "")
    if verdict.status is Status.UNDECIDED:
        return f"[{colour}]{word} (control, not passed)[/]"
    return f"[bold red]{word}: control broken[/]"


def _format_number(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.5g}"


def _format_predicted(verdict: Verdict) -> str:
    """The number that is claimed: "≤ 1" of a bound."""
    from tutelage.report.wording import find_side

    number = _format_number(verdict.predicted)
    side = "=" if verdict.predicted is None else find_side(verdict)
    return number if side == "=" else f"{side} {number}"


def _format_tolerance(verdict: Verdict) -> str:
    """How far what is measured may be off; nothing where it may not."""
    return "" if verdict.tolerance == 0 else _format_number(verdict.tolerance)


def _format_interval(verdict: Verdict) -> str:
    if verdict.interval is None:
        return "–"
    low, high = verdict.interval
    return f"[{low:.5g}, {high:.5g}]"


def describe_plan(planned: PlannedStudy, cost: StudyCost) -> str:
    """What would run, and in what time and memory; what is stored takes none."""
    # One setting may serve two cases.
    settings = {setting for case in planned.cases for setting in case.settings}
    steps = sum(setting.steps for setting in settings)
    cases, runs = _count(len(planned.cases), "case"), _count(len(settings), "run")
    said = f"{cases}, {runs}, {steps:,} steps in all"
    if cost.stored:
        said += f"; {cost.stored} of the runs {'is' if cost.stored == 1 else 'are'} stored"
    if cost.stored < cost.runs:
        memory = planned.study.preset(planned.plan).gigabytes
        said += f"; about {say_seconds(cost.seconds)} on two cores and {memory:g} GB of memory"
    if planned.left_out:
        left_out = ", ".join(planned.left_out)
        said += f". Left out, since they have no such option: {left_out}"
    return said


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def print_cases(planned: PlannedStudy, costs: Mapping[str, CaseCost], console: Console) -> None:
    """A row per case: how many runs and steps, what they take less those that are stored, and the
    setting of the first run.
    """
    heads = ("case", "runs", "stored", "steps", "time", "setting")
    title = planned.study.name
    table = Table(*heads, title=title, title_justify="left", box=None, pad_edge=False)
    for case in planned.cases:
        first, cost = case.settings[0], costs[case.name]
        steps = "" if first.calculation is not None else f"{first.steps:,}"
        counts = (str(cost.runs), str(cost.stored) if cost.stored else "")
        table.add_row(case.name, *counts, steps, _describe_time(cost), _describe_first(first))
    console.print(table)


def _describe_time(cost: CaseCost) -> str:
    if not cost.missing:
        return "none"
    return "under 1 s" if cost.seconds < 1 else f"~{say_seconds(cost.seconds)}"


def _describe_first(setting: Setting) -> str:
    if setting.calculation is not None:
        return setting.calculation.name
    return f"{setting.teacher.name}, rate {setting.rate:g}"
