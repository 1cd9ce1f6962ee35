"""What a test family is: evidence drawn from a seed, the claim that it is asked, and the truth.

**Truth.** It is known by construction and written beside each family. Of curves, it is about the
noiseless curve, whose logarithm is given as a function of ln t.

- rate: HOLDS if and only if the limit of d ln y/d ln t is within `tolerance` of `exponent`.
- bound: HOLDS if and only if that limit is at most `exponent + tolerance`.
- order: HOLDS if and only if y·t^-exponent stays between two positive constants.
- constant: HOLDS if and only if the limit of y·(ηt)^-exponent is within `tolerance·|value|` of
  `value`. Noise is centred in logarithms.
- number: about the mean of the distribution from which replicates are drawn. "equal": within
  `tolerance` of `value`. On a side, no mean lies between `value` and the tolerance beyond it, so
  that it does not matter whether a side has a tolerance.
- exponent: within `tolerance` of `exponent`. A curved law HOLDS if every local exponent over the
  sweep is, and FAILS if they differ by ten tolerances and more: it is then no power law.
- ratio: every run's number is within `tolerance·|value|` of `value`.
- recovery: the limit of the curve is within `within` of `target`.

No limit lies within 10% of the edge of its tolerance, unless the family says so.

**Decidable.** The class of curves is |w(rt) − L| ≤ r^-δ |w(t) − L| with δ ≥ ¼ after some T₀, where
w is the local slope (rate, bound), ln y·t^-exponent (order, constant) or y (recovery). A family is
decidable if

1. its curves are in the class from a T₀ at least two decades before the end, or run away from
   every limit that the claim allows;
2. the sets of limits that the class leaves, from its last windows, lie on one side of the edge of
   the tolerance;
3. noise is such that a test of size 1% which knows the family, but not its parameters, has a power
   of 99%. With n replicates that takes 24 (n = 3), 11 (5), 7.4 (10) or 6 (30) standard errors
   between the truth and the edge of the tolerance, by the t distribution;
4. with noise, there are at least three replicates: the noise of a single run cannot be told from
   its curve without a model of it.

An order has no tolerance. Noise hides any exponent close enough to the claimed one, so that an
order which holds is decidable without noise along the run alone. An order with factors of log t is
outside of the class on either side: to t = e^x with x ≪ a, log t/t is the curve
log t/(1 + log t/a)/t, which is Θ(1/t).

No family hides its change beyond the horizon: its data would be those of a family with the
opposite truth, and no rule could be right on both.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from tutelage.claims.verdict import Status
from tutelage.refuse import Refused
from tutelage.run import Run

KINDS = ("rate", "bound", "order", "constant", "number", "exponent", "ratio", "recovery")
CURVE = "loss"  # the measure that claims about curves are about
Side = Literal["equal", "at most", "at least"]
LogCurve = Callable[[Float[np.ndarray, "points"]], Float[np.ndarray, "points"]]  # ln t -> ln y
Point = tuple[float, float, int]  # x, y, seed


@dataclass(frozen=True)
class RateAsked:
    exponent: float
    tolerance: float = 0.02
    plateau: int | None = None
    curve: str = CURVE


@dataclass(frozen=True)
class BoundAsked:
    exponent: float
    tolerance: float = 0.02
    curve: str = CURVE


@dataclass(frozen=True)
class OrderAsked:
    exponent: float
    curve: str = CURVE


@dataclass(frozen=True)
class ConstantAsked:
    exponent: float
    value: float
    tolerance: float = 0.03
    curve: str = CURVE


@dataclass(frozen=True)
class NumberAsked:
    values: Callable[[Sequence[Run]], list[float]]
    value: float
    tolerance: float
    side: Side = "equal"
    of: str = "the number"


@dataclass(frozen=True)
class ExponentAsked:
    points: Callable[[Sequence[Run]], list[Point]]
    exponent: float
    tolerance: float = 0.02
    of: str = "y over x"


@dataclass(frozen=True)
class RatioAsked:
    read: Callable[[Run], float]
    value: float
    tolerance: float
    of: str = "the number"


@dataclass(frozen=True)
class RecoveryAsked:
    target: float
    within: float
    from_step: int | None = None
    curve: str = CURVE


Asked = (
    RateAsked
    | BoundAsked
    | OrderAsked
    | ConstantAsked
    | NumberAsked
    | ExponentAsked
    | RatioAsked
    | RecoveryAsked
)


@dataclass(frozen=True)
class Case:
    """One member of a family: what a claim is asked, and of which runs.

    `limit` is what an interval must cover, and None where there is no finite one: the limiting
    slope (rate, bound), the limit of y·t^-exponent (order) or y·(ηt)^-exponent (constant), the mean
    (number, ratio), the exponent, the limit of the curve (recovery).
    """

    runs: tuple[Run, ...]
    asked: Asked
    limit: float | None
    log_curve: LogCurve | None = None  # without noise; None of kinds that are not about curves
    noisy: bool = False  # whether the points along a run have noise


Draw = Callable[[np.random.Generator], Case]


@dataclass(frozen=True)
class Family:
    """Cases that differ by their seed alone and share their truth."""

    name: str
    kind: str
    truth: Status
    decidable: bool
    reason: str  # why it is decidable, or why not
    draw: Draw

    def make(self, seed: int) -> Case:
        """The case of this seed; always the same one."""
        return self.draw(np.random.default_rng([zlib.crc32(self.name.encode()), seed]))


class Collection:
    """The families of one kind, in the order in which they are written."""

    def __init__(self, kind: str) -> None:
        if kind not in KINDS:
            raise Refused(
                f"Families are of the kinds {', '.join(KINDS)}, since each has its own rule. Got "
                f"{kind!r}."
            )
        self.kind = kind
        self.families: list[Family] = []

    def holds(self, reason: str, *, decidable: bool) -> Callable[[Draw], Draw]:
        return self._enter(Status.HOLDS, reason, decidable)

    def fails(self, reason: str, *, decidable: bool) -> Callable[[Draw], Draw]:
        return self._enter(Status.FAILS, reason, decidable)

    def _enter(self, truth: Status, reason: str, decidable: bool) -> Callable[[Draw], Draw]:
        def enter(draw: Draw) -> Draw:
            name = f"{self.kind}: {draw.__name__.replace('_', ' ')}"
            self.families.append(Family(name, self.kind, truth, decidable, reason, draw))
            return draw

        return enter
