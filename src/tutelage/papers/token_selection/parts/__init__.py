"""The parts of this paper's own: its teacher, two students, their risk, and its calculations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from tutelage.papers.token_selection.parts.estimates import (
    size_average,
    size_risk,
    size_selection_head,
    size_whole_head,
)
from tutelage.papers.token_selection.parts.kinds import CODES, LAYERS, POINTS
from tutelage.problem.options import Option
from tutelage.problem.registry import register
from tutelage.refuse import Refused

if TYPE_CHECKING:
    from jaxtyping import Array, Float

    from tutelage.calculations.base import Calculation
    from tutelage.inputs.base import Inputs
    from tutelage.objectives.base import Objective
    from tutelage.papers.token_selection.parts.objective import SubsetRisk
    from tutelage.papers.token_selection.parts.students import SubsetHead
    from tutelage.papers.token_selection.parts.teacher import SubsetAverage
    from tutelage.students.base import Student
    from tutelage.teachers.base import Teacher

GOES_WITH = {
    "inputs": ("gaussian",),
    "student": ("subset_attention", "selection_head"),
    "objective": ("subset_risk",),
    "optimiser": ("gradient_descent",),
    "calculation": ("sign_floor", "code_gradient", "network_error"),
}


CODE_WIDTH = Option("width of the codes", "m", 1, 4096, log=True, unused={"codes": ("fixed",)})
SIGN_DRAWS = Option(
    "draws of sign codes", "", 1, 65_536, log=True, unused={"codes": ("fixed", "fresh")}
)


@register(
    "teacher",
    "subset_average",
    label="mean over a given subset",
    sentence="The mean of q tokens, which the input names.",
    begin={"tokens": 8, "support": 3, "dim": 4, "queries": 8},
    goes_with=GOES_WITH,
    estimate=size_average,
)
def _subset_average(
    seed: int,
    *,
    tokens: Annotated[int, Option("tokens", "T", 2, 64, shape=True)],
    support: Annotated[int, Option("tokens of a subset", "q", 1, 16, shape=True)],
    dim: Annotated[int, Option("features", "d", 1, 32, shape=True)],
    queries: Annotated[int, Option("subsets to look at", "", 1, 64, shape=True)] = 1,
) -> Teacher:
    from tutelage.papers.token_selection.parts.teacher import SubsetAverage

    return SubsetAverage(dim, tokens, support, queries)


@register(
    "student",
    "subset_attention",
    label="a whole head, orthonormal codes",
    sentence="V and the code block of W, trained on all subsets at once.",
    estimate=size_whole_head,
)
def _subset_attention(teacher: Teacher, seed: int) -> Student:
    from tutelage.papers.token_selection.parts.students import SubsetAttention

    return SubsetAttention.zeros(_require_average(teacher))


@register(
    "student",
    "selection_head",
    label="the two numbers that move",
    sentence="V = αI and scores C on the subset, for any number of tokens.",
    estimate=size_selection_head,
)
def _selection_head(
    teacher: Teacher,
    seed: int,
    *,
    codes: Annotated[str, Option("position codes", choices=CODES)] = "fixed",
    width: Annotated[int | None, CODE_WIDTH] = None,
    draws: Annotated[int, SIGN_DRAWS] = 256,
) -> Student:
    from tutelage.papers.token_selection.parts.codes import make_codes
    from tutelage.papers.token_selection.parts.students import SelectionHead

    asked = _require_average(teacher)
    made = make_codes(codes, asked.tokens, asked.support, width, draws, seed)
    return SelectionHead.zeros(asked.dim, made)


@register(
    "objective",
    "subset_risk",
    label="risk over all subsets",
    sentence="The exact risk over tokens, subsets and codes.",
    goes_with={"teacher": ("subset_average",)},
    estimate=size_risk,
)
def _subset_risk(teacher: Teacher, inputs: Inputs, seed: int) -> Objective:
    from tutelage.papers.token_selection.parts.objective import SubsetRisk

    _require_average(teacher)
    return SubsetRisk()


@register("measure", "chosen_weight", label="attention on the subset")
def _chosen_weight(student: SubsetHead, objective: SubsetRisk) -> Float[Array, ""]:
    from tutelage.papers.token_selection.parts.objective import chosen_weight

    return chosen_weight(student, objective)


@register(
    "calculation",
    "sign_floor",
    label="floor of the loss",
    sentence="The least loss that a head can have with its codes.",
)
def _sign_floor(
    *,
    width: Annotated[int, Option("width of the codes", "m", 1, 4096, log=True)] = 64,
    draws: Annotated[int, Option("draws of the codes", "", 1, 65_536, log=True)] = 256,
    soft: Annotated[bool, Option("C is looked for, and not only taken at ∞")] = True,
) -> Calculation:
    from tutelage.papers.token_selection.parts.floor import SignFloor

    return SignFloor(width, draws, soft)


@register(
    "calculation",
    "code_gradient",
    label="mean gradient of W",
    sentence="How far the mean gradient of W over drawn codes is from the identity.",
)
def _code_gradient(
    *,
    width: Annotated[int, Option("width of the codes", "m", 2, 256)] = 24,
    draws: Annotated[int, Option("draws", "", 1, 100_000, log=True)] = 1000,
    fresh: Annotated[bool, Option("codes are drawn anew")] = True,
) -> Calculation:
    from tutelage.papers.token_selection.parts.gradients import CodeGradient

    return CodeGradient(width, draws, fresh)


@register(
    "calculation",
    "subset_faces",
    label="subsets that a query can select",
    sentence="Which subsets some query scores equally and above the rest.",
)
def _subset_faces(
    *,
    tokens: Annotated[int, Option("codes", "T", 2, 16)] = 6,
    support: Annotated[int, Option("codes of a subset", "q", 1, 8)] = 2,
    width: Annotated[int, Option("width of the codes", "m", 1, 16)] = 4,
    points: Annotated[str, Option("kind of codes", choices=POINTS)] = "moment",
) -> Calculation:
    from tutelage.papers.token_selection.parts.faces import SubsetFaces

    return SubsetFaces(tokens, support, width, points)


@register(
    "calculation",
    "network_error",
    label="error above a first layer",
    sentence="The least error of networks with a given number of units in their first layer.",
)
def _network_error(
    *,
    units: Annotated[int, Option("units of the first layer", "m", 1, 256)] = 8,
    layer: Annotated[str, Option("first layer", choices=LAYERS)] = "best",
    shift: Annotated[float, Option("weight on the subset", "s", 0.1, 1000, log=True)] = 20.0,
    samples: Annotated[int, Option("drawn inputs", "n", 0, 1_000_000)] = 0,
) -> Calculation:
    from tutelage.papers.token_selection.parts.networks import NetworkError

    return NetworkError(units, layer, shift, samples)


def _require_average(teacher: Teacher) -> SubsetAverage:
    from tutelage.papers.token_selection.parts.teacher import SubsetAverage

    if not isinstance(teacher, SubsetAverage):
        raise Refused(
            "A head that is asked about subsets takes its sizes from the teacher "
            f"'subset_average'. Got {type(teacher).__name__}."
        )
    return teacher
