"""The one training loop: gradient steps compiled together with the measures, for a batch of runs of
one shape.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int, Key

from tutelage.measures import MEASURES, STANDARD, Measure, as_measure
from tutelage.numerics.grids import by_step
from tutelage.refuse import Refused, positive, whole
from tutelage.run import Continued, Outcome, Rest, Run
from tutelage.settings import LITERAL
from tutelage.training.flow import Flow, check_horizon, why_not
from tutelage.training.flow import trainable as trainable
from tutelage.training.record import BLOWN_UP, SLOTS, Pace, Record, blocks

Optimiser = Any  # an optax.GradientTransformation, or a function from a rate to one
EXCESS = MEASURES["excess_risk"]
Watch = Callable[[int, int, dict[str, np.ndarray]], None]
Pause = Callable[[Callable[[], list[Run]]], bool]


def train(
    student: Any,
    objective: Any,
    *,
    rate: float | None = None,
    steps: int,
    optimiser: Optimiser = optax.sgd,
    measures: Sequence[Measure] = STANDARD,
    key: Key[Array, ""] | None = None,
    watch: Watch | None = None,
    begin: Run | None = None,
    literal: int = LITERAL,
) -> Run:
    """Gradient descent on `objective` from `student`, measured at log-spaced steps.

    An objective with a method `draw(student, key=…)` is stochastic: step n descends on the loss
    that it draws with the n-th key of `key`, so that a run does not depend on where it is cut.

    `optimiser` is a function from the rate to an optax transformation (`optax.adam`, or
    `partial(optax.sgd, momentum=0.9)`), so that the rate is traced and never recompiles; or a
    finished transformation with its own rate, and then `rate` is not given. `watch(member, step,
    curves)` sees the curves so far. `begin` is a run of the same student, objective and optimiser
    over fewer steps: it goes on from there, and the curves are those of one run.

    Plain gradient descent on an exact risk goes on by gradient flow after `literal` steps
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
        literal=literal,
    )[0]


