"""Measurements: what theory predicts nothing about. Each is answered MEASURED, with an interval, or
UNDECIDED; none can hold or fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tutelage.claims.claim import Answer, Claim, NotYet, OfCurve, Predicted, count, over_power
from tutelage.claims.contraction import DELTA, find_horizon
from tutelage.claims.judge import Allowed, Judged, exponential, longer, scattered
from tutelage.claims.power_laws import late_reading, say_where
from tutelage.claims.reading import CONSTANTS_AFTER, SLOPES_AFTER, Question, Reading
from tutelage.claims.replicates import SCALES, Mean
from tutelage.claims.trend import levels, slopes
from tutelage.claims.verdict import Status
from tutelage.refuse import Refused, one_of
from tutelage.run import Outcome, Run


@dataclass(frozen=True)
class Measured(Claim):
    """A number, one per replicate, with the interval of its mean over replicates (whole runs or
    pairs of runs).

    One replicate does not show the spread and is UNDECIDED, unless the number has no chance in
    it (`certain`).
    """

    measurement: ClassVar[bool] = True
    tolerance: ClassVar[None] = None

    values: Callable[[Sequence[Run]], Sequence[float]]
    of: str
    certain: bool = False
    scale: str = "either"

    def __post_init__(self) -> None:
        one_of("scale of a number", self.scale, SCALES)

    def answer(self, runs: Sequence[Run]) -> Answer:
        try:
            found = np.asarray(self.values(runs), float)
        except NotYet as reason:
            return Answer(Status.UNDECIDED, str(reason), None)
        if np.isnan(found).any():
            said = (
                f"Too short to tell: the runs end before {self.of} can be read. Longer ones "
                "would decide."
            )
            return Answer(Status.UNDECIDED, said, None)
        if np.isinf(found).any():
            return Answer(
                Status.MEASURED,
                f"In {int(np.isinf(found).sum())} of {len(found)} replicates {self.of} is not "
                "finite.",
                None,
            )
        mean = Mean(found, self.scale, self.certain)
        low, high = mean.interval
        times = f"{len(found)} replicates" if len(found) > 1 else "one replicate"
        said = f"Over {count(runs)} in {times} {self.of} is {mean.value:.4g}"
        if mean.decides_nothing or not (np.isfinite(low) and np.isfinite(high)):
            said = f"{said}; {times} tell{'' if len(found) > 1 else 's'} too little of the spread."
            return Answer(Status.UNDECIDED, said, None, mean.value)
        return Answer(
            Status.MEASURED,
            f"{said} in [{low:.4g}, {high:.4g}]; nothing was predicted.",
            None,
            mean.value,
            (low, high),
            None,
            mean.spread,
        )


@dataclass(frozen=True)
class Slope(OfCurve):
    """The limit of the local slope s(t) = ∂log L/∂log t of a curve, read as for a `Rate`;
    UNDECIDED while its interval is wider than the tolerance.
    """

    measurement: ClassVar[bool] = True

    tolerance: float = 0.02  # half the width of an interval that is worth naming
    plateau: Predicted | None = None
    approach: float = DELTA
    noise: str = ""

    def answer(self, runs: Sequence[Run]) -> Answer:
        question = Question(
            self.curve,
            slopes,
            SLOPES_AFTER,
            self.tolerance,
            self.plateau,
            self.noise,
            self.approach,
        )
        return _measure(question, runs, f"the local slope of {self.curve}", float, 1.0)


@dataclass(frozen=True)
class Level(OfCurve):
    """The limit of curve · t^-exponent, t = ηT, read as for a `Constant`; the tolerance is
    relative.
    """

    measurement: ClassVar[bool] = True

    exponent: float
    tolerance: float = 0.03
    plateau: Predicted | None = None
    approach: float = DELTA
    noise: str = ""

    def answer(self, runs: Sequence[Run]) -> Answer:
        question = Question(
            self.curve,
            levels,
            CONSTANTS_AFTER,
            self.tolerance,
            self.plateau,
            self.noise,
            self.approach,
            self._power,
        )
        return _measure(question, runs, over_power(self.curve, self.exponent), exponential, None)

    def _power(self, run: Run, steps: np.ndarray) -> np.ndarray:
        if self.exponent == 0:
            return np.ones(len(steps))
        if run.rate is None:
            raise Refused(
                "A level needs runs with one step size, since its time is rate × steps. Got a "
                "run without a rate."
            )
        return (run.rate * steps) ** self.exponent


def _measure(
    question: Question,
    runs: Sequence[Run],
    of: str,
    show: Callable[[float], float],
    unit: float | None,
) -> Answer:
    """The limit, if its interval is at most twice the tolerance wide; the tolerance is relative
    where there is no unit.
    """
    reading = late_reading(question, runs)
    if isinstance(reading, Answer):
        # Runs that are too short, which longer ones would mend; or that diverged, which is found.
        diverged = any(run.outcome is Outcome.DIVERGED for run in runs)
        return replace(reading, status=Status.MEASURED if diverged else Status.UNDECIDED)
    found = _narrowest(reading)
    said = f"{say_where(reading, runs)} {of}"
    if found is None:
        return scattered(f"{said} is read", reading)
    first, last = (show(float(found.sample.mean[k])) for k in (0, -1))
    found = found.on(show)
    limit = show(found.horizon.estimate)
    half = found.horizon.high - found.horizon.low
    settled = np.isfinite(half) and half / 2 <= question.tolerance and not found.horizon.misfit
    said = f"{said} goes from {first:.5g} to {last:.5g} and tends to {limit:.5g}, in {found.words}"
    width = question.tolerance * (limit if unit is None else unit)
    end = "; nothing was predicted" if settled else f", wider than ± {width:.2g}; {longer(runs)}"
    return Answer(
        Status.MEASURED if settled else Status.UNDECIDED,
        f"{said}{end}.",
        None,
        limit,
        found.interval,
        None if found.sample.chance else found.interval,
        found.interval if found.sample.chance else None,
        contraction=found.horizon.delta,
        begins=reading.begins(found.horizon.begins),
    )


def _narrowest(reading: Reading) -> Judged | None:
    """The windows with the narrowest interval, of each run and of their mean."""
    found = []
    anything = Allowed(-np.inf, np.inf, 0.0)
    for sample in reading.samples():
        horizon = find_horizon(sample, reading.log_ratio, reading.question.approach)
        found.append(Judged(Status.MEASURED, horizon, sample, reading, anything))
    # All runs agree, or their mean is what is measured.
    return min(found, key=lambda one: one.horizon.high - one.horizon.low) if found else None
