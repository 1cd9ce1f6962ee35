"""The parts of this paper's own: its processes, its students, and their exact losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from tutelage.papers.in_context_autoregression.parts.estimates import (
    size_attention,
    size_next_token,
    size_rotations,
)
from tutelage.problem.options import Option
from tutelage.problem.registry import register
from tutelage.refuse import Refused, one_of, positive, whole

if TYPE_CHECKING:
    from jaxtyping import Array, Float

    from tutelage.calculations.base import Calculation
    from tutelage.inputs.base import Inputs
    from tutelage.objectives.base import Objective
    from tutelage.papers.in_context_autoregression.parts.attention import LinearAttention
    from tutelage.papers.in_context_autoregression.parts.loss import NextTokenLoss
    from tutelage.papers.in_context_autoregression.parts.rotations import RotatingTokens
    from tutelage.students.base import Student
    from tutelage.teachers.base import Teacher


@register(
    "teacher",
    "rotating_tokens",
    label="rotating tokens",
    sentence="The next token of features that turn, each by an angle of its own.",
    goes_with={
        "inputs": ("rotations",),
        "student": ("linear_attention",),
        "objective": ("next_token",),
        "optimiser": ("gradient_descent",),
        "calculation": ("enumerated_loss",),
    },
    begin={"dim": 3, "tokens": 4},
    estimate=size_rotations,
)
def _rotating_tokens(
    seed: int,
    *,
    dim: Annotated[int, Option("features", "d", 1, 32, shape=True)] = 10,
    tokens: Annotated[int, Option("tokens", "T", 2, 64, shape=True)] = 20,
    process: Annotated[
        str, Option("process", choices=("unitary", "orthogonal"), shape=True)
    ] = "unitary",
) -> Teacher:
    from tutelage.papers.in_context_autoregression.parts.rotations import RotatingTokens

    return RotatingTokens(dim, tokens, process)


@register(
    "inputs",
    "rotations",
    label="uniform angles",
    sentence="Tokens that begin at 1 and turn by uniform angles.",
    goes_with={"teacher": ("rotating_tokens",)},
)
def _rotations(teacher: Teacher) -> Inputs:
    from tutelage.papers.in_context_autoregression.parts.rotations import Rotations

    return Rotations(_require_rotations(teacher))


@register(
    "student",
    "linear_attention",
    label="linear attention, diagonal heads",
    sentence="Linear attention of H diagonal heads with free position weights.",
    goes_with={"teacher": ("rotating_tokens",)},
    estimate=size_attention,
)
def _linear_attention(
    teacher: Teacher,
    seed: int,
    *,
    heads: Annotated[
        int | None, Option("heads, as many as features if left open", "H", 1, 48, shape=True)
    ] = None,
    start: Annotated[float, Option("size of the start", "", 1e-3, 1, log=True)] = 0.1,
    draw: Annotated[
        str, Option("random numbers of the start", choices=("normal", "published"))
    ] = "normal",
) -> Student:
    from tutelage.papers.in_context_autoregression.parts.attention import DRAWS, draw_attention

    process = _require_rotations(teacher)
    count = process.dim if heads is None else heads
    whole("heads", count, least=1, reason="attention has at least one head")
    positive("start", start, reason="A = B = P = 0 is a saddle that descent never leaves")
    one_of("draw", draw, DRAWS)
    return draw_attention(seed, process.dim, process.tokens, count, start, draw)


@register(
    "objective",
    "next_token",
    label="exact loss of the next token",
    sentence="The expected squared error of the next token, over uniform angles and all prefixes.",
    goes_with={"teacher": ("rotating_tokens",)},
    estimate=size_next_token,
)
def _next_token(
    teacher: Teacher,
    inputs: Inputs,
    seed: int,
    *,
    counted: Annotated[
        str, Option("p²‖C‖² of the query is counted", choices=("once", "twice"), shape=True)
    ] = "once",
) -> Objective:
    from tutelage.papers.in_context_autoregression.parts.loss import NextTokenLoss

    return NextTokenLoss(_require_rotations(teacher), counted)


@register(
    "calculation",
    "enumerated_loss",
    label="loss by enumeration",
    sentence="The expected loss at the start as a mean over a grid of angles.",
)
def _enumerated_loss() -> Calculation:
    from tutelage.papers.in_context_autoregression.parts.enumeration import EnumeratedLoss

    return EnumeratedLoss()


@register("measure", "prefix_loss", label="loss per prefix")
def _prefix_loss(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, ""]:
    from tutelage.papers.in_context_autoregression.parts.measures import prefix_loss

    return prefix_loss(student, objective)


@register("measure", "level", label="c, the mean of the diagonal of BᵀA")
def _level(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, ""]:
    from tutelage.papers.in_context_autoregression.parts.measures import level

    return level(student, objective)


@register("measure", "head_overlap", label="share of BᵀA beside its diagonal")
def _head_overlap(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, ""]:
    from tutelage.papers.in_context_autoregression.parts.measures import head_overlap

    return head_overlap(student, objective)


@register("measure", "block_overlap", label="share of BᵀA outside of the blocks of pairs")
def _block_overlap(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, ""]:
    from tutelage.papers.in_context_autoregression.parts.measures import block_overlap

    return block_overlap(student, objective)


@register("measure", "newest_miss", label="largest |p c − 1| of the newest token")
def _newest_miss(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, ""]:
    from tutelage.papers.in_context_autoregression.parts.measures import newest_miss

    return newest_miss(student, objective)


@register("measure", "older_weight", label="largest |p c| of another token")
def _older_weight(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, ""]:
    from tutelage.papers.in_context_autoregression.parts.measures import older_weight

    return older_weight(student, objective)


@register("measure", "partner_ratios", label="entry of the partner over that of the diagonal")
def _partner_ratios(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, "d"]:
    from tutelage.papers.in_context_autoregression.parts.measures import partner_ratios

    return partner_ratios(student, objective)


@register("measure", "lag_ratios", label="weight of the query's token over that of the newest")
def _lag_ratios(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, "R"]:
    from tutelage.papers.in_context_autoregression.parts.measures import lag_ratios

    return lag_ratios(student, objective)


@register("measure", "balance", label="½(‖A‖² + ‖B‖²) − ‖P‖²")
def _balance(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, ""]:
    from tutelage.papers.in_context_autoregression.parts.measures import balance

    return balance(student, objective)


def _require_rotations(teacher: Teacher) -> RotatingTokens:
    from tutelage.papers.in_context_autoregression.parts.rotations import RotatingTokens

    if not isinstance(teacher, RotatingTokens):
        raise Refused(
            "Linear attention with diagonal heads takes its sizes from the teacher "
            f"'rotating_tokens'. Got {type(teacher).__name__}."
        )
    return teacher
