"""The one training loop: it drives a stepper, literal steps or flow, and keeps a record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Protocol, TypeVar

import jax
import numpy as np
import optax
from jaxtyping import Array, Int, Key

from tutelage.log import LOG, tell_wait
from tutelage.measures.base import Measure, OfStudent, as_measure
from tutelage.measures.bilinear import choose_measures
from tutelage.numerics.grids import by_step
from tutelage.objectives.base import Objective
from tutelage.refuse import whole
from tutelage.run import Continued, Outcome, Rest, Run
from tutelage.students.base import Student
from tutelage.training.batch import Batch, Curves, CurvesSoFar, End, Pause, Seen, Steps, Watch
from tutelage.training.checks import check_batch, why_no_flow
from tutelage.training.devices import in_precision, working_on
from tutelage.training.flow import FlowSteps
from tutelage.training.literal import LiteralSteps
from tutelage.training.method import USUAL, Method
from tutelage.training.record import BLOWN_UP, Record

# A step size that is too large makes the excess grow before it overflows.
NOT_A_NUMBER = (
    "At step {step:,} the excess risk was not a number (NaN), and it had not blown up before. That "
    "is seldom the rate: look for a division by zero, a root or a logarithm in the optimiser, the "
    "objective or the activation."
)

Trained = TypeVar("Trained", bound=Student)


class Stepper(Protocol):
    """Takes the members of a batch to later steps, and measures them there."""

    here: int  # the steps taken so far

    def targets(self, upcoming: Int[np.ndarray, "points"]) -> list[int]:
        """Where to stop and measure next, given the points that are still asked for."""

    def advance(self, targets: Sequence[int], record: Record) -> Seen:
        """Goes to the last of the targets, and measures at each."""

    def at(self, member: int) -> End:
        """Where a member stands that is under way."""

    def end(self, member: int, record: Record) -> End:
        """Where a member stood at the last step of its curves, right after it has ended."""

    def continued(self, member: int) -> Continued | None:
        """How a member went on by gradient flow; None where it took every step."""


def train(
    student: Trained,
    objective: Objective,
    *,
    rate: float | None = None,
    steps: int,
    optimiser: Steps = optax.sgd,
    measures: Sequence[Measure | OfStudent] | None = None,
    key: Key[Array, ""] | None = None,
    watch: Watch | None = None,
    begin: Run[Trained] | None = None,
    method: Method = USUAL,
    progress: bool = False,
) -> Run[Trained]:
    """Gradient descent, W ← W − η ∇L(W), on `objective` from `student`, measured at log-spaced
    steps.

    A stochastic objective draws: step n descends on the loss that `draw(student, key=…)` gives
    with the n-th key of `key`, so that a run does not depend on where it is cut.

    `optimiser` is a function from the rate to an optax transformation (`optax.adam`, or
    `partial(optax.sgd, momentum=0.9)`), so that the rate is traced and never recompiles; or a
    finished transformation with its own rate, and then `rate` is not given. `measures` are by
    default the excess risk and, where the objective has a teacher σ(V* X S*), how far the student
    is from it. `watch(member, step, curves)` sees the curves so far, and `progress` shows a bar in
    a terminal or a notebook, and lines elsewhere. `begin` is a run of the same student, objective
    and optimiser over fewer steps: it goes on from there, and the curves are those of one run.

    Plain gradient descent on an exact risk goes on by gradient flow after `method.literal` steps
    (docs/horizon.md); `continued` of the run then says so, and with which error.
    """
    return train_batch(
        [student],
        [objective],
        rates=[rate],
        steps=steps,
        optimiser=optimiser,
        measures=measures,
        keys=None if key is None else [key],
        watch=watch,
        begin=None if begin is None else [begin],
        method=method,
        progress=progress,
    )[0]


def train_batch(
    students: Sequence[Trained],
    objectives: Sequence[Objective],
    *,
    rates: Sequence[float | None],
    steps: int,
    optimiser: Steps = optax.sgd,
    measures: Sequence[Measure | OfStudent] | None = None,
    keys: Sequence[Key[Array, ""]] | None = None,
    watch: Watch | None = None,
    begin: Sequence[Run[Trained]] | None = None,
    pause: Pause | None = None,
    method: Method = USUAL,
    devices: Sequence[jax.Device] = (),
    progress: bool = False,
) -> list[Run[Trained]]:
    """The same for several runs of one shape at once; member i equals its lone run to rounding.

    `pause(so_far)` is asked between calls of the compiled loop whether to stop there; `so_far()`
    gives the runs as they stand. With several `devices` each takes its share of the runs.
    """
    students, objectives = in_precision((list(students), list(objectives)), method)
    if measures is None:
        measures = choose_measures(objectives[0]) if objectives else ()
    named = tuple(as_measure(measure) for measure in measures)
    steps = whole("steps", steps, least=1, reason="a run takes at least one step")
    batch = Batch(students, objectives, rates, steps, optimiser, named, keys, begin)
    check_batch(batch, method)
    if note := objectives[0].accuracy_note():
        LOG.warning(note)
    if note := objectives[0].cost_note(len(batch) * (steps - batch.taken)):
        tell_wait(note)
    with working_on(method), ExitStack() as stack:
        seen = stack.enter_context(_show_progress(batch, method, watch)) if progress else watch
        return _Training(batch, method, devices).go(seen, pause)


@contextmanager
def _show_progress(batch: Batch, method: Method, watch: Watch | None) -> Iterator[Watch]:
    """What watches a batch and shows a bar: of its first member, as all go side by side."""
    from tutelage.training.progress import Bar

    with Bar(batch.steps, method.literal) as bar:

        def see(member: int, step: int, curves: Curves) -> None:
            if member == 0:
                bar(member, step, curves)
            if watch is not None:
                watch(member, step, curves)

        yield see


class _Training:
    """A batch under way."""

    def __init__(self, batch: Batch, method: Method, devices: Sequence[jax.Device]) -> None:
        self.batch, points = batch, batch.points
        self.record, self.ends = Record(len(batch), points), dict[int, End]()
        if batch.begin is not None:
            self.record = Record.after(batch.begin, points)
            self.ends = {member: _end(batch.begin[member]) for member in self.record.ended}
        # How many of the points are reached step by step. What was reached by flow is no iterate
        # to take steps from.
        first = batch.students[0], batch.objectives[0], batch.optimiser
        if batch.has_flowed():
            self.literal = self.record.taken
        else:
            only_steps = why_no_flow(*first, method)
            self.literal = len(points) if only_steps else by_step(points, method.literal)
        self.stepper: Stepper = LiteralSteps(batch, devices)
        self.flows = False

    def go(self, watch: Watch | None, pause: Pause | None) -> list[Run]:
        """Advances to the next targets, looks for members that have ended, and pauses; until all
        have ended or the horizon is reached.
        """
        record, points = self.record, self.batch.points
        while not record.settled and record.taken < len(points):
            if record.taken >= self.literal and not self.flows:
                self._begin_flow()
            upcoming = points[record.taken : None if self.flows else self.literal]
            targets = self.stepper.targets(upcoming)
            for member in record.add(targets, self.stepper.advance(targets, record)):
                self.ends[member] = self.stepper.end(member, record)
            if watch is not None:
                for member in range(len(self.batch)):
                    watch(member, self.stepper.here, CurvesSoFar(*record.of(member)))
            done = record.settled or self.stepper.here >= self.batch.steps
            if not done and pause is not None and pause(self.runs):
                break
        return self.runs()

    def runs(self) -> list[Run]:
        """The runs as they stand."""
        return [self._run(member) for member in range(len(self.batch))]

    def _begin_flow(self) -> None:
        now = [self._end(member) for member in range(len(self.batch))]
        self.stepper = FlowSteps(self.batch, self.stepper.here, now, self.record)
        self.flows = True

    def _end(self, member: int) -> End:
        return self.ends[member] if member in self.ends else self.stepper.at(member)

    def _run(self, member: int) -> Run:
        batch, here = self.batch, self.stepper.here
        student, state = self._end(member)
        steps, curves = self.record.of(member)
        unended = Outcome.FINISHED if here == self.record.points[-1] else Outcome.STOPPED
        outcome, step = self.record.ended.get(member, (unended, here))
        first, rest = float(self.record.first[member]), None
        if outcome is not Outcome.DIVERGED:
            rest = Rest(step, state, first)
        before = None if batch.begin is None else batch.begin[member].continued
        rate = batch.rates[member]
        if np.isnan(self.record.blown.get(member, 0.0)):
            note = NOT_A_NUMBER.format(step=step)
        else:
            note = _note(outcome, step, batch.objectives[member], student, rate)
        continued = self.stepper.continued(member) or before
        return Run(steps, curves, student, outcome, note, rate, rest=rest, continued=continued)


def _end(run: Run) -> End:
    assert run.rest is not None  # checked before
    return End(run.student, run.rest.state)


def _note(
    outcome: Outcome, step: int, objective: Objective, student: Student, rate: float | None
) -> str:
    if outcome is Outcome.FINISHED:
        return ""
    if outcome in (Outcome.CONVERGED, Outcome.STOPPED, Outcome.UNSTEADY):
        return f"That was after {step:,} steps."
    if outcome is Outcome.STUCK:
        return (
            f"That was after {step:,} steps; more steps taken one by one (`literal`) may bring it "
            "further."
        )
    said = (
        f"By step {step:,} the excess risk had passed {BLOWN_UP:g} times its start or was no "
        "longer finite."
    )
    stable = objective.stable_rate(student)
    if stable is None or rate is None:
        return f"{said} A smaller rate is needed."
    return (
        f"{said} Near this teacher plain gradient descent is stable below a rate of "
        f"{stable:.3g}; this run's was {rate:.3g}."
    )
