"""The error budget of a verdict: known errors of what was measured widen its interval before it
counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from tutelage.claims.claim import Answer, Claim
from tutelage.claims.curve import Curve
from tutelage.claims.exponent import Exponent
from tutelage.claims.measurement import Slope
from tutelage.claims.number import Number
from tutelage.claims.power_laws import Bound, Constant, Rate
from tutelage.claims.verdict import Ends, Status
from tutelage.run import ErrorTerm, Run

# Two ends of a window that are off by ε in opposite directions tilt its slope by 2ε over its width
# in log t, half a decade at least.
TILT = 2 / (0.5 * math.log(10))


def collect_errors(runs: Sequence[Run]) -> tuple[ErrorTerm, ...]:
    """The errors of some runs, each the largest of all."""
    largest: dict[str, float] = {}
    for term in (term for run in runs for term in run.errors):
        largest[term.name] = max(term.size, largest.get(term.name, 0.0))
    return tuple(ErrorTerm(name, size) for name, size in largest.items())


def widen(claim: Claim, answer: Answer, errors: Sequence[ErrorTerm]) -> Answer:
    """The answer with an interval that includes these errors, all in the worst direction.

    A claim that holds or fails by its interval alone, and does not by the wider one, is undecided.
    An exact identity holds on every path, the approximate one included, so it is not widened: what
    such an error did to it would be measured.
    """
    if claim.derived:
        return answer
    claim = claim.judged_as
    total = sum(term.size for term in errors)
    if answer.interval is None or not total:
        return answer
    wider = _widen(claim, answer.interval, total)
    accepted = _accepted(claim, answer)
    violation = _add_to_violation(claim, answer, wider)
    found = replace(answer, interval=wider, smallest_violation=violation)
    if accepted is None or not _turns(answer, accepted, wider):
        return found
    said = (
        f"{answer.sentence} Known errors of {total:.1g} in all widen that to [{wider[0]:.5g}, "
        f"{wider[1]:.5g}]; smaller ones would decide."
    )
    return replace(found, status=Status.UNDECIDED, sentence=said, smallest_violation=None)


def _add_to_violation(claim: Claim, answer: Answer, wider: Ends) -> float | None:
    """The smallest violation that is excluded, with the errors by which the interval grew."""
    if answer.smallest_violation is None:
        return None
    assert answer.interval is not None
    grown = max(answer.interval[0] - wider[0], wider[1] - answer.interval[1])
    if isinstance(claim, Constant) and answer.predicted:
        grown /= abs(answer.predicted)  # a tolerance of a constant is relative
    return answer.smallest_violation + grown


def _widen(claim: Claim, interval: Ends, total: float) -> Ends:
    low, high = interval
    if isinstance(claim, Rate | Bound | Slope | Exponent):
        return low - TILT * total, high + TILT * total
    return low - total * abs(low), high + total * abs(high)


def _accepted(claim: Claim, answer: Answer) -> Ends | None:
    """Between which ends an interval satisfies the claim; None where that is not how it is read."""
    predicted = answer.predicted
    tolerance = claim.tolerance
    if predicted is None or tolerance is None or claim.measurement or isinstance(claim, Curve):
        return None
    if isinstance(claim, Constant):
        tolerance *= abs(predicted)
    below, above = predicted - tolerance, predicted + tolerance
    side = claim.side if isinstance(claim, Number) else ""
    if side == "at most" or isinstance(claim, Bound):
        below = -math.inf
    return below, math.inf if side == "at least" else above


def _turns(answer: Answer, accepted: Ends, wider: Ends) -> bool:
    """Whether the decision rests on the interval, and is lost by the wider one."""
    assert answer.interval is not None
    (low, high), (below, above) = answer.interval, accepted
    if answer.status is Status.HOLDS:
        inside = below <= low and high <= above
        return inside and not (below <= wider[0] and wider[1] <= above)
    if answer.status is Status.FAILS:
        apart = high < below or low > above
        return apart and not (wider[1] < below or wider[0] > above)
    return False
