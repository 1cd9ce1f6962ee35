"""Independent angles: heads become orthogonal, and a conservation law fixes the level of BᵀA."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Float

from tutelage.claims import Exponent, Measured, Number, Ratio
from tutelage.claims.claim import NotYet
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.papers.in_context_autoregression.setup import (
    DERIVED,
    FROM_CODE,
    FROM_MEMORY,
    AttentionPreset,
    attention_setting,
    change_settings,
    fitted_slope,
    hypotheses,
    hypotheses_of_process,
    over_seeds,
    predict_level,
    predict_level_from_zero,
    start_of,
    steady_rate,
)
from tutelage.papers.in_context_autoregression.theory.minima import (
    contraction_per_step,
    unitary_floor,
)
from tutelage.papers.in_context_autoregression.unitary import figures
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Case, Plan, Study

MEASURES = ("prefix_loss", "level", "head_overlap", "newest_miss", "older_weight")
ROUNDING = 1e-10  # of what must vanish, some orders above what rounding leaves
PUBLISHED_RATE, PUBLISHED_STEPS = 0.01, 100
STORED_LEVEL = -1.201801  # c of the arrays that the authors stored, as our notes read them
SHARE = 0.03  # of 1/(dc²), the usual step size
STEPS_TIMES_SHARE = 45  # steps that are enough for such a step size
SHARES = (0.0145, 0.00725, 0.003625, 0.0018125)  # of 1/(dc²), step sizes that halve
GRID = tuple((d, T) for d in (4, 8, 16) for T in (5, 15, 40))
# The stretch of losses in which their contraction is read: after the start, before rounding.
HIGHEST_LOSS, LOWEST_LOSS = 1e-6, 1e-20


@dataclass(frozen=True, kw_only=True)
class UnitaryPreset(AttentionPreset):
    few_dim: int = 6  # of the case with fewer heads than features
    few_tokens: int = 10
    grid: tuple[tuple[int, int], ...] = GRID


def read_level(run: Run) -> float:
    """|c| at the end."""
    return abs(float(run.curves["level"][-1]))


def read_contraction(run: Run) -> float:
    """The change of log L in a step, between two losses close to the end."""
    loss = run.curves["prefix_loss"]
    late = (loss < HIGHEST_LOSS) & (loss > LOWEST_LOSS)
    if late.sum() < 4:
        raise NotYet("Too short to tell: the loss has not come close to zero.")
    return fitted_slope(run.steps[late].astype(float), np.log(loss[late]))


def predict_contraction(setting: Setting) -> float:
    """2 log(1 − 2ηdc²), c by the conservation law."""
    dim = start_of(setting).teacher.dim
    return contraction_per_step(dim, predict_level(setting), setting.rate)


def predict_contraction_from_zero(setting: Setting) -> float:
    """The same with c of a vanishing start."""
    dim = start_of(setting).teacher.dim
    return contraction_per_step(dim, predict_level_from_zero(setting), setting.rate)


def departures(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
    """(step size, | |c|/law − 1 |, seed) of every run."""
    found = []
    for run in runs:
        assert run.setting is not None
        departure = abs(read_level(run) / predict_level(run.setting) - 1)
        found.append((run.setting.rate, departure, run.setting.seed))
    return found


def worst_at_end(runs: Sequence[Run], curve: str) -> list[float]:
    """The largest size of a curve at the end of any run."""
    return [max(abs(float(run.curves[curve][-1])) for run in runs)]


def signed_levels(runs: Sequence[Run]) -> list[float]:
    return [float(run.curves["level"][-1]) for run in runs]


def read_floor(run: Run) -> Mapping[str, Float[np.ndarray, "points"]]:
    """`floor_miss`: the loss of a prefix less d − H."""
    assert run.setting is not None
    start = start_of(run.setting)
    floor = unitary_floor(start.teacher.dim, start.heads)
    return {"floor_miss": run.curves["prefix_loss"] - floor}


def read_formula(run: Run) -> float:
    return float(run.curves["formula"][-1])


def enumerated_over_formula(run: Run) -> float:
    """The loss by enumeration over what the objective says."""
    return float(run.curves["enumerated"][-1]) / read_formula(run)


LEVEL = Ratio(
    read_level,
    predict_level,
    0.003,
    of="|c|",
    certain=True,
    id="level",
    statement="|c| is what the conservation law gives from the start, within 0.3%",
    source=DERIVED,
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.SHARPER,
)
LIMIT = replace(
    LEVEL,
    value=predict_level_from_zero,
    id="limit",
    statement="|c| = (R/d)^(1/3) within 0.3%",
)
ORTHOGONAL = Number(
    partial(worst_at_end, curve="head_overlap"),
    0.0,
    "the largest head_overlap at the end",
    ROUNDING,
    "at most",
    certain=True,
    id="heads",
    statement="heads become orthogonal: BᵀA = cI",
    source=f"the theorem on unitary processes, {FROM_MEMORY}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.RECONSTRUCTED,
)
NEWEST = Number(
    partial(worst_at_end, curve="newest_miss"),
    0.0,
    "the largest newest_miss at the end",
    ROUNDING,
    "at most",
    certain=True,
    id="newest",
    statement="the newest token has the weight p = 1/c in every prefix",
    source=f"the theorem on unitary processes, {FROM_MEMORY}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.RECONSTRUCTED,
)
OLDER = Number(
    partial(worst_at_end, curve="older_weight"),
    0.0,
    "the largest older_weight at the end",
    ROUNDING,
    "at most",
    certain=True,
    id="older",
    statement="all other tokens have the weight 0",
    source=f"the theorem on unitary processes, {FROM_MEMORY}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.RECONSTRUCTED,
)
CONTRACTION = Ratio(
    read_contraction,
    predict_contraction,
    0.02,
    of="the change of log L in a step",
    certain=True,
    id="contraction",
    statement="the loss falls exponentially at the end, by 2 log(1 − 2ηdc²) a step, within 2%",
    source=DERIVED,
    hypotheses=hypotheses,
)
LINEAR = Exponent(
    departures,
    1.0,
    of="the departure of |c| from the law",
    tolerance=0.05,
    certain=True,
    id="order",
    statement="what |c| departs from the law by is linear in the step size: flow obeys it exactly",
    source=DERIVED,
    hypotheses=hypotheses,
)
STORED = Number(
    signed_levels,
    STORED_LEVEL,
    "c",
    5e-6,
    certain=True,
    id="stored",
    statement="the published script gives c = −1.201801, as the arrays that its authors stored",
    source=f"the stored arrays, as our notes have them; {FROM_CODE}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.PARTLY_READ,
)
CORRECTED = Measured(
    signed_levels,
    of="c of the published start and step size on the exact loss",
    certain=True,
    id="corrected",
    statement="c of the published start and step size, with every term counted once",
    source=FROM_CODE,
)
FLOOR = Number(
    partial(worst_at_end, curve="floor_miss"),
    0.0,
    "the largest distance of the loss of a prefix from d − H",
    1e-9,
    certain=True,
    id="floor",
    statement="H ≤ d heads leave a loss of d − H per prefix",
    source=f"the paper, on fewer heads: {FROM_MEMORY}; the value: {DERIVED}",
    hypotheses=hypotheses_of_process,
    claimed_by=ClaimedBy.SHARPER,
    source_text=SourceText.RECONSTRUCTED,
)
FORMULA = Ratio(
    enumerated_over_formula,
    1.0,
    1e-12,
    of="the enumerated loss over the formula",
    certain=True,
    id="formula",
    statement="the formula of the loss is its expectation over all angles",
    source=DERIVED,
    derived=True,
)


def grid_settings(preset: UnitaryPreset, start: float, share: float, steps: int) -> list[Setting]:
    """One setting per size, with a step size that fits it."""
    return [
        attention_setting(
            dim,
            tokens,
            start=start,
            rate=steady_rate(dim, tokens, share),
            steps=steps,
            seed=preset.first_seed,
            measures=("prefix_loss", "level"),
        )
        for dim, tokens in preset.grid
    ]


def cases(plan: Plan, preset: UnitaryPreset) -> list[Case]:
    """The law over seeds, step sizes and sizes; fewer heads; the published run; controls."""
    d, T, first = preset.dim, preset.tokens, preset.first_seed
    seeds = plan.seeds or preset.seeds
    base = attention_setting(
        d, T, rate=steady_rate(d, T, SHARE), steps=2_000, seed=first, measures=MEASURES
    )

    def longer(**changes: int | str) -> tuple[Setting, ...]:
        return over_seeds(base.change(steps=10_000, **changes), 3)

    main = Case(
        "small-rate",
        f"d = H = {d}, T = {T}",
        change_settings(plan, over_seeds(base, seeds)),
        (LEVEL, ORTHOGONAL, NEWEST, OLDER, CONTRACTION),
    )
    if plan.changes:
        return [main]
    rated = tuple(
        setting
        for share in SHARES
        for setting in over_seeds(
            base.change(rate=steady_rate(d, T, share), steps=round(STEPS_TIMES_SHARE / share)),
            min(seeds, 4),
        )
    )
    fewer = tuple(
        setting
        for heads in range(1, preset.few_dim + 1)
        for setting in few_heads(preset, heads, "unitary", min(seeds, 4))
    )
    twice = published("twice")
    point = Setting.of_calculation(
        Part("enumerated_loss"),
        seed=first,
        teacher=Part("rotating_tokens", dim=3, tokens=4),
        inputs=Part("rotations"),
        student=Part("linear_attention", start=1.0),
        objective=Part("next_token"),
    )
    points = over_seeds(point, 3)
    doubled = tuple(one.change(**{"objective.counted": "twice"}) for one in points)
    small = grid_settings(preset, start=0.02, share=SHARE, steps=6_000)
    smaller = grid_settings(preset, start=0.005, share=SHARE, steps=16_000)
    return [
        main,
        Case("rates", "step sizes", rated, (LINEAR,)),
        Case("sizes", "start 0.02", tuple(small), (LEVEL, LIMIT)),
        Case("smaller-start", "start 0.005", tuple(smaller), (LIMIT,)),
        Case("heads", f"d = {preset.few_dim}, H = 1 … d", fewer, (FLOOR,), derived=read_floor),
        Case("published", "the published script", (twice,), (STORED, LEVEL)),
        Case("corrected", "each term once", (published("once"),), (CORRECTED, LEVEL)),
        Case("loss", "enumerated", points, (FORMULA,)),
        Case(
            "fewer-heads",
            f"H = {d // 2} < d",
            longer(**{"student.heads": d // 2}),
            (ORTHOGONAL, NEWEST),
            "as many heads as features: fewer make BᵀA a projector, with entries beside its "
            "diagonal",
        ),
        Case(
            "spare-heads",
            f"H = {3 * d // 2} > d",
            longer(**{"student.heads": 3 * d // 2}),
            (LEVEL,),
            "H = d: with spare heads AAᵀ − BBᵀ has more eigenvalues than C fixes",
        ),
        Case(
            "paired-angles",
            "angles ±θ",
            longer(**{"teacher.process": "orthogonal"}),
            (ORTHOGONAL, OLDER),
            "independent angles: pairs let the token before the newest help",
        ),
        Case(
            "paired-floor",
            f"angles ±θ, H = {preset.few_dim - 2}",
            few_heads(preset, preset.few_dim - 2, "orthogonal", 3),
            (FLOOR,),
            "independent angles: of pairs fewer heads can predict all",
            derived=read_floor,
        ),
        Case(
            "from-zero",
            f"d = H = {d}, T = {T}",
            main.settings,
            (replace(CONTRACTION, value=predict_contraction_from_zero),),
            "the level that the start fixes: this is the rate of a vanishing start",
        ),
        Case(
            "quadratic",
            "step sizes",
            rated,
            (replace(LINEAR, exponent=2.0, statement="the departure is quadratic in η"),),
            "the order 1 of the departure: this claims 2",
        ),
        Case(
            "counted-once",
            "each term once",
            (published("once"),),
            (STORED,),
            "the term p²‖C‖² of the query is counted twice, as in the published script",
        ),
        Case(
            "counted-twice",
            "the published loss",
            doubled,
            (FORMULA,),
            "each term is counted once: the published script counts p²‖C‖² of the query twice",
        ),
    ]


def few_heads(preset: UnitaryPreset, heads: int, process: str, count: int) -> tuple[Setting, ...]:
    """Runs with H heads of fewer features."""
    dim, tokens = preset.few_dim, preset.few_tokens
    setting = attention_setting(
        dim,
        tokens,
        heads=heads,
        process=process,
        rate=steady_rate(dim, tokens, SHARE),
        steps=10_000,
        seed=preset.first_seed,
        measures=("prefix_loss",),
    )
    return over_seeds(setting, count)


def published(counted: str) -> Setting:
    """The published run: its seed, start and step size."""
    setting = attention_setting(
        10,
        20,
        rate=PUBLISHED_RATE,
        steps=PUBLISHED_STEPS,
        seed=0,
        measures=MEASURES,
    )
    return setting.change(**{"student.draw": "published", "objective.counted": counted})


study = Study(
    source=f"the theorem on unitary processes, {FROM_MEMORY}; its level: {DERIVED}",
    statement=(
        "Linear attention that is trained to predict the next token of s_{t+1} = W s_t, W "
        "diagonal with independent uniform angles, learns BᵀA = cI and a weight 1/c on the newest "
        "token alone: one step of gradient descent in context. Sharper, and derived here: "
        "gradient flow conserves AAᵀ − BBᵀ and ½(‖A‖² + ‖B‖²) − ‖P‖², and that fixes |c| by the "
        "start. H < d heads leave d − H."
    ),
    equation=(
        "L = Σ_m [ (‖p‖² − p_ℓ²)‖C‖² + p_ℓ²‖C1‖² − 2p_n tr C + d ],  C = BᵀA;   "
        "½Σ_k √(δ_k² + 4c²) − R/c² = ½(‖A₀‖² + ‖B₀‖²) − ‖P₀‖²;   |c| → (R/d)^(1/3)"
    ),
    choices=(
        "Exact population loss, summed over the R = T − 1 prefixes, as in the published script "
        "but for a term that it counts twice.",
        "The step size is 0.03/(dc²) (0.002 at d = 10, T = 20); the published one, 0.01, moves |c| "
        "by 0.14%.",
        "The published start is drawn with the random bits of the JAX of its time.",
    ),
    presets={
        "quick": UnitaryPreset(seconds=45.0, seeds=8),
        "confirm": UnitaryPreset(
            seconds=60.0,
            seeds=8,
            dim=12,
            tokens=16,
            few_dim=5,
            few_tokens=14,
            grid=((3, 7), (3, 30), (6, 15), (7, 50), (12, 8), (20, 25)),
            first_seed=1000,
        ),
        "paper": UnitaryPreset(seconds=90.0, seeds=100),
    },
    cases=cases,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/in_context_autoregression/theory/conservation.py",
)
