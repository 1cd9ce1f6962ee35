"""One HTML file: opens from disk, asks nothing of any network, prints as a document, and is dark or
light as the reader's screen is, its figures as well.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from tutelage.claims.discoveries import Discoveries, find_discoveries
from tutelage.claims.labels import ClaimedBy
from tutelage.claims.verdict import Status, Verdict
from tutelage.report.drawing import Drawing, write_colours
from tutelage.report.front import Account, gather_accounts
from tutelage.report.gather import FinishedStudy, Unread
from tutelage.report.mathematics import render_words
from tutelage.report.sections import (
    draw,
    make_anchor,
    render_chip,
    render_figure,
    render_study,
    render_title,
)
from tutelage.report.wording import MARKS, count_status, say_claim, say_outcome
from tutelage.studies.counts import Counts
from tutelage.version import __version__

SHOWN_STATUSES = ("HOLDS", "FAILS", "UNDECIDED", "OUTSIDE", "VACUOUS", "MEASURED", "CONTROL")
LEAD = (
    "Claims are computed from theory alone and meet runs only in their verdicts. Every verdict has "
    "an interval; a claim that fails or is undecided is as visible as one that holds."
)


def render_page(
    studies: Sequence[FinishedStudy],
    unread: Mapping[Path, Unread] | None = None,
    *,
    date: datetime.date | None = None,
    appendix: bool = False,
) -> str:
    """The report of some studies, of one paper or of several; for each `unread` one it says why it
    is not there. With an `appendix` all details are open, on the screen and on paper.
    """
    accounts = gather_accounts(studies)
    alone = len(accounts) == 1
    together = find_discoveries(v for finished in studies for v in finished.verdicts)
    drawn = draw(studies)
    day = date if date is not None else datetime.date.today()
    title = accounts[0].title if alone else f"{len(accounts)} papers, checked by running them"
    body = [
        _render_head(accounts, title, day),
        "<main>",
        "" if alone else _render_papers(accounts),
        _render_unread(unread or {}),
        *(_render_account(account, drawn, together, alone=alone) for account in accounts),
        "</main>",
    ]
    text = "\n".join(part for part in body if part)
    if appendix:
        text = text.replace("<details", "<details open")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}: tutelage report</title>
<style>
{_read("page.css")}
{_render_colours(drawn)}</style>
</head>
<body>
{text}
<script>
{_read("page.js")}</script>
</body>
</html>
"""


def _read(name: str) -> str:
    return files("tutelage.report").joinpath(name).read_text(encoding="utf-8")


