"""What a person asks of a curve in a word and a number (`--slope -1`), as claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tutelage.claims import AboveFloor, Bound, Claim, Constant, Level, Order, Rate, Slope
from tutelage.claims.contraction import DELTA
from tutelage.refuse import Refused, positive

# Claims that read the logarithm of a curve, which must be positive.
OF_LOGARITHMS = (Rate, Bound, Order, Constant, Slope, Level)
Read = Rate | Bound | Order | Constant | Slope | AboveFloor | Level  # those that are asked for here


@dataclass(frozen=True)
class Asked:
    """What is asked of a curve; where no claim is, its exponent is measured."""

    slope: float | None = None
    order: float | None = None
    bound: float | None = None
    constant: float | None = None
    floor: float | None = None
    # How all of them are read.
    plateau: float | None = None
    tolerance: float | None = None
    approach: float = DELTA
    noise: str = ""
    unknown_floor: bool = False  # the slope is that above a floor, which is measured

    @property
    def exponent(self) -> float | None:
        """The power of time that a constant belongs to."""
        return next((p for p in (self.slope, self.order, self.bound) if p is not None), None)

    @property
    def claimed(self) -> dict[str, float]:
        """The claims that are asked for, by the names of their options."""
        given = {
            "slope": self.slope,
            "order": self.order,
            "bound": self.bound,
            "constant": self.constant,
            "floor": self.floor,
        }
        return {name: value for name, value in given.items() if value is not None}


def _claim_slope(curve: str, asked: Asked, value: float) -> Rate | AboveFloor:
    if asked.unknown_floor:
        said = f"{curve} less its unknown floor falls like t^{value:g}"
        return AboveFloor(curve, value, statement=said)
    return Rate(curve, value, statement=f"the local slope of {curve} tends to {value:g}")


def _claim_order(curve: str, asked: Asked, value: float) -> Order:
    return Order(curve, value, statement=f"{curve} = Θ(t^{value:g})")


def _claim_bound(curve: str, asked: Asked, value: float) -> Bound:
    said = f"the local slope of {curve} tends to {value:g} or below"
    return Bound(curve, value, statement=said)


def _claim_constant(curve: str, asked: Asked, value: float) -> Constant:
    if asked.exponent is None:
        raise Refused(
            "`--constant` needs the power of time that it belongs to, since it is the limit of "
            f"{curve}·t^-p. Got --constant {value:g} without --slope."
        )
    statement = f"{curve}·t^{-asked.exponent:g} → {value:g}"
    return Constant(curve, asked.exponent, value, statement=statement)


def _claim_floor(curve: str, asked: Asked, value: float) -> Constant:
    positive(
        "--floor",
        value,
        reason="curves are compared with it on a log scale; that a curve falls to 0 is claimed "
        "with --slope or --bound",
    )
    return Constant(curve, 0.0, value, statement=f"{curve} → {value:g}")


# The options of `tutelage check`, and the claim that each makes.
CLAIMS: dict[str, Callable[[str, Asked, float], Read]] = {
    "slope": _claim_slope,
    "order": _claim_order,
    "bound": _claim_bound,
    "constant": _claim_constant,
    "floor": _claim_floor,
}


def claims_asked(curve: str, asked: Asked) -> list[Claim]:
    """The claims that are asked of a curve; the measurement of its exponent where none is."""
    claims: dict[str, Read] = {
        name: CLAIMS[name](curve, asked, value) for name, value in asked.claimed.items()
    }
    if asked.unknown_floor:
        if asked.slope is None:
            raise Refused(
                "`--floor estimated` needs the slope above the floor (`--slope`), since the floor "
                "is what remains below the power law. Got no --slope."
            )
        claims["floor"] = Level(curve, 0.0, statement=f"the floor of {curve}, measured")
    if not claims:
        claims["exponent"] = Slope(curve, statement=f"the exponent of {curve}, measured")
    return [
        replace(
            claim,
            id=name,
            plateau=asked.plateau,
            approach=asked.approach,
            noise=asked.noise,
            tolerance=claim.tolerance if asked.tolerance is None else asked.tolerance,
        )
        for name, claim in claims.items()
    ]
