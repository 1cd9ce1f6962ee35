"""The parts of this paper's own: signs of one group, attention by position, and ways down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from tutelage.papers.group_sparse.parts.estimates import size_attention, size_risk, size_signs
from tutelage.problem.options import Option
from tutelage.problem.registry import register
from tutelage.refuse import Refused

if TYPE_CHECKING:
    from jaxtyping import Array, Float

    from tutelage.calculations.base import Calculation
    from tutelage.inputs.base import Inputs
    from tutelage.objectives.base import Objective
    from tutelage.papers.group_sparse.parts.objective import GroupRisk
    from tutelage.papers.group_sparse.parts.student import GroupAttention
    from tutelage.papers.group_sparse.parts.teacher import GroupSigns
    from tutelage.students.base import Student
    from tutelage.teachers.base import Teacher

GOES_WITH = {
    "inputs": ("gaussian",),
    "student": ("group_attention",),
    "objective": ("group_risk",),
    "optimiser": ("gradient_descent",),
    "calculation": (
        "group_flow",
        "group_waits",
        "group_steps",
        "group_downstream",
        "group_blocks",
    ),
}


@register(
    "teacher",
    "group_signs",
    label="the sign of one group",
    sentence="A label that depends on one of D groups of features.",
    goes_with=GOES_WITH,
    estimate=size_signs,
)
def _group_signs(
    seed: int,
    *,
    groups: Annotated[int, Option("groups", "D", 2, 100, shape=True)] = 10,
    dim: Annotated[int, Option("features of a group", "d", 1, 32, shape=True)] = 4,
    codes: Annotated[str, Option("codes of the groups", choices=("unit", "sine"))] = "unit",
) -> Teacher:
    from tutelage.papers.group_sparse.parts.teacher import GroupSigns

    return GroupSigns(groups, dim, codes)


@register(
    "student",
    "group_attention",
    label="attention over groups",
    sentence="A value vector, and attention by the codes of the groups; both start at zero.",
    estimate=size_attention,
)
def _group_attention(teacher: Teacher, seed: int) -> Student:
    import jax.numpy as jnp

    from tutelage.papers.group_sparse.parts.student import GroupAttention

    signs = _require_signs(teacher)
    value, matrix = jnp.zeros(len(signs.direction)), jnp.zeros((signs.groups, signs.groups))
    return GroupAttention(value, matrix, signs.code_square)


@register(
    "objective",
    "group_risk",
    label="logistic risk",
    sentence="The exact logistic risk on standard normal inputs.",
    goes_with={"teacher": ("group_signs",)},
    estimate=size_risk,
)
def _group_risk(teacher: Teacher, inputs: Inputs, seed: int) -> Objective:
    from tutelage.papers.group_sparse.parts.objective import GroupRisk

    return GroupRisk(_require_signs(teacher), inputs)


@register("measure", "right_weight", label="weight of the right group")
def _right_weight(student: GroupAttention, objective: GroupRisk) -> Float[Array, ""]:
    from tutelage.papers.group_sparse.parts.objective import right_weight

    return right_weight(student, objective)


@register("measure", "missed_weight", label="1 − weight of the right group")
def _missed_weight(student: GroupAttention, objective: GroupRisk) -> Float[Array, ""]:
    from tutelage.papers.group_sparse.parts.objective import missed_weight

    return missed_weight(student, objective)


@register("measure", "value_miss", label="part of v across v*")
def _value_miss(student: GroupAttention, objective: GroupRisk) -> Float[Array, ""]:
    from tutelage.papers.group_sparse.parts.objective import value_miss

    return value_miss(student, objective)


@register(
    "calculation",
    "group_flow",
    label="gradient flow over groups",
    sentence="Gradient flow from zero in its two numbers, to any power of ten.",
)
def _group_flow(
    *,
    decades: Annotated[int, Option("decades of t", "", 1, 18)] = 6,
    margin: Annotated[float, Option("margin of the inputs", "m", 0, 1)] = 0.0,
) -> Calculation:
    from tutelage.papers.group_sparse.parts.flow import GroupFlow

    return GroupFlow(decades, margin)


@register(
    "calculation",
    "group_waits",
    label="how long flow takes",
    sentence="The time to a risk, and to attending to the right group.",
)
def _group_waits(
    *,
    target: Annotated[float, Option("risk to come to", "ε", 1e-6, 0.5, log=True)] = 0.01,
) -> Calculation:
    from tutelage.papers.group_sparse.parts.flow import GroupWaits

    return GroupWaits(target)


@register(
    "calculation",
    "group_steps",
    label="descent by steps of one size",
    sentence="Plain descent from zero in its two numbers.",
)
def _group_steps(
    *,
    rate: Annotated[float, Option("step size", "η", 0.001, 10, log=True)] = 0.5,
    steps: Annotated[int, Option("steps", "k", 1, 1_000_000, log=True)] = 100,
) -> Calculation:
    from tutelage.papers.group_sparse.parts.flow import GroupSteps

    return GroupSteps(rate, steps)


@register(
    "calculation",
    "group_downstream",
    label="a new task with the same group",
    sentence="One pass of logistic steps over samples of a new task, and its exact error.",
)
def _group_downstream(
    *,
    samples: Annotated[int, Option("samples", "n", 1, 10_000, log=True)] = 100,
    learner: Annotated[str, Option("learner", choices=("frozen", "vectorised"))] = "frozen",
    missed: Annotated[float, Option("weight that attention misses", "1−s", 0, 0.9)] = 0.0,
    margin: Annotated[float, Option("margin of the inputs", "γ", 0, 1)] = 0.0,
    decay: Annotated[float, Option("the k-th step is k^−q", "q", 0, 1)] = 0.5,
) -> Calculation:
    from tutelage.papers.group_sparse.parts.downstream import GroupDownstream

    return GroupDownstream(samples, learner, missed, margin, decay)


@register(
    "calculation",
    "group_blocks",
    label="all blocks of W and v",
    sentence="Descent on fresh batches, and the norms of all blocks along it.",
)
def _group_blocks(
    *,
    batch: Annotated[int, Option("samples of a step", "B", 1, 10_000, log=True)] = 100,
    rate: Annotated[float, Option("step size", "η", 0.001, 10, log=True)] = 0.5,
    steps: Annotated[int, Option("steps", "k", 1, 10_000, log=True)] = 100,
) -> Calculation:
    from tutelage.papers.group_sparse.parts.blocks import GroupBlocks

    return GroupBlocks(batch, rate, steps)


def _require_signs(teacher: Teacher) -> GroupSigns:
    from tutelage.papers.group_sparse.parts.teacher import GroupSigns

    if not isinstance(teacher, GroupSigns):
        raise Refused(
            "Attention over groups takes its sizes from the teacher 'group_signs'. Got "
            f"{type(teacher).__name__}."
        )
    return teacher
