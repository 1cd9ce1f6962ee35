"""How error and needed width grow with the number of samples: the bound, √log n, and the smallest
width that reaches a given loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tutelage.claims.labels import ClaimedBy
from tutelage.papers.shallow_transformers.samples import figures
from tutelage.papers.shallow_transformers.samples.claims import (
    bound_claim,
    growth_claim,
    width_claim,
)
from tutelage.papers.shallow_transformers.setup import (
    CHOICES,
    LETTERS,
    look_at_start,
    make_cases,
    refuse_swept,
    setting_at,
)
from tutelage.papers.shallow_transformers.theory.approximation import SOURCE
from tutelage.settings import Part, Setting
from tutelage.studies.changes import changed
from tutelage.studies.study import Case, Plan, Preset, Study, over_seeds

OPEN = {letter: LETTERS[letter] for letter in ("d", "T", "R", "tau", "eta")}  # n and m are swept
# Heavy tails: the largest of n tokens is of order n^(1/freedom).
HEAVY_TAILS = Part("independent", law="student_t", freedom=2.5, scale=1.0)
UNBOUNDED = (
    "token norms ≤ 1: Student-t tokens have no bound, and the largest of n grows like a power of n"
)
FOREIGN = (
    "labels of the target class: these are other inputs' and have to be memorised, which "
    "takes parameters in proportion to n"
)

Widths = Mapping[int, tuple[int, ...]]  # m tried at each n


@dataclass(frozen=True, kw_only=True)
class SamplesPreset(Preset):
    dim: int  # d and T of the sup error; the needed widths are found at d = T = 4
    tokens: int
    heads: int
    samples: int
    pool: int
    steps: int  # of projected descent
    widths: Widths
    fast_steps: int  # of descent with momentum
    fast_widths: Widths
    sup_seeds: int  # of the sup error
    control_seeds: int  # of its control
    width_seeds: int  # of the needed widths by projected descent
    fast_seeds: int  # and by momentum


def cases(plan: Plan, preset: SamplesPreset) -> list[Case]:
    makers = {
        "approximation": approximation_case,
        "heavy-tails": heavy_tails_case,
        "width": width_case,
        "width-fast": width_fast_case,
        "foreign-labels": foreign_labels_case,
    }
    return make_cases(makers, plan, preset)


def approximation_case(plan: Plan, preset: SamplesPreset) -> Case:
    settings = _at_start(plan, preset, Part("clipped_gaussian"), preset.sup_seeds)
    claims = (bound_claim(), growth_claim())
    return Case("approximation", "sup error on nested samples", settings, claims)


def heavy_tails_case(plan: Plan, preset: SamplesPreset) -> Case:
    settings = _at_start(plan, preset, HEAVY_TAILS, preset.control_seeds)
    return Case("heavy-tails", "Student-t tokens", settings, (growth_claim(),), UNBOUNDED)


def _at_start(plan: Plan, preset: SamplesPreset, inputs: Part, seeds: int) -> tuple[Setting, ...]:
    """One look at the start per seed, over the first 100 … n samples."""
    refuse_swept(plan.changes, "samples")
    base = setting_at(
        heads=preset.heads,
        samples=preset.samples,
        steps=1,
        measures=(),
        dim=preset.dim,
        tokens=preset.tokens,
        pool=preset.pool,
    )
    setting = changed(replace(base, inputs=inputs), plan.changes, OPEN)
    measures = ("approximation_sups", "label_error", "label_error_sup", "label_power")
    return over_seeds(look_at_start(setting, measures), plan.seeds or seeds)


def width_case(plan: Plan, preset: SamplesPreset) -> Case:
    """The widths of each n, by projected descent with step 1/√τ."""
    refuse_swept(plan.changes, "samples", "heads")
    settings: list[Setting] = []
    for n, widths in preset.widths.items():
        for m in widths:
            base = _sized(n, m, plan.steps or preset.steps, "least_loss", preset)
            setting = changed(base, plan.changes, OPEN)
            if not {"eta", "rate"} & set(plan.changes):  # else the step is the one asked for
                setting = replace(setting, rate=setting.steps**-0.5)
            settings += over_seeds(setting, plan.seeds or preset.width_seeds)
    claim = width_claim(sorted(preset.widths), "projected descent, step 1/√τ")
    return Case("width", "needed width, projected descent", tuple(settings), (claim,))


def width_fast_case(plan: Plan, preset: SamplesPreset) -> Case:
    return _by_momentum("width-fast", "needed width, momentum", plan, preset)


def foreign_labels_case(plan: Plan, preset: SamplesPreset) -> Case:
    label = "needed width, labels of other inputs"
    return _by_momentum("foreign-labels", label, plan, preset, labels="foreign", control=FOREIGN)


def _by_momentum(
    name: str,
    label: str,
    plan: Plan,
    preset: SamplesPreset,
    *,
    labels: str = "own",
    control: str = "",
) -> Case:
    refuse_swept(plan.changes, "samples", "heads")
    settings: list[Setting] = []
    for n, widths in preset.fast_widths.items():
        for m in widths:
            base = _sized(n, m, plan.steps or preset.fast_steps, "loss", preset)
            fast = replace(
                base,
                rate=1.0,
                optimiser=Part("momentum", decay=0.9),
                objective=base.objective.change(labels=labels),
            )
            setting = changed(fast, plan.changes, OPEN)
            settings += over_seeds(setting, plan.seeds or preset.fast_seeds)
    claim = width_claim(
        sorted(preset.fast_widths), "step 1, momentum 0.9, no projection", ClaimedBy.BEYOND
    )
    return Case(name, label, tuple(settings), (claim,), control)


def _sized(samples: int, heads: int, steps: int, loss: str, preset: SamplesPreset) -> Setting:
    return setting_at(
        heads=heads,
        samples=samples,
        steps=steps,
        measures=(loss, "label_power", "label_error"),
        dim=4,
        tokens=4,
        pool=preset.pool,
    )


def _octaves(first: int, last: int) -> tuple[int, ...]:
    return tuple(2**k for k in range(first, last + 1))


QUICK = SamplesPreset(
    seconds=45.0,
    gigabytes=1.5,
    dim=4,
    tokens=4,
    heads=32,
    samples=10_000,
    pool=256,
    steps=400,
    widths={n: _octaves(1, 5) for n in (64, 256, 1024)},
    fast_steps=300,
    fast_widths={32: _octaves(1, 3), 64: _octaves(1, 4), 128: _octaves(1, 5)},
    sup_seeds=30,
    control_seeds=20,
    width_seeds=6,
    fast_seeds=12,
)


study = Study(
    source=SOURCE,
    statement=(
        "At fixed m the sup over n samples of the approximation error is at most a constant "
        "times √(log(n/δ)/m), and so a width that is logarithmic in n is enough for a given "
        "training loss. Measured on nested samples with the same heads, n from 100 to 10,000; and "
        "as the smallest width that brings the least training loss below a "
        "fixed share of E[y²]."
    ),
    equation="sup_{j≤n} |f̃(X_j) − f_lin(X_j; θ̃)| ≤ 2(ν_c+ν_u+ν_w)√(2 log(2n/δ)/m)",
    choices=(
        *CHOICES,
        "The needed widths are found at d = T = 4, where many can be tried (and the quick preset "
        "takes the sup error there too). A width is enough when the least loss of τ steps is below "
        "0.15 of E[y²], a level that step 1/√τ reaches within the widths tried; it is read between "
        "powers of two.",
        "Labels that have nothing to do with their inputs are not learned with step 1/√τ at any "
        "width. To see how their needed width grows, they and the target are trained once more by "
        "a faster method (step 1, momentum 0.9, no projection), to which no theorem applies.",
    ),
    presets={
        "quick": QUICK,
        # d, T and the pool of the sup error are the paper's, and twice its n. Seeds by the power
        # calculation: 285 of the sup error, 20 of the needed widths.
        "paper": replace(
            QUICK,
            seconds=1800.0,
            gigabytes=3.0,
            dim=8,
            tokens=16,
            heads=64,
            pool=8192,
            steps=1000,
            widths={n: _octaves(1, 6) for n in (100, 1000, 10_000)},
            sup_seeds=285,
            width_seeds=20,
            fast_seeds=20,
        ),
    },
    cases=cases,
    compares="numbers of samples n, and the width that each needs",
    figures=figures.draw,
    captions=figures.CAPTIONS,
    letters=OPEN,
    checked_in="src/tutelage/papers/shallow_transformers/samples/readings.py",
)
