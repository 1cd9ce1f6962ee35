"""The tangent kernel: a finite width against its limit, and the network against kernel regression,
step by step and without a fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tutelage.claims import Exponent
from tutelage.papers.shallow_transformers.kernel import figures
from tutelage.papers.shallow_transformers.kernel.claims import (
    HERE,
    attention_claim,
    lazy_claims,
    no_projection_claim,
    own_validation_claim,
    ridgeless_claim,
    scale_claim,
    width_claims,
)
from tutelage.papers.shallow_transformers.kernel.readings import BesideKernels
from tutelage.papers.shallow_transformers.setup import (
    CHOICES,
    WITHOUT_WIDTH,
    SamplePreset,
    look_at_start,
    make_cases,
    refuse_swept,
    setting_at,
)
from tutelage.papers.shallow_transformers.theory.approximation import SOURCE
from tutelage.problem.options import Value
from tutelage.settings import Setting
from tutelage.studies.changes import NoSuchOption, changed
from tutelage.studies.study import Case, Plan, Study, at_setting, over_seeds

MEASURES = (
    "loss",
    "validation_loss",
    "outputs",
    "probe_kernel",
    "label_power",
    "label_error",
    "displacement",
)
LABEL_SCALES = (1.0, 3.0, 9.0)  # times ν_c and ν_u of the paper, which make the labels larger
# For descent without end. λ_max of K is near n/30, so that this is a third of the largest stable
# step.
LONG_RATE = 10.0
LIMIT_HEADS = 4096  # that stand for the expectation in K, where nothing else is asked


@dataclass(frozen=True, kw_only=True)
class KernelPreset(SamplePreset):
    """As many samples as are trained on are held out."""

    widths: tuple[int, ...]
    steps: int
    limit_heads: int  # that stand for the expectation in K
    fewer_seeds: int  # of the cases beside the sweep over widths, where little is left to chance
    control_seeds: int
    middle: int = 64  # the width of the cases that have one


def cases(plan: Plan, preset: KernelPreset) -> list[Case]:
    """The sweep of widths; unless something was changed also larger labels, descent without end
    and the controls.
    """
    makers = {
        "width": width_case,
        "scale": scale_case,
        "long": long_case,
        "small-radii": small_radii_case,
        "large-labels": large_labels_case,
        "attention": attention_case,
        "one-token": one_token_case,
    }
    return make_cases(makers, plan, preset)


def width_case(plan: Plan, preset: KernelPreset) -> Case:
    refuse_swept(plan.changes, "heads")
    label = f"m = {preset.widths[0]} to {preset.widths[-1]}"
    return Case(
        "width",
        label,
        settings_at(plan, preset, preset.widths, seeds=preset.seeds),
        width_claims(preset.limit_heads),
        derived=BesideKernels(preset.limit_heads),
    )


def scale_case(plan: Plan, preset: KernelPreset) -> Case:
    """Larger labels take the network farther: what it does beyond its linearisation grows with
    their square.
    """
    _refuse_changes(plan)
    settings: list[Setting] = []
    for scale in LABEL_SCALES:
        # At 1 they are runs of the sweep.
        nu = {"nu_c": 3.0 * scale, "nu_u": 3.0 * scale} if scale > 1 else {}
        settings += settings_at(plan, preset, (preset.middle,), teacher=nu)
    return Case(
        "scale",
        f"m = {preset.middle}, labels up to 9 times as large",
        tuple(settings),
        (scale_claim(preset.middle), no_projection_claim()),
        derived=BesideKernels(preset.limit_heads),
    )


def long_case(plan: Plan, preset: KernelPreset) -> Case:
    """Descent without end, in reach of a step ten times the theorem's largest: the network against
    regression without a penalty.
    """
    _refuse_changes(plan)
    settings = settings_at(plan, preset, (preset.middle,))
    return Case(
        "long",
        f"m = {preset.middle}, step 10: descent without end",
        tuple(replace(setting, rate=LONG_RATE) for setting in settings),
        (ridgeless_claim(), own_validation_claim()),
        derived=BesideKernels(preset.limit_heads),
    )


def small_radii_case(plan: Plan, preset: KernelPreset) -> Case:
    _refuse_changes(plan)
    least = preset.widths[0]
    return Case(
        "small-radii",
        f"m = {least}, ρ = 0.02",
        settings_at(plan, preset, (least,), seeds=preset.control_seeds, radii=(0.02, 0.02, 0.02)),
        lazy_claims(),
        control="radii that cover the target: at ρ = 0.02 every head is stopped on its way",
        derived=BesideKernels(preset.limit_heads),
    )


def large_labels_case(plan: Plan, preset: KernelPreset) -> Case:
    """Ten times the labels at the smallest width: within the radii, but far from the
    start.
    """
    _refuse_changes(plan)
    least = preset.widths[0]
    broken = (
        "a student that stays near its start: labels ten times as large take a few heads too far"
    )
    labels = {"nu_c": 30.0, "nu_u": 30.0}
    return Case(
        "large-labels",
        f"m = {least}, ν = 30",
        settings_at(plan, preset, (least,), seeds=preset.control_seeds, teacher=labels),
        lazy_claims(),
        control=broken,
        derived=BesideKernels(preset.limit_heads),
    )


def attention_case(plan: Plan, preset: KernelPreset) -> Case:
    """The kernel of the start, of which attention's own weights have a part."""
    _refuse_changes(plan)
    return Case(
        "attention",
        f"m = {preset.middle}, the start",
        starts_at(plan, preset),
        (attention_claim(),),
    )