def train_batch(
    students: Sequence[Any],
    objectives: Sequence[Any],
    *,
    rates: Sequence[float | None],
    steps: int,
    optimiser: Optimiser = optax.sgd,
    measures: Sequence[Measure] = STANDARD,
    keys: Sequence[Key[Array, ""]] | None = None,
    watch: Watch | None = None,
    begin: Sequence[Run] | None = None,
    pause: Pause | None = None,
    devices: Sequence[Any] = (),
    literal: int = LITERAL,
) -> list[Run]:
    """The same for several runs of one shape at once; member i equals its lone run to rounding.

    `pause(so_far)` is asked between calls of the compiled loop whether to stop there; `so_far()`
    gives the runs as they stand. With several `devices` each takes its share of the runs.
    """
    steps = whole("steps", steps, least=1, reason="a run takes at least one step")
    measures = tuple(as_measure(measure) for measure in measures)
    _check_batch(students, objectives, rates, measures)
    _check_rates(rates, optimiser)
    _check_keys(keys, objectives)
    if note := objectives[0].accuracy_note():
        print(f"tutelage: {note}", file=sys.stderr)
    # Where steps are random each measurement is a draw; an objective on which one costs as much as
    # many steps asks for fewer.
    points = objectives[0].measured_steps(steps)
    literal = whole(
        "literal", literal, least=1, reason="gradient flow begins after at least one step"
    )
    check_horizon(steps, literal, students[0], objectives[0], optimiser)
    record, here = Record(len(rates), points), 0
    stepwise = (
        len(points) if why_not(students[0], objectives[0], optimiser) else by_step(points, literal)
    )
    if begin is not None:
        _check_begin(begin, students, measures, steps)
        record, here = Record.after(begin, points), begin[0].rest.taken  # type: ignore[union-attr]
        students = [run.student for run in begin]
        if begin[0].continued is not None:
            stepwise = record.taken  # what was reached by flow is no iterate to take steps from
    stacked, risks = _stack(students, objectives)
    number = next(
        (leaf.dtype for leaf in jax.tree.leaves(stacked) if eqx.is_inexact_array(leaf)),
        jnp.dtype(jnp.float64),
    )
    numbers = jnp.asarray([0.0 if rate is None else float(rate) for rate in rates], number)
    states = (
        _first_states(stacked, numbers, optimiser)
        if begin is None
        else _together([run.rest.state for run in begin])
    )  # type: ignore[union-attr]
    several = None if keys is None else jnp.stack(list(keys))
    stacked, states, risks, numbers, several = _spread(
        (stacked, states, risks, numbers, several), devices
    )
    backend = jax.default_backend()
    asked = objectives[0].compiler_options(students[0], steps, backend)
    loop = partial(
        _compiled(backend, keys is not None, tuple(asked.items())),
        objectives=risks,
        rates=numbers,
        keys=several,
        optimiser=optimiser,
        measures=tuple(measures),
    )
    # Typed, as the loop returns it: a weakly typed 0 would compile the whole program a second time.
    now: Any = (stacked, states, jnp.asarray(here, jnp.int64))
    pace = Pace()
    ends: dict[int, Any] = {}  # student and state of members that ended early, as they were then
    flows: dict[int, Flow] = {}  # members that go on by gradient flow

    def so_far() -> list[Run]:
        last = [ends[i] if i in ends else _member(now[:2], i) for i in range(len(rates))]
        before = [None if begin is None else run.continued for run in begin or rates]  # type: ignore[union-attr]
        continued = [flows[i].continued if i in flows else before[i] for i in range(len(rates))]
        return [
            _run(record, i, here, last[i], objectives[i], rates[i], continued[i])
            for i in range(len(rates))
        ]

    if begin is not None:
        ends = {
            member: (begin[member].student, begin[member].rest.state) for member in record.ended
        }  # type: ignore[union-attr]
    for targets in blocks(
        points[record.taken : stepwise] if not record.settled else points[:0], pace, here
    ):
        since, before = time.perf_counter(), now
        *now, curves, excess = loop(*before, gaps=_gaps(here, targets))
        seen = {
            name: np.asarray(curve)[: len(rates)] for name, curve in curves.items()
        }  # without those that fill the last device
        for member in record.add(targets, seen, np.asarray(excess)[: len(rates)]):
            ends[member] = _look_back(record, member, here, partial(loop, *before))
        pace.learn(targets[-1] - here, time.perf_counter() - since)
        here = targets[-1]
        if watch is not None:
            for member in range(len(rates)):
                watch(member, here, record.of(member)[1])
        if record.settled or (pause is not None and here < steps and pause(so_far)):
            return so_far()
    for member in range(len(rates)) if stepwise < len(points) else ():
        ends.setdefault(member, _member(now[:2], member))
        if member not in record.ended:
            before = None if begin is None else begin[member].continued
            flows[member] = Flow(
                ends[member][0],
                objectives[member],
                tuple(measures),
                float(rates[member] or 0.0),
                here,
                before,
            )
    while not record.settled and here < steps:
        here = int(points[record.taken])
        for member in _advance_flows(record, flows, here):
            ends[member] = (flows[member].student, ends[member][1])
        if watch is not None:
            for member in range(len(rates)):
                watch(member, here, record.of(member)[1])
        if not record.settled and pause is not None and here < steps and pause(so_far):
            break
    return so_far()


def _advance_flows(record: Record, flows: Mapping[int, Flow], step: int) -> list[int]:
    """Every member that is under way goes on to `step` and is measured there; gives those that
    moved.
    """
    excess = np.full((len(record.first), 1), np.nan)
    curves = {
        name: np.full((len(curve), 1, *curve.shape[2:]), np.nan)
        for name, curve in record.curves.items()
    }
    moved = []
    for member, flow in flows.items():
        if member in record.ended:
            continue
        if (seen := flow.advance(step)) is None:
            record.ended[member] = (Outcome.UNSTEADY, flow.taken)
            continue
        moved.append(member)
        excess[member, 0] = seen.excess
        for name, curve in seen.curves.items():
            curves[name][member, 0] = curve
    record.add([step], curves, excess)
    return moved


