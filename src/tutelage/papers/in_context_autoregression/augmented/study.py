"""Augmented tokens: the head becomes one step of gradient descent, of one size for all prefixes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from tutelage.claims import Exponent, Number, Ratio
from tutelage.claims.exponent import fitted_exponent
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.claims.verdict import Hypothesis
from tutelage.papers.in_context_autoregression.augmented import figures
from tutelage.papers.in_context_autoregression.setup import (
    DERIVED,
    FROM_MEMORY,
    change_settings,
    expect_training,
    over_seeds,
)
from tutelage.papers.in_context_autoregression.theory.gradient_step import best_size, least_loss
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Case, Plan, Preset, Study, at_setting

MEASURES = ("step_size", "other_terms", "augmented_loss")
RATE_TIMES_PREFIXES = 0.4  # the curvature at the end is about 2(N + 1)
# Two terms are alike but for their first and last token, so that their difference is learned away
# at the rate of about 3ηx d(d + 1): many steps are needed.
STEPS = 300_000
START = 0.03
FLOOR = 0.25


@dataclass(frozen=True, kw_only=True)
class AugmentedPreset(Preset):
    """Sizes (d, N), the sizes of the sweep, and the first of the seeds."""

    sizes: tuple[tuple[int, int], ...] = ((5, 10), (5, 50), (3, 200))
    swept_dim: int = 5
    swept: tuple[int, ...] = (10, 30, 90, 270)
    first_seed: int = 0


def sizes_of(setting: Setting) -> tuple[int, int]:
    """(d, N) of a setting."""
    given = setting.teacher.options
    return int(given.get("dim", 5)), int(given.get("prefixes", 50))


def predict_size(setting: Setting) -> float:
    return best_size(*sizes_of(setting))


def predict_loss(setting: Setting) -> float:
    return least_loss(*sizes_of(setting))


def last(run: Run, curve: str) -> float:
    return float(run.curves[curve][-1])


def worst_other(runs: Sequence[Run]) -> list[float]:
    """The largest other coefficient of any run, relative to the step's."""
    return [max(last(run, "other_terms") for run in runs)]


