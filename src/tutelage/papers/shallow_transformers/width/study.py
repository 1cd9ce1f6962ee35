"""How linearisation, approximation and training improve with the width m: the paper's first
experiment, exponents and one constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tutelage.claims import Number
from tutelage.claims.verdict import Hypothesis
from tutelage.papers.shallow_transformers.setup import CHOICES, LETTERS, refuse_swept, setting_at
from tutelage.papers.shallow_transformers.theory import approximation as theory
from tutelage.papers.shallow_transformers.width.claims import (
    NAME,
    OURS,
    PAPER,
    approximation_claims,
    claim_of,
    floor_claims,
    horizon_claims,
    linearisation_claims,
    loss_claims,
)
from tutelage.papers.shallow_transformers.width.readings import (
    least_relative,
    over_partner,
    reach,
    relative,
)
from tutelage.settings import Part, Setting
from tutelage.studies.study import Answered, Case, NoSuchOption, Plan, changed

OPEN = {letter: path for letter, path in LETTERS.items() if letter != "m"}  # the sweeps set m


@dataclass(frozen=True)
class Preset:
    """How large the runs of a preset are."""

    widths: tuple[int, ...]  # of the start
    diagonal: tuple[int, ...]  # where the other teacher's floor shows
    trained: tuple[int, ...]
    single: tuple[int, ...]  # of training on single samples
    horizons: tuple[int, ...]
    samples: int
    looked_at: int  # inputs on which the ascent looks for a bad point
    pool: int
    seeds: int
    draws: int  # seeds of the approximation error alone, which trains nothing


PRESETS = {
    "quick": Preset(
        (8, 64, 256), (64, 256, 1024), (8, 16, 64), (8, 64), (50, 200, 800), 200, 100, 1024, 3, 12
    ),
    "full": Preset(
        (8, 16, 64, 128, 256),
        (64, 256, 1024),
        (8, 16, 64, 128, 256),
        (8, 16, 64, 128, 256),
        (250, 1000, 4000),
        5000,
        1000,
        8192,
        10,
        10,
    ),
}
TRAINED = ("least_loss", "averaged_loss", "label_power", "label_error", "displacement")
SMALL = 0.05  # a radius that training from this start does reach; the paper's are 3
CODED = 1.75  # the authors' code steps by this times 1/√τ


@dataclass(frozen=True)
class Width:
    """The study `shallow-transformers/width`."""

    name: str = NAME
    sentence: str = (
        "Linearisation, approximation and training against the width m: which falls "
        "like m^-½, and what the horizon does to it"
    )
    statement: str = (
        "The bounds of Arda et al. on linearisation, approximation and (beside a term in τ) on "
        "training fall like m^-½ in the width, and "
        "their first experiment expects all three to. Sharper: the mean square approximation "
        "error is Var·(2/m + 1/pool); |f − f_lin| on "
        "the boundary falls like m^-½ at a point chosen for the heads and like 1/m at a random "
        "one; at a fixed horizon the training loss "
        "tends with m to what descent at infinite width leaves, and so has no exponent of its own."
    )
    equation: str = (
        "f_lin(X; θ̃) = (1/m)Σ_i[φ_c v_c + ⟨φ_u,v_u⟩ + ⟨φ_w,v_w⟩];   E|y − f_lin|² = "
        "Var·(2/m + 1/pool)"
    )
    source: str = PAPER
    choices: tuple[str, ...] = (
        *CHOICES,
        "The boundary is that of the ball with the teacher's radii ν = ρ = 3. The bad point is "
        "the best of two ascents of 20 steps on the "
        "mean of |f − f_lin|: a lower bound of the worst. A random point stands for four.",
        "Each horizon is a run of its own, since the step is 1/√τ. The quick preset has n = 200 "
        "and τ up to 800; the full one the paper's "
        "sizes, and the case `as-coded`: step 1.75/√τ, 80% of n trained on, random signs, the "
        "diagonal of W (--case as-coded).",
        "Projected descent on single samples measures its least loss at 24 steps a decade, not "
        "at every iterate.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: OPEN)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 41.0, "full": 30_000.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.0, "full": 6.0})
    checked_in: str = "src/tutelage/papers/shallow_transformers/theory/width.py"

    def cases(self, plan: Plan) -> list[Case]:
        makers = [
            _approximation,
            _signs,
            _diagonal,
            _linearised,
            _trained,
            _horizons,
            _single_sample,
            _small_radii,
        ]
        if len(horizons_of(plan)) > 1:
            makers.append(_shorter)
        if plan.preset == "full":
            makers.append(_as_coded)
        return [made(make, plan) for make in makers]

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.shallow_transformers.width import figures as width_figures

        return width_figures.draw(answered, folder)


def made(make: Callable[[Plan], Case], plan: Plan) -> Case:
    """The case that a function makes of a plan, or one left out where its settings have no such
    thing as what was changed.
    """
    try:
        return make(plan)
    except NoSuchOption as reason:
        return Case(make.__name__.strip("_").replace("_", "-"), "", (), (), left_out=str(reason))


def horizons_of(plan: Plan) -> tuple[int, ...]:
    """The preset's horizons, or the one that was asked for."""
    asked = plan.steps or plan.changes.get("tau", plan.changes.get("steps"))
    return PRESETS[plan.preset].horizons if asked is None else (int(asked),)


