"""Length generalisation: the loss on T′ tokens over that on the T tokens of training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Float

from tutelage.claims import Constant, Order
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.papers.token_selection import paper
from tutelage.papers.token_selection.lengths import figures
from tutelage.papers.token_selection.setup import (
    DERIVED,
    FROM_SUMMARY,
    Task,
    fixed_codes,
    fresh_codes,
    hypotheses,
    paper_hypotheses,
    predict_plateau,
    task_of,
    train_head,
)
from tutelage.papers.token_selection.theory.collapse import loss
from tutelage.papers.token_selection.theory.lengths import (
    length_ratio,
    refitted_loss,
    refitted_ratio,
    unseen_loss,
)
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.changes import changed
from tutelage.studies.study import Case, Plan, Preset, Study

APPROACH = 0.5  # ratios near their limits like e^(−C), and so like t^(−1/2)


@dataclass(frozen=True, kw_only=True)
class LengthsPreset(Preset):
    task: Task
    others: tuple[int, ...]  # T′
    width: int
    steps: int


def predict_ratio(setting: Setting, *, other: int) -> float:
    task = task_of(setting)
    return length_ratio(task.tokens, task.support, other)


def predict_refitted(setting: Setting, *, other: int) -> float:
    task = task_of(setting)
    return refitted_ratio(task.tokens, task.support, other)


RATIO = Constant(
    "length_ratio",
    0.0,
    1.0,
    plateau=predict_plateau,
    approach=APPROACH,
    id="ratio",
    statement="L_T′/L_T → (T′ − T)²/(q(T − q)) + (T′ − q)/(T − q)",
    source=DERIVED,
    hypotheses=hypotheses,
)
REFITTED = Constant(
    "refitted_ratio",
    0.0,
    1.0,
    plateau=predict_plateau,
    approach=APPROACH,
    id="refitted",
    statement="with α fitted anew on T′ tokens: L_T′/L_T → (T′ − q)/(T − q)",
    source=DERIVED,
    hypotheses=hypotheses,
)
GENERALISES = Order(
    "length_loss",
    -1.0,
    plateau=predict_plateau,
    approach=APPROACH,
    id="generalises",
    statement="the loss on T′ tokens falls like that on T: Θ(1/t)",
    source=f"length generalisation: {FROM_SUMMARY}; its rate: {DERIVED}",
    hypotheses=paper_hypotheses,
    claimed_by=ClaimedBy.SHARPER,
    source_text=SourceText.RECONSTRUCTED,
)
VANISHES = Order(
    "length_loss",
    -1.0,
    plateau=predict_plateau,
    approach=APPROACH,
    side="upper",
    id="vanishes",
    statement="the loss on T′ tokens, of which training saw none, vanishes too",
    source=FROM_SUMMARY,
    hypotheses=paper_hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.RECONSTRUCTED,
)


def read_length(run: Run, *, other: int) -> Mapping[str, Float[np.ndarray, "points"]]:
    """`length_loss`, L on T′ tokens at the run's α and C; its ratio to L on T tokens; and the
    ratio with α fitted anew. NaN before the first step, where C = 0.
    """
    assert run.setting is not None
    task = task_of(run.setting)
    value, gap = run.curves["value_scale"], run.curves["score_gap"]
    fixed = run.setting.student.options["codes"] == "fixed"
    there = (
        unseen_loss(*task, other, value, gap)
        if fixed
        else np.asarray(loss(other, task.support, task.dim, value, gap))
    )
    here = run.curves["excess_risk"]
    fitted = refitted_loss(other, task.support, task.dim, gap)
    begun = run.steps > 0
    return {
        "length_loss": np.where(begun, there, np.nan),
        "length_ratio": np.where(begun, there / here, np.nan),
        "refitted_ratio": np.where(begun, fitted / here, np.nan),
    }


def cases(plan: Plan, preset: LengthsPreset) -> list[Case]:
    """One case per T′; unless something was changed, the controls."""
    steps = plan.steps or preset.steps
    base = train_head(preset.task, fresh_codes(preset.width), steps)
    fresh = changed(base, plan.changes, paper.letters)
    main = [
        Case(
            f"T{other}",
            f"T′ = {other}",
            (fresh,),
            (
                replace(RATIO, value=partial(predict_ratio, other=other)),
                replace(REFITTED, value=partial(predict_refitted, other=other)),
                GENERALISES,
                VANISHES,
            ),
            derived=partial(read_length, other=other),
        )
        for other in preset.others
    ]
    if plan.changes:
        return main
    longest = preset.others[-1]
    return [
        *main,
        Case(
            "unseen-positions",
            f"fixed codes, T′ = {longest}",
            (train_head(preset.task, fixed_codes(), steps),),
            (GENERALISES, replace(VANISHES, hypotheses=None)),
            "codes drawn anew: W knows nothing of positions that training never had",
            derived=partial(read_length, other=longest),
        ),
        Case(
            "alpha-kept",
            f"T′ = {longest}",
            (fresh,),
            (replace(RATIO, value=partial(predict_refitted, other=longest)),),
            "α fitted anew: the one that training leaves is tuned to T",
            derived=partial(read_length, other=longest),
        ),
        Case(
            "alpha-refitted",
            f"T′ = {longest}",
            (fresh,),
            (replace(REFITTED, value=partial(predict_ratio, other=longest)),),
            "α kept: fitted anew, it takes the term (T′ − T)² away",
            derived=partial(read_length, other=longest),
        ),
    ]


study = Study(
    source=f"{FROM_SUMMARY}; sharper: {DERIVED}",
    statement=(
        "Codes that are drawn anew at every step let a head that was trained on T tokens serve T′ "
        "of them. Sharper, and derived here: its loss there is a fixed multiple of that on T, "
        "which grows like (T′ − T)² because α is tuned to T."
    ),
    equation=(
        "L_T′/L_T → (T′ − T)²/(q(T − q)) + (T′ − q)/(T − q);   with α fitted anew: (T′ − q)/(T − q)"
    ),
    choices=(
        "The exact risk on T′ tokens, where the paper draws 128 sequences.",
        "Ratios near their limits like t^(−1/2), so that runs go to 10¹² steps by gradient flow.",
        "On positions that training never had, fixed codes are orthonormal to those it had.",
    ),
    presets={
        "quick": LengthsPreset(
            seconds=15.0, task=Task(20, 4, 5), others=(10, 40, 120), width=128, steps=10**12
        ),
        "large": LengthsPreset(
            seconds=15.0, task=Task(200, 8, 20), others=(100, 400, 1000), width=1024, steps=10**14
        ),
    },
    cases=cases,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    compares="the loss of one run on several numbers of tokens",
    checked_in="src/tutelage/papers/token_selection/theory/lengths.py",
)
