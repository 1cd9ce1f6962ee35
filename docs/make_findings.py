"""Writes findings.md from the findings of each paper and the committed verdicts, and for each study
a page with all its verdicts.

`tutelage.report.findings` says what a finding is. Where verdicts do not carry one, or a claim is
gone, nothing is written and the finding is named. What is said to be the paper's rests on claims of
the paper alone.

python docs/make_findings.py
"""

from __future__ import annotations

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
from tools.mathematics import write_formulas  # noqa: E402

from tutelage.claims.labels import ClaimedBy  # noqa: E402
from tutelage.claims.labels import Evidence as Evidenced  # noqa: E402
from tutelage.claims.verdict import Status, Verdict  # noqa: E402
from tutelage.report.findings import (  # noqa: E402
    KINDS,
    NEEDS,
    Drifted,
    Finding,
    match_carriers,
    write_finding,
)
from tutelage.report.tables import format_errors, format_labels  # noqa: E402
from tutelage.studies.counts import Counts  # noqa: E402
from tutelage.studies.paper import Paper  # noqa: E402

PAGE = DOCS / "findings.md"


@dataclass(frozen=True)
class Evidence:
    """All committed verdicts by id, and where the page of each study is."""

    verdicts: Mapping[str, Verdict]
    pages: Mapping[str, Path]

    def link(self, name: str) -> str:
        """Where a verdict stands, as seen from the page of findings."""
        study, case, claim = name.rsplit("/", 2)
        return f"{path_from(PAGE, self.pages[study])}#{make_anchor(case, claim)}"


@dataclass(frozen=True)
class Open:
    """What is said by hand about an undecided claim."""

    why: str
    cost: str  # of deciding it


def gather_evidence() -> Evidence:
    """Each claim at its largest committed preset."""
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


def list_carriers(finding: Finding, evidence: Evidence) -> str:
    """The claims that carry a finding, each linked to its verdict, with whose they are and how many
    have which status.
    """
    cells = []
    for need, patterns in finding.carried.items():
        for pattern in patterns:
            found = match_carriers(finding, need, pattern, evidence.verdicts)
            statuses = [verdict.status.value for verdict in found]
            whose = sorted({verdict.claimed_by.value for verdict in found})
            counted = ", ".join(
                f"{statuses.count(status)} {status}" if len(statuses) > 1 else status
                for status in dict.fromkeys(statuses)
            )
            kind = "control" if need == "CONTROL" else "/".join(whose)
            cells.append(f"[`{pattern}`]({evidence.link(found[0].id)}) {kind}, {counted}")
    return "<br>".join(cells)


def path_from(page: Path, target: Path) -> str:
    """The target of a link from one page to another."""
    return Path(os.path.relpath(target, page.parent)).as_posix()


def make_anchor(case: str, claim: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]", "-", f"{case}-{claim}")


def escape_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def write_findings(findings: Mapping[str, Sequence[Finding]], evidence: Evidence) -> str:
    """The page of findings: a table per paper and kind, then all that fails or is undecided."""
    lines = [
        "# Findings",
        "",
        "[Contents](index.md)",
        "",
        "Where each paper holds, where it needs a correction, and what we saw where it is silent. "
        "Each line links to the verdicts that support it, and takes its numbers from them. "
        "`docs/make_findings.py` writes this page from the `docs/findings.toml` of each paper and "
        "the committed verdicts, and refuses to if a verdict no longer supports its line.",
        "",
        "How to read it: a claim is the paper's own, sharper than the paper (we say more), or "
        "beyond the paper (it does not address the question). HOLDS and FAILS are decided by an "
        "interval, and every UNDECIDED claim is listed below. On curves of known truth, written "
        "by people who had not seen the rule, at most 1% of its answers about any kind of claim "
        "were a wrong HOLDS, and at most 1% a wrong FAILS: "
        "[how a verdict is reached](verdicts.md), [how to read one](read-a-verdict.md).",
    ]
    lines += list_first(findings, evidence)
    for paper in own_papers():
        lines += ["", f"## {paper.citation}", "", state_certainty(paper, evidence)]
        if paper.unavailable:
            lines += ["", f"Text that was not available: {paper.unavailable}"]
        for kind, heading in KINDS.items():
            rows = [finding for finding in findings[paper.name] if finding.kind == kind]
            if rows:
                lines += ["", f"### {heading}", "", "| finding | carried by |", "| --- | --- |"]
            for finding in rows:
                text = escape_cell(write_finding(finding, evidence.verdicts))
                lines.append(f"| {text} | {escape_cell(list_carriers(finding, evidence))} |")
    lines += list_registered(evidence)
    lines += list_status(Status.FAILS, "Every claim that fails", evidence)
    lines += list_open(read_open(), evidence)
    for status, heading in LISTED.items():
        lines += list_status(status, heading, evidence)
    return write_formulas("\n".join([*lines, *list_controls(evidence), ""]))


