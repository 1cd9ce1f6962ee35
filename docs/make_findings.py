"""Writes findings.md from the findings of each paper and the committed verdicts, and for each study
a page with all its verdicts.

A finding is a sentence with the claims that carry it and the status that it needs of them. Its
numbers are places in the sentence that are filled in from the verdicts. Where a verdict no longer
has that status, or a claim is gone, nothing is written and the finding is named: a sentence cannot
outlive what it rests on.

python docs/make_findings.py
"""

from __future__ import annotations

import fnmatch
import os
import re
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

from tools.committed import CommittedStudy, committed_studies, own_papers  # noqa: E402

from tutelage.claims.verdict import Status, Verdict  # noqa: E402

PAGE = DOCS / "findings.md"
KINDS = {
    "holds": "Where the paper holds",
    "correction": "Where it needs a correction or is not sharp",
    "silent": "Where it is silent, and what was seen",
    "open": "What is not decided",
}
# What a finding needs of the verdicts of one pattern -> whether their statuses carry it. Undecided
# ones are allowed beside, and counted.
NEEDS: dict[str, Callable[[set[str]], bool]] = {
    "HOLDS": lambda found: "HOLDS" in found and "FAILS" not in found,
    "FAILS": lambda found: "FAILS" in found and "HOLDS" not in found,
    "UNDECIDED": lambda found: "UNDECIDED" in found,
    "MEASURED": lambda found: "MEASURED" in found,
    "CONTROL": lambda found: "HOLDS" not in found,
}
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
    pattern: str, evidence: Evidence, about: str, *, control: bool = False
) -> list[Verdict]:
    """The verdicts of that name that are controls, or that are none."""
    found = [
        verdict
        for name, verdict in evidence.verdicts.items()
        if fnmatch.fnmatchcase(name, pattern) and bool(verdict.control) is control
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
    """The claims that carry a finding, each linked to its verdict, with how many have which
    status.
    """
    cells = []
    for need, patterns in finding.carried.items():
        for pattern in patterns:
            found = match_verdicts(pattern, evidence, finding.text, control=need == "CONTROL")
            statuses = [verdict.status.value for verdict in found]
            if not NEEDS[need](set(statuses)):
                raise Drifted(
                    f"The finding {finding.text!r} needs {need} of {pattern!r}. Got "
                    f"{', '.join(sorted(set(statuses)))}."
                )
            counted = ", ".join(
                f"{statuses.count(status)} {status}" if len(statuses) > 1 else status
                for status in dict.fromkeys(statuses)
            )
            control = "control, " if need == "CONTROL" else ""
            cells.append(f"[`{pattern}`]({evidence.link(found[0].id)}) {control}{counted}")
    return "<br>".join(cells)


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
        for kind, heading in KINDS.items():
            rows = [finding for finding in findings[paper.name] if finding.kind == kind]
            if rows:
                lines += ["", f"### {heading}", "", "| finding | carried by |", "| --- | --- |"]
            for finding in rows:
                text = escape_cell(fill_numbers(finding.text, evidence))
                lines.append(f"| {text} | {escape_cell(list_carriers(finding, evidence))} |")
    for status, heading in (
        (Status.FAILS, "Every claim that fails"),
        (Status.UNDECIDED, "Every claim and measurement that is undecided"),
    ):
        lines += ["", f"## {heading}", "", "| claim | what was seen |", "| --- | --- |"]
        for name, verdict in evidence.verdicts.items():
            if verdict.status is status and not verdict.control:
                lines.append(
                    f"| [`{name}`]({evidence.link(name)}) | {escape_cell(verdict.sentence)} |"
                )
    controls = [verdict for verdict in evidence.verdicts.values() if verdict.control]
    held = [verdict.id for verdict in controls if verdict.status is Status.HOLDS]
    listed = ", ".join(f"[`{name}`]({evidence.link(name)})" for name in held) or "none does"
    lines += ["", f"Of {len(controls)} controls, which must not hold, these do: {listed}."]
    return "\n".join([*lines, ""])


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
        lines += [
            "",
            f'<a id="{make_anchor(case, claim)}"></a>',
            f"**{case} / {claim}**: {verdict.status.value} ({kind})",
            "",
            f"{verdict.statement}. *{verdict.source}.*",
            "",
            verdict.sentence,
        ]
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
