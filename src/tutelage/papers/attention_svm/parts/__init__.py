"""The parts of this paper's own: its data, its two students, and their ways down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from tutelage.papers.attention_svm.parts.estimates import (
    size_factors,
    size_loss,
    size_matrix,
    size_sequences,
)
from tutelage.problem.options import Matrix, Option
from tutelage.problem.registry import register
from tutelage.refuse import Refused, positive

if TYPE_CHECKING:
    from jaxtyping import Array, Float

    from tutelage.calculations.base import Calculation
    from tutelage.inputs.base import Inputs
    from tutelage.objectives.base import Objective
    from tutelage.papers.attention_svm.parts.objective import SequenceLoss
    from tutelage.papers.attention_svm.parts.sample import Sample
    from tutelage.papers.attention_svm.parts.students import FixedHead
    from tutelage.students.base import Student
    from tutelage.teachers.base import Teacher

STARTS = ("zero", "uniform")
GOES_WITH = {
    "inputs": ("gaussian",),
    "student": ("matrix_attention", "factored_attention"),
    "objective": ("sequence_loss",),
    "optimiser": ("gradient_descent", "normalised"),
    "calculation": ("attention_flow", "normalised_attention_descent"),
}


@register(
    "teacher",
    "labelled_sequences",
    label="labelled sequences",
    sentence="Sequences of unit tokens, each with a query and a sign.",
    goes_with=GOES_WITH,
    estimate=size_sequences,
)
def _labelled_sequences(
    seed: int,
    *,
    sequences: Annotated[int, Option("sequences", "n", 1, 32, shape=True)] = 6,
    tokens: Annotated[int, Option("tokens of a sequence", "T", 2, 32, shape=True)] = 8,
    dim: Annotated[int, Option("features", "d", 1, 32, shape=True)] = 10,
    design: Annotated[
        str, Option("design", choices=("sphere", "equal_scores", "orthonormal"))
    ] = "sphere",
) -> Teacher:
    from tutelage.papers.attention_svm.parts.sample import draw_sample
    from tutelage.papers.attention_svm.parts.teacher import LabelledSequences

    return LabelledSequences(draw_sample(seed, sequences, tokens, dim, design))


@register(
    "student",
    "matrix_attention",
    label="attention, W trained",
    sentence="Attention with a fixed head, whose matrix W is trained.",
    estimate=size_matrix,
)
def _matrix_attention(
    teacher: Teacher,
    seed: int,
    *,
    start: Annotated[str, Option("start", choices=STARTS)] = "zero",
) -> Student:
    import jax.numpy as jnp

    from tutelage.numerics.streams import generator
    from tutelage.papers.attention_svm.parts.students import MatrixAttention

    sample = _require_sequences(teacher)
    dim, draw = sample.tokens.shape[2], generator(seed, "attention matrix")
    reach = dim**-0.5
    matrix = draw.uniform(-reach, reach, (dim, dim)) if start == "uniform" else 0.0
    return MatrixAttention(jnp.zeros((dim, dim)) + matrix, jnp.asarray(sample.head))


@register(
    "student",
    "factored_attention",
    label="attention, K and Q trained",
    sentence="Attention with a fixed head and W = KQᵀ, of which K and Q are trained.",
    estimate=size_factors,
)
def _factored_attention(
    teacher: Teacher,
    seed: int,
    *,
    scale: Annotated[
        float, Option("size of the start, 1 for that of nn.Linear", "", 1e-4, 10, log=True)
    ] = 1.0,
) -> Student:
    import jax.numpy as jnp

    from tutelage.numerics.streams import generator
    from tutelage.papers.attention_svm.parts.students import FactoredAttention

    sample = _require_sequences(teacher)
    scale = positive("scale", scale, reason="K = Q = 0 is a saddle that descent never leaves")
    dim, draw = sample.tokens.shape[2], generator(seed, "key and query matrices")
    keys, queries = draw.uniform(-scale, scale, (2, dim, dim)) * dim**-0.5
    return FactoredAttention(jnp.asarray(keys), jnp.asarray(queries), jnp.asarray(sample.head))


@register(
    "objective",
    "sequence_loss",
    label="loss of the sequences",
    sentence="The mean logistic loss over the sequences of the teacher.",
    goes_with={"teacher": ("labelled_sequences",)},
    estimate=size_loss,
)
def _sequence_loss(teacher: Teacher, inputs: Inputs, seed: int) -> Objective:
    from tutelage.papers.attention_svm.parts.objective import SequenceLoss

    return SequenceLoss(_require_sequences(teacher))


@register("measure", "margin_miss", label="1 − corr(W, W^mm)")
def _margin_miss(student: FixedHead, objective: SequenceLoss) -> Float[Array, ""]:
    from tutelage.papers.attention_svm.parts.objective import margin_miss

    return margin_miss(student, objective)


@register("measure", "weights_matrix", label="attention weights")
def _weights_matrix(student: FixedHead, objective: SequenceLoss) -> Float[Array, "Tn"]:
    """The softmax weights, one column per sequence, row by row."""
    return objective.weights(student).T.ravel()


@register("measure", "best_weight", label="weight of the best token")
def _best_weight(student: FixedHead, objective: SequenceLoss) -> Float[Array, ""]:
    from tutelage.papers.attention_svm.parts.objective import best_weight

    return best_weight(student, objective)


@register(
    "calculation",
    "attention_flow",
    label="gradient flow in log time",
    sentence="Gradient flow on W or (K, Q), to any power of ten.",
)
def _attention_flow(
    *,
    decades: Annotated[int, Option("decades of t", "", 1, 300)] = 6,
) -> Calculation:
    from tutelage.papers.attention_svm.parts.flow import AttentionFlow

    return AttentionFlow(decades)


@register(
    "calculation",
    "normalised_attention_descent",
    label="normalised descent",
    sentence="Steps of one size along the gradient, in log domain or as a script has it.",
)
def _normalised_attention_descent(
    *,
    rate: Annotated[float, Option("step size", "η", 0.001, 1, log=True)] = 0.1,
    steps: Annotated[int, Option("steps", "k", 1, 100_000, log=True)] = 100,
    arithmetic: Annotated[str, Option("arithmetic", choices=("log", "plain"))] = "log",
    ridge: Annotated[float, Option("ridge", "ρ", 0, 1e-3)] = 0.0,
    selection: Annotated[Matrix | None, Option("selection to start at", hidden=True)] = None,
    length: Annotated[float, Option("length of that start", "R", 1, 1000, log=True)] = 1.0,
) -> Calculation:
    from tutelage.papers.attention_svm.parts.descent import NormalisedDescent

    return NormalisedDescent(rate, steps, arithmetic, ridge, selection, length)


def _require_sequences(teacher: Teacher) -> Sample:
    from tutelage.papers.attention_svm.parts.teacher import LabelledSequences

    if not isinstance(teacher, LabelledSequences):
        raise Refused(
            "Attention with a fixed head takes its head and size from the teacher "
            f"'labelled_sequences'. Got {type(teacher).__name__}."
        )
    return teacher.sample
