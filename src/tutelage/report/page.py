"""One HTML file: opens from disk, asks nothing of any network, prints, and is dark or light as the
reader's screen is.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from tutelage.claims.discoveries import Discoveries, find_discoveries
from tutelage.claims.verdict import Status, Verdict
from tutelage.figures import look
from tutelage.report.gather import FinishedStudy, Unread, split_id
from tutelage.report.mathematics import render_mathml, split_lines
from tutelage.report.tables import (
    STATUSES,
    count_groups,
    format_errors,
    format_interval,
    format_labels,
    format_number,
    split_groups,
)
from tutelage.studies.counts import Counts

PIXELS_PER_INCH = 1.4 * 96  # of a figure on the page: its type is small
MARKS = {
    Status.HOLDS: "✓",
    Status.FAILS: "✗",
    Status.UNDECIDED: "?",
    Status.MEASURED: "•",
    Status.OUTSIDE: "○",
    Status.VACUOUS: "∅",
}
# Closed parts would stay closed on paper.
OPEN_BEFORE_PRINT = (
    "<script>addEventListener('beforeprint',()=>"
    "document.querySelectorAll('details').forEach(d=>d.open=true))</script>"
)
LEAD = (
    "Claims are computed from theory alone and meet runs only in their verdicts. Every verdict has "
    "an interval; a claim that fails or is undecided is as visible as one that holds."
)


def render_page(
    studies: Sequence[FinishedStudy], unread: Mapping[Path, Unread] | None = None
) -> str:
    """The report of some studies; it says of each `unread` one why it is not there."""
    style = files("tutelage.report").joinpath("page.css").read_text(encoding="utf-8")
    papers = ", ".join(dict.fromkeys(finished.name.split("/")[0] for finished in studies))
    together = find_discoveries(v for finished in studies for v in finished.verdicts)
    sections = "\n".join(
        [
            _render_summary(studies, together),
            _render_unread(unread or {}),
            *(_render_study(finished, together) for finished in studies),
        ]
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>tutelage report: {escape(papers)}</title>
<style>
{style}</style>
</head>
<body>
<header><h1>Report</h1><p>{LEAD}</p></header>
<main>
{sections}
</main>
{OPEN_BEFORE_PRINT}
</body>
</html>
"""


def _render_summary(studies: Sequence[FinishedStudy], together: Discoveries) -> str:
    head = (
        "study",
        "preset",
        "claims",
        *STATUSES,
        "controls that FAIL",
        "measurements read",
    )
    rows = []
    for finished in studies:
        c, anchor = finished.counts, _make_anchor(finished.name)
        cells = [
            f'<th scope="row"><a href="#{anchor}">{escape(finished.name)}</a></th>',
            _render_cell(finished.study["preset"]),
            _render_cell(c.claims),
        ]
        for status, count in c.by_status.items():
            cells.append(_render_cell(count, status if count else ""))
        broken = "FAILS" if c.sound < c.controls else ""
        cells.append(_render_cell(f"{c.sound} of {c.controls}", broken))
        cells.append(_render_cell(f"{c.read} of {c.measurements}" if c.measurements else "–"))
        rows.append(f"<tr>{''.join(cells)}</tr>")
    table = _render_table(head, rows, "Verdicts by study")
    every = [v for finished in studies for v in finished.verdicts]
    groups = [f"<tr>{''.join(map(_render_cell, row))}</tr>" for row in count_groups(every)]
    table += _render_table(("whose claims", "claims", *STATUSES), groups, "Claims by whose")
    pending = [v for finished in studies for v in finished.verdicts if _is_pending(v)]
    listed = "".join(
        f'<li>{_render_chip(v)} <a href="#{_make_anchor(v.id)}">{escape(v.id)}</a>: '
        f"{escape(v.sentence)}</li>"
        for v in pending
    )
    table += f"<p>{escape(Counts.of(every).controls_sentence)}</p>"
    if said := together.sentence:
        table += f"<p>{escape(said)}</p>"
    rest = (
        f"<h3>What fails or is undecided</h3><ul class=pending>{listed}</ul>"
        if pending
        else "<p>No claim fails or is undecided.</p>"
    )
    return (
        f'<section aria-labelledby="summary"><h2 id="summary">Summary</h2>{table}{rest}</section>'
    )


