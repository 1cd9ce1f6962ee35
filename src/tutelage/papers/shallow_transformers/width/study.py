"""How linearisation, approximation and training improve with the width m: the paper's first
experiment, exponents and one constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tutelage.claims import Number
from tutelage.claims.verdict import Hypothesis
from tutelage.papers.shallow_transformers.readings import setting_of
from tutelage.papers.shallow_transformers.setup import (
    CHOICES,
    WITHOUT_WIDTH,
    SamplePreset,
    choose_horizons,
    make_cases,
    refuse_swept,
    settings_at_start,
    settings_of_training,
)
from tutelage.papers.shallow_transformers.theory import approximation as theory
from tutelage.papers.shallow_transformers.width import figures
from tutelage.papers.shallow_transformers.width.claims import (
    HORIZON,
    OURS,
    PAPER,
    approximation_claims,
    floor_claims,
    horizon_claims,
    linearisation_claims,
    loss_claims,
)
from tutelage.papers.shallow_transformers.width.readings import (
    averaged_relative,
    least_relative,
    over_partner,
    reach,
)
from tutelage.problem.options import Value
from tutelage.settings import Part, Setting
from tutelage.studies.study import Case, Plan, Study

SMALL_RADIUS = 0.05  # one that training from this start does reach; the paper's are 3
AUTHORS_STEP = 1.75  # times 1/√τ, in the authors' code


@dataclass(frozen=True, kw_only=True)
class WidthPreset(SamplePreset):
    widths: tuple[int, ...]  # of the start
    diagonal: tuple[int, ...]  # where the other teacher's floor shows
    diagonal_pool: int  # of its labels, whose own error must not hide that floor
    trained: tuple[int, ...]
    single: tuple[int, ...]  # of training on single samples
    horizons: tuple[int, ...]
    looked_at: int  # inputs on which the ascent looks for a bad point
    draws: int  # seeds of the approximation error alone, which trains nothing
    bad_points: int  # seeds of the linearisation error, which trains nothing either
    coded_seeds: int  # of what the authors' code trains; 0 leaves it out
    long_width: int  # of the infinite-width claim at the paper's horizon
    long_seeds: int


def cases(plan: Plan, preset: WidthPreset) -> list[Case]:
    """The start, then training; shorter horizons where there are some, and the authors' code where
    the preset has it.
    """
    makers = {
        "approximation": approximation_case,
        "signs": signs_case,
        "diagonal": diagonal_case,
        "linearised": linearised_case,
        "trained": trained_case,
        "horizons": horizons_case,
        "long-horizon": long_horizon_case,
        "single-sample": single_sample_case,
        "small-radii": small_radii_case,
    }
    if len(choose_horizons(plan, preset.horizons)) > 1:
        makers["shorter"] = shorter_case
    if preset.coded_seeds:
        makers["as-coded"] = as_coded_case
    return make_cases(makers, plan, preset)


def approximation_case(plan: Plan, preset: WidthPreset) -> Case:
    return _approximation_of("approximation", "stated teacher", plan, preset, {})


def signs_case(plan: Plan, preset: WidthPreset) -> Case:
    teacher = {"signs": "random"}
    return _approximation_of("signs", "anchors with random signs", plan, preset, teacher)


def diagonal_case(plan: Plan, preset: WidthPreset) -> Case:
    broken = (
        "target in the transported class: a teacher that reads only the diagonal of W is no "
        "mean over the student's heads"
    )
    label, teacher = "diagonal of W, as the code has it", {"scores": "diagonal"}
    large = replace(preset, pool=preset.diagonal_pool)
    return _approximation_of("diagonal", label, plan, large, teacher, broken)


def _approximation_of(
    name: str,
    label: str,
    plan: Plan,
    preset: WidthPreset,
    teacher: Mapping[str, Value],
    control: str = "",
) -> Case:
    widths = preset.diagonal if control else preset.widths
    # The widest student alone is built: its heads begin with those of the others.
    settings = settings_at_start(
        plan,
        preset,
        widths[-1:],
        ("nested_approximation", "label_error", "label_power"),
        seeds=preset.draws,
        teacher=teacher,
    )
    pool = int(settings[0].teacher.options["pool"])
    return Case(name, label, settings, approximation_claims(pool, widths), control)


def linearised_case(plan: Plan, preset: WidthPreset) -> Case:
    measures = ("random_linearisation", "adversarial_linearisation")
    settings = settings_at_start(
        plan,
        preset,
        preset.widths,
        measures,
        seeds=preset.bad_points,
        samples=preset.looked_at,
    )
    return Case("linearised", "boundary of the ball", settings, linearisation_claims())


def trained_case(plan: Plan, preset: WidthPreset) -> Case:
    horizon = max(choose_horizons(plan, preset.horizons))
    settings = settings_of_training(plan, preset, preset.trained, (horizon,))
    return Case("trained", "projected descent", settings, loss_claims((horizon,)))


def horizons_case(plan: Plan, preset: WidthPreset) -> Case:
    horizons = choose_horizons(plan, preset.horizons)
    settings = settings_of_training(plan, preset, preset.trained, horizons)
    claims = (*horizon_claims(horizons), *floor_claims(horizons, max(preset.trained)))
    return Case("horizons", "projected descent, all horizons", settings, claims)


def long_horizon_case(plan: Plan, preset: WidthPreset) -> Case:
    """The paper's horizon, at which the loss is farthest from that at infinite width."""
    horizons = choose_horizons(plan, (HORIZON,))
    few = replace(preset, seeds=preset.long_seeds)
    settings = settings_of_training(plan, few, (preset.long_width,), horizons)
    claims = floor_claims(horizons, preset.long_width)
    return Case("long-horizon", "projected descent, the paper's horizon", settings, claims)


