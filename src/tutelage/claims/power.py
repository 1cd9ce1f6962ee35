"""How many replicates decide a claim, from a verdict on it: the power calculation for a preset.

The verdict of a pilot gives the spread of a replicate and where the mean seems to be. `needed` is
the number of replicates at which the interval clears the nearest edge of what is allowed with
probability 0.9, if the mean is there. A preset meets it if it has as many.
"""

from __future__ import annotations

from dataclasses import dataclass

from tutelage.claims.chance import half_widths, seeds_needed
from tutelage.claims.verdict import Verdict


@dataclass(frozen=True)
class Power:
    """The replicates of a verdict, and how many decide its claim; None for more than 400."""

    id: str
    had: int
    needed: int | None

    @property
    def met(self) -> bool:
        return self.needed is not None and self.had >= self.needed


def count_seeds(verdict: Verdict) -> Power | None:
    """The power calculation of a verdict; None where its claim has no chance in it, or no
    tolerance.
    """
    had = len(verdict.seeds)
    numbers = (verdict.spread, verdict.measured, verdict.predicted, verdict.tolerance)
    if had < 3 or any(number is None for number in numbers):
        return None
    assert verdict.spread is not None
    assert verdict.measured is not None
    assert verdict.predicted is not None
    assert verdict.tolerance is not None
    low, high = verdict.spread
    spread = (high - low) / 2 / float(half_widths(had)[-1])
    edges = (verdict.predicted - verdict.tolerance, verdict.predicted + verdict.tolerance)
    room = min(abs(verdict.measured - edge) for edge in edges)
    needed = seeds_needed(spread, room) if room > 0 else None
    return Power(verdict.id, had, needed)
