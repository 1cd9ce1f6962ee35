"""Angles in pairs: equal blocks and a weight of −½ on the query's token, and minima that are not
global.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tutelage.papers.in_context_autoregression.orthogonal import figures
from tutelage.papers.in_context_autoregression.orthogonal.claims import (
    BLOCKS,
    FORMULA,
    LADDER,
    LAG,
    LEVEL,
    LIMIT,
    MINIMA,
    REACH,
    SPURIOUS,
    STORED,
    TURNED,
    UNSETTLED,
    enumerated_over_independent,
    least_curvature_anywhere,
)
from tutelage.papers.in_context_autoregression.setup import (
    DERIVED,
    FROM_MEMORY,
    START,
    AttentionPreset,
    attention_setting,
    change_settings,
    expect_training,
    over_seeds,
    start_of,
    steady_rate,
)
from tutelage.settings import Part, Setting
from tutelage.studies.study import Case, Plan, Study, at_setting

MEASURES = ("prefix_loss", "level", "partner_ratios", "lag_ratios", "block_overlap")
SHARE = 0.03  # of 1/(dc²), the step size
PUBLISHED_RATE = 0.001
SMALL_START = 0.02  # from which |c| is that of a vanishing one, within the tolerance


@dataclass(frozen=True, kw_only=True)
class OrthogonalPreset(AttentionPreset):
    heads: int = 8
    half_dim: int = 6  # of the case with half as many heads as features
    half_tokens: int = 6
    half_seeds: int = 48
    steps: int = 40_000
    published_steps: int = 100_000


def paired_setting(
    dim: int, tokens: int, heads: int, start: float, steps: int, seed: int
) -> Setting:
    """Plain descent on pairs of angles."""
    return attention_setting(
        dim,
        tokens,
        heads=heads,
        process="orthogonal",
        start=start,
        rate=steady_rate(dim, tokens, SHARE),
        steps=steps,
        seed=seed,
        measures=MEASURES,
    )


def published(preset: OrthogonalPreset, seed: int) -> Setting:
    """The published run: its start and step size."""
    setting = paired_setting(10, 20, 8, 0.1, preset.published_steps, seed)
    return setting.change(rate=PUBLISHED_RATE, **{"student.draw": "published"})


def cases(plan: Plan, preset: OrthogonalPreset) -> list[Case]:
    """Fewer heads than features, half as many, the published run, and controls."""
    d, T, H, first = preset.dim, preset.tokens, preset.heads, preset.first_seed
    seeds, steps = plan.seeds or preset.seeds, preset.steps
    base = paired_setting(d, T, H, SMALL_START, steps, first)
    main = Case(
        "fewer-heads",
        f"d = {d}, H = {H}, T = {T}",
        change_settings(plan, over_seeds(base, seeds)),
        (BLOCKS, LAG, LIMIT, REACH),
    )
    if plan.changes:
        return [main]
    size, length = preset.half_dim, preset.half_tokens
    half = paired_setting(size, length, size // 2, 0.1, steps, first)
    half = half.change(rate=half.rate / 3)  # some runs slide into steep valleys
    halves = over_seeds(half, plan.seeds or preset.half_seeds)
    more = over_seeds(half.change(**{"student.heads": size // 2 + 1}), 4)
    ten = over_seeds(paired_setting(d, T, d // 2, 0.1, steps, first), min(seeds, 8))
    point = Setting.of_calculation(
        Part("enumerated_loss"),
        seed=first,
        teacher=Part("rotating_tokens", dim=4, tokens=5, process="orthogonal"),
        inputs=Part("rotations"),
        student=Part("linear_attention", start=1.0),
        objective=Part("next_token"),
    )
    points = over_seeds(point, 3)
    independent = {"teacher.process": "unitary"}
    return [
        main,
        Case(
            "published",
            "the published script",
            (published(preset, 0),),
            (STORED, BLOCKS, LAG),
        ),
        Case(
            "half",
            f"d = {size}, H = d/2",
            halves,
            (LADDER, MINIMA, LEVEL, SPURIOUS, TURNED, UNSETTLED),
        ),
        Case("half-of-more", f"d = {d}, H = d/2", ten, (LADDER, SPURIOUS, TURNED, UNSETTLED)),
        Case("loss", "enumerated", points, (FORMULA,)),
        Case(
            "all-heads",
            f"H = d = {d}",
            over_seeds(base.change(**{"student.heads": d}), 4),
            (BLOCKS, LAG),
            "H < d: as many heads as features leave the blocks to the start",
        ),
        Case(
            "large-start",
            "start 0.1",
            over_seeds(base.change(**{"student.start": 0.1}), 4),
            (LIMIT,),
            "a vanishing start: one of 0.1 moves |c| by 3%",
        ),
        Case(
            "another-seed",
            "seed 1",
            (published(preset, 1).change(steps=10_000),),
            (STORED,),
            "the authors' seed: another start ends elsewhere",
        ),
        Case(
            "independent-angles",
            "independent angles, H = d/2",
            over_seeds(half.change(**independent), 3),
            (LADDER,),
            "pairs of angles: independent ones leave d − H",
        ),
        Case(
            "on-the-way",
            "150 steps",
            over_seeds(half.change(steps=150), 4),
            (replace(MINIMA, values=least_curvature_anywhere),),
            "the runs have ended: on the way there are directions of negative curvature",
        ),
        Case(
            "one-head-more",
            f"H = d/2 + 1 = {size // 2 + 1}",
            more,
            (LEVEL,),
            "H = d/2: a spare head brings an eigenvalue that C does not fix",
        ),
        Case(
            "independent-formula",
            "the other loss",
            points,
            (replace(FORMULA, read=enumerated_over_independent),),
            "independent angles: their formula is not the loss of pairs",
        ),
    ]


def case_at(setting: Setting) -> Case:
    """Blocks and weights of runs that predict; their level from a small start, or with H = d/2,
    where ends that do not predict are known too.
    """
    expect_training(setting, "rotating_tokens")
    start = start_of(setting)
    said = [BLOCKS, LAG]
    if 2 * start.heads == start.teacher.dim:
        said += [LEVEL, LADDER, MINIMA]
    elif setting.student.options.get("start", START) <= SMALL_START:
        said += [LIMIT]
    return at_setting(setting, (*said, REACH), measures=MEASURES)


study = Study(
    source=f"the theorem on orthogonal processes, {FROM_MEMORY}; sharper: {DERIVED}",
    statement=(
        "If angles come in pairs ±θ, as those of a real orthogonal matrix do, BᵀA becomes blocks "
        "[[c,c′],[c′,c]] and two tokens are weighed: s_{t+1} = 2cosθ s_t − s_{t−1}. Sharper, and "
        "derived here: d/2 ≤ H < d heads force c′ = c and the ratio −½ of the weights, and small "
        "starts end at |c| = (5R/4d)^(1/3). With H = d/2 each block may end turned, "
        "[[c,−c],[−c,c]]: minima that are not global, whose losses are known."
    ),
    equation=(
        "L_m = Σ_i (p_ℓ(C1)_i + p̄C_iī)² + (‖p‖² − p_ℓ²)(‖C‖² − ΣC_iī²) − 2p_n tr C + d;   "
        "p_ℓ/p_n = −c′/(c + c′);   turned blocks alone: L_m = d/m"
    ),
    choices=(
        "A run counts as one that predicts the next token if its loss per prefix is below 0.01 at "
        "the end; claims about its blocks and weights are about those runs.",
        "Spare heads bring the loss down like t⁻² for a long time, so blocks and weights are "
        "claimed within 1% and 0.005.",
    ),
    presets={
        "quick": OrthogonalPreset(seconds=45.0, seeds=8),
        "confirm": OrthogonalPreset(
            seconds=60.0,
            seeds=8,
            dim=8,
            tokens=14,
            heads=6,
            half_dim=8,
            half_tokens=9,
            first_seed=1000,
        ),
        "paper": OrthogonalPreset(seconds=180.0, seeds=50, half_seeds=200),
    },
    cases=cases,
    case_at=case_at,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/in_context_autoregression/theory/minima.py",
)
