"""What is bounded: each quantity beside its bound, the claim that no run exceeds it, and the width
at which the bound would begin to bite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tutelage.claims import Claim, Number
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.claims.verdict import Hypothesis
from tutelage.papers.shallow_transformers.readings import (
    Reading,
    read_last,
    read_start,
    setting_of,
)
from tutelage.papers.shallow_transformers.theory import approximation as theory
from tutelage.papers.shallow_transformers.theory import bounds as bounds_theory
from tutelage.papers.shallow_transformers.theory.approximation import Sizes, sizes
from tutelage.run import Run
from tutelage.settings import Setting

PAPER = theory.SOURCE
OURS = "derived here (docs/bounds.md)"
FORM = f"{theory.SOURCE}: the theorem's form, its unstated constant set to 1 here"
FOREVER = 1e300  # steps: where what training time leaves is nothing


@dataclass(frozen=True)
class Bounded:
    """A measured quantity, the bound on it, and the level at which that bound begins to say
    something.
    """

    name: str
    words: str
    source: str
    claimed_by: ClaimedBy
    measured: Reading
    bound: Callable[[Sizes, Setting], float]
    level: Reading  # what the zero function has: a bound above it says nothing
    source_text: SourceText = SourceText.READ


power: Reading = read_last("label_power")


def root_power(run: Run) -> float:
    """√((1/n)Σy²): the root mean square error of the zero function."""
    return math.sqrt(power(run))


def _least_bound(s: Sizes, setting: Setting) -> float:
    return bounds_theory.mean_loss_bound(s, _rate(s, setting), _pool(setting))


def _averaged_bound(s: Sizes, setting: Setting) -> float:
    return bounds_theory.averaged_bound(s, _rate(s, setting), _pool(setting))


def _rate(s: Sizes, setting: Setting) -> float:
    """The setting's own step; for a horizon that is not the setting's, the theorem's."""
    return setting.rate if s.tau == setting.steps else 1 / math.sqrt(s.tau)


def _pool(setting: Setting) -> float:
    return float(setting.teacher.options["pool"])


LINEARISATION = Bounded(
    name="linearisation",
    words="sup|f − f_lin| on the boundary, by ascent",
    source=PAPER,
    claimed_by=ClaimedBy.PAPER,
    measured=read_start("singled_out_linearisation"),
    bound=lambda s, _: theory.linearisation_bound(s),
    level=root_power,
)
APPROXIMATION = Bounded(
    name="approximation",
    words="sup over inputs of |y − f_lin(θ̃)|",
    source=PAPER,
    claimed_by=ClaimedBy.PAPER,
    measured=read_start("approximation_error", 0),
    bound=lambda s, _: theory.approximation_bound(s),
    level=root_power,
)
AT_START = (LINEARISATION, APPROXIMATION)
IN_TRAINING = (
    Bounded(
        name="least",
        words="the least loss",
        source=OURS,
        claimed_by=ClaimedBy.BEYOND,
        measured=read_last("least_loss"),
        bound=_least_bound,
        level=power,
    ),
    Bounded(
        name="averaged",
        words="the averaged iterate's loss",
        source=OURS,
        claimed_by=ClaimedBy.BEYOND,
        measured=read_last("averaged_loss"),
        bound=_averaged_bound,
        level=power,
    ),
    Bounded(
        name="printed",
        words="the averaged iterate's loss, the paper's form with constant 1",
        source=FORM,
        claimed_by=ClaimedBy.BEYOND,
        measured=read_last("averaged_loss"),
        bound=lambda s, _: bounds_theory.printed_form(s),
        level=power,
        source_text=SourceText.RECONSTRUCTED,
    ),
)


def over_bound(quantity: Bounded, run: Run) -> float:
    """Measured over bound: above 1 the bound is exceeded."""
    setting = setting_of(run)
    return quantity.measured(run) / quantity.bound(sizes(setting), setting)


def trivial_over_bound(quantity: Bounded, runs: Sequence[Run]) -> float:
    """What the zero function has over the bound, the largest of all runs: at most 1 where no bound
    says more than predicting zero does.
    """
    settings = [setting_of(run) for run in runs]
    return max(
        quantity.level(run) / quantity.bound(sizes(setting), setting)
        for run, setting in zip(runs, settings, strict=True)
    )


def needed_width(quantity: Bounded, run: Run, level: float, steps: float | None = None) -> float:
    """The width at which the bound would fall to a level, at the run's horizon or another, were its
    labels exact.
    """
    setting = setting_of(run).change(**{"teacher.pool": math.inf})
    s = sizes(setting) if steps is None else replace(sizes(setting), tau=steps)
    return bounds_theory.width_for(lambda at: quantity.bound(at, setting), s, level)


def bound_claims(
    quantities: Sequence[Bounded], hypotheses: Callable[[Setting], list[Hypothesis]]
) -> tuple[Claim, ...]:
    """No run exceeds its bound: the largest of measured over bound, over all seeds and widths."""
    return tuple(_bound_claim(quantity, hypotheses) for quantity in quantities)


def _bound_claim(quantity: Bounded, hypotheses: Callable[[Setting], list[Hypothesis]]) -> Claim:
    return Number(
        values=lambda runs: [max(over_bound(quantity, run) for run in runs)],
        value=1.0,
        of=f"the largest of {quantity.words} over its bound",
        tolerance=0.0,
        side="at most",
        certain=True,
        id=quantity.name,
        statement=f"{quantity.words} stays below its bound, every seed and width",
        source=quantity.source,
        claimed_by=quantity.claimed_by,
        source_text=quantity.source_text,
        ceiling=partial(trivial_over_bound, quantity),
        hypotheses=hypotheses,
    )
