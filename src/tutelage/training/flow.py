r"""Gradient flow in logarithmic time: how a run goes on beyond the steps that are taken one by one.

With s = ln t, t = ηT, descent with small steps is dx/ds = −eˢ∇L(x), in which a decade costs the
same early and late. It is stiff: eˢ times the curvature passes 10¹⁰, while x moves by about one a
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

from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float

from tutelage.measures import Measure
from tutelage.refuse import Refused
from tutelage.run import Continued

# Beyond this many steps a run that cannot go on by flow is refused: one by one they take a day and
# more
PATIENCE = 1_000_000_000
# Parameters whose curvature is held as one matrix, which is inverted: about two seconds.
LARGEST = 2_500
# Of the curvature in all, 270 MB, of which five copies are held: D = 300 and orthonormal codes.
NUMBERS = 2**25
# Of a part, by its embedded formula of order 3 and relative to 1 + |x|; what the errors are is then
# measured
TOLERANCE = 1e-6
# a stage is solved to this, likewise: W_V must keep the digits of W_V − V*, which late is 10⁻⁶
SOLVED = 1e-12
ITERATIONS = 20
FINEST = 2**12  # parts of one stretch
# Of the gradient, that one step may change: along a smooth path it is 1/T, across a valley about 2
TURN = 0.1
FIRST_LOOK, LOOK = 200, 10  # products with the Hessian, for its largest eigenvalue

_GAMMA = 0.25
_NODES = np.array([1 / 4, 3 / 4, 11 / 20, 1 / 2, 1])
_STAGES = np.array(
    [
        [1 / 4, 0, 0, 0, 0],
        [1 / 2, 1 / 4, 0, 0, 0],
        [17 / 50, -1 / 25, 1 / 4, 0, 0],
        [371 / 1360, -137 / 2720, 15 / 544, 1 / 4, 0],
        [25 / 24, -49 / 48, 125 / 16, -85 / 12, 1 / 4],
    ]
)
_EMBEDDED = np.array(
    [59 / 48, -17 / 96, 225 / 32, -85 / 12, 0]
)  # weights of order 3; those of order 4 are the last row above


def why_not(student: Any, objective: Any, optimiser: Any) -> str:
    """Why runs of this kind are taken step by step only, in a sentence; "" where they can go on by
    gradient flow.
    """
    if objective.stochastic:
        return "this objective draws a fresh batch at every step"
    if not objective.has_gradient:
        return (
            f"{type(objective).__name__} has no `gradient` that can be differentiated again, "
            "as the population risk has"
        )
    if optimiser is not optax.sgd:
        return "only plain gradient descent follows the gradient flow"
    moving = [
        leaf
        for leaf in jax.tree.leaves(eqx.filter(student, trainable(student)))
        if leaf is not None
    ]
    if any(leaf.dtype != jnp.float64 for leaf in moving):
        return "gradient flow needs double precision"
    apart = [getattr(student, name).shape for name in student.columns_apart]
    border = sum(leaf.size for leaf in moving) - sum(rows * columns for rows, columns in apart)
    if border > LARGEST:
        return (
            f"its curvature would be a matrix of {border:,} rows, and at most {LARGEST:,} are held"
        )
    numbers = border**2 + sum(rows * columns * (rows + border) for rows, columns in apart)
    if numbers > NUMBERS:
        return f"its curvature would have {numbers:,} numbers, and at most {NUMBERS:,} are held"
    return ""


def check_horizon(steps: int, literal: int, student: Any, objective: Any, optimiser: Any) -> None:
    """Refuses, before any work, a horizon that would take days of steps one by one."""
    if steps > max(PATIENCE, literal) and (reason := why_not(student, objective, optimiser)):
        raise Refused(
            f"`steps` must be at most {max(PATIENCE, literal):,} here, since they are taken one "
            "by one and take days beyond that; only "
            "plain gradient descent on an exact risk goes on by gradient flow. Got "
            f"steps={steps:,}, and {reason}."
        )


def trainable(student: Any) -> Any:
    """A tree of True and False: the floating arrays of a student, less the fields, its own or of a
    part, that it names in `fixed`.
    """
    fixed = set(student.fixed)
    return jax.tree_util.tree_map_with_path(
        lambda path, leaf: (
            eqx.is_inexact_array(leaf)
            and fixed.isdisjoint(getattr(entry, "name", None) for entry in path)
        ),
        student,
    )


class Reading(NamedTuple):
    """What was seen of a student at one step."""

    curves: dict[str, Any]
    excess: float


class Flow:
    """One run on its way by gradient flow: `advance` takes it to a later step, `continued` says how
    far to trust it.
    """

    def __init__(
        self,
        student: Any,
        objective: Any,
        measures: tuple[Measure, ...],
        rate: float,
        taken: int,
        before: Continued | None = None,
    ) -> None:
        self.student, self.objective, self.measures, self.rate, self.taken = (
            student,
            objective,
            measures,
            rate,
            taken,
        )
        self._coarse, self._parts = student, 1
        self._before = before if before is not None else Continued(taken, 0.0, 0.0, 0.0)
        self._solver, self._stepping, self._variation = (
            0.0,
            self._before.stepping,
            self._before.variation,
        )
        some = np.random.default_rng(0).standard_normal(_flat(student)[0].size)
        self._seen = self._look(some / np.linalg.norm(some), FIRST_LOOK)
        # Steps that swing across a valley turn the gradient around; the flow would run down its
        # middle.
        self._steady = self._stable and (before is not None or bool(self._seen.turn < TURN))

    def advance(self, step: int) -> Reading | None:
        """What is seen after `step` steps; None where descent would not follow the flow any
        more.
        """
        if not self._steady:
            return None
        coarse, fine, beside, excess = self._paths(
            np.log(self.rate * self.taken), np.log(self.rate * step), step
        )
        self.student, self._coarse, self.taken = fine, coarse, step
        slope = self._seen.slope
        self._seen = self._look(self._seen.direction, LOOK)
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

    def _look(self, direction: Any, products: int) -> _Seen:
        return jax.device_get(
            _seen(self.student, self.objective, self.rate, direction, products, self.measures)
        )

    def _paths(self, start: float, end: float, step: int) -> tuple[Any, Any, float, float]:
        """The coarser and the finer end of a stretch with their excess, in as many parts as it
        takes.
        """
        while self._parts <= FINEST:
            coarse, beside, enough = self._path(self._coarse, start, end, self._parts)
            if enough:
                fine, excess, enough = self._path(self.student, start, end, 2 * self._parts)
            if enough:
                self._parts = max(1, self._parts // 2)
                return coarse, fine, beside, excess
            self._parts *= 2
        raise Refused(
            "Gradient flow must be smooth on the scale of ln t to be followed. Got stuck "
            f"between steps {self.taken:,} and {step:,}; "
            "more steps taken one by one (`literal`) may bring the run to where it is."
        )

    def _path(self, student: Any, start: float, end: float, parts: int) -> tuple[Any, float, bool]:
        length, excess = (end - start) / parts, float("nan")
        for part in range(parts):
            student, seen, error, solved = _part(
                student, self.objective, start + part * length, length
            )
            if not (bool(solved) and float(error) <= TOLERANCE):
                return student, float(seen), False
            excess = float(seen)
        return student, excess, True


def _split(student: Any) -> tuple[Any, Any, Any]:
    """What moves together (`border`), the fields whose columns do not meet, and what is fixed."""
    moving, still = eqx.partition(student, trainable(student))
    apart = student.columns_apart
    names = jax.tree_util.tree_map_with_path(
        lambda path, leaf: getattr(path[0], "name", None) in apart, moving
    )
    blocks, border = eqx.partition(moving, names)
    return border, blocks, still


def _flat(student: Any) -> tuple[Float[Array, "n"], Any, Any, int, tuple[int, int]]:
    """The parameters as one vector, border first and then column by column; and the way back."""
    border, blocks, still = _split(student)
    first, back = ravel_pytree(border)
    columns = [leaf for leaf in jax.tree.leaves(blocks) if leaf is not None]
    assert len(columns) <= 1
    shape = (columns[0].shape[1], columns[0].shape[0]) if columns else (0, 0)
    vector = jnp.concatenate([first, *(leaf.T.ravel() for leaf in columns)])

    def unflat(x: Float[Array, "n"]) -> Any:
        moved = jax.tree.map(lambda leaf: x[len(first) :].reshape(shape).T, blocks)
        return eqx.combine(back(x[: len(first)]), moved, still)

    def flat(tree: Any) -> Float[Array, "n"]:
        border, blocks, _ = _split(tree)
        return jnp.concatenate(
            [ravel_pytree(border)[0], *(leaf.T.ravel() for leaf in jax.tree.leaves(blocks))]
        )

    return vector, unflat, flat, len(first), shape


class _Inverse(NamedTuple):
    """(I + αH)⁻¹ for a Hessian whose columns meet only in the border: block by block, and the Schur
    complement of the border.
    """

    blocks: Float[Array, "Q D D"]
    across: Float[Array, "Q D m"]  # blocks @ α H_zb
    border: Float[Array, "m m"]
    coupling: Float[Array, "Q D m"]  # α H_zb

    def __call__(self, r: Float[Array, "n"]) -> Float[Array, "n"]:
        m = len(self.border)
        within = jnp.einsum("qij,qj->qi", self.blocks, r[m:].reshape(self.blocks.shape[:2]))
        first = self.border @ (r[:m] - jnp.einsum("qim,qi->m", self.coupling, within))
        return jnp.concatenate([first, (within - self.across @ first).ravel()])


def _inverse(
    slope: Any, x: Float[Array, "n"], scale: Float[Array, ""], m: int, shape: tuple[int, int]
) -> _Inverse:
    """From m + D products with H, where the whole of it would take m + DQ: one with the j-th entry
    of every column sees all blocks.
    """
    queries, tokens = shape
    _, product = jax.linearize(slope, x)
    of_border = jax.vmap(lambda e: product(jnp.concatenate([e, jnp.zeros(len(x) - m, x.dtype)])))(
        jnp.eye(m, dtype=x.dtype)
    )
    of_columns = jax.vmap(
        lambda e: product(jnp.concatenate([jnp.zeros(m, x.dtype), jnp.tile(e, queries)]))
    )(jnp.eye(tokens, dtype=x.dtype))
    coupling = scale * jnp.moveaxis(of_border[:, m:].reshape(m, queries, tokens), 0, 2)
    blocks = jnp.linalg.inv(
        jnp.eye(tokens)
        + scale * jnp.moveaxis(of_columns[:, m:].reshape(tokens, queries, tokens), 0, 2)
    )
    across = blocks @ coupling
    schur = jnp.eye(m) + scale * of_border[:, :m] - jnp.einsum("qim,qin->mn", coupling, across)
    return _Inverse(blocks, across, jnp.linalg.inv(schur), coupling)


@jax.jit
def _part(
    student: Any, objective: Any, start: Any, length: Any
) -> tuple[Any, Float[Array, ""], Float[Array, ""], Bool[Array, ""]]:
    """One step of the SDIRK of length h from s: the student and its excess there, the embedded
    error, whether all stages were solved.

    Stage i solves Y = base + γh·k, k = −e^{s_i}∇L(Y), by Newton's method with the Hessian of the
    part's beginning.
    """
    y, unflat, flat, m, shape = _flat(student)

    def slope(x: Float[Array, "n"]) -> Float[Array, "n"]:
        return flat(objective.gradient(unflat(x)))

    inverse = _inverse(slope, y, _GAMMA * length * jnp.exp(start + length / 2), m, shape)
    weights, nodes = jnp.asarray(_STAGES - _GAMMA * np.eye(5)), jnp.asarray(_NODES)

    def stage(i: Any, carry: tuple[Float[Array, "5 n"], Float[Array, "n"], Bool[Array, ""]]) -> Any:
        moves, before, solved = carry
        base, scale = y + weights[i] @ moves, _GAMMA * length * jnp.exp(start + nodes[i] * length)

        def better(
            now: tuple[Float[Array, "n"], Any, Any],
        ) -> tuple[Float[Array, "n"], Float[Array, ""], Any]:
            at, _, count = now
            change = inverse(at - base + scale * slope(at))
            return at - change, jnp.max(jnp.abs(change) / (1 + jnp.abs(at))), count + 1

        def unsolved(now: tuple[Any, Float[Array, ""], Any]) -> Bool[Array, ""]:
            return (now[1] > SOLVED) & (now[2] < ITERATIONS)

        at, last, _ = jax.lax.while_loop(
            unsolved, better, (base + _GAMMA * before, jnp.asarray(jnp.inf), 0)
        )
        move = (at - base) / _GAMMA
        return moves.at[i].set(move), move, solved & (last <= SOLVED)

    moves, _, solved = jax.lax.fori_loop(
        0, 5, stage, (jnp.zeros((5, len(y))), jnp.zeros_like(y), jnp.asarray(True))
    )
    end = y + jnp.asarray(_STAGES[-1]) @ moves
    error = jnp.max(jnp.abs(jnp.asarray(_STAGES[-1] - _EMBEDDED) @ moves) / (1 + jnp.abs(end)))
    return unflat(end), objective.excess(unflat(end)), error, solved


class _Seen(NamedTuple):
    curves: dict[str, Array]
    slope: Float[Array, "n"]  # ∇L
    turn: Float[Array, ""]  # ‖∇L after one step − ∇L‖ / ‖∇L‖
    sharpness: Float[
        Array, ""
    ]  # the largest eigenvalue of the Hessian, by power iteration and so from below
    direction: Float[Array, "n"]  # its eigenvector, from which the next look begins


# Unoptimised it compiles in half the time, and it runs once a measured step.
@partial(
    jax.jit, static_argnames="measures", compiler_options={"xla_backend_optimization_level": 0}
)
def _seen(
    student: Any,
    objective: Any,
    rate: Any,
    direction: Any,
    products: Any,
    measures: tuple[Measure, ...],
) -> _Seen:
    x, unflat, flat, _, _ = _flat(student)

    def slope(x: Float[Array, "n"]) -> Float[Array, "n"]:
        return flat(objective.gradient(unflat(x)))

    here, product = jax.linearize(slope, x)
    size = jnp.linalg.norm(here)
    turn = jnp.where(size > 0, jnp.linalg.norm(slope(x - rate * here) - here) / size, 0.0)

    def again(
        _: Any, now: tuple[Float[Array, ""], Float[Array, "n"]]
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
