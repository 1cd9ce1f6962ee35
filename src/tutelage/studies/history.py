"""What was changed in a paper's studies after verdicts had been seen: `history.toml` in its folder.

Each `[[change]]` has a date, a sentence on how it was before, and what it is `of`: studies by name,
such as "rates", whose seeds or horizons were changed, or claims by patterns of study/case/claim.
`where` keeps those claims whose plain form has these entries, such as `approach = 0.5`.
"""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict, cast

from tutelage.claims.claim import Claim
from tutelage.forms import Json, list_of, simple, table, table_of, text
from tutelage.refuse import Refused
from tutelage.settings import Setting
from tutelage.studies.ledger import Ledger, read_ledger
from tutelage.studies.ledger_lines import plain_claim

FILE = "history.toml"
_FORM = table(
    {
        "change": list_of(
            table(
                {"date": text, "of": list_of(text, least=1), "before": text},
                {"where": table_of(simple)},
                others=None,
            )
        )
    },
    others=None,
)


class _PlainChange(TypedDict, total=False):
    date: str
    of: list[str]
    before: str
    where: dict[str, Json]


@dataclass(frozen=True)
class Change:
    """One change, of studies or of claims, and how it was before."""

    date: str
    of: tuple[str, ...]
    before: str
    where: Mapping[str, Json] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        return f"Changed on {self.date}, after verdicts had been seen: {self.before}"

    def concerns(self, name: str, claim: Claim) -> bool:
        """Whether it changed the claim of that name, study/case/claim."""
        if not any("/" in one and fnmatch.fnmatchcase(name, one) for one in self.of):
            return False
        held = plain_claim(claim) if self.where else {}
        return all(held.get(key) == value for key, value in self.where.items())


@dataclass(frozen=True)
class History:
    """The changes of a paper, and its ledger."""

    changes: tuple[Change, ...] = ()
    ledger: Ledger = field(default_factory=Ledger)

    def of_study(self, name: str) -> list[str]:
        """What was changed in the seeds, sizes or horizons of a study, paper/study."""
        short = name.partition("/")[2]
        return [change.sentence for change in self.changes if short in change.of]

    def of_claim(self, name: str, claim: Claim, settings: Sequence[Setting]) -> str:
        """How a claim, paper/study/case/claim, was asked before, by the changes of its paper and by
        the ledger.
        """
        short = name.partition("/")[2]
        changed = (one.sentence for one in self.changes if one.concerns(short, claim))
        return " ".join(filter(None, (*changed, self.ledger.history(name, claim, settings))))


NONE = History()  # in which nothing was changed or registered


def read_history(folder: Path) -> History:
    """The history in a paper's folder, refused where its form is another."""
    path, changes = folder / FILE, tuple[Change, ...]()
    if path.exists():
        try:
            document = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise Refused(f"{path} is TOML, with one [[change]] per change. {error}.") from None
        if said := _FORM(document, ""):
            raise Refused(f"{path} has one [[change]] per change. Got: {said}.")
        changes = tuple(_read_change(one) for one in cast("list[_PlainChange]", document["change"]))
    return History(changes, read_ledger(folder))


def _read_change(plain: _PlainChange) -> Change:
    return Change(plain["date"], tuple(plain["of"]), plain["before"], plain.get("where", {}))
