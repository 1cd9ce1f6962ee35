"""The theorems' right-hand sides with their constants beside what is measured, and how wide a
student would have to be for them to bite.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tutelage.papers.shallow_transformers.bounds import figures
from tutelage.papers.shallow_transformers.bounds.quantities import (
    APPROXIMATION,
    AT_START,
    IN_TRAINING,
    LINEARISATION,
    PAPER,
    bound_claims,
)
from tutelage.papers.shallow_transformers.setup import (
    CHOICES,
    TRAINED,
    WITHOUT_WIDTH,
    SamplePreset,
    choose_horizons,
    make_cases,
    settings_at_start,
    settings_of_training,
)
from tutelage.papers.shallow_transformers.theory.approximation import hypotheses, start_hypotheses
from tutelage.settings import Part, Setting
from tutelage.studies.study import Case, Plan, Study, at_setting

LONG = 100.0  # token norms far above 1
OUTSIDE = 1000.0  # radii of a point far outside the ball of radius 3


@dataclass(frozen=True, kw_only=True)
class BoundsPreset(SamplePreset):
    widths: tuple[int, ...]  # of the start
    trained: tuple[int, ...]
    horizon: int


def cases(plan: Plan, preset: BoundsPreset) -> list[Case]:
    makers = {
        "start": start_case,
        "trained": trained_case,
        "long-tokens": long_tokens_case,
        "outside": outside_case,
    }
    return make_cases(makers, plan, preset)


def start_case(plan: Plan, preset: BoundsPreset) -> Case:
    measures = ("singled_out_linearisation", "approximation_error", "label_power", "label_error")
    settings = settings_at_start(plan, preset, preset.widths, measures)
    return Case("start", "at the start", settings, bound_claims(AT_START, start_hypotheses))


def trained_case(plan: Plan, preset: BoundsPreset) -> Case:
    horizons = choose_horizons(plan, (preset.horizon,))
    settings = settings_of_training(plan, preset, preset.trained, horizons)
    return Case("trained", "projected descent", settings, bound_claims(IN_TRAINING, hypotheses))


def long_tokens_case(plan: Plan, preset: BoundsPreset) -> Case:
    """Tokens a hundred times too long: features are unbounded, and so is what a finite pool of them
    misses.
    """
    settings = settings_at_start(
        plan,
        preset,
        preset.widths[:1],
        ("approximation_error", "label_power", "label_error"),
        teacher={"token_radius": LONG, "token_scale": LONG},
    )
    inputs = Part("clipped_gaussian", radius=LONG, scale=LONG)
    return Case(
        "long-tokens",
        f"token norms up to {LONG:g}",
        tuple(replace(setting, inputs=inputs) for setting in settings),
        bound_claims((APPROXIMATION,), start_hypotheses),
        control=f"token norms ≤ 1: these are clipped to {LONG:g}",
    )


def outside_case(plan: Plan, preset: BoundsPreset) -> Case:
    """A point that the ball does not hold: the measure looks on the sphere of the teacher's radii,
    the bound is for ρ = 3.
    """
    settings = settings_at_start(
        plan,
        preset,
        preset.widths[-1:],
        ("singled_out_linearisation", "label_power"),
        teacher={"nu_c": OUTSIDE, "nu_u": OUTSIDE, "nu_w": OUTSIDE},
    )
    broken = (
        f"a point of the ball: this one lies on the sphere of radius {OUTSIDE:g}, the bound "
        "is for 3"
    )
    claims = bound_claims((LINEARISATION,), start_hypotheses)
    return Case("outside", f"a point at radius {OUTSIDE:g}", settings, claims, broken)


def case_at(setting: Setting) -> Case:
    """The bounds of a start, where nothing is trained; else those of projected descent."""
    if setting.calculation is not None:
        return at_setting(setting, bound_claims(AT_START, start_hypotheses))
    return at_setting(setting, bound_claims(IN_TRAINING, hypotheses), measures=TRAINED)


study = Study(
    source=PAPER,
    statement=(
        "Arda et al. bound linearisation, approximation and the loss of the averaged iterate; "
        "the first two with constants, the third up to one. Each is set beside its measured "
        "value, the third also in a form derived here with every constant written out. No run may "
        "exceed a bound; how far they lie above, and at which width they would meet the zero "
        "function or the measured value, is reported."
    ),
    equation=(
        "A ≤ D²/(4ητ) + β√A + ηΓ²·min(A, L_max),  √L(mean θ_t) ≤ √A + 2·sup|f−f_lin|;   "
        "printed: ≲ (d+log m/δ′)²/√τ + √(log(n/δ)/m) + (d+log m/δ′)/√m"
    ),
    choices=(
        *CHOICES,
        "The sup of |f − f_lin| is looked for by ascent at eight inputs, one at a time: a lower "
        "bound of the sup that the theorem bounds.",
        "Bounds hold with probability at least 1 − δ − δ′ = 0.9 over the heads (those written "
        "out for training 0.85, with the pool's error in them); a run above one would not by "
        "itself refute it.",
        "The paper's form has an unstated constant, here 1.",
    ),
    # The runs of training are those of the study of width.
    presets={
        "quick": BoundsPreset(
            seconds=15.0,
            seeds=3,
            samples=200,
            pool=1024,
            widths=(8, 64, 256),
            trained=(8, 16, 64),
            horizon=800,
        ),
        "full": BoundsPreset(
            seconds=20_000.0,
            gigabytes=6.0,
            seeds=10,
            samples=5000,
            pool=8192,
            widths=(8, 16, 64, 128, 256),
            trained=(8, 16, 64, 128, 256),
            horizon=4000,
        ),
    },
    cases=cases,
    case_at=case_at,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    letters=WITHOUT_WIDTH,
    checked_in="src/tutelage/papers/shallow_transformers/theory/bounds.py",
)