def one_token_case(plan: Plan, preset: KernelPreset) -> Case:
    """With one token attention has nothing to choose from: M = 0, and so K_w = 0."""
    _refuse_changes(plan)
    return Case(
        "one-token",
        f"m = {preset.middle}, T = 1",
        starts_at(plan, preset, tokens=1),
        (attention_claim(),),
        control="tokens to choose from: the softmax over one token is 1 whatever W is",
    )


def starts_at(plan: Plan, preset: KernelPreset, tokens: int = 16) -> tuple[Setting, ...]:
    """The starts of the middle width, of which only the kernel is looked at."""
    setting = setting_at(
        heads=preset.middle,
        samples=preset.samples,
        steps=1,
        measures=(),
        tokens=tokens,
        pool=preset.pool,
    )
    return over_seeds(look_at_start(setting, ("probe_kernel",)), plan.seeds or preset.fewer_seeds)


def _refuse_changes(plan: Plan) -> None:
    if plan.changes:
        raise NoSuchOption(
            "Only the sweep of widths takes changes; this case has sizes of its own."
        )


def settings_at(
    plan: Plan,
    preset: KernelPreset,
    widths: Sequence[int],
    *,
    seeds: int | None = None,
    radii: tuple[float, float, float] = (3.0, 3.0, 3.0),
    teacher: Mapping[str, Value] | None = None,
) -> tuple[Setting, ...]:
    """Every width with every seed; a horizon that was changed brings its own step 1/√τ unless a
    step was given too.
    """
    base = setting_at(
        heads=2,
        samples=preset.samples,
        steps=plan.steps or preset.steps,
        pool=preset.pool,
        measures=MEASURES,
        radii=radii,
        teacher=teacher,
    ).change(**{"objective.validation": preset.samples})
    setting = changed(base, plan.changes, WITHOUT_WIDTH)
    if setting.steps != base.steps and setting.rate == base.rate:
        setting = replace(setting, rate=setting.steps**-0.5)
    count = plan.seeds or seeds or preset.fewer_seeds
    return tuple(
        one
        for heads in widths
        for one in over_seeds(setting.change(**{"student.heads": heads}), count)
    )


def case_at(setting: Setting) -> Case:
    """The kernel and the network at one width. Exponents in m take several."""
    said = (claim for claim in width_claims(LIMIT_HEADS) if not isinstance(claim, Exponent))
    return at_setting(setting, said, measures=MEASURES, derived=BesideKernels(LIMIT_HEADS))


study = Study(
    source=f"{SOURCE}, the kernel of Section 3; rates and constants {HERE}",
    statement=(
        "From the symmetric start the tangent kernel K_m is a mean over m/2 independent heads; "
        "its distance to the limit K_c+K_u+K_w is predicted with its constant. A network that "
        "stays near its start descends in K_m: its loss curve is known before it is trained. "
        "Mirror images cancel the first order of what it does beyond that, so the network departs "
        "from descent in K_m like 1/m, and from descent in K like m^(−½)."
    ),
    equation=(
        "E‖K_m−K‖² = (2/m)Σ Var k_ij;   f_t^lin = y − (I − 2ηK_m/n)^t y;   f_t − "
        "f_t^lin = O(1/m),   K_t − K_0 = O(1/m)"
    ),
    choices=(
        *CHOICES,
        "The paper names the kernel and compares with nothing trained in it; the comparison is "
        "ours. The kernel is looked at on the first 32 inputs; its limit is a mean over 4,096 "
        "heads, whose own error enters the predictions as 1/P.",
        "Labels come from a pool of 1,024 heads (8,192 in the preset `paper`): network and kernel "
        "are given the same labels, so that the pool's error is in both.",
        "Descent without end uses the step η = 10 in place of 1/√τ, which would need a million "
        "steps.",
    ),
    presets={
        "quick": KernelPreset(
            seconds=35.0,
            seeds=16,
            samples=32,
            pool=1024,
            widths=(16, 64, 128, 256),
            steps=256,
            limit_heads=LIMIT_HEADS,
            fewer_seeds=12,
            control_seeds=32,
        ),
        # d, T, τ, the pool and the largest width are the paper's, which trains nothing in a kernel.
        # With its n = 5,000 the limit kernel alone would take an hour per seed. Seeds by the power
        # calculation: 15. In double precision, since the distance of a network from descent in its
        # own kernel is too small for single.
        "paper": KernelPreset(
            seconds=1800.0,
            gigabytes=3.0,
            seeds=16,
            samples=500,
            pool=8192,
            widths=(16, 64, 128, 256),
            steps=4000,
            limit_heads=LIMIT_HEADS,
            fewer_seeds=12,
            control_seeds=12,
        ),
    },
    cases=cases,
    case_at=case_at,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    letters=WITHOUT_WIDTH,
    checked_in="src/tutelage/papers/shallow_transformers/theory/kernel.py",
)
