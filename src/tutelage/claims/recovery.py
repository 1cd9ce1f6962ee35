"""The claim that a measure reaches its target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tutelage.claims.claim import Answer, OfCurve, count, curve_of, last_step
from tutelage.claims.contraction import NEGLIGIBLE, OneRun, find_horizon
from tutelage.claims.judge import longer
from tutelage.claims.trend import check_finite, check_steps, levels, stretch
from tutelage.claims.verdict import Status
from tutelage.run import Run

NOISY = 0.01  # scatter of the distance, relative, from which its last point is not judged alone


@dataclass(frozen=True)
class Recovery(OfCurve):
    """|curve − target| ≤ within: at the end, or at every measured step from `from_step` on.

    At the end it HOLDS if every run is there, by its last window where it scatters. It FAILS if a
    run's distance is seen to settle above, by the class of docs/verdicts.md.
    """

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
        curves = []
        for run in runs:
            check_steps(run)
            curve = curve_of(run, self.curve).reshape(len(run.steps), -1)
            check_finite(run, self.curve, curve, run.steps >= max(1, self.from_step or 0))
            curves.append(curve)
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
            return self._answered(status, f"{said}, against {self.within:g}.", worst, seen, gap)
        worst, seen, gap = self._worst([curve[-1:] for curve in curves])
        said = (
            f"Over {count(runs)} |{self.curve} − {self.target:g}| ends at {gap:.3g} at most, "
            f"after {last_step(runs)} steps"
        )
        gaps = [np.abs(curve - self.target).max(1) for curve in curves]
        ends = [End.of(run, g) for run, g in zip(runs, gaps, strict=True)]
        if all(end.high <= self.within for end in ends):
            status, end = Status.HOLDS, f"within {self.within:g}."
        elif any(end.stays_above(self.within) for end in ends):
            status, end = Status.FAILS, f"above {self.within:g}, and will stay there."
        else:
            away = [end for end in ends if end.high > self.within]
            falling = max(end.slope for end in away)
            status, end = Status.UNDECIDED, "which its scatter leaves open."
            if gap > self.within and falling < 0:
                decades = np.log10(gap / self.within) / -falling
                needed = 10 ** min(300.0, np.log10(float(max(r.steps[-1] for r in runs))) + decades)
                end = f"above {self.within:g} but still falling"
                end += f"; about {needed:.1g} steps would decide." if decades < 12 else "."
            elif gap > self.within:
                end = f"above {self.within:g}; {longer(runs)}."
        return self._answered(status, f"{said}, {end}", worst, seen, gap)

    def _answered(
        self, status: Status, said: str, worst: float, seen: tuple[float, float], gap: float
    ) -> Answer:
        rejected = gap if status is Status.HOLDS else None
        return Answer(status, said, self.target, worst, seen, smallest_violation=rejected)

    def _worst(self, parts: Sequence[np.ndarray]) -> tuple[float, tuple[float, float], float]:
        """The value farthest from the target, the range of all, and that largest distance."""
        values = np.concatenate([part.ravel() for part in parts])
        worst = float(values[np.abs(values - self.target).argmax()])
        return worst, (float(values.min()), float(values.max())), abs(worst - self.target)


@dataclass(frozen=True)
class End:
    """Where the distance of one run ends, and where it is going over its last factor of ten."""

    high: float  # the largest distance at the end that its scatter allows
    slope: float  # how fast it still falls, in log-log; 0 where that cannot be told
    windows: OneRun | None  # log distance in windows, with scatter; None where it cannot be read
    log_ratio: float = 1.0

    @classmethod
    def of(cls, run: Run, gap: Float[np.ndarray, "points"]) -> End:
        usable = (run.steps > 0) & (gap > 0)
        steps, late = run.steps[usable].astype(float), gap[usable]
        if not usable.any() or not usable[-1]:
            return cls(float(gap[-1]), 0.0, None)
        last = steps >= steps[-1] / 10
        slope = 0.0
        if last.sum() >= 3:
            slope = float(np.polyfit(np.log(steps[last]), np.log(late[last]), 1)[0])
        part = stretch(steps, late, steps[-1] / 10, 1.0) if len(steps) > 4 else None
        if part is None:
            return cls(float(late[-1]), slope, None)
        high = float(late[-1])
        noisy = part.scatter > NOISY
        if noisy:
            part = stretch(steps, late, steps[-1] / 10, 1.0, least=2) or part
        windows = levels(part)
        if noisy:
            # The last point is one draw: judge by the last window, at its end.
            value = windows.mean[-1] + min(0.0, slope) * part.log_ratio / 2
            wide = NEGLIGIBLE * windows.error(np.eye(len(windows.mean))[-1])
            high = float(np.exp(value + wide))
        return cls(high, slope, windows, part.log_ratio)

    def stays_above(self, within: float) -> bool:
        """Whether the limit of a distance that contracts to its limit is above."""
        if self.windows is None:
            return False
        found = find_horizon(self.windows, self.log_ratio)
        return not found.misfit and found.low > np.log(within)
