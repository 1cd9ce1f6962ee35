"""Writes findings.md from the findings of each paper and the committed verdicts, and for each study
a page with all its verdicts.

A finding is a sentence with the claims that carry it and the status that it needs of them. Its
numbers are places in the sentence that are filled in from the verdicts. Every verdict that it cites
must have that status, or the sentence says how many do, at its place {carried}. Where that is not
so, or a claim is gone, nothing is written and the finding is named: a sentence cannot outlive what
it rests on. What is said to be the paper's rests on claims of the paper alone.

python docs/make_findings.py
"""

from __future__ import annotations

import fnmatch
import os
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

from tools.committed import CommittedStudy, committed_studies, own_papers  # noqa: E402

from tutelage.claims.labels import ClaimedBy  # noqa: E402
from tutelage.claims.labels import Evidence as Evidenced  # noqa: E402
from tutelage.claims.verdict import Status, Verdict  # noqa: E402
from tutelage.report.tables import format_errors, format_labels  # noqa: E402
from tutelage.studies.counts import Counts  # noqa: E402

PAGE = DOCS / "findings.md"
KINDS = {
    "holds": "Where the paper holds",
    "correction": "Where it needs a correction or is not sharp",
    "silent": "Beyond the paper",
    "open": "What is not decided",
}
# Whose claims may carry a finding of a kind; any where it is not named.
WHOSE = {
    "holds": {ClaimedBy.PAPER},
    "silent": {ClaimedBy.SHARPER, ClaimedBy.BEYOND},
}
# What a finding needs of verdicts -> the status that each must have; controls must FAIL.
NEEDS = {
    "HOLDS": Status.HOLDS,
    "FAILS": Status.FAILS,
    "UNDECIDED": Status.UNDECIDED,
    "MEASURED": Status.MEASURED,
    "OUTSIDE": Status.OUTSIDE,
    "VACUOUS": Status.VACUOUS,
    "CONTROL": Status.FAILS,
}
STATED = "{carried}"  # the place of a sentence that says how many of its verdicts carry it
PLACE = re.compile(r"\{(measured|predicted|interval|count):([^:}]*):([^}]+)\}")


class Drifted(SystemExit):
    """A finding that its verdicts no longer carry."""


@dataclass(frozen=True)
class Finding:
    """A sentence, and the patterns of claims that carry it, by the status that it needs of them."""

    kind: str
    text: str
    carried: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Evidence:
    """All committed verdicts by id, and where the page of each study is."""

    verdicts: Mapping[str, Verdict]
    pages: Mapping[str, Path]

    def link(self, name: str) -> str:
        """Where a verdict stands, as seen from the page of findings."""
        study, case, claim = name.rsplit("/", 2)
        page = Path(os.path.relpath(self.pages[study], PAGE.parent)).as_posix()
        return f"{page}#{make_anchor(case, claim)}"


def gather_evidence() -> Evidence:
    """All verdicts of the quick presets."""
    studies = committed_studies().values()
    verdicts = {verdict.id: verdict for study in studies for verdict in study.verdicts}
    return Evidence(verdicts, {study.name: page_of(study) for study in studies})


def read_findings() -> dict[str, list[Finding]]:
    """The findings of each paper, as its folder has them."""
    found = {}
    for paper in own_papers():
        path = paper.folder / "docs" / "findings.toml"
        given = tomllib.loads(path.read_text())["finding"] if path.exists() else []
        found[paper.name] = [Finding(**one) for one in given]
    return found


def page_of(study: CommittedStudy) -> Path:
    """The page with all verdicts of a study, beside its file of verdicts."""
    return study.results.with_suffix(".md")


def match_verdicts(
    pattern: str, evidence: Evidence, about: str, *, control: bool = False, need: str = ""
) -> list[Verdict]:
    """The verdicts of that name that are controls, or that are none; where something else than a
    measurement is needed, no measurements.
    """
    found = [
        verdict
        for name, verdict in evidence.verdicts.items()
        if fnmatch.fnmatchcase(name, pattern)
        and bool(verdict.control) is control
        and not (verdict.measurement and need not in ("", "MEASURED", "UNDECIDED"))
    ]
    if not found:
        kind = "control" if control else "claim or measurement"
        raise Drifted(
            f"No committed {kind} is named {pattern!r}, on which the finding {about!r} rests."
        )
    return found


