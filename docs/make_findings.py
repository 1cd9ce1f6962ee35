"""Writes findings.md from findings.toml and the committed verdicts, and for each study a page with
all its verdicts.

A finding is a sentence with the claims that carry it and the status that it needs of them. Its
numbers are places in the sentence that are filled in from the verdicts. Where a verdict no longer
has that status, or a claim is gone, nothing is written and the finding is named: a sentence cannot
outlive what it rests on.

python docs/make_findings.py
"""

from __future__ import annotations

import fnmatch
import json
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

DOCS = Path(__file__).parent
PAPERS = {
    "teacher-models": "Teacher models (Zhang et al. 2026)",
    "shallow-transformers": "Shallow transformers (Arda et al. 2026)",
}
KINDS = {
    "holds": "Where the paper holds",
    "correction": "Where it needs a correction or is not sharp",
    "silent": "Where it is silent, and what was seen",
    "open": "What is not decided",
}
# What a finding needs of the verdicts of one pattern -> whether their statuses carry it. Undecided
# ones are allowed beside, and counted.
NEEDS = {
    "HOLDS": lambda found: "HOLDS" in found and "FAILS" not in found,
    "FAILS": lambda found: "FAILS" in found and "HOLDS" not in found,
    "UNDECIDED": lambda found: "UNDECIDED" in found,
    "MEASURED": lambda found: "MEASURED" in found,
    "CONTROL": lambda found: "HOLDS" not in found,
}
PLACE = re.compile(r"\{(measured|predicted|interval|count):([^:}]*):([^}]+)\}")


class Drifted(SystemExit):
    """A finding that its verdicts no longer carry."""


def committed() -> dict[str, dict]:
    """All verdicts of the quick presets by id."""
    paths = sorted(
        path for path in (DOCS / "results").glob("*.json") if not path.stem.endswith("-full")
    )
    return {verdict["id"]: verdict for path in paths for verdict in json.loads(path.read_text())}


def matching(
    pattern: str, verdicts: dict[str, dict], about: str, *, control: bool = False
) -> list[dict]:
    """The verdicts of that name that are controls, or that are none."""
    found = [
        v
        for name, v in verdicts.items()
        if fnmatch.fnmatchcase(name, pattern) and bool(v["control"]) is control
    ]
    if not found:
        kind = "control" if control else "claim or measurement"
        raise Drifted(
            f"No committed {kind} is named {pattern!r}, on which the finding {about!r} rests."
        )
    return found


def filled(text: str, verdicts: dict[str, dict]) -> str:
    """The sentence with its numbers: one, or the least and the largest of all that match."""

    def number(place: re.Match[str]) -> str:
        key, form, pattern = place.groups()
        claimed = any(
            fnmatch.fnmatchcase(name, pattern) and not v["control"] for name, v in verdicts.items()
        )
        found = matching(
            pattern, verdicts, text, control=not claimed
        )  # a number may be a control's, where no claim has that name
        if key == "count":
            return str(len(found))
        if key == "interval":
            ends = [v["interval"] for v in found]
            return f"[{min(low for low, _ in ends):{form}}, {max(high for _, high in ends):{form}}]"
        values = sorted(v[key] for v in found if v[key] is not None)
        least, most = f"{values[0]:{form}}", f"{values[-1]:{form}}"
        return least if least == most else f"{least} to {most}"

    return PLACE.sub(number, text)


def carriers(finding: dict, verdicts: dict[str, dict]) -> str:
    """The claims that carry a finding, each linked to its verdict, with how many have which
    status.
    """
    cells = []
    for need, patterns in finding["carried"].items():
        for pattern in patterns:
            found = matching(pattern, verdicts, finding["text"], control=need == "CONTROL")
            statuses = [v["status"] for v in found]
            if not NEEDS[need](set(statuses)):
                raise Drifted(
                    f"The finding {finding['text']!r} needs {need} of {pattern!r}. Got "
                    f"{', '.join(sorted(set(statuses)))}."
                )
            told = ", ".join(
                f"{statuses.count(s)} {s}" if len(statuses) > 1 else s
                for s in dict.fromkeys(statuses)
            )
            cells.append(
                f"[`{pattern}`]({link(found[0]['id'])}) "
                f"{'control, ' if need == 'CONTROL' else ''}{told}"
            )
    return "<br>".join(cells)


