"""The claim that a whole curve is the one that theory gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from tutelage.claims.claim import (
    Answer,
    NoPrediction,
    OfCurve,
    Predicted,
    count,
    curve_of,
    value_at,
)
from tutelage.claims.trend import check_finite, check_steps
from tutelage.claims.verdict import Status
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run

if TYPE_CHECKING:
    from tutelage.settings import Setting

Theory = Callable[
    ["Setting", Int[np.ndarray, "points"]], Float[np.ndarray, "points"]
]  # a value for each of some steps


@dataclass(frozen=True)
class Curve(OfCurve):
    """A curve L(t) is what theory says, λ(t), at every measured step from `start` on, within the
    relative tolerance: |L(t)/λ(t) − 1| ≤ ε. All entries of a vector alike.

    Neither side has noise and nothing is fitted, so one step outside the tolerance is enough to
    fail.
    """

    theory: Theory
    tolerance: float
    start: Predicted = 0.0  # in steps

    def answer(self, runs: Sequence[Run]) -> Answer:
        worst: list[tuple[float, int]] = []
        for run in runs:
            if run.outcome is Outcome.DIVERGED:
                return Answer(
                    Status.FAILS, f"A run diverged, so it left every prediction. {run.note}", 0.0
                )
            if run.setting is None:
                raise Refused(
                    "This claim predicts from a setting, but the run has none. Make the run with "
                    "`execute`."
                )
            try:
                start = value_at(self.start, run)
                late = run.steps >= start
                if not late.any():
                    said = (
                        f"Too short to tell: the comparison begins at step {start:,.0f} and "
                        f"the curve ends at {run.steps[-1]:,}."
                    )
                    return Answer(
                        Status.UNDECIDED, f"{said} About {10 * start:.1g} steps would decide.", 0.0
                    )
                expected = self.theory(run.setting, run.steps[late])
            except NoPrediction as reason:
                return Answer(Status.UNDECIDED, f"No prediction at this setting. {reason}", 0.0)
            check_steps(run)
            check_finite(run, self.curve, curve_of(run, self.curve), late)
            departure = _departure(curve_of(run, self.curve)[late], expected)
            worst.append((float(departure.max()), int(run.steps[late][departure.argmax()])))
        most, where = max(worst)
        said = (
            f"Over {count(runs)} and steps "
            f"{min(int(r.steps[r.steps >= value_at(self.start, r)][0]) for r in runs):,} to "
            f"{max(int(r.steps[-1]) for r in runs):,} {self.curve} differs from its prediction "
            f"by at most {most:.2g} of it, at step {where:,}, against {self.tolerance:g}."
        )
        status = Status.HOLDS if most <= self.tolerance else Status.FAILS
        rejected = most if status is Status.HOLDS else None
        return Answer(status, said, 0.0, most, (min(worst)[0], most), smallest_violation=rejected)


def _departure(
    measured: Float[np.ndarray, "points ..."], expected: Float[np.ndarray, "points"]
) -> Float[np.ndarray, "points"]:
    """|measured/expected − 1|, the largest over the entries of a vector; where zero is expected, in
    units of the largest value expected.
    """
    gap = np.abs(measured.reshape(len(expected), -1) - expected[:, None]).max(1)
    size = np.abs(expected)
    return gap / np.where(size > 0, size, max(float(size.max()), np.finfo(float).tiny))