def at_horizon(setting: Setting, tau: int, plan: Plan, times: float = 1.0) -> Setting:
    """The setting with a plan's changes and a horizon; the step is `times`/√τ unless one was asked
    for.
    """
    changes = {key: value for key, value in plan.changes.items() if key not in ("tau", "steps")}
    if any(key in ("m", "heads", "student.heads") for key in changes):
        raise NoSuchOption(
            "This study sweeps m, so that `m` cannot be set. Change n, d, T, R, tau or eta instead."
        )
    return changed(replace(setting, steps=tau, rate=times / math.sqrt(tau)), changes, OPEN)


def _at_rest(
    plan: Plan,
    measures: tuple[str, ...],
    widths: Sequence[int],
    samples: int,
    seeds: int,
    teacher: Mapping[str, object],
) -> tuple[Setting, ...]:
    """Settings of which only the start is looked at."""
    pool = PRESETS[plan.preset].pool
    base = [
        setting_at(heads=m, samples=samples, steps=1, measures=measures, pool=pool, teacher=teacher)
        for m in widths
    ]
    settings = [at_horizon(setting, 1, plan) for setting in base]
    return tuple(
        replace(setting, seed=seed) for setting in settings for seed in range(plan.seeds or seeds)
    )


def _of_approximation(
    name: str, label: str, plan: Plan, teacher: Mapping[str, object], seeds: int, control: str = ""
) -> Case:
    p = PRESETS[plan.preset]
    widths = p.diagonal if control else p.widths
    # The widest student alone is built: its heads begin with those of the others.
    settings = _at_rest(
        plan,
        ("nested_approximation", "label_error", "label_power"),
        widths[-1:],
        p.samples,
        seeds,
        teacher,
    )
    return Case(
        name,
        label,
        settings,
        approximation_claims(name, int(settings[0].teacher.options["pool"]), widths),
        control,
    )


def _approximation(plan: Plan) -> Case:
    return _of_approximation(
        "approximation", "stated teacher", plan, {}, PRESETS[plan.preset].draws
    )


def _signs(plan: Plan) -> Case:
    return _of_approximation(
        "signs", "anchors with random signs", plan, {"signs": "random"}, PRESETS[plan.preset].draws
    )


def _diagonal(plan: Plan) -> Case:
    broken = (
        "target in the transported class: a teacher that reads only the diagonal of W is no "
        "mean over the student's heads"
    )
    return _of_approximation(
        "diagonal",
        "diagonal of W, as the code has it",
        plan,
        {"scores": "diagonal"},
        PRESETS[plan.preset].draws,
        broken,
    )


def _linearised(plan: Plan) -> Case:
    p = PRESETS[plan.preset]
    settings = _at_rest(
        plan,
        ("random_linearisation", "adversarial_linearisation"),
        p.widths,
        p.looked_at,
        p.seeds,
        {},
    )
    return Case("linearised", "boundary of the ball", settings, linearisation_claims("linearised"))


def trained_settings(
    plan: Plan, widths: Sequence[int], horizons: Sequence[int], times: float = 1.0, **more: Any
) -> tuple[Setting, ...]:
    """Runs to train: every width, horizon and seed."""
    p = PRESETS[plan.preset]
    objective = more.pop("objective", None)
    settings = []
    for tau in horizons:
        for m in widths:
            base = setting_at(
                heads=m,
                steps=tau,
                measures=TRAINED,
                **{"samples": p.samples, "pool": p.pool, **more},
            )
            setting = at_horizon(base, tau, plan, times)
            if objective is not None:
                setting = replace(
                    setting, objective=objective(int(setting.objective.options["samples"]))
                )
            settings += [replace(setting, seed=seed) for seed in range(plan.seeds or p.seeds)]
    return tuple(settings)


def _trained(plan: Plan) -> Case:
    horizon = max(horizons_of(plan))
    settings = trained_settings(plan, PRESETS[plan.preset].trained, (horizon,))
    return Case("trained", "projected descent", settings, loss_claims("trained", (horizon,)))


