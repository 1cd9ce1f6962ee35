"""One run as a stream of events: prepared, watched, stopped when no one listens any more."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tutelage.explorer.limits import Limits
from tutelage.explorer.measuring import packed, scalars
from tutelage.explorer.reading import events, reading_of, so_far
from tutelage.refuse import Refused
from tutelage.settings import Setting

Event = dict[str, Any]
Put = Callable[[Event], None]
LOG = logging.getLogger("tutelage.explorer")
VERDICTS = 0.5  # seconds between two looks at the claims
FRAMES = 12  # attention matrices a decade of steps
PROGRAMS = 100  # compiled shapes that are kept, of some megabytes each


class Halt(Exception):
    """Raised out of `watch`, which ends a run at the next pause of its loop."""


class Known:
    """The shapes that this process has compiled."""

    def __init__(self) -> None:
        self.shapes: set[Any] = set()

    def shape(self, setting: Setting, problem: Any) -> Any:
        from tutelage.running.batches import Load
        from tutelage.running.work import devices_of

        *shape, _ = Load.of(
            setting, problem, devices_of(None)
        ).shape  # all but the number of steps, which is data
        drawn = (
            setting.student.options.get("start", 0) != 0
        )  # the program that draws a start is compiled apart
        return (*shape, drawn)

    def __contains__(self, shape: Any) -> bool:
        return shape in self.shapes

    def add(self, shape: Any) -> None:
        if shape not in self.shapes and len(self.shapes) >= PROGRAMS:
            import jax

            jax.clear_caches()
            self.shapes.clear()
        self.shapes.add(shape)


class Follower:
    """Runs a setting and tells of it: `put` gets every event, `stop` ends the run within a
    block.
    """

    def __init__(
        self, setting: Setting, put: Put, stop: threading.Event, limits: Limits, known: Known
    ) -> None:
        self.setting, self.put, self.stop, self.limits, self.known = (
            setting,
            put,
            stop,
            limits,
            known,
        )
        self.sent, self.looked_at = 0, 0.0
        self.curves: Mapping[str, np.ndarray] = {}
        self.points = np.zeros(0, np.int64)
        self.run: Any = None  # the finished one

    def __call__(self) -> None:
        """All of it, whatever happens; the last event is `end` or `error`."""
        self.begin = time.monotonic()
        try:
            self._follow()
        except Refused as refused:
            self.put({"event": "error", "sentence": str(refused)})
        except Exception as error:
            LOG.exception("a run of the explorer was stopped by an error")
            self.put(
                {
                    "event": "error",
                    "sentence": f"stopped by an error: {type(error).__name__}: {error}",
                }
            )

    def _follow(self) -> None:
        from tutelage.numerics.grids import NOISY, PER_DECADE, log_spaced
        from tutelage.running.execute import checked, execute

        self.limits.check(self.setting)
        problem = checked(self.setting)
        self.shape = self.known.shape(self.setting, problem)
        self.put({"event": "preparing", "known": self.shape in self.known})
        drawn = problem.key is not None
        self.points = log_spaced(
            self.setting.steps,
            getattr(problem.objective, "per_decade", NOISY) if drawn else PER_DECADE,
        )
        self.teacher = problem.teacher
        del problem
        self.reading = reading_of(self.setting)
        self.put({"event": "lines", "lines": self.reading.predicted()})
        try:
            for run in execute([self.setting], watch=self._watch, threads=1):
                self.run = run
        except Halt as halt:
            self._look(final=True)
            self._end("STOPPED", str(halt))
            return
        self._watch(self.setting, self.setting.steps, self.run.curves)
        self._look(final=True)
        self._end(self.run.outcome.name, self.run.sentence)

    def _watch(self, setting: Setting, step: int, curves: dict[str, np.ndarray]) -> None:
        if self.stop.is_set():
            raise Halt("It was stopped.")
        self.known.add(self.shape)
        self.curves = curves
        have = len(next(iter(curves.values())))
        if have > self.sent:
            steps = self.points[self.sent : have]
            event = {
                "event": "points",
                "from": self.sent,
                "steps": steps.tolist(),
                "curves": scalars(curves, self.sent),
                "at": step,
            }
            self.put(event)
            self._frames(have)
            self.sent = have
        else:
            self.put({"event": "at", "step": step})
        if time.monotonic() - self.looked_at > VERDICTS:
            self._look()
        if time.monotonic() - self.begin > self.limits.seconds:
            raise Halt(
                f"It was stopped after {self.limits.seconds:g} s, the longest that one run may "
                f"take here, at step {step:,}."
            )

    def _frames(self, have: int) -> None:
        """Attention at new points."""
        if "attention_matrix" not in self.curves:
            return
        _, _, tokens, queries = self.teacher.shape
        for place in frames(self.points[:have], self.setting.steps, self.sent):
            matrix = packed(self.curves["attention_matrix"][place])
            self.put(
                {
                    "event": "attention",
                    "step": int(self.points[place]),
                    "matrix": matrix,
                    "shape": [tokens, queries],
                }
            )

    def _look(self, final: bool = False) -> None:
        """What can be said of the curves so far."""
        if len(self.curves):
            now = (
                self.run
                if final and self.run is not None
                else so_far(self.setting, self.points, self.curves)
            )
            for event in events(self.reading, now):
                self.put(event)
        self.looked_at = time.monotonic()

    def _end(self, outcome: str, sentence: str) -> None:
        seconds = time.monotonic() - self.begin
        self.put(
            {
                "event": "end",
                "outcome": outcome,
                "sentence": sentence,
                "seconds": seconds,
                "identity": self.setting.identity(),
            }
        )


def frames(points: np.ndarray, last: int, begin: int = 0) -> Iterator[int]:
    """Places of the points at which attention is shown: the first of each twelfth of a decade, and
    the last step.
    """
    bins = np.floor(np.log10(np.maximum(points, 1)) * FRAMES + 1e-9)
    bins[points == 0] = -1
    for place in range(begin, len(points)):
        if place == 0 or bins[place] != bins[place - 1] or points[place] == last:
            yield place
