"""What is committed of the papers in this repository: the verdicts and the page of each study.

python -m tools.committed     respells the words and labels of committed verdicts as today's claims
                              have them, and evaluates their hypotheses anew; numbers and ids stay,
                              and so does every status but OUTSIDE, which follows from these
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from tutelage.claims import Claim, Exponent, Hypothesis, Status
from tutelage.claims.check import evaluate_hypotheses, judge_outside, state_claim
from tutelage.claims.claim import Answer
from tutelage.claims.labels import ClaimedBy, Evidence
from tutelage.claims.verdict import PlainVerdict, Verdict, unpack_verdicts
from tutelage.studies.discovery import papers
from tutelage.studies.history import History, read_history
from tutelage.studies.outputs import read_verdicts
from tutelage.studies.paper import Entry, Paper
from tutelage.studies.study import Case, Plan

ROOT = Path(__file__).parents[1]
# Presets whose verdicts are committed beside those of the quick one, in `study-preset.json`: a
# second registration, with cases of its own; a larger preset of the cases that the quick one leaves
# open; and the paper's sizes. Verdicts of a later preset take the place of those before.
# Those of `confirm`, a registration at other sizes, stand beside them: the same claims asked twice.
FURTHER_PRESETS = ("second", "continued", "larger", "paper", "longer", "largest", "longest")


@dataclass(frozen=True)
class CommittedStudy:
    """A study of this repository with its files."""

    paper: Paper
    short: str
    entry: Entry

    @property
    def name(self) -> str:
        return f"{self.paper.name}/{self.short}"

    @property
    def page(self) -> Path:
        return self.paper.folder / "docs" / f"{self.short}.md"

    @property
    def results(self) -> Path:
        """The verdicts of the quick preset."""
        return self.paper.folder / "results" / f"{self.short}.json"

    @property
    def figures(self) -> Path:
        return self.paper.folder / "docs" / "figures"

    @property
    def further_results(self) -> dict[str, Path]:
        """The verdicts of further presets that are committed, by their presets."""
        paths = {name: self.results.with_stem(f"{self.short}-{name}") for name in FURTHER_PRESETS}
        return {name: path for name, path in paths.items() if path.exists()}

    @property
    def files(self) -> dict[str, Path]:
        """All committed verdicts by their presets, the quick one first."""
        return {self.preset: self.results, **self.further_results}

    @cached_property
    def plain_verdicts(self) -> list[PlainVerdict]:
        """Each claim at the largest preset that is committed."""
        found: dict[str, PlainVerdict] = {}
        for path in self.files.values():
            found |= {verdict["id"]: verdict for verdict in _read_once(path)}
        return list(found.values())

    @property
    def verdicts(self) -> list[Verdict]:
        return [Verdict.from_plain(verdict) for verdict in self.plain_verdicts]

    @property
    def confirmed(self) -> list[Verdict]:
        """Those of the preset `confirm`: none where it is not committed."""
        path = self.results.with_stem(f"{self.short}-confirm")
        return [Verdict.from_plain(one) for one in _read_once(path)] if path.exists() else []

    @cached_property
    def preset(self) -> str:
        return _read_once(self.results)[0]["preset"]

    @property
    def presets(self) -> str:
        """All that are committed, in words."""
        return ", ".join(self.files)

    def asked(self, *presets: str) -> dict[str, tuple[Case, Claim]]:
        """The claims of these presets (all that are committed, if none is named) as they are now,
        by the ids of their verdicts; each at the last of the presets that asks it.
        """
        study = self.paper.study(self.short)
        return {
            f"{self.name}/{case.name}/{claim.id}": (case, claim)
            for preset in presets or self.files
            for case in study.plan(Plan(preset))[0]
            for claim in case.claims
        }

    def claims(self, *presets: str) -> dict[str, Claim]:
        return {name: claim for name, (_, claim) in self.asked(*presets).items()}

    @property
    def history(self) -> History:
        return read_history(self.paper.folder)

    def histories(self, *presets: str) -> dict[str, str]:
        """How each claim was asked before, by the ids of their verdicts."""
        history, found = self.history, {}
        for name, (case, claim) in self.asked(*presets).items():
            said = (claim.history, history.of_claim(name, claim, case.settings))
            found[name] = " ".join(filter(None, said))
        return found

    def hypotheses(self, *presets: str) -> dict[str, tuple[Hypothesis, ...]]:
        """Those of each claim at the settings of its case, by the ids of their verdicts."""
        return {
            name: evaluate_hypotheses(claim, case.settings)
            for name, (case, claim) in self.asked(*presets).items()
        }


def _read_once(path: Path) -> list[PlainVerdict]:
    """The verdicts of a file, read once while it stays as it is; they are not to be changed."""
    return _read_as_of(path, path.stat().st_mtime_ns)


@cache
def _read_as_of(path: Path, changed: int) -> list[PlainVerdict]:
    return read_verdicts(path)


def own_papers() -> list[Paper]:
    """The papers of this repository; installed ones keep their own docs."""
    return [paper for paper in papers().values() if paper.origin == "built in"]


def committed_studies() -> dict[str, CommittedStudy]:
    """Every study of this repository by its name; questions come after all others."""
    found = [
        CommittedStudy(paper, short, entry)
        for paper in own_papers()
        for short, entry in paper.studies.items()
    ]
    return {one.name: one for one in sorted(found, key=lambda one: one.entry.beyond)}


def respell(
    verdict: PlainVerdict,
    claim: Claim,
    hypotheses: Sequence[Hypothesis] | None = None,
    history: str = "",
) -> None:
    """Statement, source and labels as the claim has them, and in the sentence the name of its
    quantity, which may have been written with other spaces; how it was asked before; with
    `hypotheses`, these, and OUTSIDE where they say so.
    """
    verdict["statement"], verdict["source"] = state_claim(claim), claim.source
    verdict["claimed_by"] = claim.claimed_by.value
    verdict["source_text"] = claim.source_text.value
    verdict["history"] = history or claim.history
    if claim.derived:
        verdict["evidence"] = Evidence.DERIVED.value
    elif verdict.get("evidence") in (None, Evidence.DERIVED.value):
        verdict["evidence"] = Evidence.EXPLORATORY.value
    if hypotheses is not None:
        verdict["hypotheses"] = [
            {"text": h.text, "met": h.met, "word": h.word, "detail": h.detail} for h in hypotheses
        ]
        papers_own = claim.claimed_by is ClaimedBy.PAPER and not verdict["control"]
        if papers_own and verdict["status"] != Status.OUTSIDE.value:
            answer = Answer(Status(verdict["status"]), verdict["sentence"], None)
            answer = judge_outside(hypotheses, answer)
            verdict["status"], verdict["sentence"] = answer.status.value, answer.sentence
    if isinstance(claim, Exponent):
        spaced = r"\s*".join(re.escape(sign) for sign in claim.of if not sign.isspace())
        verdict["sentence"] = re.sub(spaced, lambda _: claim.of, verdict["sentence"])


def respell_file(
    path: Path,
    claims: Mapping[str, Claim],
    hypotheses: Mapping[str, Sequence[Hypothesis]] | None = None,
    histories: Mapping[str, str] | None = None,
) -> int:
    """How many verdicts of a file have other words now; the file is written where some have."""
    text = path.read_text(encoding="utf-8")
    document = json.loads(text)
    found = unpack_verdicts(document)
    before = [dict(verdict) for verdict in found]
    for verdict in found:
        name = verdict["id"]
        respell(
            verdict,
            claims[name],
            None if hypotheses is None else hypotheses[name],
            "" if histories is None else histories[name],
        )
    changed = sum(one != other for one, other in zip(before, found, strict=True))
    if changed:
        path.write_text(json.dumps(document, indent=1, ensure_ascii=False), encoding="utf-8")
    return changed


def main() -> None:
    for name, study in committed_studies().items():
        changed = 0
        for preset, path in study.files.items():
            told = study.claims(preset), study.hypotheses(preset), study.histories(preset)
            changed += respell_file(path, *told)
        if changed:
            print(f"{name}: {changed} verdicts have other words now")


if __name__ == "__main__":
    main()
