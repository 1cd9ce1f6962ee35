"""The tangent kernel: a finite width against its limit, and the network against kernel regression,
step by step and without a fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tutelage.claims import Claim, Exponent, Number, Ratio
from tutelage.claims.claim import NotYet
from tutelage.claims.exponent import fitted_exponent
from tutelage.papers.shallow_transformers.setup import CHOICES, LETTERS, refuse_swept, setting_at
from tutelage.papers.shallow_transformers.theory.approximation import SOURCE, hypotheses
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.study import Answered, Case, NoSuchOption, Plan, changed

NAME = "shallow-transformers/kernel"
HERE = "derived here (docs/kernel.md)"
OPEN = {letter: path for letter, path in LETTERS.items() if letter != "m"}  # the sweep sets m
MEASURES = (
    "loss",
    "validation_loss",
    "outputs",
    "probe_kernel",
    "label_power",
    "label_error",
    "displacement",
)


@dataclass(frozen=True)
class Preset:
    """The sizes of a preset."""

    widths: tuple[int, ...]
    samples: int  # trained on, and as many held out
    steps: int
    pool: int
    limit: int  # heads that stand for the expectation in K
    seeds: int  # of the sweep over widths
    fewer: int  # of the other cases, where little is left to chance
    middle: int = 64  # the width of the cases that have one


PRESETS = {
    "quick": Preset((16, 64, 128, 256), 128, 256, 1024, 4096, 5, 3),
    "full": Preset((16, 32, 64, 128, 256, 512, 1024), 1000, 4000, 8192, 16384, 10, 5),
}
SCALES = (1.0, 3.0, 9.0)  # times ν_c and ν_u of the paper, which make the labels larger
# for descent without end: λ_max of K is near n/30, so that this is a third of the largest stable
# step
LONG_RATE = 10.0
# What these exponents are to be told from is a half away or more (−½ from −1 and 0, 2 from 1): a
# tenth does. The distance to descent in K rests on a few directions of chance, the same for all
# widths of a seed, and is second order at m = 16: there two tenths.
EXPONENT, CHANCE = 0.1, 0.2
# heads from which 1/m is asked of the drift: its next order, 1/m², is a fifth of it at m = 16
WIDE = 64.0


def heads_of(setting: Setting) -> float:
    return float(setting.student.options["heads"])


def limit_heads_of(case: Case) -> int:
    """How many heads stand for the expectation in the case's limit kernel."""
    assert isinstance(case.derived, partial)
    return int(case.derived.keywords["limit_heads"])


def curves(run: Run, limit_heads: int) -> dict[str, Any]:
    """The network beside descent in its own start's kernel K_m and in the limit kernel K, and how
    far its kernel is and goes.
    """
    from tutelage.measures.kernel import probed
    from tutelage.papers.shallow_transformers.theory import kernel as theory

    assert run.setting is not None
    own, limit = theory.own(run.setting), theory.limit(run.setting, limit_heads)
    size = np.linalg.norm(own.descent.labels)
    kernels = probed(run.curves["probe_kernel"]).sum(1)
    side = kernels.shape[1]
    reference = limit.descent.kernel[:side, :side]
    norm = np.linalg.norm(kernels[0])
    found = {
        "kernel_gap": np.linalg.norm(kernels - reference, axis=(1, 2)) / np.linalg.norm(reference),
        "kernel_drift": np.linalg.norm(kernels - kernels[0], axis=(1, 2)) / norm,
        "smallest": np.linalg.eigvalsh(kernels)[:, 0] / np.linalg.eigvalsh(reference)[0],
        "least_share": np.linalg.eigvalsh(kernels)[:, 0] / np.linalg.eigvalsh(kernels)[:, -1],
    }
    for name, kind in (("own", own), ("limit", limit)):
        found |= {
            f"{name}_loss": kind.descent.loss(run.steps),
            f"{name}_validation": kind.validation(run.steps),
            f"{name}_gap": np.linalg.norm(
                run.curves["outputs"] - kind.descent.outputs(run.steps), axis=1
            )
            / size,
            f"{name}_ridgeless": np.full(len(run.steps), kind.ridgeless()),
        }
    return found


def last(name: str, over: str | None = None) -> Callable[[Run], float]:
    """The last value of a curve, or of its ratio to another."""
    return lambda run: float(run.curves[name][-1] / (1.0 if over is None else run.curves[over][-1]))


