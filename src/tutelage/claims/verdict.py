"""What a claim is answered with."""

from __future__ import annotations

import enum
from dataclasses import asdict, dataclass
from typing import Any

from tutelage.notebook import bar, card


class Status(enum.Enum):
    HOLDS = "HOLDS"
    FAILS = "FAILS"
    UNDECIDED = "UNDECIDED"
    MEASURED = (
        "MEASURED"  # of a measurement, about which theory says nothing: neither holds nor fails
    )


@dataclass(frozen=True)
class Hypothesis:
    """One condition of a theorem, evaluated at a setting: `met` is True, False, or None when only
    an unstated constant could tell.
    """

    text: str
    met: bool | None
    detail: str = ""

    @property
    def word(self) -> str:
        return {True: "met", False: "not met", None: "met up to an unstated constant"}[self.met]


@dataclass(frozen=True)
class Verdict:
    """The answer to one claim: what was predicted, what was measured, how sure, and what it does
    not show.

    `interval` is the hull of two uncertainties that are computed apart: `horizon` (where the curve
    is going, from one mean trajectory) and `spread` (how much whole runs differ between seeds; None
    with a single run).
    """

    id: str
    statement: str
    source: str
    predicted: float | None
    measured: float | None
    interval: tuple[float, float] | None
    tolerance: float | None
    status: Status
    sentence: str
    hypotheses: tuple[Hypothesis, ...] = ()
    seeds: tuple[int, ...] = ()
    horizon: tuple[float, float] | None = None
    spread: tuple[float, float] | None = None
    control: str = ""  # for a negative control: the hypothesis that its setting breaks
    measurement: bool = False  # theory predicts nothing here

    @property
    def surprising(self) -> bool:
        """A claim that fails, or a control that holds."""
        return self.status is (Status.HOLDS if self.control else Status.FAILS)

    def plain(self) -> dict[str, Any]:
        """As JSON-ready data."""
        data = asdict(self)
        data["status"] = self.status.value
        data["hypotheses"] = [
            {"text": h.text, "met": h.met, "word": h.word, "detail": h.detail}
            for h in self.hypotheses
        ]
        return data

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