def _render_unread(unread: Mapping[Path, Unread]) -> str:
    listed = "".join(
        f"<li><strong>{trouble.word}</strong> <code>{escape(str(folder))}</code>: "
        f"{escape(trouble.sentence)}</li>"
        for folder, trouble in unread.items()
    )
    title = "Studies that cannot be read"
    return f"<section><h2>{title}</h2><ul>{listed}</ul></section>" if unread else ""


def _is_pending(verdict: Verdict) -> bool:
    return verdict.surprising or verdict.status is Status.UNDECIDED


def _render_study(finished: FinishedStudy, together: Discoveries) -> str:
    study, anchor = finished.study, _make_anchor(finished.name)
    formulas = "".join(
        f"<div class=formula>{render_mathml(line)}</div>" for line in split_lines(study["equation"])
    )
    choices = "".join(f"<li>{escape(choice)}</li>" for choice in study["choices"])
    made = ", ".join(f"{escape(key)} {escape(value)}" for key, value in study["made"].items())
    parts = [
        f'<h2 id="{anchor}">{escape(finished.name)}</h2>',
        f"<p class=lead>{escape(study['sentence'])}</p>",
        f"<p>{escape(study['statement'])}</p>{formulas}",
        *(_render_figure(finished, figure) for figure in finished.figures),
        _render_verdicts(finished, together),
        _render_hypotheses(finished),
        _render_details("Left open by the paper, and chosen here", choices),
        _render_settings(finished),
        f"<p class=small>Source: {escape(study['source'])}. Predictions: "
        f"<code>{escape(study['checked_in'])}</code>.<br>"
        f"Repeated by <code>{escape(study['command'])}</code><br>Made with {made}.</p>",
    ]
    return f'<section aria-labelledby="{anchor}">{"".join(parts)}</section>'


def _render_verdicts(finished: FinishedStudy, together: Discoveries) -> str:
    """One table per group: the paper's claims, sharper ones, those beyond it, controls and
    measurements.
    """
    return "".join(
        f"<h3>{heading}</h3>{_render_group(f'{heading}, {finished.name}', verdicts, together)}"
        for heading, verdicts in split_groups(finished.verdicts).items()
    )


def _render_group(caption: str, verdicts: Sequence[Verdict], together: Discoveries) -> str:
    rows = []
    for v in verdicts:
        sentence = escape(v.sentence)
        if v.status in (Status.HOLDS, Status.MEASURED):
            below = f"<details><summary>how it was read</summary><p>{sentence}</p></details>"
        else:
            below = f"<p class=sentence>{sentence}</p>"
        control = f"<p class=sentence>Control: breaks {escape(v.control)}.</p>" if v.control else ""
        cells = [
            f"<td>{escape(split_id(v)[0])}</td>",
            f"<td>{escape(v.statement)}{control}{below}</td>",
            _render_cell(format_number(v.predicted)),
            _render_cell(format_number(v.measured)),
            _render_cell(format_interval(v)),
            _render_cell(format_number(v.tolerance, 3)),
            f"<td>{_render_chip(v, together.mark(v))}</td>",
            f"<td>{escape(_describe_evidence(v))}</td>",
        ]
        rows.append(f'<tr id="{_make_anchor(v.id)}">{"".join(cells)}</tr>')
    head = ("case", "claim", "predicted", "measured", "interval", "±", "verdict", "evidence")
    return _render_table(head, rows, caption)


def _describe_evidence(verdict: Verdict) -> str:
    """Its labels, what its replicates vary and which errors its interval includes."""
    said = [format_labels(verdict)]
    if verdict.varies:
        said.append(f"replicates vary {verdict.varies}")
    if verdict.errors:
        said.append(f"errors: {format_errors(verdict)}")
    return "; ".join(said)


