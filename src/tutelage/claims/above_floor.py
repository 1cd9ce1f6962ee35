r"""The claim that a curve falls like a power of time towards a floor that is not known.

For $y=L+C\,t^{-a}$ the fall over a factor $r$ of time, $D(t)=y(t)-y(rt)=C(1-r^{-a})\,t^{-a}$, has
the same exponent and no floor. Conversely, if the local slope of $D$ tends to $-a<0$, then
$\sum_k D(r^kt)$ converges, so that $y$ has a limit $L$, and $y(t)-L=\sum_{k\ge0}D(r^kt)$ has the
local slope $-a$ too. So nothing is fitted, and no error of a fitted floor enters: the slope of $D$
is read like that of any curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tutelage.claims.claim import Answer, OfCurve, Predicted, curve_of
from tutelage.claims.contraction import DELTA
from tutelage.claims.power_laws import Rate
from tutelage.claims.trend import check_finite, check_steps
from tutelage.claims.verdict import Status
from tutelage.refuse import Refused
from tutelage.run import Run

RATIO = 10**0.25  # r, over which the fall is taken
ROUNDED = 1e-12  # of the curve: a smaller fall is rounding


@dataclass(frozen=True)
class AboveFloor(OfCurve):
    """curve = L + C·t^exponent with an unknown floor L: the local slope of curve − L tends to the
    exponent. It is read from falls over a factor of time, in which the floor cancels.
    """

    exponent: float
    tolerance: float = 0.02
    plateau: Predicted | None = None
    approach: float = DELTA
    noise: str = ""

    def __post_init__(self) -> None:
        if not self.exponent < 0:
            raise Refused(
                "A curve that falls to a floor has an exponent below 0, since it would have no "
                f"floor otherwise. Got exponent={self.exponent!r}."
            )

    def answer(self, runs: Sequence[Run]) -> Answer:
        name = f"the fall of {self.curve}"
        rate = Rate(name, self.exponent, self.tolerance, self.plateau, self.approach, self.noise)
        fallen = []
        for run in runs:
            found = take_falls(run, self.curve, name)
            if found is None:
                said = (
                    f"Over {RATIO:.3g} times as many steps {self.curve} does not fall everywhere: "
                    "its way to a floor cannot be told from its scatter. A smoother curve would "
                    "decide."
                )
                return Answer(Status.UNDECIDED, said, self.exponent)
            fallen.append(found)
        answer = rate.answer(fallen)
        said = f"{answer.sentence} An unknown floor of {self.curve} cancels in its falls."
        return replace(answer, sentence=said)


def take_falls(run: Run, curve: str, name: str) -> Run | None:
    """The run with y(t) − y(rt) as its curve; None where that is not positive somewhere after the
    curve has halved its way down.
    """
    from scipy.interpolate import CubicSpline

    check_steps(run)
    values = curve_of(run, curve)
    if values.ndim != 1:
        raise Refused(f"A floor needs a scalar curve. `{curve}` has {values.shape[1]} entries.")
    after = run.steps > 0
    check_finite(run, curve, values, after)
    steps, values = run.steps[after], values[after]
    inside = steps * RATIO <= steps[-1]
    if inside.sum() < 5:
        return None
    later = CubicSpline(np.log(steps), values)(np.log(steps[inside] * RATIO))
    falls = values[inside] - later
    middle = (values[0] + values[-1]) / 2
    late = values[inside] <= middle
    if not late.any() or (falls[late] <= ROUNDED * np.abs(values).max()).any():
        return None
    first = int(np.flatnonzero(late)[0])
    return replace(
        run,
        steps=steps[inside][first:],
        curves={name: falls[first:]},
    )
