"""The claim that a measure reaches its target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tutelage.claims.claim import Answer, OfCurve, count, curve_of, last_step
from tutelage.claims.verdict import Status
from tutelage.run import Run


@dataclass(frozen=True)
class Recovery(OfCurve):
    """|curve − target| ≤ within: at the end, or at every measured step from `from_step` on."""

    target: float
    within: float
    from_step: int | None = None

    @property
    def tolerance(self) -> float:
        return self.within

    @property
    def predicted(self) -> float:
        return self.target

    def answer(self, runs: Sequence[Run]) -> Answer:
        curves = [curve_of(run, self.curve).reshape(len(run.steps), -1) for run in runs]
        if self.from_step is not None:
            parts = [
                curve[run.steps >= self.from_step] for curve, run in zip(curves, runs, strict=True)
            ]
            worst, seen, gap = self._worst(parts)
            said = (
                f"Over {count(runs)} the largest |{self.curve} − {self.target:g}| at any "
                f"measured step from {self.from_step} on "
                f"is {gap:.3g}"
            )
            status = Status.HOLDS if gap <= self.within else Status.FAILS
            return Answer(status, f"{said}, against {self.within:g}.", self.target, worst, seen)
        worst, seen, gap = self._worst([curve[-1:] for curve in curves])
        said = (
            f"Over {count(runs)} |{self.curve} − {self.target:g}| ends at {gap:.3g} at most, "
            f"after {last_step(runs)} steps"
        )
        if gap <= self.within:
            return Answer(
                Status.HOLDS, f"{said}, within {self.within:g}.", self.target, worst, seen
            )
        # Of the runs that are not there yet, the slowest; one that is there has nothing left to
        # fall.
        away = [
            (run, curve)
            for run, curve in zip(runs, curves, strict=True)
            if np.abs(curve[-1] - self.target).max() > self.within
        ]
        falling = max(self._slope(run, curve) for run, curve in away)
        if falling < -0.05:
            needed = max(float(run.steps[-1]) for run in runs) * (gap / self.within) ** (
                -1 / falling
            )
            status, end = (
                Status.UNDECIDED,
                f"above {self.within:g} but still falling; about {needed:.1g} steps would decide.",
            )
        else:
            status, end = Status.FAILS, f"above {self.within:g} and no longer falling."
        return Answer(status, f"{said}, {end}", self.target, worst, seen)

    def _worst(self, parts: Sequence[np.ndarray]) -> tuple[float, tuple[float, float], float]:
        """The value farthest from the target, the range of all, and that largest distance."""
        values = np.concatenate([part.ravel() for part in parts])
        worst = float(values[np.abs(values - self.target).argmax()])
        return worst, (float(values.min()), float(values.max())), abs(worst - self.target)

    def _slope(self, run: Run, curve: np.ndarray) -> float:
        """How fast the distance still falls, in log-log over the last factor of ten; 0 where that
        cannot be told.
        """
        gap, late = np.abs(curve - self.target).max(1), run.steps >= max(1, run.steps[-1] / 10)
        if late.sum() < 3 or not (gap[late] > 0).all():
            return 0.0
        return float(np.polyfit(np.log(run.steps[late]), np.log(gap[late]), 1)[0])