def state_certainty(paper: Paper, evidence: Evidence) -> str:
    """How many claims about a paper got which answer, its own first, and what its controls did."""
    found = [v for name, v in evidence.verdicts.items() if name.startswith(f"{paper.name}/")]
    own = Counts.by_group(found)[ClaimedBy.PAPER].by_status
    counted = ", ".join(f"{count} {status}" for status, count in own.items() if count)
    return (
        f"**How sure we are.** The paper's own claims: {counted or 'none'}. With ours: "
        f"{Counts.of(found).sentence}"
    )


WHOSE_WORDS = {
    ClaimedBy.PAPER: "the paper's claim",
    ClaimedBy.SHARPER: "sharper than the paper",
    ClaimedBy.BEYOND: "beyond the paper",
}


def list_first(findings: Mapping[str, Sequence[Finding]], evidence: Evidence) -> list[str]:
    """The findings that have a short form, in a line each: of which paper, whose claim, and how
    many verdicts carry it.
    """
    found = []
    for paper in own_papers():
        for finding in findings[paper.name]:
            if finding.short:
                found.append(write_first(paper, finding, evidence))
    return ["", "## In ten lines", "", *found] if found else []


def write_first(paper: Paper, finding: Finding, evidence: Evidence) -> str:
    cited = [
        (verdict, need)
        for need, patterns in finding.carried.items()
        for pattern in patterns
        for verdict in match_carriers(finding, need, pattern, evidence.verdicts)
    ]
    claims = [verdict for verdict, need in cited if need != "CONTROL"]
    whose = [
        words for kind, words in WHOSE_WORDS.items() if any(v.claimed_by is kind for v in claims)
    ]
    carrying = sum(verdict.status is NEEDS[need] for verdict, need in cited)
    cited_as = f"{paper.authors.split(',')[0].split()[-1]} et al. {paper.year}"
    landing = path_from(PAGE, paper.folder / "docs" / "index.md")
    return (
        f"- [{cited_as}]({landing}): {finding.short} *{', '.join(whose).capitalize()}; "
        f"{carrying} of {len(cited)} [verdicts]({evidence.link(cited[0][0].id)}) support it.*"
    )


LISTED = {
    Status.OUTSIDE: "Every claim of a paper that was tried where the paper says nothing",
    Status.VACUOUS: "Every bound that says no more than the trivial ceiling",
}


def list_status(
    status: Status, heading: str, evidence: Evidence, *, measured: bool = False
) -> list[str]:
    """All claims of a status, or all measurements, the paper's before sharper ones and those beyond
    it.
    """
    rows = [
        f"| [`{name}`]({evidence.link(name)}) | {whose.value} | {escape_cell(verdict.sentence)} |"
        for whose in ClaimedBy
        for name, verdict in evidence.verdicts.items()
        if verdict.status is status
        and verdict.measurement is measured
        and not verdict.control
        and verdict.claimed_by is whose
    ]
    if not rows:
        return []
    what = "measurement" if measured else "claim"
    head = [f"| {what} | claimed by | what was seen |", "| --- | --- | --- |"]
    return ["", f"## {heading}", "", *head, *rows]


def is_open(verdict: Verdict) -> bool:
    """Whether it is a claim that is undecided at the largest committed preset."""
    return verdict.status is Status.UNDECIDED and not (verdict.control or verdict.measurement)


def read_open() -> dict[str, Open]:
    """What each paper's `docs/open.toml` says about its undecided claims, by their ids."""
    found = {}
    for paper in own_papers():
        path = paper.folder / "docs" / "open.toml"
        for one in tomllib.loads(path.read_text())["open"] if path.exists() else []:
            said = Open(one["why"], one["cost"])
            found |= {f"{paper.name}/{claim}": said for claim in one["claims"]}
    return found


