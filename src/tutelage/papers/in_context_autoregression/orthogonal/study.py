"""Angles in pairs: equal blocks and a weight of −½ on the query's token, and minima that are not
global.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import equinox as eqx
import jax
import numpy as np
from jax.flatten_util import ravel_pytree

from tutelage.claims import Measured, Number, Ratio
from tutelage.claims.claim import NotYet
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.claims.verdict import Hypothesis
from tutelage.papers.in_context_autoregression.orthogonal import figures
from tutelage.papers.in_context_autoregression.setup import (
    DERIVED,
    FROM_CODE,
    FROM_MEMORY,
    AttentionPreset,
    attention_setting,
    change_settings,
    over_seeds,
    start_of,
    steady_rate,
)
from tutelage.papers.in_context_autoregression.theory.conservation import (
    paired_level,
    paired_level_from_zero,
)
from tutelage.papers.in_context_autoregression.theory.minima import spurious_losses
from tutelage.problem.build import build
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Case, Plan, Study

MEASURES = ("prefix_loss", "level", "partner_ratios", "lag_ratios", "block_overlap")
REACHED = 1e-2  # loss of a prefix below which a run counts as one that predicts the next token
AT_REST = 1e-6  # change of the loss of a prefix in the second half of the steps
SHARE = 0.03  # of 1/(dc²), the step size
STORED_LEVEL = -1.28945  # c of the arrays that the authors stored, as our notes read them
PUBLISHED_RATE = 0.001


@dataclass(frozen=True, kw_only=True)
class OrthogonalPreset(AttentionPreset):
    heads: int = 8
    half_dim: int = 6  # of the case with half as many heads as features
    half_tokens: int = 6
    half_seeds: int = 48
    steps: int = 40_000
    published_steps: int = 100_000


def last(run: Run, curve: str) -> float:
    return float(run.curves[curve][-1])


def reached_runs(runs: Sequence[Run]) -> list[Run]:
    """Those that predict the next token at the end."""
    found = [run for run in runs if last(run, "prefix_loss") < REACHED]
    if not found:
        raise NotYet("No run has come to a loss near zero.")
    return found


def worst_partner(runs: Sequence[Run]) -> list[float]:
    """The largest |C_{iī}/C_ii − 1| of a run that predicts."""
    ends = [run.curves["partner_ratios"][-1] for run in reached_runs(runs)]
    return [float(np.abs(np.array(ends) - 1).max())]


def worst_lag(runs: Sequence[Run]) -> list[float]:
    """The largest |p_ℓ/p_n + ½| of a run that predicts."""
    ends = [run.curves["lag_ratios"][-1] for run in reached_runs(runs)]
    return [float(np.abs(np.array(ends) + 0.5).max())]


def worst_level(runs: Sequence[Run], predict: Callable[[Setting], float]) -> list[float]:
    """The largest departure of |c| from a prediction, of runs that predict."""
    found = []
    for run in reached_runs(runs):
        assert run.setting is not None
        found.append(abs(abs(last(run, "level")) / predict(run.setting) - 1))
    return [max(found)]


def predict_level_from_zero(setting: Setting) -> float:
    start = start_of(setting)
    return paired_level_from_zero(start.teacher.dim, start.rows)


def predict_paired_level(setting: Setting) -> float:
    start = start_of(setting)
    return paired_level(start.conserved, start.rows)


def worst_level_from_zero(runs: Sequence[Run]) -> list[float]:
    return worst_level(runs, predict_level_from_zero)


def worst_paired_level(runs: Sequence[Run]) -> list[float]:
    return worst_level(runs, predict_paired_level)


def share_reached(runs: Sequence[Run]) -> list[float]:
    """The share of runs that predict the next token.

    One number over these very starts: replicates of 0 and 1 are no normal numbers, for which the
    intervals of means are made.
    """
    return [float(np.mean([last(run, "prefix_loss") < REACHED for run in runs]))]


def share_spurious(runs: Sequence[Run]) -> list[float]:
    """The share of runs that have settled and do not predict."""
    stuck = [is_settled(run) and last(run, "prefix_loss") >= REACHED for run in runs]
    return [float(np.mean(stuck))]


def share_turned(runs: Sequence[Run]) -> list[float]:
    """The share of turned blocks over runs that have settled: C_{iī} = −C_ii nearly."""
    ends = [run.curves["partner_ratios"][-1] for run in settled_runs(runs)]
    return [float((np.array(ends) < 0).mean())]


def is_settled(run: Run) -> bool:
    """Whether the loss has not changed in the second half of the steps."""
    loss = run.curves["prefix_loss"]
    half = np.abs(run.steps - run.steps[-1] // 2).argmin()
    return bool(abs(loss[-1] - loss[half]) < AT_REST)


def settled_runs(runs: Sequence[Run]) -> list[Run]:
    found = [run for run in runs if is_settled(run)]
    if not found:
        raise NotYet("No run has settled.")
    return found


def share_unsettled(runs: Sequence[Run]) -> list[float]:
    return [float(np.mean([not is_settled(run) for run in runs]))]


def worst_rung(runs: Sequence[Run]) -> list[float]:
    """The largest distance of an end from the nearest of the predicted losses."""
    found = []
    for run in settled_runs(runs):
        assert run.setting is not None
        teacher = start_of(run.setting).teacher
        levels = spurious_losses(teacher.dim, teacher.tokens)
        found.append(float(np.abs(levels - last(run, "prefix_loss")).min()))
    return [max(found)]


def least_curvature(runs: Sequence[Run]) -> list[float]:
    """The smallest eigenvalue of the Hessian at the end, over its largest, of runs that do not
    predict; the lowest of them.
    """
    return least_curvature_anywhere(settled_runs(runs))


def least_curvature_anywhere(runs: Sequence[Run]) -> list[float]:
    """The same of all runs, settled or not."""
    stuck = [run for run in runs if last(run, "prefix_loss") >= REACHED]
    if not stuck:
        raise NotYet("No run has ended away from zero.")
    return [min(_least_curvature(run) for run in stuck)]


def _least_curvature(run: Run) -> float:
    assert run.setting is not None
    objective = build(run.setting).objective
    moving, rest = eqx.partition(run.student, eqx.is_inexact_array)
    flat, unflatten = ravel_pytree(moving)
    hessian = jax.hessian(lambda x: objective(eqx.combine(unflatten(x), rest)))(flat)
    sizes = np.linalg.eigvalsh(np.asarray(hessian))
    return float(sizes[0] / sizes[-1])


def signed_levels(runs: Sequence[Run]) -> list[float]:
    return [last(run, "level") for run in runs]


def enumerated_over_formula(run: Run) -> float:
    return last(run, "enumerated") / last(run, "formula")


def enumerated_over_independent(run: Run) -> float:
    return last(run, "enumerated") / last(run, "independent_formula")


def hypotheses(setting: Setting) -> tuple[Hypothesis, ...]:
    """What the statements about pairs of angles assume."""
    start = start_of(setting)
    dim, process = start.teacher.dim, start.teacher.process
    between = dim / 2 <= start.heads < dim
    heads = f"H = {start.heads}, d = {dim}"
    return (
        Hypothesis("angles come in pairs ±θ", process == "orthogonal", f"the process is {process}"),
        Hypothesis("d/2 ≤ H < d", between, heads),
        Hypothesis("the run ends at a global minimum", None, "not every run does"),
    )


BLOCKS = Number(
    worst_partner,
    0.0,
    "the largest |C_iī/C_ii − 1| of a run that predicts the next token",
    0.01,
    "at most",
    certain=True,
    id="blocks",
    statement="BᵀA has blocks c[[1,1],[1,1]], within 1%, in runs that predict the next token",
    source=f"the theorem on orthogonal processes, {FROM_MEMORY}; d/2 ≤ H < d: {DERIVED}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.SHARPER,
    source_text=SourceText.RECONSTRUCTED,
)
LAG = Number(
    worst_lag,
    0.0,
    "the largest |p_ℓ/p_n + ½| of a run that predicts the next token",
    0.005,
    "at most",
    certain=True,
    id="lag",
    statement="the query's token has −½ of the weight of the newest: s_{t+1} = 2cosθ s_t − s_{t−1}",
    source=f"the theorem on orthogonal processes, {FROM_MEMORY}; d/2 ≤ H < d: {DERIVED}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.SHARPER,
    source_text=SourceText.RECONSTRUCTED,
)
LIMIT = Number(
    worst_level_from_zero,
    0.0,
    "the largest departure of |c| from (5R/4d)^(1/3)",
    0.003,
    "at most",
    certain=True,
    id="limit",
    statement="|c| = (5R/4d)^(1/3) from a small start, within 0.3%, in runs that predict",
    source=DERIVED,
    hypotheses=hypotheses,
)
LEVEL = Number(
    worst_paired_level,
    0.0,
    "the largest departure of |c| from the conservation law",
    0.003,
    "at most",
    certain=True,
    id="level",
    statement="H = d/2: |c| is what the conservation law gives, within 0.3%, in runs that predict",
    source=DERIVED,
    hypotheses=hypotheses,
)
STORED = Number(
    signed_levels,
    STORED_LEVEL,
    "c",
    5e-4,
    certain=True,
    id="stored",
    statement="the published script gives c = −1.2895, as the arrays that its authors stored",
    source=f"the stored arrays, as our notes have them; {FROM_CODE}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.PARTLY_READ,
)
LADDER = Number(
    worst_rung,
    0.0,
    "the largest distance of an end from the nearest predicted loss",
    1e-6,
    "at most",
    certain=True,
    id="ladder",
    statement="H = d/2: every run that settles is at the loss of 0, 1, …, or d/2 turned blocks",
    source=DERIVED,
    hypotheses=hypotheses,
)
MINIMA = Number(
    least_curvature,
    0.0,
    "the smallest eigenvalue of the Hessian over its largest, at ends with a loss",
    1e-6,
    "at least",
    certain=True,
    id="minima",
    statement="settled ends with a loss have no direction of negative curvature",
    source=DERIVED,
    hypotheses=hypotheses,
)
REACH = Measured(
    share_reached,
    of="the share of runs that predict the next token",
    certain=True,
    id="reach",
    statement="the share of runs that come to a loss near zero",
    source=DERIVED,
)
SPURIOUS = Measured(
    share_spurious,
    of="the share of runs that end in a minimum that is not global",
    certain=True,
    id="spurious",
    statement="the share of runs that end in a minimum that is not global",
    source=DERIVED,
)
TURNED = Measured(
    share_turned,
    of="the share of blocks [[1,−1],[−1,1]]",
    certain=True,
    id="turned",
    statement="the share of turned blocks over all runs",
    source=DERIVED,
)
UNSETTLED = Measured(
    share_unsettled,
    of="the share of runs whose loss still changes in the second half",
    certain=True,
    id="unsettled",
    statement="the share of runs whose loss still changes in the second half of the steps",
    source=DERIVED,
)
FORMULA = Ratio(
    enumerated_over_formula,
    1.0,
    1e-12,
    of="the enumerated loss over the formula",
    certain=True,
    id="formula",
    statement="the formula of the loss is its expectation over all pairs of angles",
    source=DERIVED,
    derived=True,
)


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
    base = paired_setting(d, T, H, 0.02, steps, first)
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
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/in_context_autoregression/theory/minima.py",
)
