"""What a claim is answered with."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict, cast

from tutelage.claims.labels import ClaimedBy, Evidence, SourceText
from tutelage.forms import Json, anything, list_of, number, optional, simple, table, text, truth
from tutelage.notebook import bar, card
from tutelage.refuse import Newer, Refused
from tutelage.run import ErrorTerm

FORMAT = 2  # of a file of verdicts; files without one hold a bare list
RULE = 3  # the rule that makes verdicts; docs/verdicts.md tells them apart
FIRST_RULE = 1  # of files of format 1 and older, which do not name theirs
LEAST_SAID = 0.001  # of the exponents of an approach, which are written without a power of ten
_ends_form = optional(list_of(number, least=2))
_FORM = list_of(
    table(
        {
            **dict.fromkeys(("id", "statement", "source", "status", "sentence", "control"), text),
            **dict.fromkeys(("predicted", "measured", "tolerance"), optional(number)),
            **dict.fromkeys(("interval", "horizon", "spread"), _ends_form),
            "hypotheses": list_of(table({"text": text, "met": optional(truth), "detail": text})),
            "seeds": list_of(number),
        },
        {
            "measurement": simple,
            "preset": text,
            **dict.fromkeys(("evidence", "claimed_by", "source_text", "varies", "history"), text),
            **dict.fromkeys(
                ("smallest_violation", "looseness", "contraction", "begins", "e_value"),
                optional(number),
            ),
            "errors": list_of(table({"name": text, "size": number})),
            "rule": number,
        },
        others=anything,
    )
)
Ends = tuple[float, float]  # of an interval


class Status(enum.Enum):
    """The answer to a claim, in one word; docs/read-a-verdict.md explains each."""

    HOLDS = "HOLDS"
    FAILS = "FAILS"
    UNDECIDED = "UNDECIDED"
    MEASURED = "MEASURED"  # of a measurement: theory says nothing, so it neither holds nor fails
    OUTSIDE = "OUTSIDE"  # a hypothesis of the paper's statement is not met, so it says nothing here
    VACUOUS = "VACUOUS"  # a bound no smaller than the trivial ceiling


class PlainHypothesis(TypedDict):
    """A hypothesis as JSON-ready data."""

    text: str
    met: bool | None
    word: str
    detail: str


class PlainErrorTerm(TypedDict):
    """One term of an error budget as JSON-ready data."""

    name: str
    size: float


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
    # From format 2 on:
    evidence: NotRequired[str]
    claimed_by: NotRequired[str]
    source_text: NotRequired[str]
    varies: NotRequired[str]
    errors: NotRequired[list[PlainErrorTerm]]
    smallest_violation: NotRequired[float | None]
    looseness: NotRequired[float | None]
    contraction: NotRequired[float | None]
    begins: NotRequired[float | None]
    e_value: NotRequired[float | None]
    history: NotRequired[str]
    rule: NotRequired[int]


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
    evidence: Evidence = Evidence.EXPLORATORY
    claimed_by: ClaimedBy = ClaimedBy.BEYOND
    source_text: SourceText = SourceText.READ
    varies: str = ""  # what differs between the replicates; "" for a single run
    errors: tuple[ErrorTerm, ...] = ()  # known errors, which the interval includes
    # The smallest departure from the claim that the same data would have rejected, in the units of
    # the tolerance.
    smallest_violation: float | None = None
    looseness: float | None = None  # of a bound: how many times larger than what was measured
    contraction: float | None = None  # the smallest exponent of the class at which it stands
    begins: float | None = None  # the step from which the class is assumed
    e_value: float | None = None  # the evidence for its status against chance; None without chance
    history: str = ""  # how it was asked before, where it was changed
    rule: int = RULE

    @property
    def surprising(self) -> bool:
        """A claim that fails, or a control that holds."""
        return self.status is (Status.HOLDS if self.control else Status.FAILS)

    @property
    def guarantee(self) -> str:
        """What a decided verdict excludes and what it assumes of the approach to a limit, in
        sentences; "" where it has neither.
        """
        said = []
        if self.smallest_violation is not None:
            allowed = "" if self.tolerance is None else f" ({self.tolerance:g} is allowed)"
            size = f"{self.smallest_violation:.2g}"
            said.append(f"The data exclude departures of more than {size}{allowed}.")
        if self.contraction is not None:
            since = "" if self.begins is None else f", from step {self.begins:,.0f} on,"
            slowest = max(self.contraction, LEAST_SAID)
            how = f"at least like t^-{slowest:.2g}" if self.contraction else "at all"
            said.append(f"The verdict stands if{since} the distance to the limit falls {how}.")
        if self.rule != RULE:
            said.append(f"Judged by rule {self.rule}, an older one.")
        return " ".join(said)

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
            "evidence": self.evidence.value,
            "claimed_by": self.claimed_by.value,
            "source_text": self.source_text.value,
            "varies": self.varies,
            "errors": [{"name": term.name, "size": term.size} for term in self.errors],
            "smallest_violation": self.smallest_violation,
            "looseness": self.looseness,
            "contraction": self.contraction,
            "begins": self.begins,
            "e_value": self.e_value,
            "history": self.history,
            "rule": self.rule,
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
            evidence=Evidence(data.get("evidence", Evidence.EXPLORATORY.value)),
            claimed_by=ClaimedBy(data.get("claimed_by", ClaimedBy.BEYOND.value)),
            source_text=SourceText(data.get("source_text", SourceText.READ.value)),
            varies=data.get("varies", ""),
            errors=tuple(ErrorTerm(e["name"], e["size"]) for e in data.get("errors", ())),
            smallest_violation=data.get("smallest_violation"),
            looseness=data.get("looseness"),
            contraction=data.get("contraction"),
            begins=data.get("begins"),
            e_value=data.get("e_value"),
            history=data.get("history", ""),
            rule=data.get("rule", FIRST_RULE),
        )

    def __repr__(self) -> str:
        return f"Verdict({self.status.value}: {self.sentence})"

    def _repr_html_(self) -> str:
        """Status, sentence, the interval as a bar beside what was predicted, and the hypotheses."""
        picture, word = "", self.status.value
        if self.measured is not None and self.interval is not None:
            picture = bar(self.predicted, self.measured, self.interval, word)
        kind = (
            "a control, which must FAIL"
            if self.control
            else "a measurement without a prediction"
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
        rows |= {"guarantee": self.guarantee} if self.guarantee else {}
        rows |= {"source": self.source} if self.source else {}
        rows |= {"history": self.history} if self.history else {}
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
            "A file of verdicts gives the number of its format. Got "
            f"format={document.get('format')!r}."
        )
    if document["format"] > FORMAT:
        raise Newer(
            f"A file of verdicts must be of form {FORMAT} or older, since a newer version may "
            f"mean something else by it. Got form {document['format']}."
        )
    return _checked(document["verdicts"])


def _checked(verdicts: list[PlainVerdict]) -> list[PlainVerdict]:
    """The verdicts, if each has the form of one."""
    if said := _FORM(cast("Json", verdicts), "verdicts"):
        raise Refused(f"A file of verdicts is a list of tables, each with its entries: {said}.")
    return verdicts


def _ends(given: Sequence[float] | None) -> Ends | None:
    return None if given is None else (given[0], given[1])
