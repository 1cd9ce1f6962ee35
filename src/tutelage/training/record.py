"""Where training stops to measure, what it has measured, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Int

from tutelage.refuse import Refused
from tutelage.run import Outcome, Rest, Run
from tutelage.training.batch import Seen

SLOTS = 16  # measured steps in one call of the compiled loop
DRAWING_SLOTS = 64  # where steps are random, ten times as many of which are measured
# How long one call should last: often enough for a bar, rarely enough to cost nothing.
BLOCK_SECONDS = 0.15
BLOWN_UP = 1e4  # a risk this many times its start has diverged
# Parameters this many roundings away, relatively, move by rounding only; the excess is their square
ROUNDING = 64


class Pace:
    """How many steps fit into one call of the compiled loop; learned from the calls so far."""

    def __init__(self, slots: int) -> None:
        self.slots, self.steps = slots, 64

    def learn(self, steps: int, seconds: float) -> None:
        # Grows at most fourfold a call, so that the first call, which compiles, cannot mislead for
        # long.
        wanted = int(max(steps, 1) * BLOCK_SECONDS / max(seconds, 1e-9))
        self.steps = int(np.clip(wanted, 64, 4 * max(self.steps, steps)))

    def block(self, upcoming: Int[np.ndarray, "points"], here: int) -> list[int]:
        """Step numbers to stop and measure at in the next call: a few of the points still asked
        for, or another where the gap to the first is long.
        """
        end = here + self.steps
        return [int(point) for point in upcoming[: self.slots] if point <= end] or [end]


class Record:
    """What a batch has measured so far, and which of its members have ended.

    The loop also stops between the points asked for, to show that it is alive. Nothing that depends
    on where it did is kept: only the points enter the curves, only they can tell that a run has
    converged, and a divergence is narrowed down to its step.
    """

    def __init__(self, members: int, points: Int[np.ndarray, "points"]) -> None:
        self.points = points
        self.taken = 0  # how many of the points have been measured
        self.curves: dict[str, Float[np.ndarray, "runs points ..."]] = {}
        self.first: Float[np.ndarray, "runs"] = np.zeros(members)
        self.ended: dict[int, tuple[Outcome, int]] = {}
        self.blown: dict[int, float] = {}  # the excess at the step of each divergence
        self.begun = False

    @classmethod
    def after(cls, runs: Sequence[Run], points: Int[np.ndarray, "points"]) -> Record:
        """The record of runs that go on from where they stopped, all after as many steps.

        A horizon that is not one of the longer grid's points is left out, so that the curves are
        those of a run in one piece.
        """
        record = cls(len(runs), points)
        record.taken = int(np.searchsorted(points, _rest(runs[0]).taken, side="right"))
        record.first, record.begun = np.asarray([_rest(run).first for run in runs]), True
        for member, run in enumerate(runs):
            if (
                run.outcome is Outcome.CONVERGED and _rest(run).taken in points
            ):  # elsewhere a run in one piece would not have looked
                record.ended[member] = (Outcome.CONVERGED, _rest(run).taken)
        for name, curve in runs[0].curves.items():
            record.curves[name] = np.empty((len(runs), len(points), *curve.shape[1:]), curve.dtype)
            for member, run in enumerate(runs):
                record.curves[name][member, : record.taken] = run.curves[name][
                    np.isin(run.steps, points)
                ]
        return record

    def add(self, targets: Sequence[int], seen: Seen) -> list[int]:
        """Takes in one call of the loop, and says which members have ended in it."""
        curves, excess = seen
        if not self.begun:
            self.begun, self.first = True, excess[:, 0]
            self.curves = {
                name: np.empty((len(c), len(self.points), *c.shape[2:]), c.dtype)
                for name, c in curves.items()
            }
        before, floor = set(self.ended), (ROUNDING * float(np.finfo(excess.dtype).eps)) ** 2
        for slot, step in enumerate(targets):
            asked = step == self.points[self.taken]
            if asked:
                for name, curve in curves.items():
                    self.curves[name][:, self.taken] = curve[:, slot]
                self.taken += 1
            for member, value in enumerate(excess[:, slot]):
                if member in self.ended:
                    continue
                if self.blown_up(member, value):
                    self.ended[member] = (Outcome.DIVERGED, step)
                    self.blown[member] = float(value)
                elif asked and self.first[member] > 0 and value <= floor * self.first[member]:
                    self.ended[member] = (Outcome.CONVERGED, step)
        return sorted(set(self.ended) - before)

    def blown_up(self, member: int, excess: float) -> bool:
        return not np.isfinite(excess) or (
            self.first[member] > 0 and excess > BLOWN_UP * self.first[member]
        )

    def narrow(self, member: int, sound: int, excess_after: Callable[[int], float]) -> None:
        """The first step at which a diverged member had blown up, given that it had not at step
        `sound`.
        """
        low, high = sound, self.ended[member][1]
        while high - low > 1:
            middle = (low + high) // 2
            excess = excess_after(middle - sound)
            if self.blown_up(member, excess):
                high, self.blown[member] = middle, excess
            else:
                low = middle
        self.ended[member] = (Outcome.DIVERGED, high)

    @property
    def settled(self) -> bool:
        return len(self.ended) == len(self.first)

    def of(
        self, member: int
    ) -> tuple[Int[np.ndarray, "points"], dict[str, Float[np.ndarray, "points ..."]]]:
        """One member's steps and curves up to where it ended: views, so that a watcher costs
        nothing.
        """
        outcome, last = self.ended.get(member, (Outcome.FINISHED, int(self.points[-1])))
        measured = self.points[: self.taken]
        kept = int(
            np.searchsorted(measured, last, side="left" if outcome is Outcome.DIVERGED else "right")
        )
        return measured[:kept], {name: curve[member, :kept] for name, curve in self.curves.items()}


def _rest(run: Run) -> Rest:
    if run.rest is None:
        raise Refused(
            "Only a run that kept its optimiser's state can be continued. Got one without: "
            f"{run!r}."
        )
    return run.rest
