"""Verdicts as tables: Markdown for GitHub, CSV for a program, LaTeX for a paper."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tutelage.claims.verdict import Status, Verdict
from tutelage.report.gather import FinishedStudy, Unread, split_id

COLUMNS = (
    "study",
    "case",
    "claim",
    "kind",
    "status",
    "predicted",
    "measured",
    "low",
    "high",
    "tolerance",
    "seeds",
    "statement",
    "sentence",
)


def format_number(value: float | None, digits: int = 5) -> str:
    return "–" if value is None else f"{value:.{digits}g}"


def format_interval(verdict: Verdict, digits: int = 5) -> str:
    if verdict.interval is None:
        return "–"
    low, high = (format_number(end, digits) for end in verdict.interval)
    return f"[{low}, {high}]"


def render_csv(studies: Sequence[FinishedStudy]) -> str:
    """One row per verdict, with all digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for finished in studies:
        for v in finished.verdicts:
            case, claim = split_id(v)
            low, high = v.interval or (None, None)
            numbers = (v.predicted, v.measured, low, high, v.tolerance)
            writer.writerow(
                [
                    finished.name,
                    case,
                    claim,
                    v.kind,
                    v.status.value,
                    *("" if number is None else number for number in numbers),
                    " ".join(map(str, v.seeds)),
                    v.statement,
                    v.sentence,
                ]
            )
    return text.getvalue()


def render_latex(studies: Sequence[FinishedStudy]) -> str:
    """A `longtable` with `booktabs`, one row per verdict; nothing but plain LaTeX in it."""
    lines = [
        r"% needs \usepackage{booktabs,longtable}",
        r"\begin{longtable}{llrrll}",
        r"\toprule",
        r"case & claim & predicted & measured & interval & verdict \\",
        r"\midrule",
        r"\endhead",
    ]
    for finished in studies:
        lines.append(rf"\multicolumn{{6}}{{l}}{{\texttt{{{_escape_tex(finished.name)}}}}} \\")
        for v in finished.verdicts:
            case, claim = split_id(v)
            cells = [
                _escape_tex(case),
                _escape_tex(claim),
                _format_tex_number(v.predicted),
                _format_tex_number(v.measured),
                _format_tex_interval(v),
                v.status.value.lower() + (" (control)" if v.control else ""),
            ]
            lines.append(" & ".join(cells) + r" \\")
        lines.append(r"\midrule")
    lines[-1] = r"\bottomrule"
    return "\n".join([*lines, r"\end{longtable}", ""])


def render_markdown(
    studies: Sequence[FinishedStudy], beside: Path, unread: Mapping[Path, Unread] | None = None
) -> str:
    """Summary, then each study with its statement, figures (by path, seen from the folder `beside`)
    and verdicts. It says of each `unread` study why it is not there.
    """
    head = "study", "preset", "claims", "HOLDS", "FAILS", "UNDECIDED"
    lines = [
        "# Report",
        "",
        f"| {' | '.join(head)} | controls that do not hold | measurements |",
        "| --- " * 8 + "|",
    ]
    for finished in studies:
        c = finished.counts
        cells = [
            finished.name,
            finished.study["preset"],
            c.claims,
            c.holds,
            c.fails,
            c.undecided,
            f"{c.sound} of {c.controls}",
            f"{c.read} of {c.measurements}" if c.measurements else "–",
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    if unread:
        lines += ["", "## Studies that cannot be read", ""]
        lines += [f"- **{why.word}** `{folder}`: {why.sentence}" for folder, why in unread.items()]
    for finished in studies:
        lines += _render_study(finished, beside)
    return "\n".join([*lines, ""])


def _render_study(finished: FinishedStudy, beside: Path) -> list[str]:
    study = finished.study
    lines = [
        "",
        f"## {finished.name}",
        "",
        _escape_markdown(study["statement"]),
        "",
        f"`{study['equation']}`",
        "",
        f"Source: {study['source']}. Repeated by `{study['command']}`.",
        "",
    ]
    for figure in finished.figures:
        path = Path(os.path.relpath(figure.with_suffix(".png"), beside)).as_posix()
        lines.append(f"![{figure.name}]({path})")
    lines += [
        "",
        "| case | claim | predicted | measured | interval | verdict |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for v in finished.verdicts:
        status = f"**{v.status.value}**" if _is_open(v) else v.status.value
        cells = [
            split_id(v)[0],
            _escape_markdown(v.statement),
            format_number(v.predicted),
            format_number(v.measured),
            format_interval(v),
            status + (" (control)" if v.control else ""),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    open_ones = [v for v in finished.verdicts if _is_open(v)]
    lines += [""] if open_ones else []
    return lines + [
        f"- {v.status.value} `{v.id}`: {_escape_markdown(v.sentence)}" for v in open_ones
    ]


def _is_open(verdict: Verdict) -> bool:
    """Whether it fails or is undecided, and is no control."""
    return verdict.status in (Status.FAILS, Status.UNDECIDED) and not verdict.control


def _escape_markdown(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("\n", " ")


def _escape_tex(text: str) -> str:
    for sign in "&%$#_{}":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("@", " at ")


def _format_tex_number(value: float | None) -> str:
    text = format_number(value)
    if text == "–":
        return "--"
    mantissa, _, power = text.partition("e")
    return f"${mantissa}$" if not power else f"${mantissa}\\cdot 10^{{{int(power)}}}$"


def _format_tex_interval(verdict: Verdict) -> str:
    if verdict.interval is None:
        return "--"
    low, high = map(_format_tex_number, verdict.interval)
    return f"[{low}, {high}]"
