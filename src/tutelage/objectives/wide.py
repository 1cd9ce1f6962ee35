r"""The excess risk of a wide attention, a block of columns at a time, so that no array of its size
is made but its gradient, and for plain descent not that.

The risk is a sum over the columns of S for given W_V. At D = Q = 4096 the scores are 134 MB, and
the plain form makes the attention, its distance from S*, the part s⊥ of that and their cotangents,
each as large; here they are made of 64 columns at a time, and are still in the cache when they are
used. So the scores and S* are read once. Plain descent moves a block where it is (`wide_step`), and
writes the scores once; for other optimisers the whole gradient is made, and they pass over it and
the scores once more. The numbers are those of the plain form but for the order of one sum.

A block is copied first, so that its rows lie one after the other. In the whole matrix they are D
numbers apart. Where D is a power of two they then share a few places of each cache, and every pass
over the block would fetch them from memory again: twice the time at D = 4096.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeGuard, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from tutelage.numerics.columns import column_sum
from tutelage.numerics.compiling import BARRIERS
from tutelage.numerics.geometry import Form
from tutelage.numerics.softmax import softmax
from tutelage.numerics.softmax_excess import softmax_excess
from tutelage.objectives.base import CompilerOptions
from tutelage.students.base import BilinearStudent, Student
from tutelage.students.position_attention import PositionAttention
from tutelage.teachers.base import BilinearClass
from tutelage.teachers.collapsed import counts_of

# Numbers in an attention from which on it is taken in blocks: 16 MB, more than a core's cache.
WIDE = 2**21
# Numbers in a block, 2 MB: at D = 4096 half as many and twice as many took more processor time, and
# at D = 2048 half as many.
BLOCK = 2**18
# The same where the block is moved in place, which writes to where it was read from.
MOVED_BLOCK = 2**17
LEAST_COLUMNS = 32  # four cache lines of each row; fewer take longer to fetch
# Here operations are split over threads: a block is large enough, and the passes that help small
# programs (`training.COMPILER`) are otherwise the same.
COMPILER: dict[str, CompilerOptions] = {
    "cpu": {"xla_disable_hlo_passes": ",".join(("tree_reduction_rewriter", *BARRIERS))}
}


def is_wide(student: Student, selection: Float[Array, "D Q"]) -> TypeGuard[PositionAttention]:
    """Whether S is too large for the cache, and made of scores whose columns can be taken one by
    one.
    """
    return isinstance(student, PositionAttention) and selection.size >= WIDE


Columns = tuple[int | Int[Array, ""], int]  # of a block: the first, and how many
Total = TypeVar("Total")


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def wide_excess(
    form: Form,
    value: Float[Array, "M d"],
    scores: Float[Array, "D Q"],
    value_gap: Float[Array, "M d"],
    scale: Float[Array, ""],
    teacher_value: Float[Array, "M d"],
    selection: Float[Array, "D Q"],
) -> Float[Array, ""]:
    """`bilinear_excess` of S = softmax by columns of scale·scores; differentiable in `value`,
    `scores` and `scale`.
    """

    def add(columns: Columns, total: Float[Array, ""]) -> Float[Array, ""]:
        block = _copy(scores, selection, columns)
        return total + _excess(form, value, *block, value_gap, scale, teacher_value)

    return _over_blocks(scores.shape, BLOCK, add, jnp.zeros_like(scale))


def _excess(
    form: Form,
    value: Float[Array, "M d"],
    scores: Float[Array, "D B"],
    selection: Float[Array, "D B"],
    value_gap: Float[Array, "M d"],
    scale: Float[Array, ""],
    teacher_value: Float[Array, "M d"],
) -> Float[Array, ""]:
    return softmax_excess(form, value, scale * scores, value_gap, teacher_value, selection)


def columns_per_block(tokens: int, numbers: int) -> int:
    """How many columns make a block: a multiple of the least, so that lines are read whole."""
    return LEAST_COLUMNS * max(1, numbers // (tokens * LEAST_COLUMNS))


def _over_blocks(
    shape: tuple[int, ...], numbers: int, add: Callable[[Columns, Total], Total], first: Total
) -> Total:
    """`add` applied to one block of so many numbers, in columns, after the other; the last may be
    narrower.
    """
    columns = min(shape[1], columns_per_block(shape[0], numbers))  # there may be few queries
    whole, rest = divmod(shape[1], columns)
    total = jax.lax.fori_loop(
        0, whole, lambda i, so_far: add((i * columns, columns), so_far), first
    )
    return add((whole * columns, rest), total) if rest else total


def _copy(
    scores: Float[Array, "D Q"], selection: Float[Array, "D Q"], columns: Columns
) -> tuple[Float[Array, "D B"], Float[Array, "D B"]]:
    """These columns of the scores and of S*."""
    cut = partial(
        jax.lax.dynamic_slice_in_dim, start_index=columns[0], slice_size=columns[1], axis=1
    )
    # The barrier makes the copy: without it each pass would read from the whole matrix.
    copied: tuple[Array, Array] = jax.lax.optimization_barrier((cut(scores), cut(selection)))
    return copied


# The gradient in W_V and in the scores; the scores and their scale themselves.
Gradient = tuple[Float[Array, "M d"], Float[Array, "D Q"], Float[Array, "D Q"], Float[Array, ""]]
Slopes = tuple[Float[Array, ""], Float[Array, "M d"], Float[Array, "D Q"]]


def _forward(
    form: Form,
    value: Float[Array, "M d"],
    scores: Float[Array, "D Q"],
    value_gap: Float[Array, "M d"],
    scale: Float[Array, ""],
    teacher_value: Float[Array, "M d"],
    selection: Float[Array, "D Q"],
) -> tuple[Float[Array, ""], Gradient]:
    """The gradient is made with the value: a second pass would make every block again."""
    slopes = jax.value_and_grad(partial(_excess, form), argnums=(0, 1))

    def add(columns: Columns, so_far: Slopes) -> Slopes:
        total, to_value, to_scores = so_far
        block = _copy(scores, selection, columns)
        excess, (on_value, on_scores) = slopes(value, *block, value_gap, scale, teacher_value)
        return (
            total + excess,
            to_value + on_value,
            jax.lax.dynamic_update_slice_in_dim(to_scores, on_scores, columns[0], axis=1),
        )

    # Every column is written below. XLA fills it with zeros before, all the same, on a CPU.
    unwritten = jax.lax.empty(scores.shape, scores.dtype)
    first = (jnp.zeros_like(scale), jnp.zeros_like(value), unwritten)
    total, to_value, to_scores = _over_blocks(scores.shape, BLOCK, add, first)
    return total, (to_value, to_scores, scores, scale)


def _backward(
    form: Form, gradient: Gradient, cotangent: Float[Array, ""]
) -> tuple[Float[Array, "..."] | None, ...]:
    to_value, to_scores, scores, scale = gradient
    # S is a function of scale·scores; no step of training asks for this.
    to_scale = jnp.sum(to_scores * scores) / scale
    return cotangent * to_value, cotangent * to_scores, None, cotangent * to_scale, None, None


wide_excess.defvjp(_forward, _backward)


def wide_step(
    form: Form,
    value: Float[Array, "M d"],
    scores: Float[Array, "D Q"],
    value_gap: Float[Array, "M d"],
    scale: Float[Array, ""],
    teacher_value: Float[Array, "M d"],
    selection: Float[Array, "D Q"],
    rate: Float[Array, ""],
) -> tuple[Float[Array, "M d"], Float[Array, "D Q"]]:
    """The gradient of `wide_excess` in `value`, and the scores after a step of plain descent.

    A column of the scores needs nothing of the others, so that a block is moved while it is in the
    cache, and a gradient of the size of S is never made.
    """
    slopes = jax.grad(partial(_excess, form), argnums=(0, 1))

    def add(
        columns: Columns, so_far: tuple[Float[Array, "M d"], Float[Array, "D Q"]]
    ) -> tuple[Float[Array, "M d"], Float[Array, "D Q"]]:
        to_value, scores = so_far
        here, targets = _copy(scores, selection, columns)
        on_value, on_scores = slopes(value, here, targets, value_gap, scale, teacher_value)
        moved = here - rate * on_scores
        return (
            to_value + on_value,
            jax.lax.dynamic_update_slice_in_dim(scores, moved, columns[0], axis=1),
        )

    return _over_blocks(scores.shape, MOVED_BLOCK, add, (jnp.zeros_like(value), scores))


def column_sums(
    term: Callable[[Float[Array, "D B"], Float[Array, "D B"]], Float[Array, "D B"]],
    student: BilinearStudent,
    teacher: BilinearClass,
) -> Float[Array, "Q"]:
    """Σ_j term(S_ji, S*_ji) over all tokens j for every column i, likewise without an array of the
    size of S where it is wide.
    """
    selection = teacher.selection
    if not is_wide(student, selection):
        return column_sum(counts_of(teacher)[0] * term(student.attention(), selection))[0]

    def add(columns: Columns, sums: Float[Array, "Q"]) -> Float[Array, "Q"]:
        scores, targets = _copy(all_scores, selection, columns)
        here = column_sum(term(softmax(student.attention_scale * scores), targets))[0]
        return jax.lax.dynamic_update_slice_in_dim(sums, here, columns[0], axis=0)

    all_scores = student.scores()
    return _over_blocks(all_scores.shape, BLOCK, add, jnp.zeros_like(selection[0]))