def points(
    read: Callable[[Run], float], *, least: float = 0.0, chance: bool = False
) -> Callable[[Sequence[Run]], list[Any]]:
    """(m, y, seed) of every run of at least so many heads; `chance` marks a y that is a
    fluctuation, of which one seed tells nothing.
    """

    def found(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
        taken = [
            (heads_of(r.setting), read(r), r.setting.seed) for r in runs if r.setting is not None
        ]
        if chance and len({seed for _, _, seed in taken}) < 3:
            raise NotYet(
                "Too few to tell: what is measured is a fluctuation, and it takes three seeds or "
                "more to know its size."
            )
        wide = [point for point in taken if point[0] >= least]
        if len({m for m, _, _ in wide}) < 3:
            raise NotYet(
                f"Too narrow to tell: this is asked of three widths or more from m = {least:g} on."
            )
        return wide

    return found


def over_prediction(
    read: Callable[[Run], float], predicted: Callable[[Setting], float]
) -> Callable[[Sequence[Run]], list[float]]:
    """For each seed the root mean square over widths of measured over predicted; seeds are the
    replications, widths share heads.
    """

    def values(runs: Sequence[Run]) -> list[float]:
        seeds = sorted({r.setting.seed for r in runs if r.setting is not None})
        ratios = [
            (r.setting.seed, read(r) / predicted(r.setting)) for r in runs if r.setting is not None
        ]
        return [math.sqrt(np.mean([x**2 for s, x in ratios if s == seed])) for seed in seeds]

    return values


def at_widest(read: Callable[[Run], float]) -> Callable[[Sequence[Run]], list[float]]:
    """The number of every run of the largest width."""

    def values(runs: Sequence[Run]) -> list[float]:
        widest = max(heads_of(r.setting) for r in runs if r.setting is not None)
        return [read(r) for r in runs if r.setting is not None and heads_of(r.setting) == widest]

    return values


def _claim(
    case: str, name: str, kind: Callable[..., Claim], statement: str, *given: Any, **more: Any
) -> Claim:
    return kind(
        *given,
        id=f"{NAME}/{case}/{name}",
        statement=statement,
        source=HERE,
        hypotheses=hypotheses,
        **more,
    )


def free(case: str) -> Claim:
    """Descent in a kernel knows no balls, so that the comparison is one only while no head reaches
    its own.
    """

    def farthest(runs: Sequence[Run]) -> list[float]:
        radii = [
            [r.setting.optimiser.options[f"rho_{letter}"] for letter in "cuw"]
            for r in runs
            if r.setting is not None
        ]
        return [
            max(
                float((r.curves["displacement"] / radius).max())
                for r, radius in zip(runs, radii, strict=True)
            )
        ]

    return _claim(
        case, "no-projection", Number, "no head reaches the edge of its ball",
        farthest, 1.0, "the farthest that any head goes, over its radius,", 0.0, "at most", True,
    )  # fmt: skip


def lazy_claims(case: str) -> list[Claim]:
    """The network is descent in the kernel of its own start: final losses on both samples, every
    run.
    """
    same = "at the last step is what descent in its start's own kernel K_m gives, (I−2ηK_m/n)^τ y"
    return [
        _claim(
            case, "own-loss", Ratio, f"the training loss {same}", last("loss", "own_loss"), 1.0, 0.01,
            of="the network's training loss over that of descent in K_m",
        ),
        _claim(
            case, "own-validation", Ratio, f"the validation loss {same}", last("validation_loss", "own_validation"), 1.0, 0.01,
            of="the network's validation loss over that of descent in K_m",
        ),
    ]  # fmt: skip


def width_claims(limit_heads: int) -> list[Claim]:
    """How the kernel, the network and the kernel's motion depend on m."""
    from tutelage.papers.shallow_transformers.theory import kernel as theory

    def fluctuation(axis: Sequence[float]) -> float:
        # (2/m + 1/P)^½: the heads of the limit fluctuate as well.
        return fitted_exponent([(m, math.sqrt(2 / m + 1 / limit_heads)) for m in axis])

    def first(run: Run) -> float:
        return float(run.curves["kernel_gap"][0])

    def most(name: str) -> Callable[[Run], float]:
        return lambda run: float(run.curves[name].max())

    kernel_gap = partial(_ahead, theory.kernel_gap, limit_heads)
    output_gap = partial(_ahead, theory.output_gap, limit_heads)
    return [
        _claim(
            "width", "kernel-exponent", Exponent, "‖K_m − K‖_F/‖K‖_F ∝ m^(−½) at the start",
            points(first, chance=True), fluctuation, "‖K_m−K‖/‖K‖", EXPONENT,
        ),
        _claim(
            "width", "kernel-constant", Number, "E‖K_m − K‖_F² = (2/m)Σ_ij Var k_ij, "
"k the kernel of one "
"head",
            over_prediction(first, kernel_gap), 1.0, "‖K_m−K‖ over its predicted "
"root mean square", 0.15,
        ),
        _claim(
            "width", "positive", Number, "K is positive semidefinite at every width and step",
            lambda runs: [min(float(r.curves["least_share"].min()) for r in runs)], 0.0,
            "the smallest eigenvalue over the largest, the "
"least of all runs and steps,", 1e-12, "at least", True,
        ),
        _claim(
            "width", "smallest-eigenvalue", Number, "E λ_min(K_m) ≤ λ_min(K), since "
"λ_min is concave",
            at_widest(lambda run: float(run.curves["smallest"][0])), 1.0, "λ_min(K_m)/λ_min(K) at the "
"largest width", 0.0, "at most",
        ),
        _claim(
            "width", "drift-exponent", Exponent, "‖K_t − K_0‖_F/‖K_0‖_F ∝ 1/m: the "
"order m^(−½) cancels "
"between mirror images",
            points(last("kernel_drift"), least=WIDE), -1.0, "the drift of the kernel", EXPONENT,
        ),
        _claim(
            "width", "own-exponent", Exponent, "sup_t ‖f_t − f_t^lin‖/‖y‖ ∝ 1/m, f^lin "
"descending in K_m",
            points(most("own_gap")), -1.0, "the largest distance to descent in K_m", EXPONENT,
        ),
        _claim(
            "width", "limit-exponent", Exponent, "‖f_τ − f_τ^K‖/‖y‖ ∝ m^(−½), f^K "
"descending in the limit "
"K",
            points(last("limit_gap"), chance=True), fluctuation, "the distance to descent in K", CHANCE,
        ),
        _claim(
            "width", "limit-constant", Number, "E‖f_τ − f_τ^K‖² is that of the "
"first-order response to "
"K_m − K",
            over_prediction(last("limit_gap"), output_gap), 1.0, "‖f−f^K‖ over its predicted "
"root mean square", 0.3,
        ),
        free("width"),
        *lazy_claims("width"),
        _claim(
            "width", "limit-validation", Number, "the validation loss of the widest "
"network is that of "
"descent in the limit kernel K",
            at_widest(last("validation_loss", "limit_validation")), 1.0, "validation loss over that "
"of descent in K", 0.2,
        ),
    ]  # fmt: skip


def _ahead(predicted: Callable[[Setting, int], float], limit_heads: int, setting: Setting) -> float:
    return predicted(setting, limit_heads)


@dataclass(frozen=True)
class Kernel:
    """The study `shallow-transformers/kernel`."""

    name: str = NAME
    sentence: str = (
        "The tangent kernel: finite width against its limit, and the network against "
        "kernel regression, with nothing fitted"
    )
    statement: str = (
        "From the symmetric start the tangent kernel K_m is a mean over m/2 independent heads; "
        "its distance to the limit K_c+K_u+K_w is "
        "predicted with its constant. A network that stays near its start descends in K_m: its "
        "loss curve is known before it is trained. "
        "Mirror images cancel the first order of what it does beyond that, so the network "
        "departs from descent in K_m like 1/m, and "
        "from descent in K like m^(−½)."
    )
    equation: str = (
        "E‖K_m−K‖² = (2/m)Σ Var k_ij;   f_t^lin = y − (I − 2ηK_m/n)^t y;   f_t − "
        "f_t^lin = O(1/m),   K_t − K_0 = O(1/m)"
    )
    source: str = f"{SOURCE}, the kernel of Section 3; rates and constants {HERE}"
    choices: tuple[str, ...] = (
        *CHOICES,
        "The paper names the kernel and compares with nothing trained in it; the comparison is "
        "ours. The kernel is looked at on the first "
        "32 inputs; its limit is a mean over 4,096 heads (16,384 in the full preset), whose own "
        "error enters the predictions as 1/P.",
        "Labels come from a pool of 1,024 heads (8,192 in the full preset): network and kernel "
        "are given the same labels, so that the "
        "pool's error is in both.",
        "Descent without end uses the step η = 10 in place of 1/√τ, which would need a million "
        "steps.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: OPEN)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 35.0, "full": 20000.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.0, "full": 3.0})
    checked_in: str = "src/tutelage/papers/shallow_transformers/theory/kernel.py"

    def cases(self, plan: Plan) -> list[Case]:
        """The sweep of widths; unless something was changed also larger labels, descent without end
        and the controls.
        """
        further = (_scale, _long, _radii, _large_labels)
        if not plan.changes:
            return [_width(plan), *(make(plan) for make in further)]
        why = "Only the sweep of widths takes changes; this case has sizes of its own."
        return [
            _width(plan),
            *(
                replace(make(Plan(plan.preset)), settings=(), claims=(), left_out=why)
                for make in further
            ),
        ]

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.shallow_transformers.kernel import figures as kernel_figures

        return kernel_figures.draw(answered, folder)


def _settings(
    plan: Plan, widths: Sequence[int], *, few: bool = False, **more: Any
) -> tuple[Setting, ...]:
    """Every width with every seed; a horizon that was changed brings its own step 1/√τ unless a
    step was given too.
    """
    size = PRESETS[plan.preset]
    steps = plan.steps or size.steps
    base = setting_at(
        heads=2, samples=size.samples, steps=steps, pool=size.pool, measures=MEASURES, **more
    )
    base = base.change(**{"objective.validation": size.samples})
    refuse_swept(plan.changes, "heads")
    setting = changed(base, plan.changes, OPEN)
    if setting.steps != base.steps and setting.rate == base.rate:
        setting = replace(setting, rate=setting.steps**-0.5)
    seeds = range(setting.seed, setting.seed + (plan.seeds or (size.fewer if few else size.seeds)))
    return tuple(
        replace(setting, seed=seed).change(**{"student.heads": m}) for m in widths for seed in seeds
    )


def _derived(plan: Plan) -> Callable[[Run], Mapping[str, Any]]:
    return partial(curves, limit_heads=PRESETS[plan.preset].limit)


def _width(plan: Plan) -> Case:
    size = PRESETS[plan.preset]
    try:
        settings = _settings(plan, size.widths)
    except NoSuchOption as reason:
        return Case("width", "widths", (), (), left_out=str(reason))
    words = f"m = {size.widths[0]} to {size.widths[-1]}"
    return Case("width", words, settings, tuple(width_claims(size.limit)), derived=_derived(plan))


def _scale(plan: Plan) -> Case:
    """Larger labels take the network farther: what it does beyond its linearisation grows with
    their square.
    """
    middle = PRESETS[plan.preset].middle
    sized = [
        {"nu_c": 3.0 * scale, "nu_u": 3.0 * scale} if scale > 1 else {} for scale in SCALES
    ]  # at 1, runs of the sweep
    settings = [s for nu in sized for s in _settings(plan, (middle,), few=True, teacher=nu)]
    claim = _claim(
        "scale", "own-exponent", Exponent, f"sup_t ‖f_t − f_t^lin‖/‖y‖ ∝ ‖y‖² at m = {middle}: the "
"first power cancels in mirror images",
        _by_label_size, 2.0, "the largest distance to descent in K_m, in "
"the size of the labels,", EXPONENT,
    )  # fmt: skip
    words = f"m = {middle}, labels up to 9 times as large"
    return Case("scale", words, tuple(settings), (claim, free("scale")), derived=_derived(plan))


def _by_label_size(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
    """The x of a point is the mean size of the labels over seeds at its ν; the seeds differ in it
    by less than the scales do.
    """
    found = [
        (float(r.setting.teacher.options.get("nu_c", 3.0)), r)
        for r in runs
        if r.setting is not None
    ]
    size = {
        nu: float(
            np.exp(
                np.mean(
                    [np.log(r.curves["label_power"][0]) / 2 for other, r in found if other == nu]
                )
            )
        )
        for nu, _ in found
    }
    return [
        (size[nu], float(r.curves["own_gap"].max()), r.setting.seed)
        for nu, r in found
        if r.setting is not None
    ]


def _long(plan: Plan) -> Case:
    """Descent without end, in reach of a step ten times the theorem's largest: the network against
    regression without a penalty.
    """
    middle = PRESETS[plan.preset].middle
    settings = tuple(replace(s, rate=LONG_RATE) for s in _settings(plan, (middle,), few=True))
    claims = [
        _claim(
            "long", "ridgeless", Ratio, "after long training the validation loss is that of "
"ridgeless regression in K_m",
            last("validation_loss", "own_ridgeless"), 1.0, 0.05,
            of="the network's validation loss over that of ridgeless regression in K_m",
        ),
        *lazy_claims("long")[1:],
    ]  # fmt: skip
    return Case(
        "long",
        f"m = {middle}, step 10: descent without end",
        settings,
        tuple(claims),
        derived=_derived(plan),
    )


def _radii(plan: Plan) -> Case:
    least = PRESETS[plan.preset].widths[0]
    settings = _settings(plan, (least,), few=True, radii=(0.02, 0.02, 0.02))
    broken = "radii that cover the target: at ρ = 0.02 every head is stopped on its way"
    return Case(
        "small-radii",
        f"m = {least}, ρ = 0.02",
        settings,
        tuple(lazy_claims("small-radii")),
        broken,
        derived=_derived(plan),
    )


def _large_labels(plan: Plan) -> Case:
    """Ten times the labels at the smallest width: within the radii, and far from the start all the
    same.
    """
    least = PRESETS[plan.preset].widths[0]
    settings = _settings(plan, (least,), few=True, teacher={"nu_c": 30.0, "nu_u": 30.0})
    broken = (
        "a student that stays near its start: labels ten times as large take a few heads too far"
    )
    return Case(
        "large-labels",
        f"m = {least}, ν = 30",
        settings,
        tuple(lazy_claims("large-labels")),
        broken,
        derived=_derived(plan),
    )


KERNEL = Kernel()
