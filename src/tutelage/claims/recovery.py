"""The claim that a measure reaches its target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from tutelage.claims.claim import Answer, OfCurve, count, curve_of, last_step
from tutelage.claims.contraction import NEGLIGIBLE, OneRun, find_horizon
from tutelage.claims.judge import Allowed, judge, longer, scattered
from tutelage.claims.power_laws import late_reading, say_where
from tutelage.claims.reading import Question
from tutelage.claims.trend import LAYOUTS, check_finite, check_steps, levels, stretch
from tutelage.claims.verdict import Status
from tutelage.refuse import Refused, one_of
from tutelage.run import Run

READINGS = ("end", "limit", "every step")
# A limit is read over the last three decades, in windows of an eighth of one: values fall by powers
# within a window, and narrow ones tell more of their end. Wider ones follow where noise calls.
LIMIT_DECADES, NARROW, LEAST_NARROW = 3, 0.125, 6
NOISY = 0.01  # scatter of the distance, relative, from which its last point is not judged alone


@dataclass(frozen=True)
class Recovery(OfCurve):
    """|curve − target| ≤ within, in one of three readings.

    - "end": when the runs end. It HOLDS if every run is there, and FAILS if one run's distance is
      seen to settle above, by the class of docs/verdicts.md. Where runs scatter, their last points
      are single draws: then the limit of their mean is judged, as below.
    - "limit": the limit of the curve. Of several runs that scatter it is that of their mean, so one
      run that stays outside by chance fails nothing. A shock before `from_step` does not count.
    - "every step": at every measured step from `from_step` on, in every run, with no tolerance for
      a step outside.

    Without a reading it is "every step" if `from_step` is given and "end" otherwise.
    """

    target: float
    within: float
    from_step: int | None = None
    reading: str = ""

    def __post_init__(self) -> None:
        if self.reading:
            one_of("reading of a recovery", self.reading, READINGS)
        if self.reading == "every step" and self.from_step is None:
            raise Refused(
                "A recovery at every step needs `from_step`, since curves begin outside. Got none."
            )
        if self.reading == "limit" and not self.within > 0:
            raise Refused(
                "A recovery of the limit needs `within` above 0, since every interval has some "
                "width. "
                f"Got within={self.within!r}."
            )

    @property
    def tolerance(self) -> float:
        return self.within

    @property
    def predicted(self) -> float:
        return self.target

    @property
    def _reading(self) -> str:
        return self.reading or ("end" if self.from_step is None else "every step")

    def answer(self, runs: Sequence[Run]) -> Answer:
        curves = []
        for run in runs:
            check_steps(run)
            curve = curve_of(run, self.curve).reshape(len(run.steps), -1)
            check_finite(run, self.curve, curve, run.steps >= max(1, self.from_step or 0))
            curves.append(curve)
        if self._reading == "limit":
            return self._limit(runs)
        if self._reading == "every step":
            return self._every_step(runs, curves)
        return self._end(runs, curves)

    def _every_step(self, runs: Sequence[Run], curves: Sequence[np.ndarray]) -> Answer:
        first = self.from_step or 0
        parts = [curve[run.steps >= first] for curve, run in zip(curves, runs, strict=True)]
        if not all(map(len, parts)):
            said = f"Too short to tell: no step from {first} on was measured in some of the runs."
            return Answer(Status.UNDECIDED, said, self.target)
        worst, seen, gap = self._worst(parts)
        said = (
            f"Over {count(runs)} the largest |{self.curve} − {self.target:g}| at any measured step "
            f"from {first} on is {gap:.3g}"
        )
        status = Status.HOLDS if gap <= self.within else Status.FAILS
        return self._answered(status, f"{said}, against {self.within:g}.", worst, seen, gap)

    def _end(self, runs: Sequence[Run], curves: Sequence[np.ndarray]) -> Answer:
        worst, seen, gap = self._worst([curve[-1:] for curve in curves])
        said = (
            f"Over {count(runs)} |{self.curve} − {self.target:g}| ends at {gap:.3g} at most, "
            f"after {last_step(runs)} steps"
        )
        gaps = [np.abs(curve - self.target).max(1) for curve in curves]
        ends = [End.of(run, g) for run, g in zip(runs, gaps, strict=True)]
        if len(runs) > 1 and self.within > 0 and any(end.noisy for end in ends):
            return self._limit(runs)
        if all(end.high <= self.within for end in ends):
            status, end = Status.HOLDS, f"within {self.within:g}."
        elif any(end.stays_above(self.within) for end in ends):
            status, end = Status.FAILS, f"above {self.within:g}, and stays there."
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

    def _limit(self, runs: Sequence[Run]) -> Answer:
        """The limit of (curve − target)/within, which must lie within ±1; of vectors, that of their
        largest distance.
        """
        latest = min(float(run.steps[-1]) for run in runs)
        start = max(1.0, float(self.from_step or 0), latest / 10**LIMIT_DECADES)
        question = Question(
            self.curve,
            levels,
            0.0,
            1.0,
            points=self._points,
            start=start,
            layouts=((NARROW, LEAST_NARROW), *LAYOUTS),
        )
        reading = late_reading(question, runs)
        if isinstance(reading, Answer):
            return replace(reading, predicted=self.target)
        found = judge(reading, Allowed(-1.0, 1.0, 0.0))
        where = say_where(reading, runs)
        if found is None:
            return scattered(f"{where} {self.curve} is read", reading, self.target)
        vector = curve_of(runs[0], self.curve).ndim > 1
        of = f"the largest |{self.curve} − {self.target:g}|" if vector else self.curve
        base = 0.0 if vector else self.target

        def show(value: float) -> float:
            return base + self.within * value

        first, last = (show(float(found.sample.mean[k])) for k in (0, -1))
        said = (
            f"{where} {of} goes from {first:.4g} to {last:.4g}; claimed limit "
            f"{base:g} ± {self.within:g}"
        )
        answer = found.on(show).answer(said, runs, lambda part: self.within * part)
        return replace(answer, predicted=self.target)

    def _points(self, run: Run) -> tuple[np.ndarray, np.ndarray]:
        curve = curve_of(run, self.curve)
        away = curve - self.target
        away = away if away.ndim == 1 else np.abs(away).reshape(len(away), -1).max(1)
        after = run.steps > 0
        return run.steps[after].astype(float), away[after] / self.within

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
    noisy: bool = False

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
        return cls(high, slope, windows, part.log_ratio, noisy)

    def stays_above(self, within: float) -> bool:
        """Whether the limit of a distance that contracts to its limit is above."""
        if self.windows is None:
            return False
        with np.errstate(divide="ignore"):
            least = float(np.log(within))
        found = find_horizon(self.windows, self.log_ratio)
        return Allowed(-np.inf, least, least).judge(found) is Status.FAILS
