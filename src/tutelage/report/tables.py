"""Verdicts as tables: Markdown for GitHub, CSV for a program, LaTeX for a paper."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tutelage.claims.discoveries import Discoveries, find_discoveries
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.claims.verdict import Status, Verdict
from tutelage.report.gather import FinishedStudy, Unread, split_id
from tutelage.studies.counts import Counts

STATUSES = tuple(Counts.of(()).by_status)  # that a claim may have

COLUMNS = (
    "study",
    "case",
    "claim",
    "kind",
    "claimed_by",
    "evidence",
    "source_text",
    "status",
    "predicted",
    "measured",
    "low",
    "high",
    "tolerance",
    "seeds",
    "varies",
    "errors",
    "looseness",
    "smallest_violation",
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


def format_errors(verdict: Verdict) -> str:
    """The error budget in words, "" where no error is known."""
    return ", ".join(f"{term.name} {term.size:.1g}" for term in verdict.errors)


def format_labels(verdict: Verdict) -> str:
    """How the evidence came about and how much of the source was read, where that is not all."""
    said = [verdict.evidence.value]
    if verdict.source_text is not SourceText.READ:
        said.append(f"text {verdict.source_text.value}")
    return ", ".join(said)


def split_groups(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    """Verdicts by whose claim they are, controls and measurements apart; empty groups left out."""
    claims = [v for v in verdicts if v.kind == "claim"]
    groups = {
        group.heading: [v for v in claims if v.claimed_by is group] for group in ClaimedBy
    } | {
        "Controls, which must FAIL": [v for v in verdicts if v.kind == "control"],
        "Measurements": [v for v in verdicts if v.kind == "measurement"],
    }
    return {heading: found for heading, found in groups.items() if found}


def count_groups(verdicts: Sequence[Verdict]) -> list[list[str]]:
    """One row per group of claims: whose they are, how many, and how many have each status."""
    counted = Counts.by_group(verdicts)
    return [
        [group.heading, str(c.claims), *map(str, c.by_status.values())]
        for group, c in counted.items()
        if c.claims
    ]


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
                    v.claimed_by.value,
                    v.evidence.value,
                    v.source_text.value,
                    v.status.value,
                    *("" if number is None else number for number in numbers),
                    " ".join(map(str, v.seeds)),
                    v.varies,
                    format_errors(v),
                    *("" if n is None else n for n in (v.looseness, v.smallest_violation)),
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
    head = ["study", "preset", "claims", *STATUSES, "controls that FAIL", "measurements"]
    lines = ["# Report", "", *_render_head(head)]
    for finished in studies:
        c = finished.counts
        cells = [
            finished.name,
            finished.study["preset"],
            c.claims,
            *c.by_status.values(),
            f"{c.sound} of {c.controls}",
            f"{c.read} of {c.measurements}" if c.measurements else "–",
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    every = [verdict for finished in studies for verdict in finished.verdicts]
    lines += ["", *_render_head(["whose claims", "claims", *STATUSES])]
    lines += [f"| {' | '.join(row)} |" for row in count_groups(every)]
    together = find_discoveries(every)
    lines += ["", Counts.of(every).controls_sentence]
    lines += ["", together.sentence] if together.sentence else []
    if unread:
        lines += ["", "## Studies that cannot be read", ""]
        lines += [f"- **{why.word}** `{folder}`: {why.sentence}" for folder, why in unread.items()]
    for finished in studies:
        lines += _render_study(finished, beside, together)
    return "\n".join([*lines, ""])


def _render_study(finished: FinishedStudy, beside: Path, together: Discoveries) -> list[str]:
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
    for heading, verdicts in split_groups(finished.verdicts).items():
        lines += ["", f"### {heading}", "", *_render_verdicts(verdicts, together)]
    open_ones = [v for v in finished.verdicts if _is_open(v)]
    lines += [""] if open_ones else []
    return lines + [
        f"- {v.status.value} `{v.id}`: {_escape_markdown(v.sentence)}" for v in open_ones
    ]


def _render_head(names: Sequence[str]) -> list[str]:
    return [f"| {' | '.join(names)} |", "| --- " * len(names) + "|"]


def _render_verdicts(verdicts: Sequence[Verdict], together: Discoveries) -> list[str]:
    names = ["case", "claim", "predicted", "measured", "interval", "verdict", "evidence"]
    lines = _render_head(names)
    for v in verdicts:
        status = f"**{v.status.value}**" if _is_open(v) else v.status.value
        cells = [
            split_id(v)[0],
            _escape_markdown(v.statement),
            format_number(v.predicted),
            format_number(v.measured),
            format_interval(v),
            status + _note(v, together),
            format_labels(v),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _note(verdict: Verdict, together: Discoveries) -> str:
    if verdict.control:
        return " (control, as expected)" if verdict.status is Status.FAILS else " (control)"
    mark = together.mark(verdict)
    return f" ({mark})" if mark else ""


def _is_open(verdict: Verdict) -> bool:
    """Whether a claim fails, or something is undecided, or a control does not fail."""
    if verdict.control:
        return verdict.status is not Status.FAILS
    return verdict.status in (Status.FAILS, Status.UNDECIDED)


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
