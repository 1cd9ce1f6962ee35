"""Measures of a teacher's approximation through a student's own heads, on nested samples of growing
size.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.numerics.grids import nested_sizes
from tutelage.objectives.squared_loss import SquaredLoss
from tutelage.refuse import Refused
from tutelage.students.base import Student
from tutelage.students.shallow_transformer import ShallowTransformer
from tutelage.teachers.transported import TransportedTeacher


def approximation_sups(
    student: ShallowTransformer, objective: SquaredLoss
) -> Float[Array, "prefixes"]:
    """sup_{j≤n} |f̃(X_j) − f_lin(X_j; θ̃)| for every n of `nested_sizes`: how far the teacher
    transported into the start is from itself.

    θ̃ = θ₀ + (c v_w, c v_u, v_c)/√m. Where the start is symmetric, f₀ = 0 and c² = 1, so that
    f_lin(X; θ̃) is the mean over the heads of the teacher's integrand; and each head has a twin
    with the same W and U, so that half of them are enough.
    """
    teacher = objective.teacher
    if not isinstance(teacher, TransportedTeacher) or teacher.scores != "full":
        got = teacher.scores if isinstance(teacher, TransportedTeacher) else type(teacher).__name__
        raise Refused(
            "The approximation through a student's heads needs a transported teacher that reads "
            "the whole of W, since its terms are otherwise not the student's features. "
            f"Got scores={got!r}."
        )
    half = jax.tree.map(lambda leaf: leaf[: len(leaf) // 2], student.start)
    gaps = jnp.abs(teacher.through(half, objective.tokens).values - objective.labels)
    return jnp.stack([jnp.max(gaps[:n]) for n in nested_sizes(len(objective.labels))])


def label_error_sup(student: Student, objective: SquaredLoss) -> Float[Array, ""]:
    """The largest of the labels' Monte Carlo errors."""
    return jnp.max(objective.errors)


SAMPLES = (approximation_sups, label_error_sup)
