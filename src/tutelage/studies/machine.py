"""The machine that a page draws: its blocks from input to output, teacher beside student.

A block is plain data. A paper's page returns the blocks of a problem; the numbers that change while
a student learns are named by the measure that holds them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from tutelage.refuse import one_of
from tutelage.settings import Setting

if TYPE_CHECKING:
    from tutelage.problem.build import Problem
    from tutelage.teachers.base import Teacher

Matrix = Float[np.ndarray, "_ _"]
# What a block is. The page makes the student's output itself, σ(V X S), where the blocks of these
# four roles are there.
ROLES = ("inputs", "attention", "values", "activation", "output", "number")
LARGEST_EXAMPLE = 10_000  # numbers of an example input
BEND_POINTS = 1025  # at which an activation is given


@dataclass(frozen=True)
class Block:
    """One block of the machine.

    `says` is what one number means, with {row} and {column} for its place. `shared` is a matrix
    that teacher and student have in common, `teacher` the teacher's own, `curve` the measure that
    holds the student's, row by row, or a single number. `bend` is an activation: its graph.
    """

    role: str
    symbol: str
    name: str
    says: str
    shape: tuple[int, int] = (1, 1)
    shared: Matrix | None = None
    teacher: Matrix | None = None
    curve: str = ""
    signed: bool = False  # whether its colours tell positive numbers from negative ones
    bend: tuple[Sequence[float], Sequence[float]] | None = None

    def __post_init__(self) -> None:
        one_of("role of a block", self.role, ROLES)


Machine = Sequence[Block]
DrawMachine = Callable[[Setting, "Problem"], Machine]


def draw_nothing(setting: Setting, problem: Problem) -> Machine:
    """The machine of a page that draws none."""
    return ()


def draw_bilinear(setting: Setting, problem: Problem) -> Machine:
    """X → S → V → σ → Y: a student σ(V X S) and its teacher, on one example input."""
    from tutelage.students.base import BilinearStudent

    student, teacher = problem.student, problem.teacher
    if not isinstance(student, BilinearStudent):
        return ()
    outputs, dim, tokens, queries = teacher.shape
    example = _draw_example(problem)
    value, selection = _read_matrices(teacher)
    return (
        Block(
            "inputs",
            "X",
            "tokens",
            "feature {row} of token {column}, in one example input",
            (dim, tokens),
            shared=example,
            signed=True,
        ),
        Block(
            "attention",
            "S",
            "attention",
            "how much query {column} attends to token {row}",
            (tokens, queries),
            teacher=selection,
            curve="attention_matrix" if "attention_matrix" in setting.measures else "",
        ),
        Block(
            "values",
            "V",
            "values",
            "how much feature {column} counts for output {row}",
            (outputs, dim),
            teacher=value,
            curve="value_matrix" if "value_matrix" in setting.measures else "",
            signed=True,
        ),
        _draw_activation(teacher, example, value),
        Block(
            "output",
            "Y",
            "output",
            "output {row} at query {column}, for the example input",
            (outputs, queries),
            teacher=None if example is None else _apply(teacher, example),
            signed=True,
        ),
    )


def _read_matrices(teacher: Teacher) -> tuple[Matrix | None, Matrix | None]:
    """V* and S* of a teacher σ(V* X S*); none of any other."""
    from tutelage.teachers.base import BilinearClass

    if not isinstance(teacher, BilinearClass):
        return None, None
    return np.asarray(teacher.value), np.asarray(teacher.selection)


def _draw_example(problem: Problem) -> Matrix | None:
    """One input of the setting's own law; none where that is a finite set, or too large."""
    import jax

    from tutelage.refuse import Refused

    _, dim, tokens, _ = problem.teacher.shape
    if dim * tokens > LARGEST_EXAMPLE:
        return None
    try:
        return np.asarray(problem.inputs.sample(tokens, dim, key=jax.random.key(0)))
    except Refused:
        return None


def _apply(teacher: Teacher, example: Matrix) -> Matrix:
    import jax.numpy as jnp

    outputs, _, _, queries = teacher.shape
    return np.asarray(teacher(jnp.asarray(example))).reshape(outputs, queries)


def _draw_activation(teacher: Teacher, example: Matrix | None, value: Matrix | None) -> Block:
    """σ as a graph over the range that pre-activations come from."""
    import jax.numpy as jnp

    reach = 4.0
    if example is not None and value is not None:
        reach = max(reach, float(1.5 * np.abs(value @ example).max()))
    points = np.linspace(-reach, reach, BEND_POINTS)
    heights = np.asarray(teacher.output_activation(jnp.asarray(points)))
    name = teacher.output_activation.name
    graph = points.tolist(), heights.tolist()
    return Block("activation", "σ", name, f"{name}, applied to every number", bend=graph)