def _look_back(record: Record, member: int, start: int, loop: Callable[..., Any]) -> Any:
    """Student and state of a member at the last step of its curves, from the start of the block in
    which it ended.

    A divergence is first narrowed down to its step; if no point was measured in the block before
    it, the student is that of the block's start, the last sound one at hand.
    """
    if record.ended[member][0] is Outcome.DIVERGED:
        record.narrow(
            member, start, lambda n: float(np.asarray(loop(gaps=_gaps(0, [n]))[4])[member, 0])
        )
    steps, _ = record.of(member)
    return _member(
        loop(gaps=_gaps(start, [max(start, int(steps[-1]) if len(steps) else start)]))[:2], member
    )


def _member(stacked: Any, member: int) -> Any:
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


def _check_batch(
    students: Sequence[Any],
    objectives: Sequence[Any],
    rates: Sequence[Any],
    measures: Sequence[Measure],
) -> None:
    if not len(students) == len(objectives) == len(rates) >= 1:
        raise Refused(
            "A batch needs at least one run, and as many objectives and rates as students, since "
            "member i takes one of each. "
            f"Got {len(students)} students, {len(objectives)} objectives, {len(rates)} rates."
        )
    names = [measure.name for measure in measures]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise Refused(
            "Each measure must have a name of its own, since that names its curve. Got "
            f"{twice!r} more than once."
        )
    for student, objective in zip(students, objectives, strict=True):
        if not all(
            np.isfinite(np.asarray(leaf)).all()
            for leaf in jax.tree.leaves(eqx.filter(student, eqx.is_inexact_array))
        ):
            raise Refused(
                "A student must start from finite numbers, since nothing is learned from others. "
                "Got NaN or infinity."
            )
        objective.check(student)


def _check_begin(
    begin: Sequence[Run], students: Sequence[Any], measures: Sequence[Measure], steps: int
) -> None:
    if len(begin) != len(students):
        raise Refused(
            f"Each member of a batch goes on from a run of its own. Got {len(begin)} runs to "
            f"begin from, {len(students)} students."
        )
    names = {measure.name for measure in measures}
    for run, student in zip(begin, students, strict=True):
        if run.rest is None or run.rest.taken != (begin[0].rest or run.rest).taken:
            raise Refused(
                "Runs that go on together must have stopped, undiverged, after as many steps, "
                "since they share one loop."
            )
        if (run.continued is None) != (begin[0].continued is None):
            raise Refused(
                "Runs that go on together must go on alike, by steps or by gradient flow. Got "
                "some of each."
            )
        if run.rest.taken >= steps:
            raise Refused(
                f"A run goes on to a later step than it has reached. Got steps={steps:,} after "
                f"{run.rest.taken:,}."
            )
        if set(run.curves) != names:
            raise Refused(
                f"A run goes on with the measures it began with. Got {sorted(names)} after "
                f"{sorted(run.curves)}."
            )
        if hash(jax.tree.structure(run.student)) != hash(jax.tree.structure(student)):
            raise Refused("A run goes on with a student of the same kind. Got another.")


def _check_rates(rates: Sequence[float | None], optimiser: Optimiser) -> None:
    finished = isinstance(optimiser, optax.GradientTransformation)
    if not finished and not callable(optimiser):
        raise Refused(
            "`optimiser` must be an optax transformation, or a function from a rate to one such "
            "as optax.adam, since that is what "
            f"turns a gradient into a step. Got {optimiser!r}."
        )
    for rate in rates:
        if finished and rate is not None:
            raise Refused(
                "`rate` must be left out when `optimiser` is a finished optax transformation, "
                "since that carries its own. "
                f"Got rate={rate!r}; pass the factory instead (optax.adam, not optax.adam(0.1)) "
                "to set the rate here."
            )
        if not finished:
            if rate is None:
                raise Refused(
                    "`rate` must be given, since gradient descent needs a step size. Got none."
                )
            positive("rate", rate, reason="a step of gradient descent moves against the gradient")


