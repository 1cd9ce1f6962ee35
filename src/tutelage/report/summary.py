"""What goes into a review or a rebuttal: the report as a page of Markdown, and its claims as a
LaTeX table. A line per claim over all of its cases; the CSV has every verdict.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tutelage.claims.discoveries import find_discoveries
from tutelage.claims.labels import ClaimedBy
from tutelage.claims.verdict import Status, Verdict
from tutelage.report.front import Account, gather_accounts
from tutelage.report.gather import FinishedStudy, Unread, split_id
from tutelage.report.tables import CHANGED, gather_changes
from tutelage.report.wording import (
    Group,
    count_status,
    find_side,
    group_verdicts,
    say_claim,
    say_outcome,
    say_status,
)
from tutelage.studies.counts import Counts
from tutelage.version import __version__

STATUSES = tuple(Counts.of(()).by_status)  # that a claim may have
SHORT = {ClaimedBy.PAPER: "paper", ClaimedBy.SHARPER: "sharper", ClaimedBy.BEYOND: "beyond"}


def render_markdown(
    studies: Sequence[FinishedStudy],
    beside: Path,
    unread: Mapping[Path, Unread] | None = None,
    *,
    date: datetime.date | None = None,
) -> str:
    """Page one of each paper, what fails, and a line per claim; figures by path, seen from the
    folder `beside`. For each `unread` study it says why it is not there.
    """
    day = date if date is not None else datetime.date.today()
    lines: list[str] = []
    for account in gather_accounts(studies):
        lines += _summarise(account, beside, day)
    if unread:
        lines += ["## Studies that cannot be read", ""]
        lines += [f"- **{why.word}** `{folder}`: {why.sentence}" for folder, why in unread.items()]
        lines += [""]
    return "\n".join(lines)


def render_latex(studies: Sequence[FinishedStudy]) -> str:
    """A `longtable` with `booktabs`, one row per claim; nothing but plain LaTeX in it."""
    lines = [
        r"% needs \usepackage{booktabs,longtable}",
        r"\begin{longtable}{llrll}",
        r"\toprule",
        r"claim & claimed by & cases & measured & verdict \\",
        r"\midrule",
        r"\endhead",
    ]
    for finished in studies:
        lines.append(rf"\multicolumn{{5}}{{l}}{{\texttt{{{_escape_tex(finished.name)}}}}} \\")
        for group in group_verdicts(finished.verdicts):
            lines.append(" & ".join(_list_cells(group)) + r" \\")
        lines.append(r"\midrule")
    lines[-1] = r"\bottomrule"
    return "\n".join([*lines, r"\end{longtable}", ""])


def _summarise(account: Account, beside: Path, day: datetime.date) -> list[str]:
    verdicts = account.verdicts
    counts = Counts.of(verdicts)
    made = f"tutelage {account.versions or __version__}"
    lines = [
        f"# {account.title}",
        "",
        *([account.authors, ""] if account.authors else []),
        f"Report of {day.day} {day:%B %Y}, {made}, preset {account.presets}: {counts.sentence}",
        "",
    ]
    if account.front.question:
        lines += ["## The question", "", _escape_markdown(account.front.question), ""]
    answers, _ = account.write_answers()
    if answers:
        lines += ["## The answer", ""]
        lines += [f"{place}. {_escape_markdown(said)}" for place, said in enumerate(answers, 1)]
        lines += [""]
    lines += ["## The verdicts", "", *_render_head(["whose claims", "claims", *STATUSES])]
    for group, c in Counts.by_group(verdicts).items():
        if c.claims:
            cells = [group.heading, c.claims, *c.by_status.values()]
            lines.append(f"| {' | '.join(map(str, cells))} |")
    said = [counts.controls_sentence, find_discoveries(verdicts).sentence]
    lines += ["", *(sentence for sentence in said if sentence), ""]
    for finished, figure in account.choose_figures():
        path = Path(os.path.relpath(figure.with_suffix(".png"), beside)).as_posix()
        caption = finished.study.get("captions", {}).get(figure.name, figure.name)
        lines += [f"![{_escape_markdown(caption)}]({path})", ""]
    lines += _list_failures(account)
    for finished in account.studies:
        lines += _list_claims(finished)
    return lines


def _list_failures(account: Account) -> list[str]:
    failing = [v for v in account.verdicts if v.surprising]
    lines = ["## What fails", ""]
    for verdict in failing:
        reading = account.front.read_failure(verdict)
        seen = f"{say_claim(verdict)}: {say_outcome(verdict)}"
        said = f"{reading} Claimed: {seen}" if reading else seen
        lines.append(f"- {_escape_markdown(said)} (`{verdict.id}`)")
    return [*lines, *([] if failing else ["No claim fails, and no control holds."]), ""]


def _list_claims(finished: FinishedStudy) -> list[str]:
    study = finished.study
    lines = [
        f"## {finished.name}",
        "",
        f"{_escape_markdown(study['statement'])} ({_escape_markdown(study['source'])}; repeated by "
        f"`{study['command']}`)",
        "",
        *_render_head(["claim", "whose", "verdict"]),
    ]
    for group in group_verdicts(finished.verdicts):
        if not group.first.control:
            whose = "" if group.first.measurement else SHORT[group.first.claimed_by]
            cells = [_escape_markdown(group.sentence), whose, _say_statuses(group)]
            lines.append(f"| {' | '.join(cells)} |")
    controls = [v for v in finished.verdicts if v.control]
    for verdict in controls:
        case, claim = split_id(verdict)
        cells = [
            f"control `{case}/{claim}`, breaks {_escape_markdown(verdict.control)}",
            "",
            say_status(verdict),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    if changed := gather_changes(finished):
        lines += ["", f"### {CHANGED}", ""]
        lines += [
            f"- {_escape_markdown(said)}{f' ({_escape_markdown(where)})' if where else ''}"
            for said, where in changed.items()
        ]
    return [*lines, ""]


def _say_statuses(group: Group) -> str:
    if len(group.verdicts) == 1:
        said = say_status(group.first)
        return f"**{said}**" if _is_open(group.first) else said
    return ", ".join(count_status(status, count) for status, count in group.statuses.items())


def _is_open(verdict: Verdict) -> bool:
    """Whether a claim fails, or something is undecided, or a control does not fail."""
    if verdict.control:
        return verdict.status is not Status.FAILS
    return verdict.status in (Status.FAILS, Status.UNDECIDED)


def _render_head(names: Sequence[str]) -> list[str]:
    return [f"| {' | '.join(names)} |", "| --- " * len(names) + "|"]


def _escape_markdown(text: str) -> str:
    for sign in ("\\", "|", "*", "_", "<"):
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", " ")


def _list_cells(group: Group) -> list[str]:
    """A row of the LaTeX table."""
    first = group.first
    case, claim = split_id(first)
    name = claim if len(group.verdicts) > 1 else f"{case}/{claim}"
    whose = "control" if first.control else "" if first.measurement else SHORT[first.claimed_by]
    statuses = ", ".join(count_status(s, n) for s, n in group.statuses.items())
    if len(group.verdicts) == 1:
        statuses = say_status(first)
    return [
        _escape_tex(name),
        whose,
        str(len(group.verdicts)),
        _measure_tex(group),
        statuses,
    ]


def _measure_tex(group: Group) -> str:
    """What was measured against what was predicted, or the range of their ratios."""
    if len(group.verdicts) == 1:
        verdict = group.first
        seen = _format_tex_number(verdict.measured)
        if verdict.measurement or verdict.predicted is None or verdict.measured is None:
            return seen
        side = find_side(verdict)
        if side == "=" and verdict.predicted == 0 and verdict.tolerance is not None:
            return f"{seen}, allowed {_format_tex_number(verdict.tolerance)}"
        side = {"≤": r"claimed $\le$", "≥": r"claimed $\ge$", "=": "predicted"}[side]
        return f"{seen}, {side} {_format_tex_number(verdict.predicted)}"
    ratios = [v.measured / v.predicted for v in group.verdicts if v.measured and v.predicted]
    if len(ratios) == len(group.verdicts):
        ends = dict.fromkeys(_format_tex_number(end) for end in (min(ratios), max(ratios)))
        return f"{' to '.join(ends)} times predicted"
    values = [v.measured for v in group.verdicts if v.measured is not None]
    if not values:
        return "--"
    return " to ".join(dict.fromkeys(_format_tex_number(v) for v in (min(values), max(values))))


def _escape_tex(text: str) -> str:
    for sign in "&%$#_{}":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("@", " at ")


def _format_tex_number(value: float | None) -> str:
    if value is None:
        return "--"
    mantissa, _, power = f"{value:.5g}".partition("e")
    return f"${mantissa}$" if not power else f"${mantissa}\\cdot 10^{{{int(power)}}}$"