def fill_numbers(text: str, evidence: Evidence) -> str:
    """The sentence with its numbers: one, or the least and the largest of all that match."""

    def write_number(place: re.Match[str]) -> str:
        key, form, pattern = place.groups()
        # A number may be a control's, where no claim has that name.
        claimed = any(
            fnmatch.fnmatchcase(name, pattern) and not verdict.control
            for name, verdict in evidence.verdicts.items()
        )
        found = match_verdicts(pattern, evidence, text, control=not claimed)
        if key == "count":
            return str(len(found))
        if key == "interval":
            ends = [verdict.interval for verdict in found if verdict.interval is not None]
            low, high = min(low for low, _ in ends), max(high for _, high in ends)
            return f"[{low:{form}}, {high:{form}}]"
        read = (v.measured if key == "measured" else v.predicted for v in found)
        values = sorted(value for value in read if value is not None)
        least, most = f"{values[0]:{form}}", f"{values[-1]:{form}}"
        return least if least == most else f"{least} to {most}"

    return PLACE.sub(write_number, text)


def list_carriers(finding: Finding, evidence: Evidence) -> str:
    """The claims that carry a finding, each linked to its verdict, with whose they are and how many
    have which status.
    """
    cells = []
    for need, patterns in finding.carried.items():
        for pattern in patterns:
            found = match_carriers(finding, need, pattern, evidence)
            statuses = [verdict.status.value for verdict in found]
            whose = sorted({verdict.claimed_by.value for verdict in found})
            counted = ", ".join(
                f"{statuses.count(status)} {status}" if len(statuses) > 1 else status
                for status in dict.fromkeys(statuses)
            )
            kind = "control" if need == "CONTROL" else "/".join(whose)
            cells.append(f"[`{pattern}`]({evidence.link(found[0].id)}) {kind}, {counted}")
    return "<br>".join(cells)


def match_carriers(finding: Finding, need: str, pattern: str, evidence: Evidence) -> list[Verdict]:
    """The verdicts of a pattern; refused where they do not carry the finding.

    All must have the status that it needs. Where its sentence states how many do, at least one of
    the pattern must, and more than half of all that it cites (`state_count`); an open control is
    counted there, too.
    """
    found = match_verdicts(pattern, evidence, finding.text, control=need == "CONTROL", need=need)
    carrying = [verdict for verdict in found if verdict.status is NEEDS[need]]
    stated = STATED in finding.text
    enough = bool(carrying or need == "CONTROL") if stated else len(carrying) == len(found)
    if not enough:
        got = ", ".join(f"{v.id} {v.status.value}" for v in found if v not in carrying)
        raise Drifted(
            f"The finding {finding.text!r} needs {need} of every {pattern!r}, or {STATED} in its "
            f"sentence and one that has it. Got {got}."
        )
    strangers = [
        verdict.id
        for verdict in found
        if need != "CONTROL"
        and not verdict.measurement
        and verdict.claimed_by not in WHOSE.get(finding.kind, set(ClaimedBy))
    ]
    if strangers:
        allowed = ", ".join(sorted(whose.value for whose in WHOSE[finding.kind]))
        raise Drifted(
            f"A finding under {KINDS[finding.kind]!r} rests on claims of kind {allowed} alone. "
            f"{finding.text!r} rests on {', '.join(strangers)}."
        )
    return found


def state_count(finding: Finding, evidence: Evidence) -> str:
    """The sentence with its count: how many of the verdicts that it cites carry it."""
    if STATED not in finding.text:
        return finding.text
    cited = [
        (verdict, NEEDS[need])
        for need, patterns in finding.carried.items()
        for pattern in patterns
        for verdict in match_carriers(finding, need, pattern, evidence)
    ]
    carrying = sum(verdict.status is needed for verdict, needed in cited)
    if 2 * carrying <= len(cited):
        raise Drifted(
            f"The finding {finding.text!r} is carried by {carrying} of {len(cited)} verdicts. A "
            "sentence needs more than half of what it cites."
        )
    return finding.text.replace(STATED, f"({carrying} of {len(cited)} verdicts carry this)")


def make_anchor(case: str, claim: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]", "-", f"{case}-{claim}")


def escape_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def write_findings(findings: Mapping[str, Sequence[Finding]], evidence: Evidence) -> str:
    """The page of findings: a table per paper and kind, then all that fails or is undecided."""
    lines = [
        "# Findings",
        "",
        "What a reviewer would read first: where each paper holds, where it needs a correction, "
        "and what was seen where it is silent. Each line is carried by verdicts, to which it "
        "links; numbers come from them. This page is written by `docs/make_findings.py` from the "
        "`docs/findings.toml` of each paper and the committed verdicts, and is not written where "
        "a verdict does not carry its line.",
    ]
    for paper in own_papers():
        lines += ["", f"## {paper.citation}"]
        if paper.unavailable:
            lines += ["", f"Text that was not available: {paper.unavailable}"]
        for kind, heading in KINDS.items():
            rows = [finding for finding in findings[paper.name] if finding.kind == kind]
            if rows:
                lines += ["", f"### {heading}", "", "| finding | carried by |", "| --- | --- |"]
            for finding in rows:
                text = escape_cell(fill_numbers(state_count(finding, evidence), evidence))
                lines.append(f"| {text} | {escape_cell(list_carriers(finding, evidence))} |")
    lines += list_registered(evidence)
    for status, heading in LISTED.items():
        lines += list_status(status, heading, evidence)
    return "\n".join([*lines, *list_controls(evidence), ""])


