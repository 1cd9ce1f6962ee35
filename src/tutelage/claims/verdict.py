"""What a claim is answered with."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict, cast

from tutelage.forms import Json, anything, list_of, number, optional, simple, table, text
from tutelage.notebook import bar, card
from tutelage.refuse import Newer, Refused

FORMAT = 1  # of a file of verdicts; files without one hold a bare list
_ends_form = optional(list_of(number, least=2))
_FORM = list_of(
    table(
        {
            **dict.fromkeys(("id", "statement", "source", "status", "sentence", "control"), text),
            **dict.fromkeys(("predicted", "measured", "tolerance"), optional(number)),
            **dict.fromkeys(("interval", "horizon", "spread"), _ends_form),
            "hypotheses": list_of(table({"text": text, "met": simple, "detail": text})),
            "seeds": list_of(number),
        },
        {"measurement": simple, "preset": text},
        others=anything,
    )
)
Ends = tuple[float, float]  # of an interval


class Status(enum.Enum):
    HOLDS = "HOLDS"
    FAILS = "FAILS"
    UNDECIDED = "UNDECIDED"
    MEASURED = "MEASURED"  # of a measurement: theory says nothing, so it neither holds nor fails


class PlainHypothesis(TypedDict):
    """A hypothesis as JSON-ready data."""

    text: str
    met: bool | None
    word: str
    detail: str


class PlainVerdict(TypedDict):
    """A verdict as JSON-ready data. A tuple is a list once it was read from a file."""

    id: str
    statement: str
    source: str
    predicted: float | None
    measured: float | None
    interval: Sequence[float] | None
    tolerance: float | None
    status: str
    sentence: str
    hypotheses: list[PlainHypothesis]
    seeds: Sequence[int]
    horizon: Sequence[float] | None
    spread: Sequence[float] | None
    control: str
    measurement: NotRequired[bool]  # not in the oldest files
    preset: NotRequired[str]  # of the study that asked


class VerdictsFile(TypedDict):
    """What a file of verdicts holds."""

    format: int
    verdicts: list[PlainVerdict]


@dataclass(frozen=True)
class Hypothesis:
    """One condition of a theorem, evaluated at a setting.

    `met` is True, False, or None where only an unstated constant could tell.
    """

    text: str
    met: bool | None
    detail: str = ""

    @property
    def word(self) -> str:
        return {True: "met", False: "not met", None: "met up to an unstated constant"}[self.met]


@dataclass(frozen=True)
class Verdict:
    """The answer to one claim: what was predicted, what was measured and how sure it is.

    `interval` is the hull of two uncertainties that are computed apart: `horizon` (where the curve
    is going, from one mean trajectory) and `spread` (how much whole runs differ between seeds; None
    with a single run).
    """

    id: str
    statement: str
    source: str
    predicted: float | None
    measured: float | None
    interval: Ends | None
    tolerance: float | None
    status: Status
    sentence: str
    hypotheses: tuple[Hypothesis, ...] = ()
    seeds: tuple[int, ...] = ()
    horizon: Ends | None = None
    spread: Ends | None = None
    control: str = ""  # for a negative control: the hypothesis that its setting breaks
    measurement: bool = False  # theory predicts nothing here

    @property
    def surprising(self) -> bool:
        """A claim that fails, or a control that holds."""
        return self.status is (Status.HOLDS if self.control else Status.FAILS)

    @property
    def kind(self) -> str:
        """What it is: a claim, a control or a measurement."""
        return "control" if self.control else "measurement" if self.measurement else "claim"

    def plain(self) -> PlainVerdict:
        """As JSON-ready data."""
        return {
            "id": self.id,
            "statement": self.statement,
            "source": self.source,
            "predicted": self.predicted,
            "measured": self.measured,
            "interval": self.interval,
            "tolerance": self.tolerance,
            "status": self.status.value,
            "sentence": self.sentence,
            "hypotheses": [
                {"text": h.text, "met": h.met, "word": h.word, "detail": h.detail}
                for h in self.hypotheses
            ],
            "seeds": self.seeds,
            "horizon": self.horizon,
            "spread": self.spread,
            "control": self.control,
            "measurement": self.measurement,
        }

    @classmethod
    def from_plain(cls, data: PlainVerdict) -> Verdict:
        """The inverse of `plain`; also of a verdict that was read from a file."""
        return cls(
            id=data["id"],
            statement=data["statement"],
            source=data["source"],
            predicted=data["predicted"],
            measured=data["measured"],
            interval=_ends(data["interval"]),
            tolerance=data["tolerance"],
            status=Status(data["status"]),
            sentence=data["sentence"],
            hypotheses=tuple(
                Hypothesis(h["text"], h["met"], h["detail"]) for h in data["hypotheses"]
            ),
            seeds=tuple(data["seeds"]),
            horizon=_ends(data["horizon"]),
            spread=_ends(data["spread"]),
            control=data["control"],
            measurement=data.get("measurement", False),
        )

    def __repr__(self) -> str:
        return f"Verdict({self.status.value}: {self.sentence})"

    def _repr_html_(self) -> str:
        """Status, sentence, the interval as a bar beside what was predicted, and the hypotheses."""
        picture, word = "", self.status.value
        if self.measured is not None and self.interval is not None:
            picture = bar(self.predicted, self.measured, self.interval, word)
        kind = (
            "a control, which must not hold"
            if self.control
            else "a measurement, of which theory says nothing"
            if self.measurement
            else ""
        )
        numbers = {
            "predicted": self.predicted,
            "measured": self.measured,
            "tolerance": self.tolerance,
        }
        rows = {name: f"{value:.5g}" for name, value in numbers.items() if value is not None}
        if self.interval is not None:
            rows["interval"] = "[{:.5g}, {:.5g}]".format(*self.interval)
        rows |= {"breaks": self.control} if self.control else {}
        rows |= {h.text: f"{h.word}{f': {h.detail}' if h.detail else ''}" for h in self.hypotheses}
        rows |= {"source": self.source} if self.source else {}
        return card(
            word,
            " ".join(said for said in (self.id, f"({kind})" if kind else "") if said),
            [self.statement, self.sentence],
            rows,
            picture,
        )


def pack_verdicts(verdicts: Sequence[PlainVerdict]) -> VerdictsFile:
    """What a file of these verdicts holds, with the version of its form."""
    return {"format": FORMAT, "verdicts": list(verdicts)}


def unpack_verdicts(document: VerdictsFile | list[PlainVerdict]) -> list[PlainVerdict]:
    """The verdicts of a file, whether it is of today's form or the bare list of old files."""
    if isinstance(document, list):
        return _checked(document)
    if not isinstance(document, Mapping) or "verdicts" not in document:
        raise Refused(
            "A file of verdicts is a table with `format` and `verdicts`. Got "
            f"{type(document).__name__}."
        )
    if not isinstance(document.get("format"), int):
        raise Refused(
            "A file of verdicts says by a number of which form it is. Got "
            f"format={document.get('format')!r}."
        )
    if document["format"] > FORMAT:
        raise Newer(
            f"A file of verdicts must be of form {FORMAT} or older, since a newer tutelage may "
            f"say something else by it. Got form {document['format']}."
        )
    return _checked(document["verdicts"])


def _checked(verdicts: list[PlainVerdict]) -> list[PlainVerdict]:
    """The verdicts, if each has the form of one."""
    if said := _FORM(cast("Json", verdicts), "verdicts"):
        raise Refused(f"A file of verdicts is a list of tables, each with its entries: {said}.")
    return verdicts


def _ends(given: Sequence[float] | None) -> Ends | None:
    return None if given is None else (given[0], given[1])
