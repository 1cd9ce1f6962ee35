"""All of W and v trained on fresh batches: which blocks move, and which do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tutelage.claims import Exponent, Measured, Number
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.papers.group_sparse.full_attention import figures
from tutelage.papers.group_sparse.readings import number_of, setting_of
from tutelage.papers.group_sparse.setup import (
    FROM_SUMMARY,
    GroupPreset,
    expect_calculation,
    over_groups,
)
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Case, Plan, Study, at_setting

RATE = 0.5  # of one of the paper's experiments
BEFORE_PLATEAU = 20  # steps of unit codes: t = 10, where the plateau ends at 20
ODD = "an odd function has no mean: parts/blocks.py of this paper"
NOTES = "our notes, from runs like these; exploratory"


@dataclass(frozen=True, kw_only=True)
class BlocksPreset(GroupPreset):
    dim: int
    batches: tuple[int, ...]  # the last one is that of the other cases
    batch_seeds: int
    sine_steps: int
    unit_steps: int  # a plateau longer
    batch_steps: int


def at_end(name: str) -> Callable[[Sequence[Run]], list[float]]:
    def read(runs: Sequence[Run]) -> list[float]:
        return [number_of(run, name) for run in runs]

    return read


def share(part: str, whole: str) -> Callable[[Sequence[Run]], list[float]]:
    """The norm of one block over that of another, at the end."""

    def read(runs: Sequence[Run]) -> list[float]:
        return [abs(number_of(run, part) / number_of(run, whole)) for run in runs]

    return read


def by_batch(name: str) -> Callable[[Sequence[Run]], list[tuple[float, float, int]]]:
    """A norm, in geometric mean over the last factor of ten of steps, against the batch."""

    def read(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
        found = []
        for run in runs:
            setting = setting_of(run)
            assert setting.calculation is not None
            late = run.curves[name][run.steps >= run.steps[-1] / 10]
            size = float(np.exp(np.mean(np.log(late))))
            found.append((float(setting.calculation.options["batch"]), size, setting.seed))
        return found

    return read


SELECTED = Number(
    at_end("right"),
    0.9,
    "the mean weight of the right group at the end",
    0.0,
    "at least",
    id="selects",
    statement="with all blocks trained, attention comes to the right group: at least 0.9",
    source=f"S_{{j*j}} → 1: {FROM_SUMMARY}",
    history="First asked after 600 steps, where unit codes are at 0.894 and it failed.",
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.PARTLY_READ,
)
ALIGNED = Number(
    share("code_part", "value_part"),
    0.05,
    "‖v₂‖/‖v₁‖ at the end",
    0.0,
    "at most",
    id="v2",
    statement="v₂ stays small beside v₁: at most 0.05 at this batch",
    source=f"v₂ = 0 on the population: {FROM_SUMMARY}",
    history="First asked of four seeds, which did not decide.",
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.PARTLY_READ,
)
CROSS = Exponent(
    by_batch("cross_blocks"),
    -0.5,
    "the norm of W₁₂ and W₂₁, in the batch,",
    0.25,
    id="cross-noise",
    statement="W₁₂ and W₂₁ are the noise of the batch: their norm falls like B^(−1/2)",
    source=f"derived here: {ODD}",
    history="First asked of eight seeds, which did not decide.",
)
SECOND = replace(
    CROSS,
    points=by_batch("code_part"),
    of="the norm of v₂, in the batch,",
    id="v2-noise",
    statement="v₂ is the noise of the batch: its norm falls like B^(−1/2)",
)
FIRST = replace(
    CROSS,
    points=by_batch("value_block"),
    of="the norm of W₁₁, in the batch,",
    statement="W₁₁ is the noise of the batch: its norm falls like B^(−1/2)",
)
FIRST_VANISHES = Number(
    at_end("along"),
    0.0,
    "v*ᵀW₁₁v* at the end",
    0.05,
    id="W11-vanishes",
    statement="W₁₁ stays 0, so that attention is by position alone",
    source="what position-only attention assumes; whether the paper claims it is not known to us",
)
FIRST_MOVES = Number(
    at_end("along"),
    -0.2,
    "v*ᵀW₁₁v* at the end",
    0.0,
    "at most",
    id="W11-moves",
    statement="W₁₁ does not vanish: v*ᵀW₁₁v* comes to −0.2 or less",
    source=NOTES,
)
ONE_DIRECTION = Number(
    share("across", "along"),
    0.2,
    "‖W₁₁ − (v*ᵀW₁₁v*)v*v*ᵀ‖ over |v*ᵀW₁₁v*|",
    0.0,
    "at most",
    id="W11-direction",
    statement="W₁₁ is a multiple of v*v*ᵀ up to a fifth of its norm",
    source=NOTES,
)
MEASURED = (
    Measured(
        at_end("along"),
        "v*ᵀW₁₁v* at the end",
        id="along",
        statement="the multiple of v*v*ᵀ that W₁₁ comes to",
        source=NOTES,
    ),
    Measured(
        share("cross_blocks", "code_block"),
        "the norm of W₁₂ and W₂₁ over that of W₂₂",
        id="cross-share",
        statement="how large the cross blocks are beside the block of the codes",
        source=NOTES,
    ),
)
CLAIMS = (SELECTED, ALIGNED, FIRST_VANISHES, FIRST_MOVES, ONE_DIRECTION, *MEASURED)


def cases(plan: Plan, preset: BlocksPreset) -> list[Case]:
    """Both kinds of codes, sine ones at several batches; unless something was changed, controls."""

    def over(codes: str, batch: int, steps: int, seeds: int) -> tuple[Setting, ...]:
        calculation = Part("group_blocks", batch=batch, rate=RATE, steps=steps)
        (setting,) = over_groups(
            plan, preset.groups, calculation, codes, preset.dim, preset.first_seed
        )
        count = plan.seeds or seeds
        return tuple(replace(setting, seed=setting.seed + i) for i in range(count))

    batches = tuple(
        setting
        for batch in preset.batches
        for setting in over("sine", batch, preset.batch_steps, preset.batch_seeds)
    )
    seeds, largest = "the batches", preset.batches[-1]
    main = [
        *(
            Case(
                codes,
                f"{codes} codes",
                over(codes, largest, steps, preset.seeds),
                CLAIMS,
                varies=seeds,
            )
            for codes, steps in (("sine", preset.sine_steps), ("unit", preset.unit_steps))
        ),
        Case("batches", "sine codes, several batches", batches, (CROSS, SECOND), varies=seeds),
    ]
    if plan.changes:
        return main
    return [
        *main,
        Case(
            "on-the-plateau",
            "unit codes, 20 steps",
            over("unit", largest, BEFORE_PLATEAU, preset.seeds),
            (replace(SELECTED, claimed_by=ClaimedBy.BEYOND), FIRST_MOVES),
            "a time beyond the plateau: before it nothing is selected",
            varies=seeds,
        ),
        Case(
            "first-block",
            "sine codes, several batches",
            batches,
            (FIRST,),
            "a block without a gradient on the population: W₁₁ has one",
            varies=seeds,
        ),
    ]


def case_at(setting: Setting) -> Case:
    """What the blocks have come to at the end."""
    expect_calculation(setting, "group_blocks")
    return at_setting(setting, CLAIMS)


QUICK = BlocksPreset(
    seconds=48.0,
    seeds=6,
    groups=(6,),
    dim=3,
    batches=(125, 500, 2000),
    batch_seeds=16,
    sine_steps=300,
    unit_steps=800,
    batch_steps=200,
)


study = Study(
    source=f"{FROM_SUMMARY}; blocks: {NOTES}",
    statement=(
        "Trained from zero with all of W and v, the block of the codes learns to select. The cross "
        "blocks and the part of v that reads codes are noise of the batch. The block of the "
        "features is not: it comes to a negative multiple of v*v*ᵀ."
    ),
    equation="f = Σ_j vᵀZ softmax(ZᵀWz_j),  z_j = [x_j; p_j],  W = [W₁₁ W₁₂; W₂₁ W₂₂]",
    choices=(
        "Fresh batches at every step, plain descent, η = 0.5 (a rate of one of the paper's "
        "experiments). The risk of the whole W has no closed form.",
        "Codes in their own basis: descent does not see a rotation.",
    ),
    presets={
        "quick": QUICK,
        # As many seeds as a claim needs that the quick one leaves open.
        "larger": replace(QUICK, seconds=150.0, seeds=64, only=("unit",)),
        "confirm": BlocksPreset(
            seconds=48.0,
            seeds=6,
            groups=(5,),
            dim=4,
            batches=(125, 500, 2000),
            batch_seeds=16,
            sine_steps=300,
            unit_steps=800,
            batch_steps=200,
            first_seed=1000,
        ),
        "paper": BlocksPreset(
            seconds=900.0,
            seeds=8,
            groups=(10,),
            dim=4,
            batches=(250, 1000, 4000),
            batch_seeds=16,
            sine_steps=3000,
            unit_steps=6000,
            batch_steps=500,
        ),
    },
    cases=cases,
    case_at=case_at,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/group_sparse/parts/blocks.py",
)
