"""The term of the theorem that is left at infinite width: how the averaged iterate's loss falls
with the horizon τ when the step is 1/√τ.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tutelage.claims import Claim, Number
from tutelage.claims.exponent import fitted_exponent
from tutelage.claims.labels import ClaimedBy
from tutelage.papers.shallow_transformers.readings import setting_of
from tutelage.papers.shallow_transformers.theory import approximation as theory
from tutelage.papers.shallow_transformers.theory import infinite_width
from tutelage.papers.shallow_transformers.theory.start import trained_form
from tutelage.run import Run
from tutelage.studies.study import Curves

HORIZONS = tuple(10**k for k in range(2, 13))  # of which the last three decades are judged
JUDGED = 4


def losses_with(step: Callable[[int], float]) -> Callable[[Run], Curves]:
    """The averaged iterate's loss at infinite width at every horizon, over (1/n)Σy², with the step
    size that a horizon has.
    """

    def derived(run: Run) -> Curves:
        setting = trained_form(setting_of(run))
        found = [
            infinite_width.losses(setting.change(steps=tau, rate=step(tau)))[1] for tau in HORIZONS
        ]
        return {"infinite_width": np.array([found])}

    return derived


def as_stated(tau: int) -> float:
    """η = 1/√τ."""
    return 1 / math.sqrt(tau)


def too_small(tau: int) -> float:
    """η = 1/τ: descent for the same time ητ = 1, however many steps it has."""
    return 1 / tau


def last_exponent(run: Run) -> float:
    """The exponent of the loss in τ over the last three decades."""
    losses = run.curves["infinite_width"][0]
    return fitted_exponent(list(zip(HORIZONS, losses, strict=True))[-JUDGED:])


def time_claim() -> Claim:
    return Number(
        values=lambda runs: list(map(last_exponent, runs)),
        value=-0.5,
        of="the exponent in τ of the averaged iterate's loss from 10⁹ to 10¹² steps",
        tolerance=0.02,
        side="at most",
        scale="linear",
        id="time-term",
        statement="at infinite width, where no other term is left, the loss is O(τ^-½) at η = 1/√τ",
        source=f"{theory.SOURCE}, the theorem's term in 1/√τ",
        claimed_by=ClaimedBy.PAPER,
        hypotheses=theory.start_hypotheses,
    )
