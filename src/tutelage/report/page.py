"""One HTML file: opens from disk, asks nothing of any network, prints, dark or light as the
reader's screen is.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

from tutelage.figures import look
from tutelage.report.gather import Told, kind_of, surprising
from tutelage.report.mathematics import lines_of, mathml
from tutelage.report.tables import counts, interval, number

SCREEN = 1.4 * 96  # pixels of a page for an inch of a figure, whose type is small
MARKS = {"HOLDS": "✓", "FAILS": "✗", "UNDECIDED": "?", "MEASURED": "•"}


def page(studies: Sequence[Told]) -> str:
    """The report of some studies."""
    style = files("tutelage.report").joinpath("page.css").read_text(encoding="utf-8")
    titles = ", ".join(dict.fromkeys(told.name.split("/")[0] for told in studies))
    body = [_summary(studies), *(_study(told) for told in studies)]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta '
        'name="color-scheme" content="light dark">\n'
        "<title>tutelage report: "
        f"{escape(titles)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        "<header><h1>Report</h1><p>Claims are computed from theory alone and meet runs only in "
        "their verdicts. "
        "Every verdict has an interval; a claim that fails or is undecided is as visible as one "
        "that holds.</p></header>\n<main>\n"
        + "\n".join(body)
        # Closed parts would stay closed on paper.
        + "\n</main>\n<script>addEventListener('beforeprint',()=>document.querySelectorAll('details').forEach(d=>d.open=true))</script>\n"
        "</body>\n</html>\n"
    )


def _summary(studies: Sequence[Told]) -> str:
    head = (
        "study",
        "preset",
        "claims",
        "HOLDS",
        "FAILS",
        "UNDECIDED",
        "controls that do not hold",
        "measurements read",
    )
    rows = []
    for told in studies:
        c = counts(told)
        cells = [
            f'<th scope="row"><a href="#{_anchor(told.name)}">{escape(told.name)}</a></th>',
            _cell(told.study["preset"]),
            _cell(c["claims"]),
        ]
        cells += [
            _cell(c[status], status if c[status] else "")
            for status in ("HOLDS", "FAILS", "UNDECIDED")
        ]
        cells.append(
            _cell(f"{c['sound']} of {c['controls']}", "FAILS" if c["sound"] < c["controls"] else "")
        )
        cells.append(_cell(f"{c['read']} of {c['measurements']}" if c["measurements"] else "–"))
        rows.append(f"<tr>{''.join(cells)}</tr>")
    table = _table(head, rows, "Verdicts by study")
    pending = [
        v
        for told in studies
        for v in told.verdicts
        if surprising(v) or (v["status"] == "UNDECIDED" and not v["control"])
    ]
    listed = "".join(
        f'<li>{_chip(v)} <a href="#{_anchor(v["id"])}">{escape(v["id"])}</a>: '
        f"{escape(v['sentence'])}</li>"
        for v in pending
    )
    rest = (
        f"<h3>What fails or is undecided</h3><ul class=pending>{listed}</ul>"
        if pending
        else "<p>No claim fails or is undecided.</p>"
    )
    return (
        f'<section aria-labelledby="summary"><h2 id="summary">Summary</h2>{table}{rest}</section>'
    )


def _study(told: Told) -> str:
    study, name = told.study, _anchor(told.name)
    formulas = "".join(
        f"<div class=formula>{mathml(line)}</div>" for line in lines_of(study["equation"])
    )
    choices = "".join(f"<li>{escape(choice)}</li>" for choice in study["choices"])
    made = ", ".join(
        f"{escape(str(key))} {escape(str(value))}" for key, value in study["made"].items()
    )
    parts = [
        f'<h2 id="{name}">{escape(told.name)}</h2>',
        "<p "
        f"class=lead>{escape(study['sentence'])}</p><p>{escape(study['statement'])}</p>{formulas}",
        "".join(_figure(told, figure) for figure in told.figures),
        _verdicts(told),
        _hypotheses(told),
        "<details><summary>Left open by the paper, and chosen "
        f"here</summary><ul>{choices}</ul></details>"
        if choices
        else "",
        _settings(told),
        f"<p class=small>Source: {escape(study['source'])}. Predictions: "
        f"<code>{escape(study['checked_in'])}</code>.<br>"
        f"Repeated by <code>{escape(study['command'])}</code><br>Made with {made}.</p>",
    ]
    return f'<section aria-labelledby="{name}">{"".join(parts)}</section>'


def _verdicts(told: Told) -> str:
    rows = []
    for v in told.verdicts:
        *_, case, _ = v["id"].split("/")
        said = (
            ""
            if v["status"] in ("HOLDS", "MEASURED")
            else f"<p class=sentence>{escape(v['sentence'])}</p>"
        )
        more = (
            f"<details><summary>how it was read</summary><p>{escape(v['sentence'])}</p></details>"
            if not said
            else ""
        )
        control = (
            f"<p class=sentence>Control: breaks {escape(v['control'])}.</p>" if v["control"] else ""
        )
        cells = [
            f"<td>{escape(case)}</td><td>{escape(v['statement'])}{said}{control}{more}</td>",
            *(
                _cell(text)
                for text in (
                    number(v["predicted"]),
                    number(v["measured"]),
                    interval(v),
                    number(v["tolerance"], 3),
                )
            ),
            f"<td>{_chip(v)}</td>",
        ]
        rows.append(f'<tr id="{_anchor(v["id"])}">{"".join(cells)}</tr>')
    return _table(
        ("case", "claim", "predicted", "measured", "interval", "±", "verdict"),
        rows,
        f"Verdicts of {told.name}",
    )


def _hypotheses(told: Told) -> str:
    """Those of the theorem that are not met, or only up to a constant that it does not state,
    outside of controls.
    """
    seen: dict[tuple[str, str], list[str]] = {}
    for v in told.verdicts:
        for h in v["hypotheses"] if not v["control"] else ():
            if h["met"] is not True:
                case = v["id"].split("/")[-2]
                where = seen.setdefault((h["text"], h["word"]), [])
                detail = f"{case} ({h['detail']})" if h["detail"] else case
                if detail not in where:
                    where.append(detail)
    if not seen:
        return ""
    listed = []
    for (text, word), where in seen.items():
        more = f" and {len(where) - 1} more cases" if len(where) > 1 else ""
        listed.append(
            f"<li><strong>{escape(text)}</strong>: {escape(word)}, at {escape(where[0])}{more}</li>"
        )
    return (
        "<details><summary>Hypotheses that are not met, or only up to an unstated "
        f"constant</summary><ul>{''.join(listed)}</ul></details>"
    )


def _settings(told: Told) -> str:
    rows = []
    for case in told.study["cases"]:
        seeds = ", ".join(str(seed) for seed in sorted({run["seed"] for run in case["runs"]}))
        steps = sorted({run["steps"] for run in case["runs"]})
        span = (
            f"{steps[0]:,}"
            if len(steps) == 1
            else f"{steps[0]:,} to {steps[-1]:,}"
            if steps
            else "–"
        )
        hashes = " ".join(dict.fromkeys(run["identity"] for run in case["runs"]))
        cells = (case["name"], case["setting"], seeds, span)
        rows.append(
            f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in cells)}<td><code>{escape(hashes)}</code></td></tr>"
        )
    table = _table(
        ("case", "setting of its first run", "seeds", "steps", "identities in the store"),
        rows,
        f"Settings of {told.name}",
    )
    return f"<details><summary>Settings, seeds and identities</summary>{table}</details>"


def _figure(told: Told, figure: Any) -> str:
    png = figure.with_suffix(".png").read_bytes()
    width = (
        int.from_bytes(png[16:20]) * SCREEN / look.DPI
    )  # of the image in pixels, as every PNG says in its first bytes
    data = base64.b64encode(png).decode()
    words = figure.name.replace("-", " ")
    image = (
        f'<img width="{width:.0f}" alt="{escape(f"{told.name}: {words}")}" '
        f'src="data:image/png;base64,{data}">'
    )
    # Studies that were run before captions were written have none.
    caption = told.study.get("captions", {}).get(figure.name, words)
    return f"<figure>{image}<figcaption>{escape(caption)}</figcaption></figure>"


def _table(head: Sequence[str], rows: Sequence[str], caption: str) -> str:
    titles = "".join(f'<th scope="col">{escape(title)}</th>' for title in head)
    # A wide table scrolls by itself, by keyboard too, and not the page.
    return (
        "<div class=scroll tabindex=0 role=region "
        f'aria-label="{escape(caption)}"><table><caption>{escape(caption)}</caption>'
        f"<thead><tr>{titles}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _cell(content: object, status: str = "") -> str:
    return f'<td class="number {status}">{escape(str(content))}</td>'


def _chip(verdict: dict[str, Any]) -> str:
    status = verdict["status"]
    expected = verdict["control"] and not surprising(verdict)
    kind = {
        "claim": "",
        "measurement": "",
        "control": " (control, as it must)" if expected else " (control broken)",
    }[kind_of(verdict)]
    return (
        f'<span class="chip {"expected" if expected else status}">{MARKS[status]} '
        f"{status}{kind}</span>"
    )


def _anchor(name: str) -> str:
    return escape(name.replace("/", "-").replace(" ", "-"))
