"""Laws of the tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from tutelage.problem.options import Matrix, Option
from tutelage.problem.parts.vocabulary import SCALE
from tutelage.problem.registry import register

if TYPE_CHECKING:
    from tutelage.inputs.base import Inputs
    from tutelage.teachers.base import Teacher

WITHOUT_TAILS = ("normal", "exponential", "gumbel", "rademacher")  # laws that nothing shapes
LAW = Option("law", shape=True, choices=(*WITHOUT_TAILS, "student_t"))
FREEDOM = Option(
    "degrees of freedom", "", 2.1, 100, log=True, shape=True, unused={"law": WITHOUT_TAILS}
)


@register(
    "inputs",
    "gaussian",
    label="Gaussian tokens",
    sentence="Tokens N(0, I), or with a covariance of your own.",
)
def _gaussian(
    teacher: Teacher,
    *,
    covariance: Annotated[
        Matrix | None, Option("covariance of the features", "Σ", shape=True)
    ] = None,
    correlation: Annotated[
        Matrix | None, Option("correlation of the positions", shape=True)
    ] = None,
) -> Inputs:
    from tutelage.inputs import Gaussian

    return Gaussian(covariance, correlation)


@register(
    "inputs",
    "independent",
    label="another law",
    sentence="Entries are iid from a law other than the Gaussian; trained on samples.",
)
def _independent(
    teacher: Teacher,
    *,
    law: Annotated[str, LAW] = "normal",
    shift: Annotated[float, Option("mean", "", -10, 10)] = 0.0,
    scale: Annotated[float, SCALE] = 1.0,
    freedom: Annotated[float, FREEDOM] = 5.0,
) -> Inputs:
    from tutelage.inputs import Independent

    return Independent(law, shift=shift, scale=scale, freedom=freedom)
