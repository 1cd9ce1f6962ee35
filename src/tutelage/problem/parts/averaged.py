"""Descent whose averaged iterate is read: an optimiser beside those of `optimisers.py`, with
constant steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from tutelage.problem.options import Option
from tutelage.problem.registry import register
from tutelage.refuse import positive

if TYPE_CHECKING:
    from tutelage.optimisers.base import Optimiser


@register(
    "optimiser",
    "averaged",
    label="averaged descent",
    sentence="Plain steps; the mean of all iterates is read too.",
)
def _averaged(
    *, degree: Annotated[float, Option("power of the weight of later iterates", "", 0, 10)] = 0.0
) -> Optimiser:
    """Plain descent; the measure `averaged_excess` reads the mean of its iterates, the s-th with a
    weight of about s^degree.
    """
    from functools import partial

    from tutelage.optimisers.averaged import averaged_descent

    return partial(
        averaged_descent,
        degree=positive(
            "degree", degree, reason="later iterates weigh no less than earlier ones", zero=True
        ),
    )
