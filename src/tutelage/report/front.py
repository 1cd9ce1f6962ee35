"""What page one of a paper says, as the paper's folder has it: `docs/report.toml`.

    question = "…"                        what the report answers
    figures = ["study/figure", …]         the three that matter
    [reads]                               claims that FAIL, by pattern, as sentences
    "paper/study/case/claim" = "…"
    [[answer]]                            up to five findings (`findings.py`), in order
    kind = "holds"
    text = "…"
    carried.HOLDS = ["paper/study/*/claim"]

All of it is optional. A paper without the file has a page one without a question and an answer, and
with the first figures of its studies.
"""

from __future__ import annotations

import fnmatch
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tutelage.claims.verdict import Verdict
from tutelage.forms import list_of, table, table_of, text
from tutelage.refuse import Refused, one_of
from tutelage.report.findings import KINDS, NEEDS, Drifted, Finding, write_finding
from tutelage.report.gather import FinishedStudy
from tutelage.studies.discovery import papers
from tutelage.studies.paper import Paper

FILE = "docs/report.toml"
FIGURES = 3
ANSWERS = 5
NEGATIVE = re.compile(r"(?<![\w.])-(?=\d)")  # the hyphen before a number, but not in 1e-5
_ANSWER = table({"kind": text, "text": text, "carried": table_of(list_of(text))})
_FORM = table(
    {},
    {
        "question": text,
        "figures": list_of(text),
        "reads": table_of(text),
        "answer": list_of(_ANSWER),
    },
)


@dataclass(frozen=True)
class Front:
    """Page one as its paper gives it."""

    question: str = ""
    figures: tuple[str, ...] = ()
    reads: Mapping[str, str] | None = None
    answers: tuple[Finding, ...] = ()

    def read_failure(self, verdict: Verdict) -> str:
        """What a claim that FAILS means, in the paper's own words; "" where it says nothing."""
        found = (
            said
            for pattern, said in (self.reads or {}).items()
            if fnmatch.fnmatchcase(verdict.id, pattern)
        )
        return next(found, "")


@dataclass(frozen=True)
class Account:
    """One paper of a report: what is known of it, and its studies that were run."""

    name: str
    paper: Paper | None  # None where it is not installed here
    front: Front
    studies: tuple[FinishedStudy, ...]

    @property
    def title(self) -> str:
        return self.name if self.paper is None else self.paper.title

    @property
    def authors(self) -> str:
        return "" if self.paper is None else f"{self.paper.authors} ({self.paper.year})"

    @property
    def verdicts(self) -> list[Verdict]:
        return [verdict for finished in self.studies for verdict in finished.verdicts]

    @property
    def presets(self) -> str:
        return ", ".join(dict.fromkeys(finished.study["preset"] for finished in self.studies))

    @property
    def versions(self) -> str:
        """Of tutelage, by which its studies were run."""
        made = (finished.study["made"].get("tutelage", "") for finished in self.studies)
        return ", ".join(version for version in dict.fromkeys(made) if version)

    def write_answers(self) -> tuple[list[str], int]:
        """The sentences that these verdicts carry, and how many they do not carry."""
        verdicts = {verdict.id: verdict for verdict in self.verdicts}
        said = []
        for finding in self.front.answers:
            try:
                said.append(NEGATIVE.sub("−", write_finding(finding, verdicts)))
            except Drifted:
                continue
        return said, len(self.front.answers) - len(said)

    def choose_figures(self) -> list[tuple[FinishedStudy, Path]]:
        """The three figures that matter, where they were drawn; else the first of each study."""
        drawn = {
            f"{finished.name}/{figure.name}": (finished, figure)
            for finished in self.studies
            for figure in finished.figures
        }
        wanted = [f"{self.name}/{figure}" for figure in self.front.figures]
        chosen = [name for name in wanted if name in drawn]
        firsts = [f"{s.name}/{s.figures[0].name}" for s in self.studies if s.figures]
        chosen += [name for name in firsts if name not in chosen] if not chosen else []
        return [drawn[name] for name in chosen[:FIGURES]]


def gather_accounts(studies: Sequence[FinishedStudy]) -> list[Account]:
    """The papers of some studies, in the order in which their studies come."""
    known = papers()
    by_paper: dict[str, list[FinishedStudy]] = {}
    for finished in studies:
        by_paper.setdefault(finished.name.partition("/")[0], []).append(finished)
    return [
        Account(
            name,
            known.get(name),
            read_front(known[name]) if name in known else Front(),
            tuple(found),
        )
        for name, found in by_paper.items()
    ]


def read_front(paper: Paper) -> Front:
    """Page one of a paper, from its folder; refused where the file is not of its form."""
    path = paper.folder / FILE
    if not path.is_file():
        return Front()
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise Refused(f"{path} says what page one of a report says, in TOML: {error}.") from None
    if said := _FORM(given, ""):
        raise Refused(f"{path} says what page one of a report says: {said}.")
    answers = tuple(Finding(**one) for one in given.get("answer", ()))
    if len(answers) > ANSWERS:
        raise Refused(
            f"The answer on page one has at most {ANSWERS} sentences, so that it is read. Got "
            f"{len(answers)} in {path}."
        )
    for answer in answers:
        one_of("kind of finding", answer.kind, KINDS)
        for need in answer.carried:
            one_of("status that a finding needs", need, NEEDS)
    return Front(
        given.get("question", ""),
        tuple(given.get("figures", ())),
        given.get("reads", {}),
        answers,
    )
