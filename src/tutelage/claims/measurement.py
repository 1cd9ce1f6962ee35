"""Measurements: what theory predicts nothing about. Each is answered MEASURED, with an interval, or
UNDECIDED; none can hold or fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tutelage.claims.claim import (
    Answer,
    Claim,
    NotYet,
    OfCurve,
    Predicted,
    count,
    curve_of,
    hull,
    mean_interval,
)
from tutelage.claims.power_laws import (
    CONSTANTS_AFTER,
    SLOPES_AFTER,
    Constant,
    Rate,
    late_trend,
    longer,
)
from tutelage.claims.trend import Trend
from tutelage.claims.verdict import Status
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run


@dataclass(frozen=True)
class Measured(Claim):
    """A number, one a replication, with the interval of its mean over replications (whole runs or
    pairs of runs).

    One replication tells nothing of the spread and is UNDECIDED, unless the number has no chance in
    it (`certain`).
    """

    measurement: ClassVar[bool] = True
    tolerance: ClassVar[None] = None

    values: Callable[[Sequence[Run]], Sequence[float]]
    of: str
    certain: bool = False

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
                f"In {int(np.isinf(found).sum())} of {len(found)} replications {self.of} is not "
                "finite.",
                None,
            )
        mean, spread = float(found.mean()), mean_interval(found)
        low, high = spread or (mean, mean)
        times = f"{len(found)} replications" if len(found) > 1 else "one replication"
        said = f"Over {count(runs)} in {times} {self.of} is {mean:.4g} in [{low:.4g}, {high:.4g}]"
        if spread is None and not self.certain:
            said = f"{said}; one replication tells nothing of the spread, more would."
            return Answer(Status.UNDECIDED, said, None, mean, (low, high))
        return Answer(
            Status.MEASURED,
            f"{said}; nothing was predicted.",
            None,
            mean,
            (low, high),
            None,
            spread,
        )


@dataclass(frozen=True)
class Slope(OfCurve):
    """The limit of a curve's local slope in log-log, read as for a `Rate`; UNDECIDED while its
    interval is wider than the tolerance.
    """

    measurement: ClassVar[bool] = True

    tolerance: float = 0.02  # half the width of an interval that is worth naming
    plateau: Predicted | None = None

    def answer(self, runs: Sequence[Run]) -> Answer:
        reading = late_trend(
            Rate(self.curve, 0.0, self.tolerance, self.plateau), runs, SLOPES_AFTER
        )
        if isinstance(reading, Answer):
            return _nothing_to_read(reading, runs)
        trend, spread, where = reading
        return _reported(
            f"{where} the local slope of {self.curve}", trend, spread, 1.0, self.tolerance, runs
        )


@dataclass(frozen=True)
class Level(OfCurve):
    """The limit of curve · t^-exponent, t = ηT, read as for a `Constant`; the tolerance is
    relative.
    """

    measurement: ClassVar[bool] = True

    exponent: float
    tolerance: float = 0.03
    plateau: Predicted | None = None

    def answer(self, runs: Sequence[Run]) -> Answer:
        if any(run.rate is None for run in runs):
            raise Refused(
                "A level needs runs with one step size, since its time is rate × steps. Got a "
                "run without a rate."
            )
        # Windows are compared within a tolerance around 1, so the curve is read over its own last
        # value, which is only a unit.
        unit = float(
            np.mean(
                [
                    _last(run, self.curve) * (run.rate * run.steps[-1]) ** -self.exponent
                    for run in runs
                ]
            )
        )
        reading = late_trend(
            Constant(self.curve, self.exponent, unit, self.tolerance, self.plateau),
            runs,
            CONSTANTS_AFTER,
        )
        if isinstance(reading, Answer):
            return _nothing_to_read(reading, runs)
        trend, spread, where = reading
        return _reported(
            f"{where} {self.curve}·t^{-self.exponent:g}", trend, spread, unit, self.tolerance, runs
        )


def _last(run: Run, curve: str) -> float:
    return float(curve_of(run, curve)[-1])


def _nothing_to_read(reading: Answer, runs: Sequence[Run]) -> Answer:
    """Runs that are too short, which longer ones would mend; or that diverged, which is what was
    found.
    """
    diverged = any(run.outcome is Outcome.DIVERGED for run in runs)
    return Answer(Status.MEASURED if diverged else Status.UNDECIDED, reading.sentence, None)


def _reported(
    said: str,
    trend: Trend,
    spread: tuple[float, float] | None,
    unit: float,
    tolerance: float,
    runs: Sequence[Run],
) -> Answer:
    """The limit in its unit; the tolerance is in that unit too, so relative where the unit is the
    curve's own size.
    """
    low, high = hull(trend.interval, spread)
    first, last, limit = (unit * value for value in (trend.values[0], trend.last, trend.limit))
    interval, horizon, across = (
        None if pair is None else (unit * pair[0], unit * pair[1])
        for pair in ((low, high), trend.interval, spread)
    )
    seen = (
        f"{said} goes from {first:.5g} to {last:.5g} and tends to {limit:.5g}, in "
        f"[{unit * low:.5g}, {unit * high:.5g}]"
    )
    settled = (high - low) / 2 <= tolerance
    end = (
        "; nothing was predicted."
        if settled
        else f", wider than ± {tolerance * unit:.2g}; {longer(runs)}."
    )
    return Answer(
        Status.MEASURED if settled else Status.UNDECIDED,
        seen + end,
        None,
        limit,
        interval,
        horizon,
        across,
    )