LISTED = {
    Status.FAILS: "Every claim that fails",
    Status.UNDECIDED: "Every claim and measurement that is undecided",
    Status.OUTSIDE: "Every claim of a paper that was tried where the paper says nothing",
    Status.VACUOUS: "Every bound that says no more than the trivial ceiling",
}


def list_status(status: Status, heading: str, evidence: Evidence) -> list[str]:
    """All claims of a status, the paper's before sharper ones and those beyond it."""
    rows = [
        f"| [`{name}`]({evidence.link(name)}) | {whose.value} | {escape_cell(verdict.sentence)} |"
        for whose in ClaimedBy
        for name, verdict in evidence.verdicts.items()
        if verdict.status is status and not verdict.control and verdict.claimed_by is whose
    ]
    if not rows:
        return []
    head = ["| claim | claimed by | what was seen |", "| --- | --- | --- |"]
    return ["", f"## {heading}", "", *head, *rows]


def list_registered(evidence: Evidence) -> list[str]:
    """The claims that stood in the ledger before their evidence existed."""
    found = [
        f"| [`{name}`]({evidence.link(name)}) | {verdict.claimed_by.value} | "
        f"{verdict.status.value} | {escape_cell(verdict.sentence)} |"
        for name, verdict in evidence.verdicts.items()
        if verdict.evidence is Evidenced.REGISTERED and not verdict.control
    ]
    said = (
        "These claims, with their sizes, seeds and tolerances, stood in the ledger of their paper "
        "(`results/ledger.jsonl`) before the runs that answer them were made."
    )
    head = ["| claim | claimed by | status | what was seen |", "| --- | --- | --- | --- |"]
    return ["", "## Registered confirmations", "", said, "", *head, *found] if found else []


def list_controls(evidence: Evidence) -> list[str]:
    """How many controls FAIL, and which do not."""
    controls = [verdict for verdict in evidence.verdicts.values() if verdict.control]
    counts = Counts.of(controls)
    if counts.sound == counts.controls:
        return ["", "## Controls", "", counts.controls_sentence]
    parts = [f"{counts.sound} of {counts.controls} negative controls fail, as expected"]
    for words, found in (
        ("undecided", [v for v in controls if v.status is Status.UNDECIDED]),
        (
            "of another status",
            [v for v in controls if v.status not in (Status.FAILS, Status.UNDECIDED)],
        ),
    ):
        if found:
            listed = ", ".join(f"[`{v.id}`]({evidence.link(v.id)}) {v.status.value}" for v in found)
            parts.append(f"{len(found)} {'is' if len(found) == 1 else 'are'} {words}: {listed}")
    said = f"{'; '.join(parts)}."
    return ["", "## Controls", "", said]


def write_study(study: CommittedStudy) -> str:
    """Every verdict of a study in full, each with an anchor."""
    lines = [
        f"# Verdicts of {study.name}",
        "",
        f"Preset {study.preset}. Written by `docs/make_findings.py` from the JSON file beside it.",
    ]
    for verdict in study.verdicts:
        *_, case, claim = verdict.id.split("/")
        kind = f"control, breaks {verdict.control}" if verdict.control else verdict.kind
        labels = ", ".join([kind, verdict.claimed_by.value, format_labels(verdict)])
        lines += [
            "",
            f'<a id="{make_anchor(case, claim)}"></a>',
            f"**{case} / {claim}**: {verdict.status.value} ({labels})",
            "",
            f"{verdict.statement}. *{verdict.source}.*",
            "",
            verdict.sentence,
        ]
        if verdict.history:
            lines += ["", f"History: {verdict.history}"]
        if verdict.varies:
            lines += ["", f"Replicates vary {verdict.varies}."]
        if verdict.errors:
            lines += ["", f"Known errors in the interval: {format_errors(verdict)}."]
        unmet = [
            f"{h.text} ({h.word}{': ' + h.detail if h.detail else ''})"
            for h in verdict.hypotheses
            if h.met is not True
        ]
        if unmet:
            said = "Hypotheses not met, or only up to an unstated constant: "
            lines += ["", f"{said}{'; '.join(unmet)}."]
    return "\n".join([*lines, ""])


def make_pages() -> dict[Path, str]:
    """All that is written, by its path."""
    made = {PAGE: write_findings(read_findings(), gather_evidence())}
    return made | {page_of(study): write_study(study) for study in committed_studies().values()}


def main() -> None:
    for path, text in make_pages().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