def _check_keys(keys: Sequence[Any] | None, objectives: Sequence[Any]) -> None:
    stochastic = [objective.stochastic for objective in objectives]
    if keys is None and any(stochastic):
        raise Refused(
            "`key` must be given, since this objective draws a fresh batch at every step. Got "
            "none; try key=stream(0, 'batches')."
        )
    if keys is not None and (not all(stochastic) or len(keys) != len(objectives)):
        raise Refused(
            "`key` is for objectives that draw their batches, one for each run; an exact or a "
            "fixed-sample risk has nothing to draw. "
            f"Got {len(keys)} for {len(objectives)} runs, of which {sum(stochastic)} draw."
        )


def _transformation(optimiser: Optimiser, rate: Float[Array, ""]) -> optax.GradientTransformation:
    return optimiser if isinstance(optimiser, optax.GradientTransformation) else optimiser(rate)


def _loss(
    objective: Any, student: Any, key: Key[Array, ""] | None, number: Int[Array, ""]
) -> Float[Array, ""]:
    """What a step descends on: the objective itself, or the loss that a stochastic one draws with
    the key of this step.
    """
    return (
        objective(student)
        if key is None
        else objective.draw(student, key=jax.random.fold_in(key, number))
    )


# Passes of XLA that help large arrays and hurt these: one splits every operation over threads,
# another rewrites sums into trees. Without them a step of a batch of four costs half as much, and
# compiles faster. A third would take away optimization barriers before operations are fused; kept,
# they say which arrays are stored, where XLA would compute a polynomial again for every sum that
# reads it. Sums are not handed to XLA's library for small matrices: it takes as long to call as
# they take. Nor is the code of one program cut into parts that are compiled side by side: that
# costs half as much again, and the cores are busy. Options of this one program alone.
# Later versions cannot emit code for a barrier.
BARRIERS = ("cse_barrier_expander",) if jax.__version_info__ < (0, 11) else ()
COMPILER: dict[str, dict[str, Any]] = {
    "cpu": {
        "xla_disable_hlo_passes": ",".join(
            ("cpu-parallel-task-assigner", "tree_reduction_rewriter", *BARRIERS)
        ),
        "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
        "xla_cpu_parallel_codegen_split_count": 1,
    }
}
# Programs that draw a batch work on large arrays, and keep those passes: a step alone takes half
# the time on two cores. Drawing random numbers makes them long; at level 1 they compile in half the
# time and run as fast.
DRAWING: dict[str, dict[str, Any]] = {
    "cpu": {"xla_backend_optimization_level": 1, "xla_cpu_parallel_codegen_split_count": 1}
}


@cache
def _compiled(backend: str, draws: bool, asked: tuple[tuple[str, Any], ...]) -> Any:
    """The loop with the options of its backend, and those that an objective asks for in
    `compiler`.
    """
    options = (DRAWING if draws else COMPILER).get(backend, {}) | dict(asked)
    return jax.jit(
        _advance, static_argnames=("optimiser", "measures"), compiler_options=options or None
    )


def _advance(
    students: Any,
    states: Any,
    taken: Int[Array, ""],
    objectives: Any,
    rates: Float[Array, "runs"],
    keys: Key[Array, "runs"] | None,
    gaps: Int[Array, "slots"],
    *,
    optimiser: Optimiser,
    measures: tuple[Measure, ...],
) -> tuple[
    Any, Any, Int[Array, ""], dict[str, Float[Array, "runs slots ..."]], Float[Array, "runs slots"]
]:
    """`gaps[j]` steps and then one measurement, for each slot j; the number of steps is data, so
    nothing recompiles.
    """
    ends = taken + jnp.cumsum(gaps)

    def member(
        student: Any, state: Any, objective: Any, rate: Float[Array, ""], key: Key[Array, ""] | None
    ) -> Any:
        moving, still = eqx.partition(student, trainable(student))
        transformation = optax.with_extra_args_support(_transformation(optimiser, rate))

        def step(number: Int[Array, ""], carry: Any) -> Any:
            moving, state = carry
            value, gradient = jax.value_and_grad(
                lambda m: _loss(objective, eqx.combine(m, still), key, number)
            )(moving)
            # The loss of one drawn batch is not that of an iterate, so an optimiser that keeps the
            # least is not shown it.
            updates, state = transformation.update(
                gradient, state, moving, value=value if key is None else jnp.inf
            )
            return optax.apply_updates(moving, updates), state

        def measured(moving: Any, state: Any) -> Any:
            now = eqx.combine(moving, still)
            curves = {measure.name: measure(now, objective, state) for measure in measures}
            if EXCESS in measures:
                return curves, curves[EXCESS.name]
            return curves, objective.excess(now)

        def unmeasured(moving: Any, state: Any) -> Any:
            return jax.tree.map(
                lambda seen: jnp.zeros(seen.shape, seen.dtype),
                jax.eval_shape(measured, moving, state),
            )

        def slot(carry: Any, span: tuple[Int[Array, ""], Int[Array, ""], Bool[Array, ""]]) -> Any:
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


