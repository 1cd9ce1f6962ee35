"""The theorems' right-hand sides with their constants beside what is measured, and how wide a
student would have to be for them to bite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tutelage.claims import Claim, Number
from tutelage.claims.verdict import Hypothesis
from tutelage.papers.shallow_transformers.setup import CHOICES, setting_at
from tutelage.papers.shallow_transformers.theory import approximation as theory
from tutelage.papers.shallow_transformers.theory import bounds as bounds_theory
from tutelage.papers.shallow_transformers.theory.approximation import Sizes, sizes
from tutelage.papers.shallow_transformers.width.claims import at_rest
from tutelage.papers.shallow_transformers.width.readings import Reading, at_start, setting_of
from tutelage.papers.shallow_transformers.width.study import (
    OPEN,
    PRESETS,
    at_horizon,
    horizons_of,
    made,
    trained_settings,
)
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Answered, Case, Plan

NAME = "shallow-transformers/bounds"
PAPER = theory.SOURCE
OURS = "derived here (docs/bounds.md)"
FORM = f"{theory.SOURCE}: the theorem's form, its unstated constant set to 1 here"
WIDTHS = {"quick": (8, 64, 256), "full": (8, 16, 64, 128, 256)}
LONG = 100.0  # token norms far above 1
OUTSIDE = 1000.0  # radii of a point far outside the ball of radius 3
FOREVER = 1e300  # steps: where what training time leaves is nothing


@dataclass(frozen=True)
class Bounded:
    """A measured quantity, the bound on it, and the level at which that bound begins to say
    something.
    """

    name: str
    words: str
    source: str
    measured: Reading
    bound: Callable[[Sizes, Setting], float]
    level: Reading  # what the zero function has: a bound above it says nothing


def _pool(setting: Setting) -> float:
    return float(setting.teacher.options["pool"])


def _power(run: Run) -> float:
    return float(run.curves["label_power"][-1])


def _root_power(run: Run) -> float:
    return math.sqrt(_power(run))


def _last(curve: str) -> Reading:
    return lambda run: float(run.curves[curve][-1])


def _rate(s: Sizes, setting: Setting) -> float:
    """The setting's own step; for a horizon that is not the setting's, the theorem's."""
    return setting.rate if s.tau == setting.steps else 1 / math.sqrt(s.tau)


AT_START = (
    Bounded("linearisation", "sup|f − f_lin| on the "
"boundary, by ascent", PAPER, at_start("singled_out_linearisation"),
            lambda s, setting: theory.linearisation_bound(s), _root_power),
    Bounded("approximation", "sup over inputs of |y "
"− f_lin(θ̃)|", PAPER, at_start("approximation_error", 0),
            lambda s, setting: theory.approximation_bound(s), _root_power),
)  # fmt: skip
IN_TRAINING = (
    Bounded("least", "the least loss", OURS, _last("least_loss"),
            lambda s, setting: bounds_theory.mean_loss_bound(s, _rate(s, setting), _pool(setting)), _power),
    Bounded("averaged", "the averaged iterate's loss", OURS, _last("averaged_loss"),
            lambda s, setting: bounds_theory.averaged_bound(s, _rate(s, setting), _pool(setting)), _power),
    Bounded("printed", "the averaged iterate's loss, the paper's "
"form with constant 1", FORM, _last("averaged_loss"),
            lambda s, setting: bounds_theory.printed_form(s), _power),
)  # fmt: skip


def over_bound(quantity: Bounded, run: Run) -> float:
    setting = setting_of(run)
    return quantity.measured(run) / quantity.bound(sizes(setting), setting)


def needed(quantity: Bounded, run: Run, level: float, steps: float | None = None) -> float:
    """The width at which the bound would fall to a level, at the run's horizon or another, were its
    labels exact.
    """
    setting = setting_of(run).change(**{"teacher.pool": math.inf})
    s = sizes(setting) if steps is None else replace(sizes(setting), tau=steps)  # type: ignore[arg-type]
    return bounds_theory.width_for(lambda at: quantity.bound(at, setting), s, level)


def claims_of(
    case: str, quantities: Sequence[Bounded], hypotheses: Callable[[Setting], list[Hypothesis]]
) -> tuple[Claim, ...]:
    """No run exceeds its bound: the largest of measured over bound, over all seeds and widths."""

    def values(quantity: Bounded) -> Callable[[Sequence[Run]], list[float]]:
        return lambda runs: [max(over_bound(quantity, run) for run in runs)]

    return tuple(
        Number(
            values=values(quantity),
            value=1.0,
            of=f"the largest of {quantity.words} over its bound",
            tolerance=0.0,
            side="at most",
            certain=True,
            id=f"{NAME}/{case}/{quantity.name}",
            statement=f"{quantity.words} stays below its bound, every seed and width",
            source=quantity.source,
            hypotheses=hypotheses,
        )
        for quantity in quantities
    )


