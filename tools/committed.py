"""What is committed of the papers in this repository: the verdicts and the page of each study."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tutelage.claims.verdict import PlainVerdict, Verdict
from tutelage.studies.discovery import papers
from tutelage.studies.outputs import read_verdicts
from tutelage.studies.paper import Entry, Paper

ROOT = Path(__file__).parents[1]


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

    @cached_property
    def plain_verdicts(self) -> list[PlainVerdict]:
        return read_verdicts(self.results)

    @property
    def verdicts(self) -> list[Verdict]:
        return [Verdict.from_plain(verdict) for verdict in self.plain_verdicts]

    @property
    def preset(self) -> str:
        return self.plain_verdicts[0]["preset"]


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