def _horizons(plan: Plan) -> Case:
    horizons, widths = horizons_of(plan), PRESETS[plan.preset].trained
    claims = (
        *horizon_claims("horizons", horizons),
        *floor_claims("horizons", horizons, max(widths)),
    )
    return Case(
        "horizons",
        "projected descent, all horizons",
        trained_settings(plan, widths, horizons),
        claims,
    )


def _shorter(plan: Plan) -> Case:
    """Shorter horizons: there the loss is what few steps leave, whatever the width, so that −½ must
    not hold.
    """
    horizons = sorted(horizons_of(plan))[:-1]
    broken = (
        "a horizon after which the width is what limits the loss: the theorem's other term, "
        "of 1/√τ, is free of m"
    )
    settings = trained_settings(plan, PRESETS[plan.preset].trained, horizons)
    return Case(
        "shorter",
        "projected descent, shorter horizons",
        settings,
        loss_claims("shorter", horizons, long_enough=False),
        broken,
    )


def _single(samples: int) -> Part:
    return Part("single_sample", samples=samples)


def _single_sample(plan: Plan) -> Case:
    """Both kinds of descent at the longest horizon. While f is linear in θ and nothing binds, the
    mean path of single samples is that of the whole batch, so that the averaged iterates agree up
    to the noise that averaging leaves.
    """
    widths, horizon = PRESETS[plan.preset].single, max(horizons_of(plan))
    single = trained_settings(plan, widths, (horizon,), objective=_single)

    def batch(setting: Setting) -> Setting:
        return replace(
            setting, objective=Part("squared_loss", samples=setting.objective.options["samples"])
        )

    values = over_partner(
        relative("averaged_loss"), lambda s: s.objective.name == "single_sample", batch
    )
    statement = (
        "averaged iterate: one sample a step loses as much as the whole batch, at the same τ and η"
    )
    claim = claim_of(Number, "single-sample", "averaged-as-batch", statement, OURS, values=values, value=1.0,
                   of="the averaged iterate's loss, single "
"samples over whole batch,", tolerance=0.1)  # fmt: skip
    return Case(
        "single-sample",
        "projected descent on single samples",
        (*single, *map(batch, single)),
        (claim,),
    )


def _small_radii(plan: Plan) -> Case:
    """Radii that training does reach, and the same with the paper's. It sets all six itself."""
    refuse_swept(plan.changes, "rho_c", "rho_u", "rho_w")
    width, horizon = PRESETS[plan.preset].trained[2], max(horizons_of(plan))
    small = trained_settings(plan, (width,), (horizon,), radii=(SMALL,) * 3)

    def wide(setting: Setting) -> Setting:
        return replace(
            setting, optimiser=Part("projected_descent", rho_c=3.0, rho_u=3.0, rho_w=3.0)
        )

    def bound(setting: Setting) -> bool:
        return float(setting.optimiser.options["rho_c"]) == SMALL

    reached = claim_of(Number, "small-radii", "binds", f"with ρ = {SMALL:g} the farthest head "
"sits exactly on "
"its sphere", OURS,
                     values=lambda runs: [reach(r) for r in runs if r.setting is not None and bound(r.setting)],
                     value=1.0, of="the farthest displacement "
"over its radius", tolerance=1e-9, hypotheses=_not_covered)  # fmt: skip
    worse = claim_of(Number, "small-radii", "costs", f"the least loss with ρ = {SMALL:g} is "
"more than 1.1 of "
"that with ρ = 3", OURS,
                   values=over_partner(least_relative, bound, wide), value=1.1, of="the least loss, small radii "
"over large,", tolerance=0.0,
                   side="at least", hypotheses=_not_covered)  # fmt: skip
    return Case(
        "small-radii",
        f"ρ = {SMALL:g}, where the projection binds",
        (*small, *map(wide, small)),
        (reached, worse),
    )


def _not_covered(setting: Setting) -> list[Hypothesis]:
    return theory.hypotheses(
        replace(setting, optimiser=Part("projected_descent", rho_c=SMALL, rho_u=SMALL, rho_w=SMALL))
    )


def _as_coded(plan: Plan) -> Case:
    """What the authors' code runs: a larger step, a fifth held out, random signs, the diagonal of
    W.
    """
    horizon = max(horizons_of(plan))

    def held_out(samples: int) -> Part:
        return Part("squared_loss", samples=samples * 4 // 5, validation=samples - samples * 4 // 5)

    teacher = {"signs": "random", "scores": "diagonal"}
    settings = trained_settings(
        plan, PRESETS[plan.preset].trained, (horizon,), CODED, teacher=teacher, objective=held_out
    )
    return Case(
        "as-coded", "as the authors' code runs it", settings, loss_claims("as-coded", (horizon,))
    )


WIDTH = Width()
