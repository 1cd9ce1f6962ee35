"""The parts of this paper's own: its processes, its students, and their exact losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from tutelage.papers.in_context_autoregression.parts.estimates import (
    size_attention,
    size_augmented,
    size_moments,
    size_next_token,
    size_positions,
    size_rotations,
    size_scalars,
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
    from tutelage.papers.in_context_autoregression.parts.augmented import (
        AugmentedLoss,
        ScalarAttention,
    )
    from tutelage.papers.in_context_autoregression.parts.loss import NextTokenLoss
    from tutelage.papers.in_context_autoregression.parts.positions import (
        PositionLoss,
        PositionWeights,
    )
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
    begin={"dim": 4, "tokens": 4},
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
    goes_with={"teacher": ("rotating_tokens", "augmented_tokens")},
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
    "teacher",
    "augmented_tokens",
    label="augmented rotating tokens",
    sentence="The next token of turning features, each token given beside the one before it.",
    goes_with={
        "inputs": ("rotations",),
        "student": ("scalar_attention",),
        "objective": ("augmented",),
        "optimiser": ("gradient_descent",),
    },
    begin={"dim": 3, "prefixes": 4},
    estimate=size_augmented,
)
def _augmented_tokens(
    seed: int,
    *,
    dim: Annotated[int, Option("features", "d", 1, 32, shape=True)] = 5,
    prefixes: Annotated[int, Option("prefixes", "N", 1, 512, shape=True)] = 50,
) -> Teacher:
    from tutelage.papers.in_context_autoregression.parts.rotations import RotatingTokens

    whole("prefixes", prefixes, least=1, reason="the loss is a mean over them")
    return RotatingTokens(dim, prefixes + 1, "unitary")


@register(
    "student",
    "scalar_attention",
    label="a head of scalar blocks on augmented tokens",
    sentence="One head on tokens (0, s_t, s_{t−1}), whose blocks are multiples of the identity.",
    goes_with={"teacher": ("augmented_tokens",)},
    estimate=size_scalars,
)
def _scalar_attention(
    teacher: Teacher,
    seed: int,
    *,
    start: Annotated[float, Option("size of the start", "", 1e-3, 1, log=True)] = 0.1,
) -> Student:
    from tutelage.papers.in_context_autoregression.parts.augmented import draw_scalars

    _require_rotations(teacher)
    positive("start", start, reason="a head of zeros is a saddle that descent never leaves")
    return draw_scalars(seed, start)


@register(
    "objective",
    "augmented",
    label="exact loss on augmented tokens",
    sentence="The expected squared error of the next token, a mean over coordinates and prefixes.",
    goes_with={"teacher": ("augmented_tokens",)},
    estimate=size_moments,
)
def _augmented(
    teacher: Teacher,
    inputs: Inputs,
    seed: int,
    *,
    matrices: Annotated[str, Option("matrices W", choices=("diagonal", "haar"))] = "diagonal",
) -> Objective:
    from tutelage.papers.in_context_autoregression.parts.augmented import AugmentedLoss

    return AugmentedLoss(_require_rotations(teacher), matrices, seed)


@register(
    "teacher",
    "slow_rotation",
    label="a slow rotation",
    sentence="The next token of one feature that turns slowly.",
    goes_with={
        "inputs": ("gaussian",),
        "student": ("position_weights",),
        "objective": ("position_loss",),
        "optimiser": ("gradient_descent",),
        "calculation": ("sampled_descent",),
    },
    begin={"tokens": 6},
    estimate=size_rotations,
)
def _slow_rotation(
    seed: int,
    *,
    tokens: Annotated[int, Option("tokens", "T", 2, 64, shape=True)] = 30,
    slowness: Annotated[float, Option("slowness", "μ", 4, 1000, log=True)] = 100.0,
) -> Teacher:
    from tutelage.papers.in_context_autoregression.parts.positions import SlowRotation

    return SlowRotation(tokens, slowness)


@register(
    "student",
    "position_weights",
    label="position weights alone",
    sentence="Linear attention of which the position weights alone are trained, from zero.",
    goes_with={"teacher": ("slow_rotation",)},
    estimate=size_positions,
)
def _position_weights(teacher: Teacher, seed: int) -> Student:
    import jax.numpy as jnp

    from tutelage.papers.in_context_autoregression.parts.positions import (
        PositionWeights,
        require_slow,
    )

    tokens = require_slow(teacher).tokens
    return PositionWeights(jnp.zeros((tokens - 1, tokens)))


@register(
    "objective",
    "position_loss",
    label="exact loss of position weights",
    sentence="The expected squared error of the next token, a mean over prefixes.",
    goes_with={"teacher": ("slow_rotation",)},
)
def _position_loss(teacher: Teacher, inputs: Inputs, seed: int) -> Objective:
    from tutelage.papers.in_context_autoregression.parts.positions import PositionLoss, require_slow

    return PositionLoss(require_slow(teacher))


@register(
    "calculation",
    "sampled_descent",
    label="descent on drawn angles",
    sentence="Position weights by literal steps on a sample of angles, beside the filter.",
)
def _sampled_descent(
    *,
    angles: Annotated[int, Option("angles", "", 1, 10_000, log=True)] = 1000,
    rate: Annotated[float, Option("step size", "η", 0.01, 1, log=True)] = 0.5,
    until: Annotated[float, Option("loss to stop at", "", 1e-4, 0.5, log=True)] = 1e-3,
    bandwidth: Annotated[float, Option("bandwidth of the filter, in 2/μ", "", 0.1, 10)] = 1.0,
) -> Calculation:
    from tutelage.papers.in_context_autoregression.parts.positions import SampledDescent

    return SampledDescent(angles, rate, until, bandwidth)


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


@register("measure", "heads_matrix", label="BᵀA")
def _heads_matrix(student: LinearAttention, objective: NextTokenLoss) -> Float[Array, "dd"]:
    """BᵀA, row by row."""
    return student.matrix.ravel()


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


@register("measure", "step_size", label="size x of the gradient step")
def _step_size(student: ScalarAttention, objective: AugmentedLoss) -> Float[Array, ""]:
    from tutelage.papers.in_context_autoregression.parts.augmented import step_size

    return step_size(student, objective)


@register("measure", "other_terms", label="largest other coefficient over x")
def _other_terms(student: ScalarAttention, objective: AugmentedLoss) -> Float[Array, ""]:
    from tutelage.papers.in_context_autoregression.parts.augmented import other_terms

    return other_terms(student, objective)


@register("measure", "augmented_loss", label="loss per coordinate and prefix")
def _augmented_loss(student: ScalarAttention, objective: AugmentedLoss) -> Float[Array, ""]:
    from tutelage.papers.in_context_autoregression.parts.augmented import augmented_loss

    return augmented_loss(student, objective)


@register("measure", "position_weights", label="position weights P")
def _position_weights_measured(
    student: PositionWeights, objective: PositionLoss
) -> Float[Array, "R T"]:
    from tutelage.papers.in_context_autoregression.parts.positions import position_weights

    return position_weights(student, objective)


def _require_rotations(teacher: Teacher) -> RotatingTokens:
    from tutelage.papers.in_context_autoregression.parts.rotations import RotatingTokens

    if not isinstance(teacher, RotatingTokens):
        raise Refused(
            "Linear attention with diagonal heads takes its sizes from the teacher "
            f"'rotating_tokens'. Got {type(teacher).__name__}."
        )
    return teacher