@dataclass(frozen=True)
class Bounds:
    """The study `shallow-transformers/bounds`."""

    name: str = NAME
    sentence: str = (
        "The bounds with their constants beside what is measured, and the width at "
        "which each would begin to bite"
    )
    statement: str = (
        "Arda et al. bound linearisation, approximation and the loss of the averaged iterate; "
        "the first two with constants, the third up "
        "to one. Each is set beside its measured value, the third also in a form derived here "
        "with every constant written out. No run may "
        "exceed a bound; how far they lie above, and at which width they would meet the zero "
        "function or the measured value, is reported."
    )
    equation: str = (
        "A ≤ D²/(4ητ) + β√A + ηΓ²·min(A, L_max),  √L(mean θ_t) ≤ √A + 2·sup|f−f_lin|;   "
        "printed: ≲ (d+log m/δ′)²/√τ + √(log(n/δ)/m) + (d+log m/δ′)/√m"
    )
    source: str = PAPER
    choices: tuple[str, ...] = (
        *CHOICES,
        "The sup of |f − f_lin| is looked for by ascent at eight inputs, one at a time: a lower "
        "bound of the sup that the theorem bounds.",
        "Bounds hold with probability at least 1 − δ − δ′ = 0.9 over the heads (those written "
        "out for training 0.85, with the pool's error "
        "in them); a run above one would not by itself refute it.",
        "The paper's form has an unstated constant, here 1.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: OPEN)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 15.0, "full": 20_000.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.0, "full": 6.0})
    checked_in: str = "src/tutelage/papers/shallow_transformers/theory/bounds.py"

    def cases(self, plan: Plan) -> list[Case]:
        return [made(make, plan) for make in (_start, _trained, _long_tokens, _outside)]

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.shallow_transformers.bounds import figures as bounds_figures

        return bounds_figures.draw(answered, folder)


def _resting(
    plan: Plan, widths: Sequence[int], measures: tuple[str, ...], **teacher: object
) -> tuple[Setting, ...]:
    p = PRESETS[plan.preset]
    base = [
        setting_at(
            heads=m, samples=p.samples, steps=1, measures=measures, pool=p.pool, teacher=teacher
        )
        for m in widths
    ]
    return tuple(
        replace(at_horizon(s, 1, plan), seed=seed)
        for s in base
        for seed in range(plan.seeds or p.seeds)
    )


def _start(plan: Plan) -> Case:
    measures = ("singled_out_linearisation", "approximation_error", "label_power", "label_error")
    settings = _resting(plan, WIDTHS[plan.preset], measures)
    return Case("start", "at the start", settings, claims_of("start", AT_START, at_rest))


def _trained(plan: Plan) -> Case:
    settings = trained_settings(plan, PRESETS[plan.preset].trained, (max(horizons_of(plan)),))
    return Case(
        "trained",
        "projected descent",
        settings,
        claims_of("trained", IN_TRAINING, theory.hypotheses),
    )


def _long_tokens(plan: Plan) -> Case:
    """Tokens a hundred times too long: features are unbounded, and so is what a finite pool of them
    misses.
    """
    measures = ("approximation_error", "label_power", "label_error")
    settings = _resting(
        plan, WIDTHS[plan.preset][:1], measures, token_radius=LONG, token_scale=LONG
    )
    long = tuple(
        replace(s, inputs=Part("clipped_gaussian", radius=LONG, scale=LONG)) for s in settings
    )
    broken = f"token norms ≤ 1: these are clipped to {LONG:g}"
    return Case(
        "long-tokens",
        f"token norms up to {LONG:g}",
        long,
        claims_of("long-tokens", AT_START[1:], at_rest),
        broken,
    )


def _outside(plan: Plan) -> Case:
    """A point that the ball does not hold: the measure looks on the sphere of the teacher's radii,
    the bound is for ρ = 3.
    """
    far = {f"nu_{letter}": OUTSIDE for letter in "cuw"}
    settings = _resting(
        plan, WIDTHS[plan.preset][-1:], ("singled_out_linearisation", "label_power"), **far
    )
    broken = (
        f"a point of the ball: this one lies on the sphere of radius {OUTSIDE:g}, the bound "
        "is for 3"
    )
    return Case(
        "outside",
        f"a point at radius {OUTSIDE:g}",
        settings,
        claims_of("outside", AT_START[:1], at_rest),
        broken,
    )


BOUNDS = Bounds()