def shorter_case(plan: Plan, preset: WidthPreset) -> Case:
    """Shorter horizons: there the loss is what few steps leave, whatever the width, so that −½ must
    not hold.
    """
    horizons = sorted(choose_horizons(plan, preset.horizons))[:-1]
    broken = (
        "a horizon after which the width is what limits the loss: the theorem's other term, "
        "of 1/√τ, is free of m"
    )
    settings = settings_of_training(plan, preset, preset.trained, horizons)
    claims = loss_claims(horizons)
    return Case("shorter", "projected descent, shorter horizons", settings, claims, broken)


def single_sample_case(plan: Plan, preset: WidthPreset) -> Case:
    """Both kinds of descent at the longest horizon. While f is linear in θ and nothing binds, the
    mean path of single samples is that of the whole batch, so that the averaged iterates agree up
    to the noise that averaging leaves.
    """
    horizon = max(choose_horizons(plan, preset.horizons))
    single = settings_of_training(
        plan,
        preset,
        preset.single,
        (horizon,),
        objective=lambda samples: Part("single_sample", samples=samples),
    )

    def with_batch(setting: Setting) -> Setting:
        samples = setting.objective.options["samples"]
        return replace(setting, objective=Part("squared_loss", samples=samples))

    claim = Number(
        values=over_partner(
            averaged_relative, lambda s: s.objective.name == "single_sample", with_batch
        ),
        value=1.0,
        of="the averaged iterate's loss, single samples over whole batch,",
        tolerance=0.1,
        id="averaged-as-batch",
        statement=(
            "averaged iterate: one sample a step loses as much as the whole batch, at the same τ "
            "and η"
        ),
        source=OURS,
        hypotheses=theory.hypotheses,
    )
    settings = (*single, *map(with_batch, single))
    return Case("single-sample", "projected descent on single samples", settings, (claim,))


def small_radii_case(plan: Plan, preset: WidthPreset) -> Case:
    """Radii that training does reach, and the same with the paper's. It sets all six itself."""
    refuse_swept(plan.changes, "rho_c", "rho_u", "rho_w")
    width, horizon = preset.trained[2], max(choose_horizons(plan, preset.horizons))
    radii = (SMALL_RADIUS, SMALL_RADIUS, SMALL_RADIUS)
    small = settings_of_training(plan, preset, (width,), (horizon,), radii=radii)

    def with_large_radii(setting: Setting) -> Setting:
        return replace(setting, optimiser=_projection(3.0))

    def is_small(setting: Setting) -> bool:
        return float(setting.optimiser.options["rho_c"]) == SMALL_RADIUS

    reached = Number(
        values=lambda runs: [reach(run) for run in runs if is_small(setting_of(run))],
        value=1.0,
        of="the farthest displacement over its radius",
        tolerance=1e-9,
        scale="linear",
        id="binds",
        statement=f"with ρ = {SMALL_RADIUS:g} the farthest head sits exactly on its sphere",
        source=OURS,
        hypotheses=_small_radii_hypotheses,
    )
    worse = Number(
        values=over_partner(least_relative, is_small, with_large_radii),
        value=1.1,
        of="the least loss, small radii over large,",
        tolerance=0.0,
        side="at least",
        id="costs",
        statement=(f"the least loss with ρ = {SMALL_RADIUS:g} is more than 1.1 of that with ρ = 3"),
        source=OURS,
        hypotheses=_small_radii_hypotheses,
    )
    label = f"ρ = {SMALL_RADIUS:g}, where the projection binds"
    settings = (*small, *map(with_large_radii, small))
    return Case("small-radii", label, settings, (reached, worse))


