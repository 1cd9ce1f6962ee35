"""What a person asks of a curve in a word and a number (`--slope -1`), as claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tutelage.claims import Bound, Claim, Constant, Level, Rate, Slope
from tutelage.refuse import Refused

# Claims that read the logarithm of a curve, which must be positive.
OF_LOGARITHMS = (Rate, Bound, Constant, Slope, Level)


@dataclass(frozen=True)
class Asked:
    """What is asked of a curve; nothing where all are None, and then its exponent is measured."""

    slope: float | None = None
    bound: float | None = None
    constant: float | None = None
    plateau: float | None = None
    tolerance: float | None = None

    @property
    def exponent(self) -> float | None:
        """The power of time that a constant belongs to."""
        return self.slope if self.slope is not None else self.bound


def _claim_slope(curve: str, asked: Asked, value: float) -> Claim:
    return Rate(
        curve, value, plateau=asked.plateau, id="slope",
        statement=f"the local slope of {curve} tends to {value:g}",
    )  # fmt: skip


def _claim_bound(curve: str, asked: Asked, value: float) -> Claim:
    return Bound(
        curve, value, plateau=asked.plateau, id="bound",
        statement=f"{curve} = O(t^{value:g})",
    )  # fmt: skip


def _claim_constant(curve: str, asked: Asked, value: float) -> Claim:
    if asked.exponent is None:
        raise Refused(
            "`--constant` needs the power of time that it belongs to, since it is the limit of "
            f"{curve}·t^-p. Got --constant {value:g} without --slope."
        )
    return Constant(
        curve, asked.exponent, value, plateau=asked.plateau, id="constant",
        statement=f"{curve}·t^{-asked.exponent:g} → {value:g}",
    )  # fmt: skip


# The options of `tutelage check`, and the claim that each makes.
CLAIMS: dict[str, Callable[[str, Asked, float], Claim]] = {
    "slope": _claim_slope,
    "bound": _claim_bound,
    "constant": _claim_constant,
}


def claims_asked(curve: str, asked: Asked) -> list[Claim]:
    """The claims that are asked of a curve; the measurement of its exponent where none is."""
    given = {"slope": asked.slope, "bound": asked.bound, "constant": asked.constant}
    claims = [
        CLAIMS[name](curve, asked, value) for name, value in given.items() if value is not None
    ]
    if not claims:
        claims = [
            Slope(
                curve, plateau=asked.plateau, id="exponent",
                statement=f"the exponent of {curve}, measured",
            )
        ]  # fmt: skip
    if asked.tolerance is None:
        return claims
    return [replace(claim, tolerance=asked.tolerance) for claim in claims]  # type: ignore[call-arg]