def _render_colours(drawn: Mapping[str, Drawing | str]) -> str:
    """The colours of all figures, for light pages and paper, and for dark ones."""
    found = [one for one in drawn.values() if isinstance(one, Drawing)]
    light, dark = write_colours(colour for one in found for colour in one.colours)
    return (
        f":root {{ {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    )


def _render_head(accounts: Sequence[Account], title: str, day: datetime.date) -> str:
    alone = len(accounts) == 1
    verdicts = [verdict for account in accounts for verdict in account.verdicts]
    studies = sum(len(account.studies) for account in accounts)
    presets = ", ".join(dict.fromkeys(account.presets for account in accounts))
    versions = ", ".join(dict.fromkeys(account.versions for account in accounts))
    authors = f"<p class=authors>{escape(accounts[0].authors)}</p>" if alone else ""
    said = [
        f"Report of {day.day} {day:%B %Y}",
        f"tutelage {versions or __version__}",
        f"preset {presets}",
        f"{studies} {'study' if studies == 1 else 'studies'}",
        f"{len(verdicts):,} {'verdict' if len(verdicts) == 1 else 'verdicts'}",
    ]
    return (
        f"<header><h1>{escape(title)}</h1>{authors}<p class=meta>{escape(' · '.join(said))}</p>"
        f"{_render_tools()}</header>"
    )


def _render_tools() -> str:
    """Search, the filter by status, and printing; nothing of it is printed."""
    marks = {status.value: mark for status, mark in MARKS.items()} | {"CONTROL": "⊘"}
    words = {name: f"{marks[name]} {name.lower()}" for name in SHOWN_STATUSES}
    words["CONTROL"] = "⊘ controls"
    buttons = "".join(
        f'<button type=button data-filter="{name}" aria-pressed=false>{word}</button>'
        for name, word in words.items()
    )
    return (
        "<search class=tools><label>Search <input type=search id=search></label>"
        f"<span role=group aria-label='Show only'>{buttons}</span>"
        "<button type=button id=print>Print</button>"
        "<button type=button id=print-all>Print with appendix</button>"
        "<output id=found aria-live=polite></output></search>"
    )


def _render_papers(accounts: Sequence[Account]) -> str:
    """The papers of a report on several: each with its counts."""
    rows = []
    for account in accounts:
        counts = Counts.of(account.verdicts)
        rows.append(
            f'<li><a href="#{make_anchor(account.name)}">{escape(account.title)}</a>, '
            f"{escape(account.authors)}: {escape(_count(counts))}</li>"
        )
    return f"<nav aria-label=Papers><ul class=papers>{''.join(rows)}</ul></nav>"


def _render_account(
    account: Account,
    drawn: Mapping[str, Drawing | str],
    together: Discoveries,
    *,
    alone: bool,
) -> str:
    level = 2 if alone else 3
    heading = "" if alone else f"<h2>{escape(account.title)}</h2>"
    authors = "" if alone else f"<p class=authors>{escape(account.authors)}</p>"
    parts = [
        f'<article class=paper id="{make_anchor(account.name)}">',
        heading,
        authors,
        _render_front(account, drawn, level),
        _render_contents(account, level),
        _render_open(account, level),
        *(
            render_study(finished, drawn, account.front, together, level)
            for finished in account.studies
        ),
        "</article>",
    ]
    return "\n".join(part for part in parts if part)


def _render_front(account: Account, drawn: Mapping[str, Drawing | str], level: int) -> str:
    """The question, the answer, the counts and the three figures that matter."""
    parts = []
    if account.front.question:
        parts.append(
            f"<h{level}>The question</h{level}><p>{render_words(account.front.question)}</p>"
        )
    answers, missing = account.write_answers()
    if answers:
        listed = "".join(f"<li>{render_words(answer)}</li>" for answer in answers)
        parts.append(f"<h{level}>The answer</h{level}><ol class=answer>{listed}</ol>")
    if missing:
        said = "One sentence" if missing == 1 else f"{missing} sentences"
        them = "it" if missing == 1 else "them"
        parts.append(
            f"<p class=small>{said} of the answer {'is' if missing == 1 else 'are'} left out, since"
            f" the studies in this report do not carry {them}.</p>"
        )
    parts.append(f"<h{level}>The verdicts</h{level}>{_render_counts(account.verdicts)}")
    chosen = account.choose_figures()
    if chosen:
        figures = "".join(
            render_figure(finished, figure, drawn, again=True) for finished, figure in chosen
        )
        parts.append(f"<div class=three>{figures}</div>")
    if account.paper is not None and account.paper.unavailable:
        said = f"Text that was not available: {account.paper.unavailable}"
        parts.append(f"<p class=small>{escape(said)}</p>")
    return f"<section class=front>{''.join(parts)}</section>"


def _render_counts(verdicts: Sequence[Verdict]) -> str:
    """Claims by who makes them, then what the controls did."""
    groups = {group: c for group, c in Counts.by_group(verdicts).items() if c.claims}
    statuses = list(Counts.of(()).by_status)
    shown = [s for s in statuses if any(c.by_status[s] for c in groups.values())]
    titles = "".join(f'<th scope="col">{s.lower()}</th>' for s in ("claims", *shown))
    rows = "".join(_render_count(group, counts, shown) for group, counts in groups.items())
    table = (
        f"<table class=counts><caption>Claims by who makes them</caption><thead><tr><td></td>"
        f"{titles}</tr></thead><tbody>{rows}</tbody></table>"
        if groups
        else ""
    )
    counts = Counts.of(verdicts)
    said = [counts.controls_sentence]
    if counts.measurements:
        word = "measurement" if counts.measurements == 1 else "measurements"
        said.append(f"{counts.measurements} {word} beside them, about which nothing is claimed.")
    if together := find_discoveries(verdicts).sentence:
        said.append(together)
    return f"{table}<p class=small>{escape(' '.join(said))}</p>"


def _render_count(group: ClaimedBy, counts: Counts, shown: Sequence[str]) -> str:
    cells = "".join(
        f'<td class="{status if counts.by_status[status] else ""}">{counts.by_status[status]}</td>'
        for status in shown
    )
    return f'<tr><th scope="row">{group.heading}</th><td>{counts.claims}</td>{cells}</tr>'


def _count(counts: Counts) -> str:
    """ "6 hold, 1 fails, 2 undecided"."""
    said = [count_status(Status(s), n) for s, n in counts.by_status.items() if n]
    said += [f"{counts.measurements} measured"] if counts.measurements and not said else []
    return ", ".join(said) or "no claims"


def _render_contents(account: Account, level: int) -> str:
    listed = "".join(
        f'<li><a href="#{make_anchor(finished.name)}">{render_title(finished)}</a> '
        f"<span class=small>{escape(_count(finished.counts))}</span></li>"
        for finished in account.studies
    )
    return f"<nav class=contents><h{level}>Contents</h{level}><ol>{listed}</ol></nav>"


def _render_open(account: Account, level: int) -> str:
    """What fails, each as a sentence, and closed what is undecided."""
    failing = [v for v in account.verdicts if v.surprising]
    undecided = [v for v in account.verdicts if v.status is Status.UNDECIDED]
    failed = "".join(_render_pending(v, account) for v in failing)
    said = (
        f"<ul class=pending>{failed}</ul>"
        if failing
        else "<p>No claim fails, no control holds.</p>"
    )
    rest = ""
    if undecided:
        listed = "".join(_render_pending(v, account) for v in undecided)
        rest = (
            f"<details><summary>What is undecided ({len(undecided)})</summary>"
            f"<ul class=pending>{listed}</ul></details>"
        )
    return f"<section class=open><h{level}>What fails</h{level}>{said}{rest}</section>"


def _render_pending(verdict: Verdict, account: Account) -> str:
    reading = account.front.read_failure(verdict) if verdict.status is Status.FAILS else ""
    seen = f"{say_claim(verdict)}: {say_outcome(verdict)}"
    said = f"<strong>{render_words(reading)}</strong> Claimed: " if reading else ""
    said += f"{render_words(seen)}."
    short = verdict.id.removeprefix(f"{account.name}/")
    return (
        f"<li data-s={verdict.status.value}>{render_chip(verdict)} {said} "
        f'<a class=small href="#{make_anchor(verdict.id)}">{escape(short)}</a></li>'
    )


def _render_unread(unread: Mapping[Path, Unread]) -> str:
    listed = "".join(
        f"<li><strong>{trouble.word}</strong> <code>{escape(str(folder))}</code>: "
        f"{escape(trouble.sentence)}</li>"
        for folder, trouble in unread.items()
    )
    title = "Studies that cannot be read"
    return f"<section><h2>{title}</h2><ul>{listed}</ul></section>" if unread else ""