def _projection(radius: float) -> Part:
    return Part("projected_descent", rho_c=radius, rho_u=radius, rho_w=radius)


def _small_radii_hypotheses(setting: Setting) -> list[Hypothesis]:
    return theory.hypotheses(replace(setting, optimiser=_projection(SMALL_RADIUS)))


def as_coded_case(plan: Plan, preset: WidthPreset) -> Case:
    """What the authors' code runs: a larger step, a fifth held out, random signs, the diagonal of
    W.
    """

    def hold_out(samples: int) -> Part:
        trained = samples * 4 // 5
        return Part("squared_loss", samples=trained, validation=samples - trained)

    horizon = max(choose_horizons(plan, preset.horizons))
    settings = settings_of_training(
        plan,
        replace(preset, seeds=preset.coded_seeds),
        preset.trained,
        (horizon,),
        times=AUTHORS_STEP,
        teacher={"signs": "random", "scores": "diagonal"},
        objective=hold_out,
    )
    return Case("as-coded", "as the authors' code runs it", settings, loss_claims((horizon,)))


QUICK = WidthPreset(
    seconds=41.0,
    seeds=10,
    samples=128,
    pool=1024,
    widths=(16, 64, 256),
    diagonal=(128, 512, 2048),
    diagonal_pool=4096,
    trained=(8, 16, 64),
    single=(8, 64),
    horizons=(50, 200, 800),
    looked_at=48,
    draws=80,
    bad_points=40,
    coded_seeds=4,
    long_width=128,
    long_seeds=5,
)


study = Study(
    source=PAPER,
    statement=(
        "The bounds of Arda et al. on linearisation, approximation and (beside a term in τ) on "
        "training fall like m^-½ in the width, and their first experiment expects all three to. "
        "Sharper: the mean square approximation error is Var·(2/m + 1/pool); |f − f_lin| on the "
        "boundary falls like m^-½ at a point chosen for the heads and like 1/m at a random one; "
        "at a fixed horizon the training loss tends with m to what descent at infinite width "
        "leaves, and so has no exponent of its own."
    ),
    equation=(
        "f_lin(X; θ̃) = (1/m)Σ_i[φ_c v_c + ⟨φ_u,v_u⟩ + ⟨φ_w,v_w⟩];   E|y − f_lin|² = "
        "Var·(2/m + 1/pool)"
    ),
    choices=(
        *CHOICES,
        "The boundary is that of the ball with the teacher's radii ν = ρ = 3. The bad point is "
        "the best of two ascents of 20 steps on the mean of |f − f_lin|: a lower bound of the "
        "worst. A random point stands for four.",
        "Each horizon is a run of its own, since the step is 1/√τ. The quick preset has n = 128 "
        "and τ up to 800; `paper` has the paper's sizes. The case `as-coded`: step 1.75/√τ, "
        "80% of n trained on, random signs, the diagonal of W (--case as-coded).",
        "Projected descent on single samples measures its least loss at 24 steps per decade, not "
        "at every iterate.",
    ),
    presets={
        "quick": QUICK,
        # As many seeds as most of the claims need that the quick one leaves open (46, 22 and 14),
        # and as many starts (168).
        "larger": replace(
            QUICK,
            seconds=240.0,
            seeds=50,
            bad_points=180,
            long_seeds=20,
            only=("linearised", "horizons", "long-horizon"),
        ),
        # The paper's first experiment and nothing else. A seed of all widths takes 4,000 steps of
        # 66 ms. Seeds by the power calculation: 105 and 168 for the exponents of the start; for
        # those of training 8 at a spread of 0.04 (the quick one's 0.086, over a wider range of m,
        # gives 0.045, which asks for 10).
        "paper": replace(
            QUICK,
            seconds=3400.0,
            gigabytes=6.0,
            seeds=8,
            samples=5000,
            pool=8192,
            widths=(8, 16, 64, 128, 256),
            trained=(8, 16, 64, 128, 256),
            horizons=(4000,),
            looked_at=1000,
            draws=105,
            bad_points=168,
            coded_seeds=4,
            only=("approximation", "linearised", "trained", "as-coded"),
        ),
    },
    cases=cases,
    compares="students of several widths m and horizons τ",
    figures=figures.draw,
    captions=figures.CAPTIONS,
    letters=WITHOUT_WIDTH,
    checked_in="src/tutelage/papers/shallow_transformers/theory/width.py",
)