def link(name: str) -> str:
    *study, case, claim = name.split("/")
    return f"results/{'-'.join(study)}.md#{anchor(case, claim)}"


def anchor(case: str, claim: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]", "-", f"{case}-{claim}")


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def findings_page(findings: Iterable[dict], verdicts: dict[str, dict]) -> str:
    findings = list(findings)
    lines = [
        "# Findings",
        "",
        "What a reviewer would read first: where each paper holds, where it needs a correction, "
        "and what was seen where it is silent. "
        "Each line is carried by verdicts, to which it links; numbers come from them. This page "
        "is written by `docs/make_findings.py` from "
        "`docs/findings.toml` and the committed verdicts, and is not written where a verdict "
        "does not carry its line.",
    ]
    for paper, title in PAPERS.items():
        lines += ["", f"## {title}"]
        for kind, heading in KINDS.items():
            rows = [f for f in findings if f["paper"] == paper and f["kind"] == kind]
            if rows:
                lines += ["", f"### {heading}", "", "| finding | carried by |", "| --- | --- |"]
                lines += [
                    f"| {cell(filled(f['text'], verdicts))} | {cell(carriers(f, verdicts))} |"
                    for f in rows
                ]
    for status, heading in (
        ("FAILS", "Every claim that fails"),
        ("UNDECIDED", "Every claim and measurement that is undecided"),
    ):
        found = [v for v in verdicts.values() if v["status"] == status and not v["control"]]
        lines += ["", f"## {heading}", "", "| claim | what was seen |", "| --- | --- |"]
        lines += [f"| [`{v['id']}`]({link(v['id'])}) | {cell(v['sentence'])} |" for v in found]
    held = [v for v in verdicts.values() if v["control"] and v["status"] == "HOLDS"]
    told = ", ".join(f"[`{v['id']}`]({link(v['id'])})" for v in held) or "none does"
    lines += [
        "",
        f"Of {sum(bool(v['control']) for v in verdicts.values())} controls, which must not hold, "
        f"these do: {told}.",
    ]
    return "\n".join([*lines, ""])


def study_page(study: str, verdicts: list[dict]) -> str:
    """Every verdict of a study in full, each with an anchor."""
    lines = [
        f"# Verdicts of {study}",
        "",
        f"Preset {verdicts[0]['preset']}. Written by `docs/make_findings.py` from the JSON file "
        "beside it.",
    ]
    for verdict in verdicts:
        *_, case, claim = verdict["id"].split("/")
        kind = (
            f"control, breaks {verdict['control']}"
            if verdict["control"]
            else "measurement"
            if verdict.get("measurement")
            else "claim"
        )
        lines += [
            "",
            f'<a id="{anchor(case, claim)}"></a>',
            f"**{case} / {claim}**: {verdict['status']} ({kind})",
            "",
        ]
        lines += [f"{verdict['statement']}. *{verdict['source']}.*", "", verdict["sentence"]]
        unmet = [
            f"{h['text']} ({h['word']}{': ' + h['detail'] if h['detail'] else ''})"
            for h in verdict["hypotheses"]
            if h["met"] is not True
        ]
        lines += (
            [
                "",
                "Hypotheses not met, or only up to an unstated constant: " + "; ".join(unmet) + ".",
            ]
            if unmet
            else []
        )
    return "\n".join([*lines, ""])


def pages() -> dict[Path, str]:
    """All that is written, by its path."""
    verdicts = committed()
    with (DOCS / "findings.toml").open("rb") as file:
        findings = tomllib.load(file)["finding"]
    studies: dict[str, list[dict]] = {}
    for name, verdict in verdicts.items():
        studies.setdefault(name.rsplit("/", 2)[0], []).append(verdict)
    made = {
        DOCS / "results" / f"{study.replace('/', '-')}.md": study_page(study, found)
        for study, found in studies.items()
    }
    return {DOCS / "findings.md": findings_page(findings, verdicts)} | made


def main() -> None:
    for path, text in pages().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
