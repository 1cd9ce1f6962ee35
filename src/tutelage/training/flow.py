r"""Gradient flow in logarithmic time: how a run goes on beyond the steps that are taken one by one.

With s = ln t, t = ηT, descent with small steps is dx/ds = −eˢ∇L(x), in which a decade costs the
same early and late. It is stiff: eˢ times the curvature passes 10¹⁰, while x moves by about one per
decade. The method is the L-stable, stiffly accurate SDIRK of order 4 by Hairer and Wanner (Solving
Ordinary Differential Equations II, 1996, table IV.6.5). Slopes are read off the stages that were
solved for and never off eˢ∇L, whose rounding late is larger than the slope itself; so the state
alone says how to go on. (Kvaerno's method of order 5, which carries that slope along, took 36,000
parts for seven decades at D = 8, not some hundreds, and missed by 1%.)

Every stretch between two measured steps is taken twice, in n parts and in 2n. The finer path is the
run; how far the excess of the coarser one lies from it is the error of the solver, sixteen times
that of the finer one. What finite steps do beyond that is bounded in docs/derivations.md, section
19.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Num
from threadpoolctl import ThreadpoolController

from tutelage.measures.base import Measure
from tutelage.numerics.compiling import OLDER, SMALL
from tutelage.objectives.base import Objective
from tutelage.run import Continued, Outcome
from tutelage.students.base import Student
from tutelage.training.batch import Batch, End, Seen
from tutelage.training.record import Record
from tutelage.training.sdirk import flatten, step_once

# Error of a part, by its embedded formula of order 3 and relative to 1 + |x|. What the errors are
# is then measured.
TOLERANCE = 1e-6
MOST_PARTS = 2**12  # of one stretch
# Share of the gradient that one step may change: along a smooth path it is 1/T, across a valley
# about 2.
MOST_TURN = 0.1
# The inverses of a part are spread over XLA's threads, and each of them calls SciPy's OpenBLAS,
# which spreads its few rows over threads of its own. Those get in each other's way: 77 inverses of
# 77 rows took 134 ms beside other work on two cores and 9 ms with one thread in OpenBLAS, and two
# parts at once, from two threads, have been seen to wait for each other for ever.
ONE_PART_AT_A_TIME = threading.Lock()
FIRST_PRODUCTS, PRODUCTS = 200, 10  # with the Hessian, for its largest eigenvalue


class _Paths(NamedTuple):
    """Both ends of a stretch, and the excess there."""

    coarse: Student
    fine: Student
    coarse_excess: float
    fine_excess: float


class Reading(NamedTuple):
    """What was seen of a student at one step."""

    curves: dict[str, Num[Array | np.ndarray, "..."]]
    excess: float


class FlowSteps:
    """A batch whose members go on by gradient flow, each by itself, but for those that have ended.

    `ends` says where each member stands.
    """

    def __init__(self, batch: Batch, here: int, ends: Sequence[End], record: Record) -> None:
        self.here = here
        self._states = [end.state for end in ends]
        self._flows = {
            member: Flow(
                ends[member].student,
                batch.objectives[member],
                batch.measures,
                float(batch.rates[member] or 0.0),
                here,
                None if batch.begin is None else batch.begin[member].continued,
            )
            for member in range(len(batch))
            if member not in record.ended
        }

    def targets(self, upcoming: Int[np.ndarray, "points"]) -> list[int]:
        return [int(upcoming[0])]

    def advance(self, targets: Sequence[int], record: Record) -> Seen:
        """Every member that is under way goes on to the one target and is measured there. One that
        swings across a valley, or whose flow gets stuck, ends where it was.
        """
        (self.here,) = targets
        excess = np.full((len(record.first), 1), np.nan)
        curves = {
            name: np.full((len(curve), 1, *curve.shape[2:]), np.nan)
            for name, curve in record.curves.items()
        }
        for member, flow in self._flows.items():
            if member in record.ended:
                continue
            if isinstance(seen := flow.advance(self.here), Outcome):
                record.ended[member] = (seen, flow.taken)
                continue
            excess[member, 0] = seen.excess
            for name, curve in seen.curves.items():
                curves[name][member, 0] = curve
        return Seen(curves, excess)

    def at(self, member: int) -> End:
        return End(self._flows[member].student, self._states[member])

    def end(self, member: int, record: Record) -> End:
        return self.at(member)

    def continued(self, member: int) -> Continued | None:
        return self._flows[member].continued if member in self._flows else None


class Flow:
    """One run on its way by gradient flow: `advance` takes it to a later step, `continued` says how
    far to trust it.
    """

    def __init__(
        self,
        student: Student,
        objective: Objective,
        measures: tuple[Measure, ...],
        rate: float,
        taken: int,
        before: Continued | None = None,
    ) -> None:
        self.student, self.objective, self.measures = student, objective, measures
        self.rate, self.taken = rate, taken
        self._coarse, self._parts = student, 1
        self._before = before if before is not None else Continued(taken, 0.0, 0.0, 0.0)
        self._solver, self._stepping = 0.0, self._before.stepping
        self._variation = self._before.variation
        some = np.random.default_rng(0).standard_normal(flatten(student)[0].size)
        self._seen = self._look(some / np.linalg.norm(some), FIRST_PRODUCTS)
        # Steps that swing across a valley turn the gradient around; the flow would run down its
        # middle.
        self._steady = self._stable and (before is not None or bool(self._seen.turn < MOST_TURN))

    def advance(self, step: int) -> Reading | Outcome:
        """What is seen after `step` steps; where it ends before, how: descent would not follow the
        flow any more, or the solver cannot.
        """
        if not self._steady:
            return Outcome.UNSTEADY
        paths = self._paths(np.log(self.rate * self.taken), np.log(self.rate * step))
        if paths is None:
            return Outcome.STUCK
        coarse, fine, beside, excess = paths
        self.student, self._coarse, self.taken = fine, coarse, step
        slope = self._seen.slope
        self._seen = self._look(self._seen.direction, PRODUCTS)
        self._steady = self._stable
        self._variation += float(np.linalg.norm(self._seen.slope - slope))
        if excess > 0:
            self._solver = max(self._solver, abs(beside / excess - 1))
            bound = 0.5 * self.rate * float(np.linalg.norm(self._seen.slope)) * self._variation
            self._stepping = max(self._stepping, bound / excess)
        return Reading(self._seen.curves, excess)

    @property
    def continued(self) -> Continued | None:
        """None where it has not moved yet, and no run before it had."""
        if self.taken == self._before.literal:
            return None
        # A run that went on twice was compared with its coarser path twice, each time from where
        # the finer one was.
        return Continued(
            self._before.literal,
            self._before.solver + self._solver,
            self._stepping,
            self._variation,
        )

    @property
    def _stable(self) -> bool:
        return bool(self.rate * self._seen.sharpness < 2)

    def _look(self, direction: Float[Array | np.ndarray, "n"], products: int) -> _Seen:
        return jax.device_get(
            _seen(self.student, self.objective, self.rate, direction, products, self.measures)
        )

    def _paths(self, start: float, end: float) -> _Paths | None:
        """The coarser and the finer end of a stretch with their excess, in as many parts as it
        takes; None where no number of parts is enough.
        """
        while self._parts <= MOST_PARTS:
            coarse, beside, enough = self._path(self._coarse, start, end, self._parts)
            if enough:
                fine, excess, enough = self._path(self.student, start, end, 2 * self._parts)
            if enough:
                self._parts = max(1, self._parts // 2)
                return _Paths(coarse, fine, beside, excess)
            self._parts *= 2
        return None

    def _path(
        self, student: Student, start: float, end: float, parts: int
    ) -> tuple[Student, float, bool]:
        length, excess = (end - start) / parts, float("nan")
        for part in range(parts):
            with ONE_PART_AT_A_TIME, _linear_algebra().limit(limits=1):
                student, seen, error, solved = step_once(
                    student, self.objective, start + part * length, length
                )
                excess, enough = float(seen), bool(solved) and float(error) <= TOLERANCE
            if not enough:
                return student, excess, False
        return student, excess, True


@cache
def _linear_algebra() -> ThreadpoolController:
    """Of the libraries that XLA calls for inverses; none where they have no threads to limit."""
    return ThreadpoolController().select(user_api="blas")


class _Seen(NamedTuple):
    """What is looked at after every stretch; arrays of NumPy once they are off the device."""

    curves: dict[str, Num[Array | np.ndarray, "..."]]
    slope: Float[Array | np.ndarray, "n"]  # ∇L
    turn: Float[Array, ""]  # ‖∇L after one step − ∇L‖ / ‖∇L‖
    # The largest eigenvalue of the Hessian, by power iteration and so from below.
    sharpness: Float[Array, ""]
    direction: Float[Array | np.ndarray, "n"]  # its eigenvector, from which the next look begins


# It runs once a measured step: what it takes to compile counts.
UNOPTIMISED = {"xla_backend_optimization_level": 0} | OLDER | SMALL


@partial(jax.jit, static_argnames="measures", compiler_options=UNOPTIMISED)
def _seen(
    student: Student,
    objective: Objective,
    rate: Float[Array, ""],
    direction: Float[Array, "n"],
    products: Int[Array, ""],
    measures: tuple[Measure, ...],
) -> _Seen:
    x, unflat, flat, _, _ = flatten(student)

    def slope(x: Float[Array, "n"]) -> Float[Array, "n"]:
        return flat(objective.gradient(unflat(x)))

    here, product = jax.linearize(slope, x)
    size = jnp.linalg.norm(here)
    turn = jnp.where(size > 0, jnp.linalg.norm(slope(x - rate * here) - here) / size, 0.0)

    def again(
        _: Int[Array, ""], now: tuple[Float[Array, ""], Float[Array, "n"]]
    ) -> tuple[Float[Array, ""], Float[Array, "n"]]:
        image = product(now[1])
        length = jnp.linalg.norm(image)
        return length, image / jnp.where(length > 0, length, 1.0)

    sharpness, direction = jax.lax.fori_loop(0, products, again, (jnp.zeros(()), direction))
    return _Seen(
        {measure.name: measure(student, objective) for measure in measures},
        here,
        turn,
        sharpness,
        direction,
    )
