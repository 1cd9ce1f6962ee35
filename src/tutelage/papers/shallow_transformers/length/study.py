"""What the number of tokens changes: training loss, gradients of the function and distance from
linearity, against T.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from tutelage.claims import Claim, Exponent, Number
from tutelage.claims.labels import ClaimedBy
from tutelage.claims.verdict import Hypothesis
from tutelage.papers.shallow_transformers.length import figures
from tutelage.papers.shallow_transformers.length.readings import (
    GRADIENT,
    LINEARISATION,
    QUANTITIES,
    Quantity,
    exponents,
    points,
)
from tutelage.papers.shallow_transformers.setup import (
    CHOICES,
    LETTERS,
    SamplePreset,
    look_at_start,
    make_cases,
    refuse_swept,
    setting_at,
)
from tutelage.papers.shallow_transformers.theory.approximation import (
    SHORT_TOKENS,
    SOURCE,
    hypotheses,
    start_hypotheses,
)
from tutelage.settings import Part, Setting
from tutelage.studies.changes import changed
from tutelage.studies.study import Case, Plan, Study, over_seeds

OPEN = {letter: LETTERS[letter] for letter in ("d", "n", "m", "R", "tau", "eta")}  # T is swept
EXPONENT_TOLERANCE = 0.05  # of every exponent in T
RECURRENT = 1.02  # |u| of the recurrent control: 1.02^256 = 159

Conditions = Callable[[Setting], list[Hypothesis]]


@dataclass(frozen=True, kw_only=True)
class LengthPreset(SamplePreset):
    dim: int
    heads: int
    steps: int
    lengths: tuple[int, ...]


def cases(plan: Plan, preset: LengthPreset) -> list[Case]:
    makers = {
        "attention": attention_case,
        "growing-tokens": growing_tokens_case,
        "indrnn": indrnn_case,
    }
    return make_cases(makers, plan, preset)


def attention_case(plan: Plan, preset: LengthPreset) -> Case:
    claims = (
        *(no_growth_claim(quantity, hypotheses) for quantity in QUANTITIES),
        *(flat_claim(quantity) for quantity in QUANTITIES),
    )
    return Case("attention", "T from 4 to 256", over_lengths(plan, preset, _as_it_is), claims)


def growing_tokens_case(plan: Plan, preset: LengthPreset) -> Case:
    claims = tuple(no_growth_claim(q, grown_conditions) for q in (GRADIENT, LINEARISATION))
    broken = "token norms ≤ 1: these grow with T"
    settings = over_lengths(plan, preset, _with_growing_tokens)
    return Case("growing-tokens", "token norms up to √T/2", settings, claims, broken)


def indrnn_case(plan: Plan, preset: LengthPreset) -> Case:
    broken = "attention: the gradient through a recurrence with |u| > 1 grows with T"
    settings = over_lengths(plan, preset, _with_recurrence)
    claims = (no_growth_claim(GRADIENT, recurrent_conditions),)
    return Case("indrnn", "IndRNN, |u| > 1", settings, claims, broken)


def over_lengths(
    plan: Plan, preset: LengthPreset, change: Callable[[Setting], Setting]
) -> tuple[Setting, ...]:
    """Every length and seed, each setting changed as the case asks."""
    refuse_swept(plan.changes, "tokens")
    settings: list[Setting] = []
    for tokens in preset.lengths:
        base = setting_at(
            heads=preset.heads,
            samples=preset.samples,
            steps=plan.steps or preset.steps,
            measures=(
                "least_loss",
                "label_power",
                "label_error",
                "function_gradient_sup",
                "random_linearisation",
            ),
            dim=preset.dim,
            tokens=tokens,
            pool=preset.pool,
        )
        setting = changed(base, plan.changes, OPEN)
        if not {"eta", "rate"} & set(plan.changes):
            setting = replace(setting, rate=setting.steps**-0.5)
        settings += over_seeds(change(setting), plan.seeds or preset.seeds)
    return tuple(settings)


def _as_it_is(setting: Setting) -> Setting:
    return setting


def _with_growing_tokens(setting: Setting) -> Setting:
    """Tokens, of inputs and anchors alike, of norm up to √T/2."""
    size = math.sqrt(setting.teacher.options["tokens"]) / 2
    grown = replace(
        setting,
        teacher=setting.teacher.change(token_scale=size, token_radius=size),
        inputs=setting.inputs.change(scale=size, radius=size),
    )
    return look_at_start(grown, ("function_gradient_sup", "random_linearisation"))


def _with_recurrence(setting: Setting) -> Setting:
    heads = setting.student.options["heads"]
    student = Part("indrnn", heads=heads, recurrent=RECURRENT, scale=1e-4)
    recurrent = replace(setting, student=student, optimiser=Part("gradient_descent"))
    return look_at_start(recurrent, ("function_gradient_sup",))


def grown_conditions(setting: Setting) -> list[Hypothesis]:
    """Those of the start where tokens grow: at the smallest T they are still short enough, and over
    the sweep they are not.
    """
    grown = Hypothesis(SHORT_TOKENS, False, "up to √T/2")
    return [grown if h.text == SHORT_TOKENS else h for h in start_hypotheses(setting)]


def recurrent_conditions(setting: Setting) -> list[Hypothesis]:
    """What a student that is no transformer does not meet."""
    said = f"{setting.student.name}, |u| = {RECURRENT:g}"
    return [Hypothesis("a student that reads by attention", False, said)]


def no_growth_claim(quantity: Quantity, conditions: Conditions) -> Claim:
    return Number(
        values=lambda runs: exponents(runs, quantity),
        value=0.0,
        of=f"the exponent in T of {quantity.words}",
        tolerance=EXPONENT_TOLERANCE,
        side="at most",
        scale="linear",
        id=f"{quantity.name}-no-growth",
        statement=f"{quantity.words} does not grow with T: the bounds are free of T",
        source=SOURCE,
        claimed_by=ClaimedBy.PAPER,
        hypotheses=conditions,
    )


def flat_claim(quantity: Quantity) -> Claim:
    return Exponent(
        points=lambda runs: points(runs, quantity),
        exponent=0.0,
        of=quantity.words,
        tolerance=EXPONENT_TOLERANCE,
        id=f"{quantity.name}-flat",
        statement=f"{quantity.words} has exponent 0 in T, more than the bounds say",
        source="asked here; the paper states upper bounds",
        claimed_by=ClaimedBy.SHARPER,
        hypotheses=hypotheses,
    )


QUICK = LengthPreset(
    seconds=30.0,
    gigabytes=1.5,
    seeds=16,
    dim=4,
    heads=16,
    samples=40,
    pool=256,
    steps=50,
    lengths=(4, 16, 64, 256),
)


study = Study(
    source=SOURCE,
    statement=(
        "No bound of the paper contains T, since the covariance M of the tokens under attention "
        "has ‖M‖_F ≤ 1 for every T. Measured from T = 4 to 256 at fixed m, with the same heads: "
        "whether anything grows with T, and whether it is flat, which a bound does not say."
    ),
    equation="‖M_i‖_F ≤ max_t ‖x_t‖² ≤ 1 for every T",
    choices=(
        *CHOICES,
        "Heads of a seed are the same for every T, and so is the boundary point; tokens and "
        "anchors are drawn anew, and so E[y²] differs.",
        "The linearisation is taken at one random point with ρ = 3 in every block. The sup is "
        "over the n training inputs.",
        "Control with growing tokens: norms up to √T/2. Control with recurrence: an IndRNN with "
        "|u| = 1.02 and input weights of 10⁻⁴, small enough to stay unsaturated up to T = 256; "
        "with the authors' |u| = 1.5 units saturate within a dozen tokens.",
    ),
    presets={
        "quick": QUICK,
        # More seeds than chance needs: 48 decide the relative loss. Of the largest gradient 450
        # show that its exponent bends, which no number of seeds changes.
        "larger": replace(QUICK, seconds=240.0, seeds=450, only=("attention",)),
        # d and the pool are the paper's, which has T = 16 alone. Its n = 5,000 and τ = 4,000 would
        # take eleven hours at T = 256. Seeds by the power calculation, of the loss: 25. In single
        # precision a seed takes one to three minutes of a core at T = 256.
        "paper": LengthPreset(
            seconds=3400.0,
            gigabytes=4.0,
            seeds=25,
            dim=8,
            heads=64,
            samples=1000,
            pool=8192,
            steps=1000,
            lengths=(4, 16, 64, 256),
        ),
    },
    cases=cases,
    compares="sequences of several lengths T",
    figures=figures.draw,
    captions=figures.CAPTIONS,
    letters=OPEN,
    checked_in="src/tutelage/papers/shallow_transformers/length/readings.py",
)
