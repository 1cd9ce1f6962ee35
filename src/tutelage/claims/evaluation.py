"""The held-out families, which were written without a look at the rule, as `calibrate` takes them:
each question becomes the claim that a user would write for it, with the defaults of its kind.
"""

from __future__ import annotations

from collections.abc import Sequence

from tutelage.claims import calibration
from tutelage.claims.claim import Claim
from tutelage.claims.exponent import Exponent
from tutelage.claims.families import FAMILIES, Family
from tutelage.claims.families.family import (
    Asked,
    BoundAsked,
    ConstantAsked,
    ExponentAsked,
    NumberAsked,
    OrderAsked,
    RateAsked,
    RatioAsked,
)
from tutelage.claims.number import Number
from tutelage.claims.order import Order
from tutelage.claims.power_laws import Bound, Constant, Rate
from tutelage.claims.ratio import Ratio
from tutelage.claims.recovery import Recovery
from tutelage.run import Run


def make_claim(asked: Asked) -> Claim:
    """The claim that asks this."""
    if isinstance(asked, RateAsked):
        return Rate(asked.curve, asked.exponent, asked.tolerance, asked.plateau)
    if isinstance(asked, BoundAsked):
        return Bound(asked.curve, asked.exponent, asked.tolerance)
    if isinstance(asked, OrderAsked):
        return Order(asked.curve, asked.exponent)
    if isinstance(asked, ConstantAsked):
        return Constant(asked.curve, asked.exponent, asked.value, asked.tolerance)
    if isinstance(asked, NumberAsked):
        return Number(asked.values, asked.value, asked.of, asked.tolerance, asked.side)
    if isinstance(asked, ExponentAsked):
        return Exponent(asked.points, asked.exponent, asked.of, asked.tolerance)
    if isinstance(asked, RatioAsked):
        return Ratio(asked.read, asked.value, asked.tolerance, asked.of)
    # Its truth is about the limit, by the conventions of the families.
    return Recovery(asked.curve, asked.target, asked.within, asked.from_step, "limit")


def held_out() -> list[calibration.Family]:
    """The families of every kind of claim, in the order in which they were written."""
    return [_adapt(family) for family in FAMILIES]


def _adapt(family: Family) -> calibration.Family:
    def make(seed: int) -> tuple[Claim, Sequence[Run]]:
        case = family.make(seed)
        return make_claim(case.asked), case.runs

    def limit(seed: int) -> float | None:
        # The interval of an order is about a power of log t, not about the limit of the curve.
        return None if family.kind == "order" else family.make(seed).limit

    return calibration.Family(
        family.name.partition(": ")[2],
        family.kind,
        make,
        family.truth,
        limit,
        family.decidable,
    )