def list_open(said: Mapping[str, Open], evidence: Evidence) -> list[str]:
    """All undecided claims, each with why and with what deciding it would cost, and all undecided
    measurements. A claim without a line, and a line without a claim, are refused.
    """
    undecided = {name for name, verdict in evidence.verdicts.items() if is_open(verdict)}
    for names, fault in (
        (undecided - said.keys(), "is undecided, and has no line in docs/open.toml"),
        (said.keys() - undecided, "has a line in docs/open.toml, and is not undecided"),
    ):
        if names:
            raise Drifted(f"{min(names)} {fault}.")
    lines = ["", "## Every claim that is undecided", ""]
    lines += ["| claim | claimed by | what was seen | why | what deciding it would cost |"]
    lines += ["| --- | --- | --- | --- | --- |"]
    for whose in ClaimedBy:
        for name, verdict in evidence.verdicts.items():
            if name in undecided and verdict.claimed_by is whose:
                link = f"[`{name}`]({evidence.link(name)})"
                cells = (verdict.sentence, said[name].why, said[name].cost)
                written = " | ".join(map(escape_cell, cells))
                lines.append(f"| {link} | {whose.value} | {written} |")
    heading = "Every measurement that is undecided"
    return lines + list_status(Status.UNDECIDED, heading, evidence, measured=True)


def list_registered(evidence: Evidence) -> list[str]:
    """The claims that stood in the ledger before their evidence existed, those of studies of their
    own first, then those of the preset `confirm`.
    """
    verdicts = [v for v in evidence.verdicts.values() if is_registered(v)]
    again = [v for study in committed_studies().values() for v in study.confirmed]
    confirmed = [verdict for verdict in again if is_registered(verdict)]
    said = (
        "These claims, with their sizes, seeds and tolerances, stood in the ledger of their paper "
        "(`results/ledger.jsonl`) before the runs that answer them were made."
    )
    lines = ["", "## Registered confirmations", "", said, *list_verdicts(verdicts, evidence)]
    if not confirmed:
        return lines
    said = (
        "The next ones were registered for sizes or seeds other than those of the study's own "
        "page, and run with `--preset confirm`. The statuses of the same claims at the page's "
        f"sizes are in the counts above; these are not: {Counts.of(confirmed).sentence}"
    )
    return [*lines, "", said, *list_verdicts(confirmed, evidence)]


def is_registered(verdict: Verdict) -> bool:
    return verdict.evidence is Evidenced.REGISTERED and not verdict.control


def list_verdicts(verdicts: Sequence[Verdict], evidence: Evidence) -> list[str]:
    """One row per verdict."""
    head = ["", "| claim | claimed by | status | what was seen |", "| --- | --- | --- | --- |"]
    rows = []
    for verdict in verdicts:
        name = f"`{verdict.id}`"
        if verdict.id in evidence.verdicts:  # and so has a place on the page of its study
            name = f"[{name}]({evidence.link(verdict.id)})"
        whose, status = verdict.claimed_by.value, verdict.status.value
        rows.append(f"| {name} | {whose} | {status} | {escape_cell(verdict.sentence)} |")
    return head + rows


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
    page = page_of(study)
    lines = [
        f"# Verdicts of {study.name}",
        "",
        f"[The study]({path_from(page, study.page)}), [findings]({path_from(page, PAGE)}), "
        f"[contents]({path_from(page, DOCS / 'index.md')})",
        "",
        f"Preset {study.presets}. Written by `docs/make_findings.py` from the JSON file beside it.",
    ]
    for said in study.history.of_study(study.name):
        lines += ["", said]
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
        if verdict.guarantee:
            lines += ["", verdict.guarantee]
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
    return write_formulas("\n".join([*lines, ""]))


def make_pages() -> dict[Path, str]:
    """All that is written, by its path."""
    made = {PAGE: write_findings(read_findings(), gather_evidence())}
    return made | {page_of(study): write_study(study) for study in committed_studies().values()}


def main() -> None:
    try:
        pages = make_pages()
    except Drifted as drifted:
        sys.exit(str(drifted))
    for path, text in pages.items():
        path.write_text(text)


if __name__ == "__main__":
    main()
