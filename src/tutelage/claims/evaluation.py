"""The held-out families, which were written without a look at the rule, as `calibrate` takes them:
each question becomes the claim that a user would write for it, with the defaults of its kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tutelage.claims import calibration, families, families_2, families_3
from tutelage.claims.claim import Claim
from tutelage.claims.exponent import Exponent
from tutelage.claims.families import Family
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


@dataclass(frozen=True)
class HeldOut:
    """A set of families, when it was evaluated relative to the rule, how it reads a recovery."""

    name: str
    evaluated: str
    families: tuple[Family, ...]
    recovery: str  # a reading of `Recovery`, or "" for the one that its fields imply


SETS = {
    "first": HeldOut(
        "first",
        "Evaluated once under rule 2, before rule 3 existed. Rule 3 was made with that result "
        "known, so its row here is no blind one. Recovery was then read at the end or at every "
        "step; these families ask for the limit, a reading that rule 3 added.",
        families.FAMILIES,
        "limit",
    ),
    "second": HeldOut(
        "second",
        "Written by others without sight of the rule, and evaluated once, after rule 3 was "
        "committed. The rule was joined with one change made elsewhere when this set was merged; "
        "of the set, only its conventions had then been read. What was changed since is at the "
        "end of docs/verdicts.md.",
        families_2.FAMILIES,
        "",
    ),
    "third": HeldOut(
        "third",
        "Exponents alone, after the rule for them had been changed. Written by others without "
        "sight of that rule, and evaluated once, after it was committed. Its authors were given a "
        "list of laws and noises to vary by the rule's author, who had not seen the families.",
        families_3.FAMILIES,
        "",
    ),
}


def make_claim(asked: Asked, recovery: str = "") -> Claim:
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
    return Recovery(asked.curve, asked.target, asked.within, asked.from_step, recovery)


def held_out(name: str = "first") -> list[calibration.Family]:
    """The families of a set, of every kind of claim, in the order in which they were written."""
    found = SETS[name]
    return [_adapt(family, found.recovery) for family in found.families]


def _adapt(family: Family, recovery: str) -> calibration.Family:
    def make(seed: int) -> tuple[Claim, Sequence[Run]]:
        case = family.make(seed)
        return make_claim(case.asked, recovery), case.runs

    def limit(seed: int) -> float | None:
        # The interval of an order is about a power of log t, not about the limit of the curve, and
        # that of a recovery at some steps about what was measured there.
        # A ratio shows the range of measured over predicted, and no interval of a mean.
        of_limit = family.kind not in ("order", "ratio")
        of_limit &= family.kind != "recovery" or recovery == "limit"
        return family.make(seed).limit if of_limit else None

    return calibration.Family(
        family.name.partition(": ")[2],
        family.kind,
        make,
        family.truth,
        limit,
        family.decidable,
    )
