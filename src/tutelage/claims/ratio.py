"""The claim that a number of each run is the one that theory gives at its setting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tutelage.claims.claim import Answer, Claim, NoPrediction, NotYet, Predicted, count, value_at
from tutelage.claims.replicates import Mean
from tutelage.claims.verdict import Status
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run


@dataclass(frozen=True)
class Ratio(Claim):
    """What is read of a run over what its setting predicts, x/v = 1 ± ε, for every run: seeds, or
    the points of a sweep alike.

    What is reported is measured over predicted, the farthest from 1 and the range of all, since a
    sweep has a number for each point. It HOLDS if every run is within the tolerance. A single run
    outside fails it only if there is no chance in the numbers (`certain`); else the confidence
    limits of their geometric mean must lie outside.
    """

    read: Callable[[Run], float]  # raises NotYet where the run is too short
    value: Predicted
    tolerance: float
    of: str = "the number"
    certain: bool = False

    def answer(self, runs: Sequence[Run]) -> Answer:
        found = []
        for run in runs:
            if run.outcome is Outcome.DIVERGED:
                return Answer(
                    Status.FAILS, f"A run diverged, so it has no such number. {run.note}", 1.0
                )
            try:
                found.append(self.read(run) / value_at(self.value, run))
            except NoPrediction as reason:
                return Answer(Status.UNDECIDED, f"No prediction at this setting. {reason}", None)
            except NotYet as reason:
                return Answer(Status.UNDECIDED, str(reason), 1.0)
        ratios = np.asarray(found, float)
        if not np.isfinite(ratios).all():
            raise Refused(
                f"A ratio needs finite numbers, since they are compared. {self.of} over its "
                f"prediction is {ratios[~np.isfinite(ratios)][0]} in one of {count(runs)}."
            )
        low, high = float(ratios.min()), float(ratios.max())
        worst = float(ratios[np.abs(ratios - 1).argmax()])
        said = (
            f"Over {count(runs)} the ratio of {self.of} to its prediction is {low:.5f} to "
            f"{high:.5f}, against 1 ± {self.tolerance:g}"
        )
        if abs(worst - 1) <= self.tolerance:
            return Answer(
                Status.HOLDS,
                f"{said}.",
                1.0,
                worst,
                (low, high),
                smallest_violation=abs(worst - 1),
            )
        return self._outside(said, ratios, worst)

    def _outside(self, said: str, ratios: np.ndarray, worst: float) -> Answer:
        """Some run is outside: whether that is more than chance."""
        low, high = float(ratios.min()), float(ratios.max())
        mean = Mean(ratios, "either", self.certain)
        if mean.spread is None:
            return Answer(Status.FAILS, f"{said}.", 1.0, worst, (low, high))
        least, most = 1 - self.tolerance, 1 + self.tolerance
        if mean.spread[1] < least or mean.spread[0] > most:
            return Answer(
                Status.FAILS,
                f"{said}, and their mean is in [{mean.spread[0]:.5f}, {mean.spread[1]:.5f}].",
                1.0,
                worst,
                (low, high),
                None,
                mean.spread,
                e_value=mean.evidence(least, most, False),
            )
        ends = (min(low, mean.spread[0]), max(high, mean.spread[1]))
        inside = int((np.abs(ratios - 1) <= self.tolerance).sum())
        return Answer(
            Status.UNDECIDED,
            f"{said}: {inside} of {len(ratios)} are within, and their mean may be; more replicates "
            "would decide, or the claim may say that there is no chance in it (`certain`).",
            1.0,
            worst,
            ends if np.isfinite(ends).all() else (low, high),
            None,
            mean.spread if np.isfinite(mean.spread).all() else None,
        )
