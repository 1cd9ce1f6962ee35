"""Verdicts as tables: Markdown for GitHub, CSV for a program, LaTeX for a paper."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tutelage.report.gather import STATUSES, Told, kind_of

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


def number(value: float | None, digits: int = 5) -> str:
    return "–" if value is None else f"{value:.{digits}g}"


def interval(verdict: dict[str, Any], digits: int = 5) -> str:
    ends = verdict["interval"]
    return "–" if ends is None else f"[{number(ends[0], digits)}, {number(ends[1], digits)}]"


def counts(told: Told) -> dict[str, int]:
    """How many claims have which status; controls that did not hold; measurements that were
    read.
    """
    claims, controls, measurements = (
        told.of_kind(kind) for kind in ("claim", "control", "measurement")
    )
    found = {status: sum(v["status"] == status for v in claims) for status in STATUSES[:3]}
    return found | {
        "claims": len(claims),
        "controls": len(controls),
        "sound": sum(v["status"] != "HOLDS" for v in controls),
        "measurements": len(measurements),
        "read": sum(v["status"] == "MEASURED" for v in measurements),
    }


def as_csv(studies: Sequence[Told]) -> str:
    """A row a verdict, with all digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for told in studies:
        for v in told.verdicts:
            *_, case, claim = v["id"].split("/")
            low, high = v["interval"] or (None, None)
            seeds = " ".join(map(str, v["seeds"]))
            row = (
                told.name,
                case,
                claim,
                kind_of(v),
                v["status"],
                v["predicted"],
                v["measured"],
                low,
                high,
                v["tolerance"],
                seeds,
            )
            writer.writerow(
                [*("" if cell is None else cell for cell in row), v["statement"], v["sentence"]]
            )
    return text.getvalue()


def as_latex(studies: Sequence[Told]) -> str:
    """A `longtable` with `booktabs`, a row a verdict; nothing but plain LaTeX in it."""
    lines = [
        r"% needs \usepackage{booktabs,longtable}",
        r"\begin{longtable}{llrrll}",
        r"\toprule",
        r"case & claim & predicted & measured & interval & verdict \\",
        r"\midrule",
        r"\endhead",
    ]
    for told in studies:
        lines.append(rf"\multicolumn{{6}}{{l}}{{\texttt{{{_tex(told.name)}}}}} \\")
        for v in told.verdicts:
            *_, case, claim = v["id"].split("/")
            cells = [
                _tex(case),
                _tex(claim),
                _tex_number(v["predicted"]),
                _tex_number(v["measured"]),
                _tex_interval(v),
            ]
            lines.append(
                " & ".join([*cells, v["status"].lower() + (" (control)" if v["control"] else "")])
                + r" \\"
            )
        lines.append(r"\midrule")
    lines[-1] = r"\bottomrule"
    return "\n".join([*lines, r"\end{longtable}", ""])


def as_markdown(studies: Sequence[Told], beside: Path) -> str:
    """Summary, then each study with its statement, figures (by path, seen from the folder `beside`)
    and verdicts.
    """
    lines = [
        "# Report",
        "",
        "| study | preset | claims | HOLDS | FAILS | UNDECIDED | controls that do not hold | "
        "measurements |",
    ]
    lines.append("| --- " * 8 + "|")
    for told in studies:
        c = counts(told)
        measured = f"{c['read']} of {c['measurements']}" if c["measurements"] else "–"
        cells = [
            told.name,
            told.study["preset"],
            c["claims"],
            c["HOLDS"],
            c["FAILS"],
            c["UNDECIDED"],
        ]
        lines.append(
            "| "
            + " | ".join(map(str, [*cells, f"{c['sound']} of {c['controls']}", measured]))
            + " |"
        )
    for told in studies:
        lines += [
            "",
            f"## {told.name}",
            "",
            _cell(told.study["statement"]),
            "",
            f"`{told.study['equation']}`",
            "",
        ]
        lines += [f"Source: {told.study['source']}. Repeated by `{told.study['command']}`.", ""]
        lines += [
            f"![{figure.name}]({Path(os.path.relpath(figure.with_suffix('.png'), beside)).as_posix()})"
            for figure in told.figures
        ]
        lines += [
            "",
            "| case | claim | predicted | measured | interval | verdict |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        for v in told.verdicts:
            *_, case, _ = v["id"].split("/")
            status = (
                f"**{v['status']}**"
                if v["status"] in ("FAILS", "UNDECIDED") and not v["control"]
                else v["status"]
            )
            cells = [
                case,
                _cell(v["statement"]),
                number(v["predicted"]),
                number(v["measured"]),
                interval(v),
            ]
            lines.append(
                "| " + " | ".join([*cells, status + (" (control)" if v["control"] else "")]) + " |"
            )
        open_ones = [
            v for v in told.verdicts if v["status"] in ("FAILS", "UNDECIDED") and not v["control"]
        ]
        lines += [""] if open_ones else []
        lines += [f"- {v['status']} `{v['id']}`: {_cell(v['sentence'])}" for v in open_ones]
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("\n", " ")


def _tex(text: str) -> str:
    for sign in "&%$#_{}":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("@", " at ")


def _tex_number(value: float | None) -> str:
    text = number(value)
    if text == "–":
        return "--"
    mantissa, _, power = text.partition("e")
    return f"${mantissa}$" if not power else f"${mantissa}\\cdot 10^{{{int(power)}}}$"


def _tex_interval(verdict: dict[str, Any]) -> str:
    ends = verdict["interval"]
    return "--" if ends is None else f"[{_tex_number(ends[0])}, {_tex_number(ends[1])}]"
