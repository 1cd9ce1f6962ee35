r"""Claims about one curve as a power of time: the limit of its local slope, a bound on that limit,
its sharp constant.

Each is judged as an equivalence test: HOLDS when the whole interval of the limit lies within the
claim's tolerance of the predicted value; FAILS when none of it does; UNDECIDED otherwise, with what
would decide it. The tolerance, and the exponent `approach` of the class, belong to the claim. That
a curve is of the order t^a is a different claim: see `Order`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tutelage.claims.claim import (
    Answer,
    NoPrediction,
    OfCurve,
    Predicted,
    count,
    curve_of,
    last_step,
    over_power,
    value_at,
)
from tutelage.claims.contraction import DELTA
from tutelage.claims.judge import Allowed, Judged, exponential, judge, longer, scattered
from tutelage.claims.reading import (
    CONSTANTS_AFTER,
    SLOPES_AFTER,
    Question,
    Reading,
    Unread,
    read,
)
from tutelage.claims.trend import levels, slopes
from tutelage.claims.verdict import Status
from tutelage.refuse import Refused, finite, positive
from tutelage.run import Outcome, Run

__all__ = [
    "CONSTANTS_AFTER",
    "SLOPES_AFTER",
    "Bound",
    "Constant",
    "Rate",
    "late_reading",
    "say_where",
    "longer",
    "window_of",
    "windows_of",
]
NO_DRIFT = Allowed(-0.005, 0.005, 0.0)  # slopes of what may have a limit, as far as can be told
FLAT = "flattening, which may be a plateau or a floor; give the claim its `plateau` to tell"


@dataclass(frozen=True)
class _Slope(OfCurve):
    """A claim about the limit of the local slope of a curve in log-log."""

    exponent: float
    tolerance: float = 0.02
    plateau: Predicted | None = None  # in steps; found from the excess risk where theory gives none
    approach: float = DELTA  # the exponent of the class: the slope nears its limit like t^-approach
    noise: str = ""  # "independent": errors of measured points are, so that one run has chance

    def __post_init__(self) -> None:
        finite("exponent", self.exponent, reason="it is the limit of a slope")

    @property
    def question(self) -> Question:
        return Question(
            self.curve,
            slopes,
            SLOPES_AFTER,
            self.tolerance,
            self.plateau,
            self.noise,
            self.approach,
        )

    @property
    def allowed(self) -> Allowed:
        raise NotImplementedError

    @property
    def asked(self) -> str:
        """What is claimed, as the end of a sentence."""
        raise NotImplementedError

    def answer(self, runs: Sequence[Run]) -> Answer:
        return replace(self._answer(runs), predicted=self.exponent)

    def _answer(self, runs: Sequence[Run]) -> Answer:
        reading = late_reading(self.question, runs)
        if isinstance(reading, Answer):
            return reading
        if all(_stalled(self, run, SLOPES_AFTER) for run in runs):
            return _stands_still(self, runs)
        where = say_where(reading, runs)
        found = judge(reading, self.allowed)
        if found is None:
            return scattered(f"{where} the local slope of {self.curve} is read", reading)
        values = found.sample.mean
        said = (
            f"{where} the local slope of {self.curve} goes from {values[0]:.4f} to {values[-1]:.4f}"
        )
        if _steepens(found):
            said += ": it falls faster and faster"
        said += f"; claimed limit {self.asked}"
        if found.status is Status.FAILS and self._may_be_a_plateau(found):
            return found_undecided(found, f"{said}: {FLAT}", runs)
        return found.answer(said, runs, float)

    def _may_be_a_plateau(self, found: Judged) -> bool:
        """Flat or flattening, with no plateau from theory: a plateau cannot be told from a
        floor.
        """
        last, before = (float(v) for v in found.sample.mean[[-1, -2]])
        shallow = self.exponent < 0 and last > 0.5 * self.exponent and last > before
        return self.plateau is None and (abs(last) < 0.1 * abs(self.exponent) or shallow)


@dataclass(frozen=True)
class Rate(_Slope):
    """The local slope of a curve tends to the exponent: s(t) = ∂log L/∂log t → a.

    Weaker than curve = Θ(t^exponent), which is an `Order`: the slope of log t/t tends to −1 too.
    """

    @property
    def allowed(self) -> Allowed:
        return Allowed(
            self.exponent - self.tolerance, self.exponent + self.tolerance, self.exponent
        )

    @property
    def asked(self) -> str:
        return f"{self.exponent:g} ± {self.tolerance:g}"


@dataclass(frozen=True)
class Bound(_Slope):
    """The local slope s(t) = ∂log L/∂log t of a curve tends to the exponent or below: lim s(t) ≤ a.
    A faster fall satisfies it too.
    """

    @property
    def allowed(self) -> Allowed:
        return Allowed(-np.inf, self.exponent + self.tolerance, self.exponent)

    @property
    def asked(self) -> str:
        return f"at most {self.exponent:g} + {self.tolerance:g}"


@dataclass(frozen=True)
class Constant(OfCurve):
    """curve · t^-exponent → value, with t = ηT; the tolerance is relative."""

    exponent: float
    value: Predicted
    tolerance: float = 0.03
    plateau: Predicted | None = None
    approach: float = DELTA  # log(curve · t^-exponent) nears its limit like t^-approach
    noise: str = ""

    def __post_init__(self) -> None:
        finite("exponent", self.exponent, reason="it is a power of time")
        if not callable(self.value):
            self._refuse_value(self.value)

    @staticmethod
    def _refuse_value(value: float) -> None:
        reason = "measured over predicted is read on a log scale"
        if value == 0:
            reason += "; that a curve falls to 0 is claimed by its slope"
        positive("value", value, reason=reason)

    @property
    def question(self) -> Question:
        return Question(
            self.curve,
            levels,
            CONSTANTS_AFTER,
            self.tolerance,
            self.plateau,
            self.noise,
            self.approach,
            self._predicted,
        )

    def _predicted(self, run: Run, steps: np.ndarray) -> np.ndarray:
        value = value_at(self.value, run)
        self._refuse_value(value)
        if self.exponent == 0:
            return np.full(len(steps), value)
        if run.rate is None:
            raise Refused(
                "A constant needs runs with one step size, since its time is rate × steps. Got a "
                "run without a rate."
            )
        return value * (run.rate * steps) ** self.exponent

    def answer(self, runs: Sequence[Run]) -> Answer:
        try:
            mean = float(np.mean([value_at(self.value, run) for run in runs]))
        except NoPrediction as reason:
            return Answer(Status.UNDECIDED, f"No prediction at this setting. {reason}", None)
        return replace(self._answer(runs, mean), predicted=mean)

    def _answer(self, runs: Sequence[Run], mean: float) -> Answer:
        reading = late_reading(self.question, runs)
        if isinstance(reading, Answer):
            return reading
        if all(_stalled(self, run, CONSTANTS_AFTER) for run in runs):
            return _stands_still(self, runs)
        where = f"{say_where(reading, runs)} {over_power(self.curve, self.exponent)}"
        allowed = Allowed(np.log1p(-self.tolerance), np.log1p(self.tolerance), 0.0)
        found = judge(reading, allowed)
        if found is None:
            return scattered(f"{where} is read", reading)
        if found.status is Status.UNDECIDED and not found.horizon.settles:
            drifts = judge(reading, NO_DRIFT, slopes)
            if drifts is not None and drifts.status is Status.FAILS:
                slope = drifts.sample.mean[-1]
                said = (
                    f"{where} over its predicted {mean:.6g} has a local slope of {slope:.4f}, "
                    "which does not tend to 0, so the curve has no limit; limit of that slope"
                )
                return replace(
                    drifts.answer(said, runs, float),
                    measured=None,
                    interval=None,
                    horizon=None,
                    spread=None,
                )
        values = np.exp(found.sample.mean)
        said = (
            f"{where} over its predicted {mean:.6g} goes from {values[0]:.4f} to {values[-1]:.4f}; "
            f"claimed limit 1 ± {self.tolerance:g}"
        )
        answer = found.on(exponential).answer(said, runs, np.expm1)
        return _in_units(answer, mean)


def _steepens(found: Judged) -> bool:
    """Whether slopes go down from window to window by ever more or equal steps."""
    away = found.horizon.away
    return not found.horizon.settles and away is not None and away < found.sample.mean[-2]


def _in_units(answer: Answer, unit: float) -> Answer:
    """An answer about measured over predicted, in the units of the prediction."""

    def scaled(ends: tuple[float, float] | None) -> tuple[float, float] | None:
        return None if ends is None else (ends[0] * unit, ends[1] * unit)

    return replace(
        answer,
        measured=None if answer.measured is None else answer.measured * unit,
        interval=scaled(answer.interval),
        horizon=scaled(answer.horizon),
        spread=scaled(answer.spread),
    )


def late_reading(question: Question, runs: Sequence[Run]) -> Answer | Reading:
    """The windows of all runs; or an answer at once where there is nothing to read."""
    for run in runs:
        if run.outcome is Outcome.DIVERGED:
            return Answer(
                Status.FAILS,
                f"A run diverged, so {question.curve} follows no power law. {run.note}",
                None,
            )
    found = read(question, runs)
    return Answer(Status.UNDECIDED, found.sentence, None) if isinstance(found, Unread) else found


def windows_of(claim: _Slope | Constant, runs: Sequence[Run]) -> list[tuple[float, float]]:
    """The first and last step of the last windows in which a claim is read, run by run, for those
    who draw them; empty where there are none.
    """
    if any(run.outcome is Outcome.DIVERGED for run in runs):
        return []
    found = read(claim.question, runs)
    return [] if isinstance(found, Unread) else [part.span for part in found.parts]


def window_of(claim: _Slope | Constant, runs: Sequence[Run]) -> tuple[float, float] | None:
    """From the first to the last step in which a claim is read in any of the runs; None where it is
    not.
    """
    spans = windows_of(claim, runs)
    return (min(first for first, _ in spans), max(last for _, last in spans)) if spans else None


def say_where(reading: Reading, runs: Sequence[Run]) -> str:
    spans = [part.span for part in reading.parts]
    return (
        f"Over {count(runs)} and steps {min(first for first, _ in spans):,.0f} to "
        f"{max(last for _, last in spans):,.0f}"
    )


def found_undecided(found: Judged, said: str, runs: Sequence[Run]) -> Answer:
    return replace(
        replace(found, status=Status.UNDECIDED).answer(said, runs, float), sentence=f"{said}."
    )


def _stalled(claim: _Slope | Constant, run: Run, after: float) -> bool:
    """No new minimum in the last factor of ten, all of it after a plateau that theory gives.

    Then the local slope is not below 0 on average there, and so farther from the claimed exponent
    than it was when the curve still fell: the class with that limit is refuted.
    """
    if claim.plateau is None or claim.exponent >= 0:
        return False
    curve, start, end = (
        curve_of(run, claim.curve),
        after * value_at(claim.plateau, run),
        run.steps[-1],
    )
    # Only what comes after the plateau counts: before it an error may dip below where it will be
    # for a long time.
    before, last = (
        curve[(run.steps >= start) & (run.steps <= end / 10)],
        curve[run.steps > end / 10],
    )
    return bool(len(before) > 2 and last.min() >= before.min())


def _stands_still(claim: _Slope | Constant, runs: Sequence[Run]) -> Answer:
    said = (
        f"Over {count(runs)} {claim.curve} makes no new minimum in the last factor of ten of its "
        f"{last_step(runs)} steps, long after its plateau: it has stalled."
    )
    return Answer(Status.FAILS, said, None)
