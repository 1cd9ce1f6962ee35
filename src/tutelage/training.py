"""The one training loop: gradient steps compiled together with the measures, for a batch of runs of one shape."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from tutelage.measure import STANDARD, Measure
from tutelage.refuse import Refused, positive, whole
from tutelage.run import Outcome, Run

Optimiser = Any  # an optax.GradientTransformation, or a function from a rate to one
Watch = Callable[[int, int, dict[str, np.ndarray]], None]

PER_DECADE = 24  # measured steps in each factor of ten
SLOTS = 16  # measured steps in one call of the compiled loop
BLOCK_SECONDS = 0.15  # how long one call should last: often enough for a bar, rarely enough to cost nothing
BLOWN_UP = 1e4  # a risk this many times its start has diverged
ROUNDING = (64 * np.finfo(np.float64).eps) ** 2  # parameters this close, relatively, move by rounding only; the excess is their square


def train(
    student: Any,
    objective: Any,
    *,
    rate: float | None = None,
    steps: int,
    optimiser: Optimiser = optax.sgd,
    measures: Sequence[Measure] = STANDARD,
    watch: Watch | None = None,
) -> Run:
    """Gradient descent on `objective` from `student`, measured at log-spaced steps.

    `optimiser` is a function from the rate to an optax transformation (`optax.adam`, or
    `partial(optax.sgd, momentum=0.9)`), so that the rate is traced and never recompiles; or a finished transformation
    with its own rate, and then `rate` is not given. `watch(member, step, curves)` sees the curves so far.
    """
    return train_batch([student], [objective], rates=[rate], steps=steps, optimiser=optimiser, measures=measures, watch=watch)[0]


def train_batch(
    students: Sequence[Any],
    objectives: Sequence[Any],
    *,
    rates: Sequence[float | None],
    steps: int,
    optimiser: Optimiser = optax.sgd,
    measures: Sequence[Measure] = STANDARD,
    watch: Watch | None = None,
) -> list[Run]:
    """The same for several runs of one shape at once; member i equals its lone run to rounding."""
    steps = whole("steps", steps, least=1, reason="a run takes at least one step")
    _check_rates(rates, optimiser)
    for student, objective in zip(students, objectives, strict=True):
        if hasattr(objective, "check"):
            objective.check(student)
    if (accuracy := getattr(objectives[0], "accuracy", None)) is not None:
        print(f"tutelage: {accuracy.sentence}", file=sys.stderr)
    batch = (_stack(students, objectives), jnp.asarray([0.0 if r is None else r for r in rates]))
    loop = partial(_advance, objectives=batch[0][1], rates=batch[1], optimiser=optimiser, measures=tuple(measures))
    now = (batch[0][0], _first_states(batch[0][0], batch[1], optimiser))
    record, pace, here = _Record(len(rates)), _Pace(), 0
    for targets in _blocks(log_spaced(steps), pace):
        begin, before = time.perf_counter(), now
        students_now, states, curves, health = loop(*before, gaps=_gaps(here, targets))
        record.add(targets, {name: np.asarray(c) for name, c in curves.items()}, np.asarray(health))
        for member in record.newly_diverged():
            # By bisection from the block's start, which is still at hand.
            risk_after = lambda n: np.asarray(loop(*before, gaps=_gaps(0, [n]))[3])[member, 0]  # noqa: B023, E731
            record.narrow(member, here, risk_after)
        now = (students_now, states)
        pace.learn(targets[-1] - here, time.perf_counter() - begin)
        here = targets[-1]
        if watch is not None:
            record.show(watch)
        if record.settled:
            break
    return [_run(record, i, now[0], objectives[i], rates[i]) for i in range(len(rates))]


def log_spaced(steps: int, per_decade: int = PER_DECADE) -> Int[np.ndarray, "points"]:
    """0, 1, 2, … : the whole numbers nearest to 10^(k/per_decade) up to `steps`, and `steps` itself.

    The grid of a longer run contains that of a shorter one, but for its last point.
    """
    exponents = np.arange(int(np.log10(steps) * per_decade) + 1) / per_decade
    return np.unique(np.concatenate([[0], np.rint(10.0**exponents), [steps]]).astype(np.int64))


def trainable(student: Any) -> Any:
    """A tree of True and False: the floating arrays of a student, less the fields that it names in `fixed`."""
    fixed = getattr(student, "fixed", ())
    return jax.tree_util.tree_map_with_path(
        lambda path, leaf: eqx.is_inexact_array(leaf) and getattr(path[0], "name", None) not in fixed, student
    )


def _check_rates(rates: Sequence[float | None], optimiser: Optimiser) -> None:
    finished = isinstance(optimiser, optax.GradientTransformation)
    for rate in rates:
        if finished and rate is not None:
            raise Refused(
                "`rate` must be left out when `optimiser` is a finished optax transformation, since that carries its own. "
                f"Got rate={rate!r}; pass the factory instead (optax.adam, not optax.adam(0.1)) to set the rate here."
            )
        if not finished:
            if rate is None:
                raise Refused("`rate` must be given, since gradient descent needs a step size. Got none.")
            positive("rate", rate, reason="a step of gradient descent moves against the gradient")


def _transformation(optimiser: Optimiser, rate: Float[Array, ""]) -> optax.GradientTransformation:
    return optimiser if isinstance(optimiser, optax.GradientTransformation) else optimiser(rate)


def _excess(objective: Any, student: Any) -> Float[Array, ""]:
    return objective.excess(student) if hasattr(objective, "excess") else objective(student)


@partial(jax.jit, static_argnames=("optimiser", "measures"))
def _advance(
    students: Any,
    states: Any,
    objectives: Any,
    rates: Float[Array, "runs"],
    gaps: Int[Array, "slots"],
    *,
    optimiser: Optimiser,
    measures: tuple[Measure, ...],
) -> tuple[Any, Any, dict[str, Float[Array, "runs slots ..."]], Float[Array, "runs slots"]]:
    """`gaps[j]` steps and then one measurement, for each slot j; the number of steps is data, so nothing recompiles."""

    def member(student: Any, state: Any, objective: Any, rate: Float[Array, ""]) -> Any:
        moving, still = eqx.partition(student, trainable(student))
        transformation = _transformation(optimiser, rate)

        def step(_: int, carry: Any) -> Any:
            moving, state = carry
            gradient = jax.grad(lambda m: objective(eqx.combine(m, still)))(moving)
            updates, state = transformation.update(gradient, state, moving)
            return optax.apply_updates(moving, updates), state

        def slot(carry: Any, gap: Int[Array, ""]) -> Any:
            carry = jax.lax.fori_loop(0, gap, step, carry)
            now = eqx.combine(carry[0], still)
            curves = {measure.__name__: measure(now, objective) for measure in measures}
            return carry, (curves, _excess(objective, now))

        (moving, state), (curves, health) = jax.lax.scan(slot, (moving, state), gaps)
        return eqx.combine(moving, still), state, curves, health

    return jax.vmap(member)(students, states, objectives, rates)


def _stack(students: Sequence[Any], objectives: Sequence[Any]) -> tuple[Any, Any]:
    """Students and objectives with a leading axis over the runs."""
    pairs = list(zip(students, objectives, strict=True))
    if len({(jax.tree.structure(p), tuple(jnp.shape(x) for x in jax.tree.leaves(p))) for p in pairs}) != 1:
        raise Refused(
            "Runs trained together must have the same shapes, activation and codes, since they share one compiled program. "
            "Give `execute` their settings instead: it groups them by shape."
        )
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *pairs)


def _first_states(students: Any, rates: Float[Array, "runs"], optimiser: Optimiser) -> Any:
    return jax.vmap(lambda s, r: _transformation(optimiser, r).init(eqx.filter(s, trainable(s))))(students, rates)


def _gaps(here: int, targets: Sequence[int]) -> Int[Array, "slots"]:
    gaps = np.zeros(SLOTS, np.int64)
    gaps[: len(targets)] = np.diff([here, *targets])
    return jnp.asarray(gaps)


class _Pace:
    """How many steps fit into one call of the compiled loop; learned from the calls so far."""

    def __init__(self) -> None:
        self.steps = 64

    def learn(self, steps: int, seconds: float) -> None:
        # Grows at most fourfold a call, so that the first call, which compiles, cannot mislead for long.
        wanted = int(max(steps, 1) * BLOCK_SECONDS / max(seconds, 1e-9))
        self.steps = int(np.clip(wanted, 64, 4 * max(self.steps, steps)))


def _blocks(points: Int[np.ndarray, "points"], pace: _Pace) -> Iterator[list[int]]:
    """Step numbers to stop and measure at, a few to a call: the points asked for, and others where a gap is long."""
    here, upcoming = 0, [int(p) for p in points]
    while upcoming:
        block: list[int] = []
        end = here + pace.steps
        while upcoming and upcoming[0] <= end and len(block) < SLOTS:
            block.append(upcoming.pop(0))
        if not block:
            block = [end]
        yield block
        here = block[-1]


class _Record:
    """What a batch has measured so far, and which of its members have ended."""

    def __init__(self, members: int) -> None:
        self.steps: list[int] = []
        self.curves: list[dict[str, Float[np.ndarray, "runs ..."]]] = []
        self.first: Float[np.ndarray, "runs"] = np.zeros(members)
        self.ended: dict[int, tuple[Outcome, int]] = {}
        self._fresh: list[int] = []

    def add(
        self,
        targets: Sequence[int],
        curves: dict[str, Float[np.ndarray, "runs slots ..."]],
        excess: Float[np.ndarray, "runs slots"],
    ) -> None:
        if not self.steps:
            self.first = excess[:, 0]
        for slot, step in enumerate(targets):
            self.steps.append(step)
            self.curves.append({name: curve[:, slot] for name, curve in curves.items()})
            for member, value in enumerate(excess[:, slot]):
                if member in self.ended:
                    continue
                if self.blown_up(member, value):
                    self.ended[member] = (Outcome.DIVERGED, step)
                    self._fresh.append(member)
                elif self.first[member] > 0 and value <= ROUNDING * self.first[member]:
                    self.ended[member] = (Outcome.CONVERGED, step)

    def blown_up(self, member: int, excess: float) -> bool:
        return not np.isfinite(excess) or (self.first[member] > 0 and excess > BLOWN_UP * self.first[member])

    def newly_diverged(self) -> list[int]:
        fresh, self._fresh = self._fresh, []
        return fresh

    def narrow(self, member: int, sound: int, excess_after: Callable[[int], float]) -> None:
        """The first step at which the member had blown up, given that it had not at step `sound`."""
        low, high = sound, self.ended[member][1]
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.blown_up(member, excess_after(middle - sound)) else (middle, high)
        self.ended[member] = (Outcome.DIVERGED, high)

    @property
    def settled(self) -> bool:
        return len(self.ended) == len(self.first)

    def show(self, watch: Watch) -> None:
        for member in range(len(self.first)):
            watch(member, self.steps[-1], self.of(member)[1])

    def of(self, member: int) -> tuple[Int[np.ndarray, "points"], dict[str, Float[np.ndarray, "points ..."]]]:
        """One member's steps and curves, up to where it ended."""
        outcome, last = self.ended.get(member, (Outcome.FINISHED, self.steps[-1]))
        kept = [i for i, s in enumerate(self.steps) if s < last or (s == last and outcome is not Outcome.DIVERGED)]
        return (
            np.asarray([self.steps[i] for i in kept]),
            {name: np.stack([self.curves[i][name][member] for i in kept]) for name in self.curves[0]},
        )


def _run(record: _Record, member: int, students: Any, objective: Any, rate: float | None) -> Run:
    steps, curves = record.of(member)
    outcome, step = record.ended.get(member, (Outcome.FINISHED, int(steps[-1])))
    student = jax.tree.map(lambda leaf: leaf[member], students)
    return Run(steps, curves, student, outcome, _note(outcome, step, objective, student, rate), rate)


def _note(outcome: Outcome, step: int, objective: Any, student: Any, rate: float | None) -> str:
    if outcome is Outcome.FINISHED:
        return ""
    if outcome is Outcome.CONVERGED:
        return f"That was after {step:,} steps."
    said = f"By step {step:,} the excess risk had passed {BLOWN_UP:g} times its start or was no longer finite."
    stable = objective.stable_rate(student) if hasattr(objective, "stable_rate") else None
    if stable is None or rate is None:
        return f"{said} A smaller rate is needed."
    return f"{said} Near this teacher plain gradient descent is stable below a rate of {stable:.3g}; this run's was {rate:.3g}."
