"""What every kind of claim shares: its fields, the answer it gives, and how runs are read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float
from scipy.special import stdtrit

from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.claims.verdict import Hypothesis, Status
from tutelage.refuse import Refused
from tutelage.run import Run

if TYPE_CHECKING:
    from tutelage.settings import Setting

Predicted = float | Callable[["Setting"], float]  # a number, or theory's function of the setting
Ceiling = Callable[[Sequence[Run]], float]  # in the units of what is predicted
CONFIDENCE = 0.95


class NotYet(Refused):
    """Raised where runs are too short to be read; the claim is then undecided, with what would
    decide it.
    """


class NoPrediction(Refused):
    """Raised by theory at a setting of which it says nothing; the claim is then undecided, with the
    reason.
    """


@dataclass(frozen=True)
class Answer:
    """What `answer` found, before names, hypotheses and seeds are added."""

    status: Status
    sentence: str
    predicted: float | None
    measured: float | None = None
    interval: tuple[float, float] | None = None
    horizon: tuple[float, float] | None = None
    spread: tuple[float, float] | None = None
    # As in `Verdict`, which explains them.
    smallest_violation: float | None = None
    looseness: float | None = None
    contraction: float | None = None
    begins: float | None = None
    e_value: float | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The base of all claims: what each carries besides its prediction."""

    if TYPE_CHECKING:  # a field here would come before those of the kinds of claim

        @property
        def tolerance(self) -> float | None:
            """Each kind of claim says its own; None where nothing is predicted."""

    measurement: ClassVar[bool] = False  # whether it predicts nothing and only measures

    id: str = ""
    statement: str = ""
    source: str = ""
    hypotheses: Callable[[Setting], Sequence[Hypothesis]] | None = None
    claimed_by: ClaimedBy = ClaimedBy.BEYOND
    source_text: SourceText = SourceText.READ
    derived: bool = False  # whether it is an exact identity
    history: str = ""  # how it was asked before, where it was changed after data were seen
    # Of a bound: the trivial ceiling, which no run exceeds whatever theory says (the loss of
    # predicting zero); `no_ceiling` where none is known. None for what is not a bound.
    ceiling: Ceiling | None = None

    @property
    def tested(self) -> str:
        """What it tests: its kind, and of which curve where it is about one."""
        return type(self).__name__

    @property
    def judged_as(self) -> Claim:
        """The claim whose kind says how the answer is read: itself, unless it asks another one."""
        return self

    def answer(self, runs: Sequence[Run]) -> Answer:
        raise NotImplementedError


@dataclass(frozen=True)
class OfCurve(Claim):
    """A claim about one curve, by the name of its measure."""

    curve: str

    @property
    def tested(self) -> str:
        return f"{type(self).__name__} of {self.curve}"


def no_ceiling(runs: Sequence[Run]) -> float:
    """The ceiling of a bound on what could be arbitrarily large: it is never vacuous."""
    return math.inf


def curve_of(run: Run, name: str) -> np.ndarray:
    if name not in run.curves:
        raise Refused(
            f"The claim is about the curve {name!r}, which this run did not record. Recorded: "
            f"{', '.join(run.curves)}."
        )
    return run.curves[name]


def value_at(value: Predicted, run: Run) -> float:
    if callable(value):
        if run.setting is None:
            raise Refused(
                "This claim predicts from a setting, but the run has none. Make the run with "
                "`execute`."
            )
        return float(value(run.setting))
    return float(value)


def mean_interval(values: Float[np.ndarray, "runs"]) -> tuple[float, float] | None:
    """The confidence interval of a mean over runs; None for a single run."""
    if len(values) < 2:
        return None
    half = (
        stdtrit(len(values) - 1, 0.5 + CONFIDENCE / 2) * values.std(ddof=1) / np.sqrt(len(values))
    )
    return float(values.mean() - half), float(values.mean() + half)


def hull(first: tuple[float, float], second: tuple[float, float] | None) -> tuple[float, float]:
    return first if second is None else (min(first[0], second[0]), max(first[1], second[1]))


def count(runs: Sequence[Run]) -> str:
    return "one run" if len(runs) == 1 else f"{len(runs)} runs"


def over_power(curve: str, exponent: float) -> str:
    """curve · t^-exponent in words; the curve itself where the exponent is 0."""
    return f"{curve}·t^{-exponent:g}" if exponent else curve


def last_step(runs: Sequence[Run]) -> str:
    return f"{max(int(run.steps[-1]) for run in runs):,}"
