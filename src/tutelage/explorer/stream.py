"""One run as a stream of events: prepared, watched, stopped when no one listens any more."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from tutelage.explorer.limits import Limits
from tutelage.explorer.measuring import MATRIX, packed, scalars
from tutelage.explorer.patience import Left, Patience
from tutelage.explorer.reading import Event, Json, events, plain_lines, so_far
from tutelage.explorer.states import State
from tutelage.refuse import Refused
from tutelage.run import ErrorTerm, Outcome, Run
from tutelage.settings import Setting
from tutelage.studies.machine import Machine
from tutelage.studies.pages import Reading

if TYPE_CHECKING:
    from tutelage.problem.build import Problem

Put = Callable[[Event], None]
Curves = Mapping[str, Float[np.ndarray, "points ..."]]
LOG = logging.getLogger("tutelage.explorer")
SECONDS_BETWEEN_VERDICTS = 0.5
FRAMES_PER_DECADE = 12  # pictures of the student in each factor of ten of the steps


class Known:
    """The shapes that the page has compiled, and that are still kept."""

    def __init__(self) -> None:
        self._shapes: set[Hashable] = set()
        self._releases = 0  # of programs, when these shapes were compiled

    def shape(self, setting: Setting, problem: Problem) -> Hashable:
        from tutelage.running.batches import Load
        from tutelage.training.devices import devices_of

        # All but the number of steps, which is data.
        *shape, _ = Load.of(setting, problem, devices_of(None)).shape
        # The program that draws a start is compiled apart.
        drawn = setting.student.options.get("start", 0) != 0
        return (*shape, drawn)

    def __contains__(self, shape: Hashable) -> bool:
        return shape in self._kept()

    def add(self, shape: Hashable) -> None:
        self._kept().add(shape)

    def _kept(self) -> set[Hashable]:
        from tutelage.training.programs import PROGRAMS

        if self._releases != PROGRAMS.releases:
            self._shapes.clear()
            self._releases = PROGRAMS.releases
        return self._shapes


class Follower:
    """Runs a setting and tells of it: `put` gets every event, `stop` ends the run at its next
    pause.
    """

    def __init__(
        self,
        state: State,
        put: Put,
        stop: threading.Event,
        limits: Limits,
        known: Known,
        keep: Callable[[Run], None] = lambda run: None,
    ) -> None:
        self.setting, self.page = state.setting, state.placed.page
        self.put, self.stop, self.limits, self.known = put, stop, limits, known
        self.keep = keep  # gets the finished run, before anyone hears that it has ended
        self.reason = "It was stopped."
        self.prepared = False  # whether its first steps are taken
        self.sent, self.looked_at = 0, 0.0
        self.curves: Curves = {}
        self.points: Int[np.ndarray, "points"] = np.zeros(0, np.int64)
        self.run: Run | None = None  # the finished one

    def __call__(self) -> None:
        """All of it, whatever happens; the last event is `end` or `error`."""
        self.begin = time.monotonic()
        try:
            self._follow()
        except Left:
            self._end(Outcome.STOPPED.name, self.reason)
        except Refused as refused:
            self.put({"event": "error", "sentence": str(refused)})
        except Exception as error:
            LOG.exception("a run of the explorer was stopped by an error")
            sentence = f"stopped by an error: {type(error).__name__}: {error}"
            self.put({"event": "error", "sentence": sentence})

    def _follow(self) -> None:
        from tutelage.running.execute import checked, execute

        self.limits.check(self.setting)
        problem = checked(self.setting, before=Patience(self.limits.seconds, self.stop))
        self.shape = self.known.shape(self.setting, problem)
        self.put({"event": "preparing", "known": self.shape in self.known})
        self.points = problem.objective.measured_steps(self.setting.steps)
        self.shapes = matrix_shapes(self.page.machine(self.setting, problem))
        errors = problem.objective.error_terms()
        del problem
        self.reading = self.page.reading(self.setting)
        self.put(tell_about(self.setting, self.reading, errors))
        self.put({"event": "lines", "lines": plain_lines(self.reading.predicted())})
        (run,) = execute([self.setting], watch=self._watch, threads=1, stop=self.stop)
        stopped = run.outcome is Outcome.STOPPED
        if not stopped:
            self.run = run
            self.keep(run)
        if len(run.steps):
            self._watch(self.setting, int(run.steps[-1]), run.curves)
        self._look()
        self._end(run.outcome.name, self.reason if stopped else run.sentence)

    def _watch(self, setting: Setting, step: int, curves: Curves) -> None:
        self.known.add(self.shape)
        self.curves, self.prepared = curves, True
        have = len(next(iter(curves.values())))
        if have > self.sent:
            steps = self.points[self.sent : have]
            self.put(
                {
                    "event": "points",
                    "from": self.sent,
                    "steps": steps.tolist(),
                    "curves": scalars(curves, self.sent),
                    "at": step,
                }
            )
            self._send_frames(have)
            self.sent = have
        else:
            self.put({"event": "at", "step": step})
        if time.monotonic() - self.looked_at > SECONDS_BETWEEN_VERDICTS:
            self._look()
        if time.monotonic() - self.begin > self.limits.seconds and not self.stop.is_set():
            self.reason = (
                f"It was stopped after {self.limits.seconds:g} s, the longest that one run may "
                f"take here, at step {step:,}."
            )
            self.stop.set()

    def _send_frames(self, have: int) -> None:
        """The student's matrices at new points."""
        for place in frames(self.points[:have], self.setting.steps, self.sent):
            matrices = pack_matrices(self.shapes, self.curves, place)
            if matrices:
                step = int(self.points[place])
                self.put({"event": "frame", "step": step, "matrices": matrices})

    def _look(self) -> None:
        """What can be said about the curves so far."""
        if len(self.curves):
            now = self.run or so_far(self.setting, self.points, self.curves)
            for event in events(self.reading, now):
                self.put(event)
        self.looked_at = time.monotonic()

    def _end(self, outcome: str, sentence: str) -> None:
        self.put(
            {
                "event": "end",
                "outcome": outcome,
                "sentence": sentence,
                "seconds": time.monotonic() - self.begin,
                "identity": self.setting.identity(),
            }
        )


