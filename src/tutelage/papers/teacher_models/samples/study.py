"""Finite samples: the excess against n, beside least squares, ridge, a two-layer network and an
oracle on the same data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tutelage.papers.teacher_models.samples import claims, figures, noiseless
from tutelage.papers.teacher_models.samples.controls import controls
from tutelage.papers.teacher_models.samples.methods import SHARE, STUDENT
from tutelage.papers.teacher_models.samples.needs import counts_around, sweep_claims
from tutelage.papers.teacher_models.samples.settings import STEPS, setting_at, several_queries
from tutelage.papers.teacher_models.setup import LETTERS, THEOREM
from tutelage.papers.teacher_models.theory.linear_baselines import samples_of
from tutelage.settings import Part, Setting
from tutelage.studies.changes import NoSuchOption, changed
from tutelage.studies.study import Case, Plan, Preset, Study

# S* is given by hand, and the sweeps set D and d.
OPEN = {letter: LETTERS[letter] for letter in ("V", "tau", "eta", "T")}
LONGER_STEPS = 1500  # for networks, and near the threshold without noise
SETTLES = 1600  # samples up to which the identity's student settles in the steps that it has
ORACLE_COUNTS = (100, 1600)
NOISELESS_COUNTS = {"identity": (13, 17, 21, 30), "relu": (34, 51, 68)}
SEVERAL_COUNTS = (800,)
HIDDEN = {"identity": 2, "relu": 1}  # the narrowest network that can be the teacher


@dataclass(frozen=True, kw_only=True)
class SamplesPreset(Preset):
    """`seeds` are those of the curves against n."""

    sweep_seeds: int
    network_seeds: int
    identity_counts: tuple[int, ...]  # n of the curves
    relu_counts: tuple[int, ...]
    network_counts: tuple[int, ...]
    sizes: Mapping[str, tuple[tuple[int, int], ...]]  # (D, d) of the sweeps, by their letter
    identity_seeds: int = 0  # of the identity's curve, instead of `seeds`; 0 leaves them
    ridge_seeds: int = 0  # at its second n, where ridge is judged, if these are more
    pooled: int = 1  # samples of a sweep whose mean is one reading of the n that is needed


def cases(plan: Plan, preset: SamplesPreset) -> list[Case]:
    """Curves against n for both teachers, the sweeps, samples without noise and, unless something
    was changed, the controls.
    """
    try:
        identity, relu = (
            make_setting(setting_at(activation=activation), plan)
            for activation in ("identity", "relu")
        )
    except NoSuchOption as reason:
        return [Case("identity", "identity", (), (), left_out=str(reason))]
    many = plan.seeds or preset.seeds
    fewer = plan.seeds or preset.identity_seeds or many
    curve = settle(
        (
            *over_counts(identity, preset.identity_counts, fewer),
            *over_counts(identity, preset.identity_counts[1:2], preset.ridge_seeds)[fewer:],
        )
    )
    bent = over_counts(relu, preset.relu_counts, many)
    known = over_counts(replace(relu, student=Part("known_selection")), ORACLE_COUNTS, many)
    several = over_counts(
        make_setting(several_queries(), plan), SEVERAL_COUNTS, plan.seeds or preset.sweep_seeds
    )
    bases = {"identity": identity, "relu": relu}
    main = [
        Case("identity", "identity", curve, claims.identity_claims(curve)),
        Case("relu", "ReLU", bent, claims.relu_claims(bent)),
        Case("relu-oracle", "ReLU, S* known", known, claims.oracle_claims(known)),
        *(network_case(name, base, plan, preset) for name, base in bases.items()),
        *(sweep_case(axis, plan, preset) for axis in preset.sizes),
        *(noiseless_case(name, base, plan, preset) for name, base in bases.items()),
        Case(
            "several",
            "three outputs, four queries",
            several,
            (claims.dimension_law(several),),
        ),
    ]
    return main if plan.changes else [*main, *controls(curve, bent)]


def make_setting(setting: Setting, plan: Plan, steps: int = STEPS) -> Setting:
    """The setting as the plan wants it."""
    return changed(replace(setting, steps=plan.steps or steps), plan.changes, OPEN)


def over_counts(base: Setting, counts: Sequence[int], seeds: int) -> tuple[Setting, ...]:
    """Every n with every seed."""
    return tuple(
        replace(base, objective=base.objective.change(samples=n), seed=base.seed + seed)
        for n in counts
        for seed in range(seeds)
    )


def settle(settings: Sequence[Setting]) -> tuple[Setting, ...]:
    """More samples leave less of the error once training has settled, and settling takes longer:
    beyond `SETTLES` of them, steps grow like n.
    """
    return tuple(
        replace(one, steps=one.steps * max(1, samples_of(one) // SETTLES)) for one in settings
    )


def network_case(name: str, base: Setting, plan: Plan, preset: SamplesPreset) -> Case:
    """A two-layer network on the flattened input."""
    network = replace(
        make_setting(base, plan, LONGER_STEPS),
        student=Part("two_layer", hidden=HIDDEN[name]),
        rate=0.01,
        objective=Part("empirical", samples=100, held_out=8192),
    )
    seeds = plan.seeds or preset.network_seeds
    settings = over_counts(network, preset.network_counts, seeds)
    return Case(f"{name}-network", f"network, {name}", settings, claims.network_claims(settings))


def sweep_case(axis: str, plan: Plan, preset: SamplesPreset) -> Case:
    """D or d swept: each size at two n around the one that theory expects."""
    settings: list[Setting] = []
    for size in preset.sizes[axis]:
        base = make_setting(setting_at(*size), plan)
        seeds = plan.seeds or preset.sweep_seeds
        settings += over_counts(base, counts_around(STUDENT, base), seeds)
    said = sweep_claims(axis, settings, preset.pooled)
    return Case(axis, f"{axis} swept", tuple(settings), said)


def noiseless_case(name: str, base: Setting, plan: Plan, preset: SamplesPreset) -> Case:
    """No label noise, with n around the statistical dimension."""
    quiet = make_setting(base, plan, LONGER_STEPS).change(**{"teacher.noise": 0.0})
    settings = over_counts(quiet, NOISELESS_COUNTS[name], plan.seeds or preset.seeds)
    said = noiseless.identity_claims if name == "identity" else noiseless.found_measures
    return Case(f"{name}-noiseless", f"no noise, {name}", settings, said(settings))


QUICK = SamplesPreset(
    seconds=80.0,
    gigabytes=1.5,
    seeds=20,
    sweep_seeds=10,
    network_seeds=5,
    identity_counts=(50, 100, 400, 1600),
    relu_counts=(100, 400, 3200),
    network_counts=(100, 400, 1600),
    sizes={"D": ((8, 8), (16, 8), (32, 8)), "d": ((16, 4), (16, 8), (16, 16))},
)


study = Study(
    source=f"asked of {THEOREM}; derived here (docs/derivations.md, section 15)",
    statement=(
        "The paper trains on the population. On a fixed sample of n labelled inputs with noise τ "
        "the student fits some of the noise: to leading order as much as a linear model of δ "
        "parameters, δ the statistical dimension of its tangent cone at the teacher. A weight "
        "that must be zero counts one half, since a softmax cannot be negative. Least squares on "
        "the flattened input fits D·d parameters, an oracle that knows S* fits d."
    ),
    equation=(
        "2n·excess/τ² → δ = Md − 1 + K + (D−K)/2 (one query);   least squares: "
        "Dd·n/(n−Dd−2);   oracle: d·n/(n−d−1)"
    ),
    choices=(
        "One output, one query, K = 4; D = 16 and d = 8 but in the sweeps; ‖V*‖² = K, so that "
        "the signal has variance 1; τ = ½.",
        f"The student is trained to convergence, not stopped early: Adam, step 0.05, {STEPS} "
        "steps, scores not divided by √D, which is faster and has the same minimum. The excess "
        "is the closed form.",
        "Least squares and ridge have an intercept; ridge takes the penalty with the least "
        "leave-one-out error. The oracle is least squares on X S*; for ReLU it is a student with "
        "S = S* fixed, trained alike.",
        "A network of equal size does not exist: one hidden unit reads D·d = 128 numbers and the "
        "student has D + d = 24. It is the narrowest that can be the teacher (two units for the "
        f"identity, one for ReLU), {LONGER_STEPS} steps, judged on 8192 held-out inputs.",
        f"The n that a method needs is where its excess is {SHARE:.0%} of that of predicting zero.",
        "Means over samples are steadied by a control variate of mean zero: what the sample's "
        "own noise does to the linearised method.",
    ),
    presets={
        "quick": QUICK,
        # As many seeds as the claims need that the quick one leaves open.
        "larger": replace(
            QUICK,
            seconds=480.0,
            seeds=140,
            sweep_seeds=140,
            only=("identity", "relu", "relu-oracle", "d", "several"),
        ),
        # What that one leaves open: a larger n, where the exponent of the student bends less; more
        # samples; and means over ten of them, since single readings of a need may be negative.
        "largest": replace(
            QUICK,
            seconds=1800.0,
            seeds=450,
            identity_seeds=140,
            ridge_seeds=3000,
            sweep_seeds=450,
            pooled=10,
            identity_counts=(50, 100, 400, 1600, 6400),
            only=("identity", "relu", "relu-oracle", "D", "d", "identity-noiseless"),
        ),
        "full": SamplesPreset(
            seconds=1500.0,
            gigabytes=4.0,
            seeds=50,
            sweep_seeds=20,
            network_seeds=10,
            identity_counts=(25, 50, 100, 200, 400, 800, 1600, 6400),
            relu_counts=(50, 100, 200, 400, 800, 1600, 3200, 12_800),
            network_counts=(100, 200, 400, 800, 1600, 3200),
            sizes={
                "D": ((8, 8), (16, 8), (32, 8), (64, 8)),
                "d": ((16, 4), (16, 8), (16, 16), (16, 32)),
            },
        ),
    },
    cases=cases,
    compares="numbers of samples, and several methods on the same ones",
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/teacher_models/theory/tangent_cone.py",
    letters=OPEN,
)
