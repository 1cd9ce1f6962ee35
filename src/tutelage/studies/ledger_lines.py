"""One line of a paper's ledger: what it holds, and how it is made, written and read again."""

from __future__ import annotations

import enum
import functools
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from types import FunctionType
from typing import TypedDict, cast

from tutelage.claims import Constant, Number, Ratio
from tutelage.claims.claim import Claim, NoPrediction
from tutelage.claims.verdict import RULE
from tutelage.forms import Json, list_of, number, read_json, simple, table, text
from tutelage.refuse import Refused
from tutelage.settings import Setting

FUNCTION = re.compile(r"[A-Za-z_]\w*(\.[\w<>]+)+")  # a function by its module and name
DIGITS = 10  # of predicted numbers, which other machines round differently after that
_LINE = table(
    {
        **dict.fromkeys(("id", "date", "fingerprint", "before"), text),
        "claim": table({}, others=lambda value, path: ""),
        "predicted": list_of(simple),
        "settings": list_of(text),
        "steps": list_of(number),
        "seeds": list_of(number),
        "rule": number,
    },
    others=None,
)


class PlainLine(TypedDict):
    """A line as JSON-ready data."""

    id: str
    claim: dict[str, Json]
    predicted: list[float | None]
    settings: list[str]
    steps: list[int]
    seeds: list[int]
    rule: int
    date: str
    fingerprint: str
    before: str


@dataclass(frozen=True)
class Line:
    """One registered claim: what is claimed, of which settings, and when it was written down."""

    id: str  # paper/study/case/claim
    claim: Mapping[str, Json]  # kind, statement, curve, tolerance and whatever else it holds
    predicted: tuple[float | None, ...]  # at each setting; None where it needs a whole sweep
    settings: tuple[str, ...]  # their identities: everything but the horizon
    steps: tuple[int, ...]
    seeds: tuple[int, ...]
    rule: int  # that will judge it
    date: str = ""  # UTC
    before: str = ""  # the hash of the line before it; "" in the first

    @property
    def fingerprint(self) -> str:
        """What must be equal for a claim to be this one: all but the date, the rule and the
        chain.
        """
        return _fingerprint(self, self.claim)

    @property
    def meaning(self) -> str:
        """The same where functions are told by their names alone: they may move to another
        module.
        """
        return _fingerprint(self, without_modules(dict(self.claim)))

    def write(self) -> str:
        """The line as it stands in the file."""
        return write_json(
            {
                "date": self.date,
                "id": self.id,
                "claim": dict(self.claim),
                "predicted": self.predicted,
                "settings": self.settings,
                "steps": self.steps,
                "seeds": self.seeds,
                "rule": self.rule,
                "fingerprint": self.fingerprint,
                "before": self.before,
            }
        )


def make_line(
    name: str, claim: Claim, settings: Sequence[Setting], *, date: str = "", before: str = ""
) -> Line:
    """A claim about settings as a line. A setting that goes on from another's end counts as it is
    given.
    """
    return Line(
        id=name,
        claim=plain_claim(claim),
        predicted=tuple(_predict(claim, setting) for setting in settings),
        settings=tuple(setting.identity() for setting in settings),
        steps=tuple(setting.steps for setting in settings),
        seeds=tuple(setting.seed for setting in settings),
        rule=RULE,
        date=date,
        before=before,
    )


def plain_claim(claim: Claim) -> dict[str, Json]:
    """A claim as JSON-ready data: numbers and words as they are, functions by their names.

    What has its default is left out, but for the tolerance, so that a field added later changes no
    claim that stands in a ledger.
    """
    held = {
        one.name: _plain(vars(claim)[one.name])
        for one in fields(claim)
        if one.name == "tolerance" or vars(claim)[one.name] != one.default
    }
    return {"kind": type(claim).__name__, **held}


def _predict(claim: Claim, setting: Setting) -> float | None:
    """What theory says at a setting, where the kind of claim has one number per setting."""
    value = claim.value if isinstance(claim, Constant | Number | Ratio) else None
    if callable(value):
        try:
            value = float(value(setting))
        except NoPrediction:
            return None
    return None if value is None else float(f"{value:.{DIGITS}g}")


def _plain(value: object) -> Json:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, functools.partial):
        named = {key: _plain(one) for key, one in value.keywords.items()}
        return [_plain(value.func), *map(_plain, value.args), named]
    if isinstance(value, FunctionType):
        return f"{value.__module__}.{value.__qualname__}"
    return type(value).__name__


def _fingerprint(line: Line, claim: object) -> str:
    told = (line.id, claim, line.predicted, line.settings, line.steps, line.seeds)
    return hashlib.sha256(write_json(told).encode()).hexdigest()[:16]


def without_modules(value: Json) -> Json:
    if isinstance(value, str):
        return value.rpartition(".")[2] if FUNCTION.fullmatch(value) else value
    if isinstance(value, list):
        return [without_modules(one) for one in value]
    if isinstance(value, dict):
        return {key: without_modules(one) for key, one in value.items()}
    return value


def read_line(written: str, where: str) -> Line:
    try:
        data = read_json(written.encode())
    except ValueError as error:
        raise Refused(f"A ledger has one JSON table per line. In {where}: {error}.") from None
    if said := _LINE(data, ""):
        raise Refused(f"A ledger's lines are those that `register` writes. In {where}: {said}.")
    plain = cast("PlainLine", data)
    line = Line(
        id=plain["id"],
        claim=plain["claim"],
        predicted=tuple(plain["predicted"]),
        settings=tuple(plain["settings"]),
        steps=tuple(plain["steps"]),
        seeds=tuple(plain["seeds"]),
        rule=plain["rule"],
        date=plain["date"],
        before=plain["before"],
    )
    if line.fingerprint != plain["fingerprint"]:
        raise Refused(
            f"A line of a ledger holds the hash of what it claims. {where} was changed: it has "
            f"{plain['fingerprint']} and its contents give {line.fingerprint}."
        )
    return line


def write_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def hash_line(written: str) -> str:
    return hashlib.sha256(written.encode()).hexdigest()
