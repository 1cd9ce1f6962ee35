"""Literal steps: gradient steps compiled together with the measures, for a batch of one shape."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache, partial
from typing import Protocol, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.stages import Wrapped
from jaxtyping import Array, Bool, Float, Int, Key, Num, PyTree

from tutelage.measures import MEASURES
from tutelage.measures.base import Measure
from tutelage.numerics.compiling import BARRIERS, SMALL, SMALL_LOOPS, THREADS
from tutelage.objectives.base import CompilerOptions, Objective
from tutelage.optimisers.base import Rate
from tutelage.run import Continued, Outcome
from tutelage.students.base import Student, trainable
from tutelage.training.batch import Batch, End, Seen, Steps
from tutelage.training.programs import PROGRAMS, describe_shape
from tutelage.training.record import DRAWING_SLOTS, SLOTS, Pace, Record
from tutelage.training.small_loops import has_barrier, is_small

EXCESS = MEASURES["excess_risk"]
Tree = TypeVar("Tree", bound=PyTree)
Measured = tuple[dict[str, Num[Array, "..."]], Float[Array, "..."]]
# Students, states and steps taken; then the curves and the excess.
Advanced = tuple[
    Student, PyTree, Int[Array, ""], dict[str, Num[Array, "runs slots ..."]], Float[Array, "..."]
]


class Advance(Protocol):
    """The compiled `_advance`, its objectives, rates and keys given."""

    def __call__(
        self, students: Student, states: PyTree, taken: Int[Array, ""], *, gaps: Int[Array, "slots"]
    ) -> Advanced: ...


class LiteralSteps:
    """A batch that is taken step by step."""

    def __init__(self, batch: Batch, devices: Sequence[jax.Device]) -> None:
        self.here, self._start = batch.taken, batch.taken
        self._slots = SLOTS if batch.keys is None else DRAWING_SLOTS
        self._members, self._pace = len(batch), Pace(self._slots)
        students, states, self._loop = _prepared(batch, devices)
        # Typed, as the loop returns it: a weakly typed 0 would compile the whole program again.
        self._now = self._before = (students, states, jnp.asarray(self.here, jnp.int64))

    def targets(self, upcoming: Int[np.ndarray, "points"]) -> list[int]:
        """The steps to stop and measure at in the next call of the compiled loop."""
        return self._pace.block(upcoming, self.here)

    def advance(self, targets: Sequence[int], record: Record) -> Seen:
        """Takes every member to the last of the targets, and measures at each."""
        since = time.perf_counter()
        self._start, self._before = self.here, self._now
        *now, curves, excess = self._loop(*self._before, gaps=self._gaps(self.here, targets))
        self._now = (now[0], now[1], now[2])
        # Without those that fill the last device.
        seen = Seen(
            {name: np.asarray(curve)[: self._members] for name, curve in curves.items()},
            np.asarray(excess)[: self._members],
        )
        self.here = targets[-1]
        self._pace.learn(self.here - self._start, time.perf_counter() - since)
        return seen

    def at(self, member: int) -> End:
        """Where a member stands now."""
        return End(*_member(self._now[:2], member))

    def end(self, member: int, record: Record) -> End:
        """Where a member stood at the last step of its curves, from the start of the block in
        which it ended.

        A divergence is first narrowed down to its step; if no point was measured in the block
        before it, the student is that of the block's start, the last sound one at hand.
        """
        if record.ended[member][0] is Outcome.DIVERGED:
            record.narrow(member, self._start, partial(self._excess_after, member))
        steps, _ = record.of(member)
        last = max(self._start, int(steps[-1]) if len(steps) else self._start)
        found = self._loop(*self._before, gaps=self._gaps(self._start, [last]))
        return End(*_member(found[:2], member))

    def continued(self, member: int) -> Continued | None:
        return None

    def _excess_after(self, member: int, steps: int) -> float:
        """This many steps after the start of the block."""
        found = self._loop(*self._before, gaps=self._gaps(0, [steps]))
        return float(np.asarray(found[4])[member, 0])

    def _gaps(self, here: int, targets: Sequence[int]) -> Int[Array, "slots"]:
        return gaps_between(here, targets, self._slots)


def _prepared(batch: Batch, devices: Sequence[jax.Device]) -> tuple[Student, PyTree, Advance]:
    """Students and states with a leading axis over the runs, and the loop that takes them on."""
    begin, keys = batch.begin, batch.keys
    given = batch.students if begin is None else [run.student for run in begin]
    students, objectives = stack(list(zip(given, batch.objectives, strict=True)))
    kinds = (leaf.dtype for leaf in jax.tree.leaves(students) if eqx.is_inexact_array(leaf))
    rates = jnp.asarray(
        [0.0 if rate is None else float(rate) for rate in batch.rates],
        next(kinds, jnp.dtype(jnp.float64)),
    )
    if begin is None:
        states = first_states(students, rates, batch.optimiser)
    else:
        states = stack([run.rest.state for run in begin if run.rest is not None])
    several = None if keys is None else jnp.stack(list(keys))
    students, states, objectives, rates, several = _spread(
        (students, states, objectives, rates, several), devices
    )
    backend = jax.default_backend()
    asked = batch.objectives[0].compiler_options(given[0], batch.steps, backend)
    fixed = {
        "objectives": objectives,
        "rates": rates,
        "keys": several,
        "optimiser": batch.optimiser,
        "measures": batch.measures,
    }
    options = tuple(asked.items())
    shape = describe_shape((students, states, objectives, several))
    PROGRAMS.add((shape, batch.optimiser, batch.measures, options))
    loop = compile_steps(backend, keys is not None, options)
    keeps_barriers = BARRIERS and backend == "cpu" and keys is None
    if keeps_barriers and "xla_disable_hlo_passes" not in asked and is_small(students):
        # What is traced here is not traced again below: the function is the same.
        taken, gaps = jnp.asarray(batch.taken, jnp.int64), gaps_between(0, [1])
        traced = loop.trace(students, states, taken, gaps=gaps, **fixed)
        if has_barrier(traced.jaxpr.jaxpr):
            loop = compile_steps(backend, False, (*options, UNHOISTED))
    return students, states, partial(loop, **fixed)


# Passes of XLA that help large arrays and hurt these: one splits every operation over threads,
# another rewrites sums into trees. Without them a step of a batch of four costs half as much, and
# compiles faster. A third would take away optimization barriers before operations are fused; kept,
# they say which arrays are stored, where XLA would compute a polynomial again for every sum that
# reads it. Options of this one program alone.
COMPILER: dict[str, CompilerOptions] = {
    "cpu": {
        "xla_disable_hlo_passes": ",".join((THREADS, "tree_reduction_rewriter", *BARRIERS)),
        **SMALL,
    }
}
# The same for a small loop that has barriers.
UNHOISTED = ("xla_disable_hlo_passes", f"{COMPILER['cpu']['xla_disable_hlo_passes']},{SMALL_LOOPS}")
# Programs that draw a batch work on large arrays, and keep those passes: a step alone takes half
# the time on two cores. JAX's random numbers make them long; at level 1 they compile in half the
# time and run as fast. `OnlineRisk` has random numbers and options of its own.
DRAWING: dict[str, CompilerOptions] = {
    "cpu": {"xla_backend_optimization_level": 1, "xla_cpu_parallel_codegen_split_count": 1}
}


@cache
def compile_steps(
    backend: str, draws: bool, asked: tuple[tuple[str, str | int | bool], ...]
) -> Wrapped:
    """The loop with the options of its backend, and those that an objective asks for."""
    options = (DRAWING if draws else COMPILER).get(backend, {}) | dict(asked)
    return jax.jit(
        _advance, static_argnames=("optimiser", "measures"), compiler_options=options or None
    )


def _advance(
    students: Student,
    states: PyTree,
    taken: Int[Array, ""],
    objectives: Objective,
    rates: Float[Array, "runs"],
    keys: Key[Array, "runs"] | None,
    gaps: Int[Array, "slots"],
    *,
    optimiser: Steps,
    measures: tuple[Measure, ...],
) -> Advanced:
    """`gaps[j]` steps and then one measurement, for each slot j; the number of steps is data, so
    nothing recompiles.
    """
    ends = taken + jnp.cumsum(gaps)

    def member(
        student: Student,
        state: PyTree,
        objective: Objective,
        rate: Float[Array, ""],
        key: Key[Array, ""] | None,
    ) -> tuple[Student, PyTree, dict[str, Num[Array, "slots ..."]], Float[Array, "slots"]]:
        moving, still = eqx.partition(student, trainable(student))
        transformation = optax.with_extra_args_support(_transformation(optimiser, rate))

        def step(number: Int[Array, ""], carry: tuple[Student, PyTree]) -> tuple[Student, PyTree]:
            moving, state = carry
            if key is None and optimiser is optax.sgd:
                moved = objective.descend(eqx.combine(moving, still), rate)
                if moved is not None:
                    return eqx.filter(moved, trainable(moved)), state
            value, gradient = jax.value_and_grad(
                lambda m: _loss(objective, eqx.combine(m, still), key, number)
            )(moving)
            # The loss of one drawn batch is not that of an iterate, so an optimiser that keeps the
            # least is not shown it.
            updates, state = transformation.update(
                gradient, state, moving, value=value if key is None else jnp.inf
            )
            return optax.apply_updates(moving, updates), state

        def measured(moving: Student, state: PyTree) -> Measured:
            now = eqx.combine(moving, still)
            curves = {measure.name: measure(now, objective, state) for measure in measures}
            if EXCESS in measures:
                return curves, curves[EXCESS.name]
            return curves, objective.excess(now)

        def unmeasured(moving: Student, state: PyTree) -> Measured:
            return jax.tree.map(
                lambda seen: jnp.zeros(seen.shape, seen.dtype),
                jax.eval_shape(measured, moving, state),
            )

        def slot(
            carry: tuple[Student, PyTree],
            span: tuple[Int[Array, ""], Int[Array, ""], Bool[Array, ""]],
        ) -> tuple[tuple[Student, PyTree], Measured]:
            first, end, wanted = span
            carry = jax.lax.fori_loop(first, end, step, carry)
            return carry, jax.lax.cond(wanted, measured, unmeasured, *carry)

        # Slots after the last one that is asked for have no steps; on held-out data a measurement
        # may cost as much as a hundred.
        used = (gaps > 0) | (jnp.arange(len(gaps)) == 0)
        (moving, state), (curves, health) = jax.lax.scan(
            slot, (moving, state), (ends - gaps, ends, used)
        )
        return eqx.combine(moving, still), state, curves, health

    given = (students, states, objectives, rates, keys)
    if len(rates) == 1:  # a run alone is traced as it is, in half the time
        found = jax.tree.map(
            lambda leaf: leaf[None], member(*jax.tree.map(lambda leaf: leaf[0], given))
        )
    else:
        found = jax.vmap(member)(*given)
    students, states, curves, health = found
    return students, states, ends[-1], curves, health


def _transformation(optimiser: Steps, rate: Rate) -> optax.GradientTransformation:
    return optimiser if isinstance(optimiser, optax.GradientTransformation) else optimiser(rate)


def _loss(
    objective: Objective, student: Student, key: Key[Array, ""] | None, number: Int[Array, ""]
) -> Float[Array, ""]:
    """What a step descends on: the objective itself, or the loss that a stochastic one draws with
    the key of this step.
    """
    return (
        objective(student)
        if key is None
        else objective.draw(student, key=jax.random.fold_in(key, number))
    )


def stack(trees: Sequence[Tree]) -> Tree:
    """Trees of the same shapes as one, with a leading axis over the runs.

    By NumPy: an operation of JAX is compiled anew for every shape, longer than many a run.

    A run alone is seen through another shape and not copied; an array that is there twice, as S* in
    a risk and in its teacher, is stacked once.
    """
    made: dict[tuple[int, ...], Array] = {}

    def stacked(*leaves: Array) -> Array:
        which = tuple(id(leaf) for leaf in leaves)
        if which not in made:
            # An array of NumPy may change under a run, and is copied.
            if len(leaves) == 1 and isinstance(leaves[0], jax.Array):
                made[which] = jax.device_put(np.asarray(leaves[0])[None], may_alias=True)
            else:
                made[which] = jnp.asarray(np.stack([np.asarray(leaf) for leaf in leaves]))
        return made[which]

    return jax.tree.map(stacked, *trees)


def _spread(stacked: Tree, devices: Sequence[jax.Device]) -> Tree:
    """The runs over several devices, a share each; the last run is repeated until the shares are
    equal.
    """
    if len(devices) < 2:
        return stacked
    runs = len(jax.tree.leaves(stacked)[0])
    wanted = np.minimum(np.arange(-(-runs // len(devices)) * len(devices)), runs - 1)
    shares = jax.sharding.NamedSharding(
        jax.sharding.Mesh(np.asarray(devices), ("runs",)), jax.sharding.PartitionSpec("runs")
    )
    return jax.tree.map(lambda leaf: jax.device_put(leaf[wanted], shares), stacked)


def first_states(students: Student, rates: Float[Array, "runs"], optimiser: Steps) -> PyTree:
    return jax.vmap(partial(first_state, optimiser=optimiser))(students, rates)


def first_state(student: Student, rate: Rate, optimiser: Steps) -> PyTree:
    """The optimiser's state before the first step."""
    return _transformation(optimiser, rate).init(eqx.filter(student, trainable(student)))


def _member(stacked: Tree, member: int) -> Tree:
    return jax.tree.map(lambda leaf: _cut(np.asarray(leaf), member), stacked)


def _cut(stacked: np.ndarray, member: int) -> Array:
    """One member; without a copy where it is alone, or a batch that ended would be kept for each of
    them.
    """
    return (
        jax.device_put(stacked[member], may_alias=True)
        if len(stacked) == 1
        else jnp.asarray(stacked[member])
    )


def gaps_between(here: int, targets: Sequence[int], slots: int = SLOTS) -> Int[Array, "slots"]:
    """How many steps to take before each of the targets; none for slots that are left over."""
    gaps = np.zeros(slots, np.int64)
    gaps[: len(targets)] = np.diff([here, *targets])
    return jnp.asarray(gaps)
