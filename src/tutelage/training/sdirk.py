"""One step of gradient flow in logarithmic time, by the L-stable, stiffly accurate SDIRK of order 4
by Hairer and Wanner (Solving Ordinary Differential Equations II, 1996, table IV.6.5).

Its stages are solved by Newton's method. The Hessian of a student whose columns meet only in a
border is inverted block by block.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int

from tutelage.numerics.compiling import SMALL, SOON
from tutelage.objectives.base import Objective
from tutelage.students.base import Student, trainable

# A stage is solved to this, likewise: W_V must keep the digits of W_V − V*, which late is 10⁻⁶.
SOLVED = 1e-12
MOST_ITERATIONS = 20  # of Newton's method, per stage

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
# Weights of order 3; those of order 4 are the last row above.
_EMBEDDED = np.array([59 / 48, -17 / 96, 225 / 32, -85 / 12, 0])


def split(student: Student) -> tuple[Student, Student, Student]:
    """What moves together (`border`), the fields whose columns do not meet, and what is fixed."""
    moving, still = eqx.partition(student, trainable(student))
    apart = {jax.tree_util.GetAttrKey(name) for name in student.columns_apart}
    names = jax.tree_util.tree_map_with_path(lambda path, leaf: path[0] in apart, moving)
    blocks, border = eqx.partition(moving, names)
    return border, blocks, still


class Flat(NamedTuple):
    """The parameters as one vector, border first and then column by column; and the way back."""

    vector: Float[Array, "n"]
    unflat: Callable[[Float[Array, "n"]], Student]
    flat: Callable[[Student], Float[Array, "n"]]
    border: int  # how many parameters move together
    blocks: tuple[int, int]  # how many columns that do not meet, and their length


def flatten(student: Student) -> Flat:
    border, blocks, still = split(student)
    first, back = ravel_pytree(border)
    columns = [leaf for leaf in jax.tree.leaves(blocks) if leaf is not None]
    assert len(columns) <= 1
    shape = (columns[0].shape[1], columns[0].shape[0]) if columns else (0, 0)
    vector = jnp.concatenate([first, *(leaf.T.ravel() for leaf in columns)])

    def unflat(x: Float[Array, "n"]) -> Student:
        moved = jax.tree.map(lambda leaf: x[len(first) :].reshape(shape).T, blocks)
        return eqx.combine(back(x[: len(first)]), moved, still)

    def flat(tree: Student) -> Float[Array, "n"]:
        border, blocks, _ = split(tree)
        return jnp.concatenate(
            [ravel_pytree(border)[0], *(leaf.T.ravel() for leaf in jax.tree.leaves(blocks))]
        )

    return Flat(vector, unflat, flat, len(first), shape)


# A stage of the method, the last change of it, and how many there were.
Newton = tuple[Float[Array, "n"], Float[Array, ""], Int[Array, ""]]


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
    slope: Callable[[Float[Array, "n"]], Float[Array, "n"]],
    x: Float[Array, "n"],
    scale: Float[Array, ""],
    m: int,
    shape: tuple[int, int],
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
        jnp.eye(tokens)[None]
        + scale * jnp.moveaxis(of_columns[:, m:].reshape(tokens, queries, tokens), 0, 2)
    )
    across = blocks @ coupling
    schur = jnp.eye(m) + scale * of_border[:, :m] - jnp.einsum("qim,qin->mn", coupling, across)
    return _Inverse(blocks, across, jnp.linalg.inv(schur), coupling)


# So it compiles in half the time, which saves that of some hundred parts, and runs as fast.
@partial(jax.jit, compiler_options=SOON | SMALL)
def step_once(
    student: Student, objective: Objective, start: Float[Array, ""], length: Float[Array, ""]
) -> tuple[Student, Float[Array, ""], Float[Array, ""], Bool[Array, ""]]:
    """One step of the SDIRK of length h from s: the student and its excess there, the embedded
    error, whether all stages were solved.

    Stage i solves Y = base + γh·k, k = −e^{s_i}∇L(Y), by Newton's method with the Hessian of the
    part's beginning.
    """
    y, unflat, flat, m, shape = flatten(student)

    def slope(x: Float[Array, "n"]) -> Float[Array, "n"]:
        return flat(objective.gradient(unflat(x)))

    inverse = _inverse(slope, y, _GAMMA * length * jnp.exp(start + length / 2), m, shape)
    weights, nodes = jnp.asarray(_STAGES - _GAMMA * np.eye(5)), jnp.asarray(_NODES)

    def stage(
        i: Int[Array, ""], carry: tuple[Float[Array, "5 n"], Float[Array, "n"], Bool[Array, ""]]
    ) -> tuple[Float[Array, "5 n"], Float[Array, "n"], Bool[Array, ""]]:
        moves, before, solved = carry
        base, scale = y + weights[i] @ moves, _GAMMA * length * jnp.exp(start + nodes[i] * length)

        def better(now: Newton) -> Newton:
            at, _, count = now
            change = inverse(at - base + scale * slope(at))
            return at - change, jnp.max(jnp.abs(change) / (1 + jnp.abs(at))), count + 1

        def unsolved(now: Newton) -> Bool[Array, ""]:
            return (now[1] > SOLVED) & (now[2] < MOST_ITERATIONS)

        at, last, _ = jax.lax.while_loop(
            unsolved, better, (base + _GAMMA * before, jnp.asarray(jnp.inf), jnp.asarray(0))
        )
        move = (at - base) / _GAMMA
        return moves.at[i].set(move), move, solved & (last <= SOLVED)

    moves, _, solved = jax.lax.fori_loop(
        0, 5, stage, (jnp.zeros((5, len(y))), jnp.zeros_like(y), jnp.asarray(True))
    )
    end = y + jnp.asarray(_STAGES[-1]) @ moves
    error = jnp.max(jnp.abs(jnp.asarray(_STAGES[-1] - _EMBEDDED) @ moves) / (1 + jnp.abs(end)))
    return unflat(end), objective.excess(unflat(end)), error, solved