def tell_about(setting: Setting, reading: Reading, errors: Sequence[ErrorTerm]) -> Event:
    """What a chart must know of a run beside its points: the learning rate, the plateau in steps,
    and the known relative errors of its risk.
    """
    return {
        "event": "about",
        "rate": setting.rate,
        "plateau": reading.plateau(),
        "errors": [{"name": term.name, "size": term.size} for term in errors],
    }


def matrix_shapes(machine: Machine) -> dict[str, tuple[int, int]]:
    """The measures that hold a matrix of the student, and its rows and columns."""
    return {block.curve: block.shape for block in machine if block.curve.endswith(MATRIX)}


def pack_matrices(
    shapes: Mapping[str, tuple[int, int]], curves: Curves, place: int
) -> dict[str, Json]:
    """The student's matrices at one point, as far as they were measured."""
    return {
        name: {"shape": list(shape), "data": packed(curves[name][place])}
        for name, shape in shapes.items()
        if name in curves and curves[name].shape[1] == shape[0] * shape[1]
    }


def frames(points: Int[np.ndarray, "points"], last: int, begin: int = 0) -> Iterator[int]:
    """Places of the points at which attention is shown: the first of each twelfth of a decade, and
    the last step.
    """
    bins = np.floor(np.log10(np.maximum(points, 1)) * FRAMES_PER_DECADE + 1e-9)
    bins[points == 0] = -1
    for place in range(begin, len(points)):
        if place == 0 or bins[place] != bins[place - 1] or points[place] == last:
            yield place