def _stack(students: Sequence[Any], objectives: Sequence[Any]) -> tuple[Any, Any]:
    """Students and objectives with a leading axis over the runs."""
    pairs = list(zip(students, objectives, strict=True))
    if (
        len(
            {
                (jax.tree.structure(p), tuple(jnp.shape(x) for x in jax.tree.leaves(p)))
                for p in pairs
            }
        )
        != 1
    ):
        raise Refused(
            "Runs trained together must have the same shapes, activation and codes, since they "
            "share one compiled program. "
            "Give `execute` their settings instead: it groups them by shape."
        )
    return _together(pairs)


def _together(trees: Sequence[Any]) -> Any:
    """With a leading axis over the runs. By NumPy: an operation of JAX is compiled anew for every
    shape, longer than many a run.

    A run alone is seen through another shape and not copied; an array that is there twice, as S* in
    a risk and in its teacher, is stacked once.
    """
    made: dict[tuple[int, ...], Array] = {}

    def stacked(*leaves: Any) -> Array:
        which = tuple(id(leaf) for leaf in leaves)
        if which not in made:
            if len(leaves) == 1 and isinstance(
                leaves[0], jax.Array
            ):  # an array of NumPy may change under a run
                made[which] = jax.device_put(np.asarray(leaves[0])[None], may_alias=True)
            else:
                made[which] = jnp.asarray(np.stack([np.asarray(leaf) for leaf in leaves]))
        return made[which]

    return jax.tree.map(stacked, *trees)


def _spread(stacked: Any, devices: Sequence[Any]) -> Any:
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


def _first_states(students: Any, rates: Float[Array, "runs"], optimiser: Optimiser) -> Any:
    return jax.vmap(partial(first_state, optimiser=optimiser))(students, rates)


def first_state(student: Any, rate: Any, optimiser: Optimiser) -> Any:
    """The optimiser's state before the first step."""
    return _transformation(optimiser, rate).init(eqx.filter(student, trainable(student)))


def _gaps(here: int, targets: Sequence[int]) -> Int[Array, "slots"]:
    gaps = np.zeros(SLOTS, np.int64)
    gaps[: len(targets)] = np.diff([here, *targets])
    return jnp.asarray(gaps)


def _run(
    record: Record,
    member: int,
    here: int,
    last: tuple[Any, Any],
    objective: Any,
    rate: float | None,
    continued: Continued | None,
) -> Run:
    student, state = last
    steps, curves = record.of(member)
    unended = Outcome.FINISHED if here == record.points[-1] else Outcome.STOPPED
    outcome, step = record.ended.get(member, (unended, here))
    rest = None if outcome is Outcome.DIVERGED else Rest(step, state, float(record.first[member]))
    return Run(
        steps,
        curves,
        student,
        outcome,
        _note(outcome, step, objective, student, rate),
        rate,
        rest=rest,
        continued=continued,
    )


def _note(outcome: Outcome, step: int, objective: Any, student: Any, rate: float | None) -> str:
    if outcome is Outcome.FINISHED:
        return ""
    if outcome in (Outcome.CONVERGED, Outcome.STOPPED, Outcome.UNSTEADY):
        return f"That was after {step:,} steps."
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
