"""One study of the page: what it tests, its figures, its claims as sentences, and its details."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from tutelage.claims.discoveries import Discoveries
from tutelage.claims.labels import ClaimedBy, Evidence
from tutelage.claims.verdict import Status, Verdict
from tutelage.refuse import Refused
from tutelage.report.drawing import Drawing, read_drawing
from tutelage.report.front import Front
from tutelage.report.gather import FinishedStudy, split_id
from tutelage.report.mathematics import (
    render_mathml,
    render_words,
    split_lines,
    split_pieces,
)
from tutelage.report.tables import CHANGED, format_errors, format_labels, gather_changes
from tutelage.report.wording import (
    MARKS,
    WORDS,
    Group,
    count_status,
    group_verdicts,
    list_unmet,
    say_claim,
    say_outcome,
    say_status,
)

# How many claims of a study and figures are on paper without the appendix. What fails, is outside
# or is vacuous always is.
PRINTED_QUIET = 3  # that hold or are measured
PRINTED_UNDECIDED = 2
PRINTED_FIGURES = 2


def make_anchor(name: str) -> str:
    return escape(name.replace("/", "-").replace(" ", "-"))


def draw(studies: Sequence[FinishedStudy]) -> dict[str, Drawing | str]:
    """All figures by study and name, or why one cannot be shown."""
    drawn: dict[str, Drawing | str] = {}
    figures = [(finished, figure) for finished in studies for figure in finished.figures]
    for number, (finished, figure) in enumerate(figures):
        key = f"{finished.name}/{figure.name}"
        try:
            drawn[key] = read_drawing(
                figure.with_suffix(".svg"), f"f{number}", _write_caption(finished, figure)
            )
        except (OSError, Refused) as error:
            drawn[key] = str(error.strerror if isinstance(error, OSError) else error)
    return drawn


def render_figure(
    finished: FinishedStudy,
    figure: Path,
    drawn: Mapping[str, Drawing | str],
    *,
    again: bool = False,
    more: bool = False,
) -> str:
    """A figure with its caption. One that is shown `again` refers to the same ids, and leads to
    where it stands.
    """
    found, caption = drawn[f"{finished.name}/{figure.name}"], _write_caption(finished, figure)
    if isinstance(found, str):
        return f"<p class=small>The figure {escape(figure.name)} cannot be shown: {found}.</p>"
    svg = found.svg
    if again:
        place = make_anchor(f"{finished.name}-{figure.name}")
        caption = f'{render_words(caption)} <a href="#{place}">{escape(finished.name)}</a>'
        return f"<figure>{_strip_ids(svg)}<figcaption>{caption}</figcaption></figure>"
    anchor = make_anchor(f"{finished.name}-{figure.name}")
    kind = ["wide"] if found.width > WIDE else []
    kind += ["more"] if more else []
    return (
        f'<figure id="{anchor}" class="{" ".join(kind)}">{svg}'
        f"<figcaption>{render_words(caption)}</figcaption></figure>"
    )


WIDE = 600.0  # pixels, from which a figure takes a line of its own


def render_study(
    finished: FinishedStudy,
    drawn: Mapping[str, Drawing | str],
    front: Front,
    together: Discoveries,
    level: int,
) -> str:
    study, anchor = finished.study, make_anchor(finished.name)
    choices = "".join(f"<li>{render_words(choice)}</li>" for choice in study["choices"])
    made = ", ".join(f"{escape(key)} {escape(value)}" for key, value in study["made"].items())
    figures = "".join(
        render_figure(finished, figure, drawn, more=place >= PRINTED_FIGURES)
        for place, figure in enumerate(finished.figures)
    )
    parts = [
        f'<h{level} id="{anchor}">{render_title(finished)}</h{level}>',
        f"<p class=small><code>{escape(finished.name)}</code> · {escape(study['source'])} · "
        f"preset {escape(study['preset'])}</p>",
        f"<p>{render_words(study['statement'])}</p>",
        _render_formulas(study["equation"]),
        f"<div class=figures>{figures}</div>" if figures else "",
        _render_claims(finished, front),
        _render_verdicts(finished, together),
        _render_details("Left open by the paper, and chosen here", choices),
        _render_details(CHANGED, _list_changes(finished)),
        _render_settings(finished),
        f"<p class='small made'>Predictions: <code>{escape(study['checked_in'])}</code>. "
        f"Repeated by <code>{escape(study['command'])}</code>. Made with {made}.</p>",
    ]
    inside = "".join(parts)
    return f'<section class=study aria-labelledby="{anchor}">{inside}</section>'


def render_title(finished: FinishedStudy) -> str:
    """What a study is called; a sentence, whose first letter is large unless it is a symbol."""
    title = finished.study["sentence"]
    return render_words(title[:1].upper() + title[1:] if title[:1].isascii() else title)


def render_chip(verdict: Verdict, mark: str = "") -> str:
    """The status in its colour; a control that fails is dim."""
    note = f" ({mark})" if mark else ""
    dim = verdict.control and verdict.status is Status.FAILS
    kind = "expected" if dim else "FAILS" if verdict.control else verdict.status.value
    if verdict.control and verdict.status is Status.UNDECIDED:
        kind = "UNDECIDED"
    sign = "" if dim else f"{MARKS[verdict.status]} "
    return f'<span class="chip {kind}">{sign}{say_status(verdict)}{note}</span>'


def _render_formulas(equation: str) -> str:
    """Each line of a formula, in pieces between which a narrow screen may break it."""
    return "".join(
        f"<div class=formula>{' '.join(render_mathml(piece) for piece in split_pieces(line))}</div>"
        for line in split_lines(equation)
    )


def _render_claims(finished: FinishedStudy, front: Front) -> str:
    """A line per claim over all of its cases: those of the study, then the controls."""
    lines = []
    left = {"quiet": PRINTED_QUIET, "undecided": PRINTED_UNDECIDED}
    for group in group_verdicts(finished.verdicts):
        if group.first.control:
            continue
        quiet = set(group.statuses) <= {Status.HOLDS, Status.MEASURED}
        undecided = set(group.statuses) <= {Status.HOLDS, Status.UNDECIDED}
        kind = "quiet" if quiet else "undecided" if undecided else ""
        if kind:
            left[kind] -= 1
        lines.append(_render_group(group, front, more=bool(kind) and left[kind] < 0))
    hidden = {kind: -number for kind, number in left.items() if number < 0}
    if hidden:
        words = {"quiet": "hold or are measured", "undecided": "are not decided in every case"}
        said = " and ".join(f"{number} that {words[kind]}" for kind, number in hidden.items())
        lines.append(f"<li class=paper-only>More claims: {said}; the appendix has them.</li>")
    controls = [v for v in finished.verdicts if v.control]
    if controls:
        lines.append(_render_controls(controls))
    return f"<ul class=claims>{''.join(lines)}</ul>" if lines else ""


def _render_group(group: Group, front: Front, *, more: bool) -> str:
    counted = group.statuses
    chips = " ".join(
        f'<span class="chip {status.value}">{MARKS[status]} '
        f"{count_status(status, count) if len(group.verdicts) > 1 else WORDS[status]}</span>"
        for status, count in counted.items()
    )
    failing = [v for v in group.verdicts if v.status is Status.FAILS]
    readings = dict.fromkeys(filter(None, (front.read_failure(v) for v in failing)))
    means = render_words(" ".join(readings))
    reading = f"<strong>{means}</strong> Claimed: " if readings else ""
    labels = [] if group.first.measurement else [_LABELS[group.first.claimed_by]]
    if group.first.evidence is not Evidence.EXPLORATORY:
        labels.append(group.first.evidence.value)
    unmet = dict.fromkeys(
        f"{h.text}{f' ({h.detail})' if h.detail else ''}"
        for verdict in group.verdicts
        for h in verdict.hypotheses
        if h.met is False
    )
    beside = (
        f" <span class=unmet>Not met: {render_words('; '.join(unmet))}.</span>" if unmet else ""
    )
    case = split_id(group.first)[0]
    where = f"<span class=case>{escape(case)}</span> " if len(group.verdicts) == 1 else ""
    said = f"<small>({', '.join(labels)})</small>" if labels else ""
    statuses = " ".join(status.value for status in counted)
    return (
        f'<li class="{"more" if more else ""}" data-s="{statuses}">{chips} {where}{reading}'
        f"{render_words(group.sentence)} {said}{beside}</li>"
    )


_LABELS = {
    ClaimedBy.PAPER: "claimed by the paper",
    ClaimedBy.SHARPER: "sharper than the paper",
    ClaimedBy.BEYOND: "beyond the paper",
}


def _render_controls(controls: Sequence[Verdict]) -> str:
    passed = [v for v in controls if v.status is Status.FAILS]
    broken = [v for v in controls if v.status is not Status.FAILS]
    lines = []
    if passed:
        broke = "; ".join(dict.fromkeys(v.control for v in passed))
        all_of_them = "The control fails" if len(passed) == 1 else f"{len(passed)} controls fail"
        lines.append(
            f'<li class=expected data-s="CONTROL">{all_of_them}, as expected, where this is '
            f"broken: {render_words(broke)}.</li>"
        )
    for verdict in broken:
        lines.append(
            f'<li data-s="CONTROL {verdict.status.value}">{render_chip(verdict)} '
            f"{render_words(say_claim(verdict))}: {escape(say_outcome(verdict))}. "
            f"<small>(breaks {render_words(verdict.control)})</small></li>"
        )
    return "".join(lines)


def _render_verdicts(finished: FinishedStudy, together: Discoveries) -> str:
    """Every verdict, closed: its sentence, how it was read, and the labels of its evidence."""
    lines = [_render_verdict(v, together) for v in finished.verdicts]
    number = f"{len(lines)} verdict{'' if len(lines) == 1 else 's'}"
    return (
        f"<details class=verdicts><summary>All {number} one by one</summary>"
        f"<ul>{''.join(lines)}</ul></details>"
        if lines
        else ""
    )


def _render_verdict(verdict: Verdict, together: Discoveries) -> str:
    case = split_id(verdict)[0]
    said = [verdict.sentence, f"Evidence: {_describe_evidence(verdict)}."]
    if verdict.guarantee:
        said.insert(1, verdict.guarantee)
    if verdict.control:
        said.insert(1, f"Control: breaks {verdict.control}.")
    if unmet := list_unmet(verdict):
        said.append(f"Hypotheses: {'; '.join(unmet)}.")
    if verdict.history:
        said.append(f"{CHANGED}: {verdict.history}")
    status = "CONTROL" if verdict.control else verdict.status.value
    if verdict.control and verdict.status is not Status.FAILS:
        status += f" {verdict.status.value}"
    return (
        f'<li id="{make_anchor(verdict.id)}" data-s="{status}">'
        f"{render_chip(verdict, together.mark(verdict))} <span class=case>{escape(case)}</span> "
        f"{render_words(say_claim(verdict))}: {escape(say_outcome(verdict))}."
        f"<p class=small>{render_words(' '.join(said))}</p></li>"
    )


def _describe_evidence(verdict: Verdict) -> str:
    """Its labels, what its replicates vary and which errors its interval includes."""
    said = [_LABELS[verdict.claimed_by], format_labels(verdict)]
    if verdict.varies:
        said.append(f"replicates vary {verdict.varies}")
    if verdict.errors:
        said.append(f"errors {format_errors(verdict)}")
    return "; ".join(said)


def _render_details(summary: str, items: str) -> str:
    """A list that is closed at first; nothing where it has no items."""
    return f"<details><summary>{summary}</summary><ul>{items}</ul></details>" if items else ""


def _list_changes(finished: FinishedStudy) -> str:
    return "".join(
        f"<li>{escape(said)}{escape(f' ({where})') if where else ''}</li>"
        for said, where in gather_changes(finished).items()
    )


def _render_settings(finished: FinishedStudy) -> str:
    rows = []
    for case in finished.study["cases"]:
        seeds = ", ".join(str(seed) for seed in sorted({run["seed"] for run in case["runs"]}))
        steps = sorted({run["steps"] for run in case["runs"]})
        span = " to ".join(f"{end:,}" for end in dict.fromkeys(steps[:1] + steps[-1:])) or "–"
        hashes = " ".join(dict.fromkeys(run["identity"] for run in case["runs"]))
        rows.append(
            f"<li><span class=case>{escape(case['name'])}</span> {escape(case['setting'])}; "
            f"seeds {escape(seeds)}; steps {span}; runs <code>{escape(hashes)}</code></li>"
        )
    return _render_details("Settings, seeds and runs", "".join(rows))


def _write_caption(finished: FinishedStudy, figure: Path) -> str:
    # Studies that were run before captions were written have none.
    return finished.study.get("captions", {}).get(figure.name, figure.name.replace("-", " "))


def _strip_ids(svg: str) -> str:
    """The same drawing without ids of its own: those of the first are on the page already."""
    return re.sub(r' id="[^"]*"', "", svg)