def above_floor(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
    """(N, loss − ¼, seed) of every run."""
    found = []
    for run in runs:
        assert run.setting is not None
        _, prefixes = sizes_of(run.setting)
        found.append((float(prefixes), last(run, "augmented_loss") - FLOOR, run.setting.seed))
    return found


def predict_exponent(dim: int, prefixes: Sequence[float]) -> float:
    """The slope of log(least loss − ¼) in log N through these N; −1 in the limit."""
    return fitted_exponent([(n, least_loss(dim, round(n)) - FLOOR) for n in prefixes])


def hypotheses(setting: Setting) -> tuple[Hypothesis, ...]:
    """What the statements assume."""
    law = str(setting.objective.options.get("matrices", "diagonal"))
    return (
        Hypothesis(
            "the angles of all features are independent and uniform",
            law == "diagonal",
            f"matrices W are {law}",
        ),
        Hypothesis("blocks of the head are multiples of the identity", True),
    )


ONE_STEP = Number(
    worst_other,
    0.0,
    "the largest other coefficient over that of the step",
    1e-6,
    "at most",
    certain=True,
    id="one-step",
    statement="of all functions only value s_t, key s_{t−1}, query s_n is left: a gradient step",
    source=f"the proposition on augmented tokens, {FROM_MEMORY}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.RECONSTRUCTED,
)
SIZE = Ratio(
    partial(last, curve="step_size"),
    predict_size,
    1e-6,
    of="the size of the step",
    certain=True,
    id="size",
    statement="the size of the step is x* = 3/(2N + 3d − 2)",
    source=f"3/(2T) in the limit: {FROM_MEMORY}; the rest: {DERIVED}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.SHARPER,
    source_text=SourceText.RECONSTRUCTED,
)
LOSS = Ratio(
    partial(last, curve="augmented_loss"),
    predict_loss,
    1e-9,
    of="the loss per coordinate",
    certain=True,
    id="loss",
    statement="the loss per coordinate is 1 − 3(N + 1)/(2(2N + 3d − 2))",
    source=DERIVED,
    hypotheses=hypotheses,
)


def make_setting(dim: int, prefixes: int, seed: int, matrices: str = "diagonal") -> Setting:
    """Plain descent of a head of scalar blocks, at a step size that fits N."""
    return Setting(
        Part("augmented_tokens", dim=dim, prefixes=prefixes),
        RATE_TIMES_PREFIXES / (prefixes + 1),
        STEPS,
        seed=seed,
        inputs=Part("rotations"),
        student=Part("scalar_attention", start=START),
        objective=Part("augmented", matrices=matrices),
        measures=MEASURES,
    )


def cases(plan: Plan, preset: AugmentedPreset) -> list[Case]:
    """The step at some sizes, the floor over N, and controls."""
    seeds, first = plan.seeds or preset.seeds, preset.first_seed
    settings = [
        setting
        for dim, prefixes in preset.sizes
        for setting in over_seeds(make_setting(dim, prefixes, first), seeds)
    ]
    changed = change_settings(plan, settings)
    main = Case("sizes", "three sizes", tuple(dict.fromkeys(changed)), (ONE_STEP, SIZE, LOSS))
    if plan.changes:
        return [main]
    dim = preset.swept_dim
    swept = tuple(make_setting(dim, prefixes, first) for prefixes in preset.swept)
    haar = tuple(
        make_setting(*preset.sizes[1], first + seed, "haar") for seed in range(min(3, seeds))
    )
    exponent = Exponent(
        above_floor,
        partial(predict_exponent, dim),
        of="the loss above ¼",
        tolerance=0.001,
        certain=True,
        id="floor",
        statement="the loss comes down to ¼ and not below: loss − ¼ = (9d − 12)/(4(2N + 3d − 2))",
        source=DERIVED,
        hypotheses=hypotheses,
    )
    return [
        main,
        Case("lengths", f"d = {dim}", swept, (exponent, SIZE, LOSS)),
        Case(
            "haar",
            "Haar matrices W",
            haar,
            (ONE_STEP, SIZE, LOSS),
            "independent angles: the eigenvalues of Haar matrices repel each other",
        ),
        Case(
            "no-floor",
            f"d = {dim}",
            swept,
            (
                Exponent(
                    partial(above, floor=0.0),
                    -1.0,
                    of="the loss",
                    tolerance=0.05,
                    certain=True,
                    id="floor",
                    statement="the loss falls to 0 like 1/N",
                    source="what a size that grew with the prefix would give",
                ),
            ),
            "one size for all prefixes: this claims a loss that vanishes",
        ),
    ]


def above(runs: Sequence[Run], floor: float) -> list[tuple[float, float, int]]:
    """(N, loss − floor, seed) of every run."""
    return [(n, loss + FLOOR - floor, seed) for n, loss, seed in above_floor(runs)]


def case_at(setting: Setting) -> Case:
    """The step that is learned, its size and its loss."""
    expect_training(setting, "augmented_tokens")
    return at_setting(setting, (ONE_STEP, SIZE, LOSS), measures=MEASURES)


study = Study(
    source=f"the proposition on augmented tokens, {FROM_MEMORY}; sharper: {DERIVED}",
    statement=(
        "On tokens (0, s_t, s_{t−1}) a linear head learns one step of gradient descent on "
        "Σ‖s_t − Ws_{t−1}‖² from W = 0. Sharper, and derived here: its size is 3/(2N + 3d − 2) "
        "over prefixes 1 … N, and its loss per coordinate tends to ¼, never below: one size does "
        "not fit all prefixes."
    ),
    equation=(
        "x* = 3/(2N + 3d − 2);   L = 1 − 3(N + 1)/(2(2N + 3d − 2)) → ¼;   "
        "one prefix alone: x = 1/(n + d − 1), L = (d − 1)/(n + d − 1)"
    ),
    choices=(
        "Blocks are multiples of the identity, one head, no biases, residual or layer norm, which "
        "the published script has: this is the theorem's layer.",
        "Moments over independent angles are counted exactly; those over Haar matrices, for the "
        "control, are means over 2000 draws.",
    ),
    presets={
        "quick": AugmentedPreset(seconds=25.0, seeds=4),
        "confirm": AugmentedPreset(
            seconds=30.0,
            seeds=4,
            sizes=((7, 16), (4, 80), (9, 120)),
            swept_dim=7,
            swept=(15, 45, 130, 300),
            first_seed=1000,
        ),
        "paper": AugmentedPreset(seconds=60.0, seeds=50),
    },
    cases=cases,
    case_at=case_at,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/in_context_autoregression/theory/gradient_step.py",
)
