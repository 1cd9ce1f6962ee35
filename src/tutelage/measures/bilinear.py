"""Measures of students of the class σ(W_V X S), and of classifiers in front of them."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.measures.base import KnowsScales, OfBilinear, OfStudent
from tutelage.objectives.base import Objective
from tutelage.objectives.images import ImageLoss
from tutelage.objectives.wide import column_sums
from tutelage.students.base import BilinearStudent, Student
from tutelage.students.collapsed_attention import CollapsedAttention
from tutelage.students.position_attention import PositionAttention
from tutelage.teachers.base import BilinearClass
from tutelage.teachers.collapsed import counts_of


def excess_risk(student: Student, objective: Objective) -> Float[Array, ""]:
    """L − L_opt."""
    return objective.excess(student)


def training_risk(student: Student, objective: Objective) -> Float[Array, ""]:
    """What a step descends on: L itself or, on finite data, its mean over the sample. Without label
    noise the teacher's is 0.
    """
    return objective(student)


def value_error(student: BilinearStudent, objective: OfBilinear) -> Float[Array, ""]:
    """‖W_V − V*‖_F."""
    return jnp.linalg.norm(student.value - objective.teacher.value)


def cosine(student: BilinearStudent, objective: OfBilinear) -> Float[Array, ""]:
    """⟨W_V, V*⟩/(‖W_V‖‖V*‖), and 0 while either is zero.

    Taken from the distance of the two unit vectors, 1 − ½‖ŵ − v̂‖², so that 1 is reached to the
    last digit.
    """
    ours, theirs = jnp.linalg.norm(student.value), jnp.linalg.norm(objective.teacher.value)
    defined = (ours > 0) & (theirs > 0)
    gap = student.value / jnp.where(ours > 0, ours, 1.0) - objective.teacher.value / jnp.where(
        theirs > 0, theirs, 1.0
    )
    return jnp.where(defined, 1.0 - 0.5 * jnp.sum(gap**2), 0.0)


def attention_error(student: BilinearStudent, objective: OfBilinear) -> Float[Array, ""]:
    """‖S − S*‖_F."""
    _, queries = counts_of(objective.teacher)
    return jnp.sqrt(
        jnp.sum(
            queries
            * column_sums(lambda ours, theirs: (ours - theirs) ** 2, student, objective.teacher)
        )
    )


def support_mass(student: BilinearStudent, objective: OfBilinear) -> Float[Array, "Q"]:
    """The attention that each query gives to the tokens its teacher reads."""
    return column_sums(
        lambda ours, theirs: jnp.where(theirs > 0, ours, 0.0), student, objective.teacher
    )


def entropy(student: BilinearStudent, objective: OfBilinear) -> Float[Array, "Q"]:
    """−Σ_j S_ji ln S_ji for each query i: ln D when attention is uniform, ln K when it has found K
    equal weights.
    """

    def term(ours: Float[Array, "D Q"], theirs: Float[Array, "D Q"]) -> Float[Array, "D Q"]:
        return jnp.where(ours > 0, ours * jnp.log(jnp.where(ours > 0, ours, 1.0)), 0.0)

    return -column_sums(term, student, objective.teacher)


def value_matrix(student: BilinearStudent, objective: Objective) -> Float[Array, "Md"]:
    """W_V itself, row by row: with `attention_matrix`, all that is needed to look at a student of
    the class again.
    """
    return student.value.ravel()


def attention_matrix(student: BilinearStudent, objective: Objective) -> Float[Array, "DQ"]:
    """S itself, row by row."""
    return student.attention().ravel()


def score_matrix(
    student: PositionAttention | CollapsedAttention, objective: Objective
) -> Float[Array, "pr"]:
    """W_KQ itself, row by row."""
    return student.key_query.ravel()


def accuracy(student: Student, objective: ImageLoss) -> Float[Array, ""]:
    """The share of the held-out images that the student tells rightly."""
    return objective.share_right(objective.logits(student))


def teacher_accuracy(student: Student, objective: ImageLoss) -> Float[Array, ""]:
    """The same of the teacher with its own classifier: a constant, measured beside the student for
    a comparison in pairs.
    """
    return objective.share_right(objective.teacher.logits)


def value_scale(student: BilinearStudent | KnowsScales, objective: OfBilinear) -> Float[Array, ""]:
    """⟨W_V, V*⟩/‖V*‖²: how much of V* there is in W_V; W_V is this times V* where the two are
    parallel.
    """
    if isinstance(student, KnowsScales):
        return student.value_scale
    return jnp.sum(student.value * objective.teacher.value) / jnp.sum(objective.teacher.value**2)


def score_gap(
    student: PositionAttention | CollapsedAttention | KnowsScales, objective: OfBilinear
) -> Float[Array, "*Q"]:
    """For each query, the mean of P_kᵀ W_KQ P_q over the tokens its teacher reads less the mean
    over the others; 0 without others. One number where a student knows it itself.
    """
    if isinstance(student, KnowsScales):
        return student.score_gap
    tokens, _ = counts_of(objective.teacher)
    scores, on = student.scores(), jnp.where(objective.teacher.selection > 0, tokens, 0.0)
    off = tokens - on
    others = jnp.sum(off, axis=0)
    gap = jnp.sum(on * scores, axis=0) / jnp.sum(on, axis=0) - jnp.sum(
        off * scores, axis=0
    ) / jnp.maximum(others, 1.0)
    return jnp.where(others > 0, gap, 0.0)


def attention_square(student: BilinearStudent, objective: OfBilinear) -> Float[Array, ""]:
    """‖S‖_F²; times λ it is the curvature of the risk along W_V."""
    return jnp.sum(
        counts_of(objective.teacher)[1]
        * column_sums(lambda ours, theirs: ours**2, student, objective.teacher)
    )


def two_value_distance(student: BilinearStudent, objective: OfBilinear) -> Float[Array, "Q"]:
    """For each query, how far its column of S is from the nearest one with a single value on the
    support and a single one off it.
    """
    tokens, _ = counts_of(objective.teacher)
    attention, on = student.attention(), jnp.where(objective.teacher.selection > 0, 1.0, 0.0)
    off = 1.0 - on
    means = [
        jnp.sum(tokens * part * attention, axis=0)
        / jnp.maximum(jnp.sum(tokens * part, axis=0), 1.0)
        for part in (on, off)
    ]
    return jnp.sqrt(
        jnp.sum(tokens * (attention - on * means[0][None] - off * means[1][None]) ** 2, axis=0)
    )


OF_TEACHER = (value_error, cosine, attention_error, support_mass, entropy)
STANDARD = (excess_risk, *OF_TEACHER)
FURTHER = (
    training_risk,
    value_matrix,
    attention_matrix,
    score_matrix,
    value_scale,
    score_gap,
    attention_square,
    two_value_distance,
    accuracy,
    teacher_accuracy,
)  # where a setting names them


def has_bilinear_teacher(objective: Objective) -> bool:
    """Whether there are V* and S* to compare a student with."""
    return isinstance(objective, OfBilinear) and isinstance(objective.teacher, BilinearClass)


def choose_measures(objective: Objective) -> tuple[OfStudent, ...]:
    """What a run measures unless told otherwise: the excess risk and, where there is a teacher
    σ(V* X S*), how far the student is from it.
    """
    return STANDARD if has_bilinear_teacher(objective) else (excess_risk,)
