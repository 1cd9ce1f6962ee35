"""The claim that a number of each run is the one that theory gives at its setting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tutelage.claims.claim import Answer, Claim, NoPrediction, NotYet, Predicted, count, value_at
from tutelage.claims.verdict import Status
from tutelage.run import Outcome, Run


@dataclass(frozen=True)
class Ratio(Claim):
    """read(run)/value(setting) = 1 for every run, within a relative tolerance: seeds, or the points
    of a sweep alike.

    What is reported is measured over predicted, the farthest from 1 and the range of all, since a
    sweep has a number for each point.
    """

    read: Callable[[Run], float]  # raises NotYet where the run is too short
    value: Predicted
    tolerance: float
    of: str = "the number"

    def answer(self, runs: Sequence[Run]) -> Answer:
        ratios = []
        for run in runs:
            if run.outcome is Outcome.DIVERGED:
                return Answer(
                    Status.FAILS, f"A run diverged, and so has no such number. {run.note}", 1.0
                )
            try:
                ratios.append(self.read(run) / value_at(self.value, run))
            except NoPrediction as reason:
                return Answer(Status.UNDECIDED, f"No prediction at this setting. {reason}", None)
            except NotYet as reason:
                return Answer(Status.UNDECIDED, str(reason), 1.0)
        low, high = min(ratios), max(ratios)
        worst = max(ratios, key=lambda ratio: abs(ratio - 1))
        said = (
            f"Over {count(runs)} {self.of} is {low:.5f} to {high:.5f} of what is predicted, "
            f"against 1 ± {self.tolerance:g}."
        )
        status = Status.HOLDS if abs(worst - 1) <= self.tolerance else Status.FAILS
        return Answer(status, said, 1.0, worst, (low, high))