def _render_hypotheses(finished: FinishedStudy) -> str:
    """Those of the theorem that are not met, or only up to a constant that it does not state,
    outside of controls.
    """
    seen: dict[tuple[str, str], list[str]] = {}
    for v in finished.verdicts:
        for h in v.hypotheses if not v.control else ():
            if h.met is not True:
                case = split_id(v)[0]
                where = seen.setdefault((h.text, h.word), [])
                detail = f"{case} ({h.detail})" if h.detail else case
                if detail not in where:
                    where.append(detail)
    listed = []
    for (text, word), where in seen.items():
        more = f" and {len(where) - 1} more cases" if len(where) > 1 else ""
        listed.append(
            f"<li><strong>{escape(text)}</strong>: {escape(word)}, at {escape(where[0])}{more}</li>"
        )
    words = "Hypotheses that are not met, or only up to an unstated constant"
    return _render_details(words, "".join(listed))


def _render_details(summary: str, items: str) -> str:
    """A list that is closed at first; nothing where it has no items."""
    return f"<details><summary>{summary}</summary><ul>{items}</ul></details>" if items else ""


def _render_settings(finished: FinishedStudy) -> str:
    rows = []
    for case in finished.study["cases"]:
        seeds = ", ".join(str(seed) for seed in sorted({run["seed"] for run in case["runs"]}))
        steps = sorted({run["steps"] for run in case["runs"]})
        span = " to ".join(f"{end:,}" for end in dict.fromkeys(steps[:1] + steps[-1:])) or "–"
        hashes = " ".join(dict.fromkeys(run["identity"] for run in case["runs"]))
        cells = "".join(
            f"<td>{escape(cell)}</td>" for cell in (case["name"], case["setting"], seeds, span)
        )
        rows.append(f"<tr>{cells}<td><code>{escape(hashes)}</code></td></tr>")
    head = ("case", "setting of its first run", "seeds", "steps", "identities in the store")
    table = _render_table(head, rows, f"Settings of {finished.name}")
    return f"<details><summary>Settings, seeds and identities</summary>{table}</details>"


def _render_figure(finished: FinishedStudy, figure: Path) -> str:
    words = figure.name.replace("-", " ")
    try:
        png = figure.with_suffix(".png").read_bytes()
    except OSError as error:
        return f"<p class=sentence>The figure {escape(words)} cannot be read: {error.strerror}.</p>"
    # The first bytes of a PNG say how many pixels it is wide.
    width = int.from_bytes(png[16:20]) * PIXELS_PER_INCH / look.DPI
    data = base64.b64encode(png).decode()
    image = (
        f'<img width="{width:.0f}" alt="{escape(f"{finished.name}: {words}")}" '
        f'src="data:image/png;base64,{data}">'
    )
    # Studies that were run before captions were written have none.
    caption = finished.study.get("captions", {}).get(figure.name, words)
    return f"<figure>{image}<figcaption>{escape(caption)}</figcaption></figure>"


def _render_table(head: Sequence[str], rows: Sequence[str], caption: str) -> str:
    titles = "".join(f'<th scope="col">{escape(title)}</th>' for title in head)
    # A wide table scrolls by itself, by keyboard too, and not the page.
    return (
        f'<div class=scroll tabindex=0 role=region aria-label="{escape(caption)}">'
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{titles}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _render_cell(content: str | int, status: str = "") -> str:
    return f'<td class="number {status}">{escape(str(content))}</td>'


def _render_chip(verdict: Verdict, mark: str = "") -> str:
    status = verdict.status.value
    expected = verdict.control and verdict.status is Status.FAILS
    note = f" ({mark})" if mark else ""
    if verdict.control:
        broken = " (control broken)" if verdict.surprising else " (control, not passed)"
        note = " (control, as expected)" if expected else broken
    return (
        f'<span class="chip {"expected" if expected else status}">'
        f"{MARKS[verdict.status]} {status}{note}</span>"
    )


def _make_anchor(name: str) -> str:
    return escape(name.replace("/", "-").replace(" ", "-"))
