"""How fast the loss falls: L·t → N/4, Θ(1/t), and not log t/t."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from tutelage.claims import Claim, Constant, Curve, Measured, Order
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.papers.token_selection import paper
from tutelage.papers.token_selection.rates import figures
from tutelage.papers.token_selection.setup import (
    BOUND_REPORTED,
    DERIVED,
    Task,
    fixed_codes,
    fresh_codes,
    hypotheses,
    paper_hypotheses,
    predict_constant,
    predict_plateau,
    sign_codes,
    sizes_of,
    task_of,
    train_head,
)
from tutelage.papers.token_selection.theory.collapse import (
    descend,
    fixed_subset_constant,
    followed_loss,
    loss,
    plateau,
)
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.changes import changed
from tutelage.studies.study import Case, Plan, Preset, Study

FOLLOWED_AFTER = 100  # plateaus, from which on the curve in closed form is compared
SIGN_RATE, SIGN_STEPS, SIGN_WIDTH, SIGN_DRAWS = 2.0, 100_000, 64, 128
WHOLE = Task(7, 3, 2)  # of which all 35 subsets are gone through
WHOLE_STEPS = 2_000


@dataclass(frozen=True, kw_only=True)
class RatesPreset(Preset):
    tasks: tuple[Task, ...]
    width: int  # of fresh codes
    steps: int


ORDER = Order(
    "excess_risk",
    -1.0,
    plateau=predict_plateau,
    id="order",
    statement="L = Θ(1/t): no power of log t beside it",
    source=DERIVED,
    hypotheses=hypotheses,
)
CONSTANT = Constant(
    "excess_risk",
    -1.0,
    predict_constant,
    plateau=predict_plateau,
    id="constant",
    statement="L·t → N/4, whatever q and d",
    source=DERIVED,
    hypotheses=hypotheses,
)
BOUND = Order(
    "loss_over_log",
    -1.0,
    plateau=predict_plateau,
    side="upper",
    id="bound",
    statement="L = O(log t/t)",
    source=BOUND_REPORTED,
    hypotheses=paper_hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.RECONSTRUCTED,
)
SHARP_BOUND = replace(
    BOUND,
    side="both",
    statement="L = Θ(log t/t): the bound is sharp",
    claimed_by=ClaimedBy.BEYOND,
)


def predict_followed(
    setting: Setting, steps: Int[np.ndarray, "points"]
) -> Float[np.ndarray, "points"]:
    """L in closed form, if α follows C."""
    return followed_loss(sizes_of(setting), setting.rate * steps)


def begin_followed(setting: Setting) -> float:
    return FOLLOWED_AFTER * predict_plateau(setting)


FOLLOWED = Curve(
    "excess_risk",
    predict_followed,
    tolerance=0.01,
    start=begin_followed,
    id="curve",
    statement="L is on the closed curve r − 1/r + 2 log r ∝ −t within 1% from 100 plateaus on",
    source=DERIVED,
    hypotheses=hypotheses,
)


def predict_two_numbers(
    setting: Setting, steps: Int[np.ndarray, "points"]
) -> Float[np.ndarray, "points"]:
    """L after as many steps on α and C alone."""
    sizes = sizes_of(setting)
    path = descend(sizes, setting.rate, steps)
    return np.asarray(loss(*sizes[:3], path.value, path.gap))


TWO_NUMBERS = Curve(
    "excess_risk",
    predict_two_numbers,
    tolerance=1e-11,  # rounding of sums over 35 subsets, over 2000 steps
    id="two-numbers",
    statement="a whole head, trained on all subsets, is its two numbers α and C step by step",
    source=DERIVED,
    hypotheses=hypotheses,
    derived=True,
)


def predict_fixed_subset(setting: Setting) -> float:
    task = task_of(setting)
    return fixed_subset_constant(task.tokens, task.support)


FIXED_SUBSET = replace(
    CONSTANT,
    value=predict_fixed_subset,
    id="fixed-constant",
    statement="the subset is the same in every input: L·t → q(T − q)/(4T)",
    source="the counting law of teacher-models, at one query and scale 1",
    hypotheses=None,
)


def halving_times(runs: Sequence[Run]) -> list[float]:
    """When the loss has halved, over N(T − q)/(2d)."""
    found = []
    for run in runs:
        assert run.setting is not None
        losses = run.curves["excess_risk"]
        place = int(np.argmax(losses <= losses[0] / 2))
        found.append(float(run.time[place]) / plateau(sizes_of(run.setting)))
    return found


HALVING = Measured(
    halving_times,
    of="the time at which the loss has halved, over N(T − q)/(2d),",
    certain=True,
    id="plateau",
    statement="the time at which the loss has halved, in units of the predicted plateau",
    source=DERIVED,
)


def read_bound(run: Run) -> Mapping[str, Float[np.ndarray, "points"]]:
    """`loss_over_log`: L/log t, where t > e."""
    late = run.time > np.e
    over = run.curves["excess_risk"] / np.log(np.where(late, run.time, np.e))
    return {"loss_over_log": np.where(late, over, np.nan)}


def cases(plan: Plan, preset: RatesPreset) -> list[Case]:
    """Both kinds of codes at every size; unless something was changed, the rest."""
    steps = plan.steps or preset.steps
    fresh = fresh_codes(preset.width)
    if plan.changes:
        task = preset.tasks[0]
        made = [
            ("fixed", train_head(task, fixed_codes(), steps)),
            ("fresh", train_head(task, fresh, steps)),
        ]
        asked = [(name, changed(one, plan.changes, paper.letters)) for name, one in made]
        return [_law_case(name, name, setting) for name, setting in asked]
    main = [
        _law_case(f"{kind}-{task.name}", f"{kind} codes, {task.label}", setting)
        for kind, student in (("fixed", fixed_codes()), ("fresh", fresh))
        for task in preset.tasks
        for setting in [train_head(task, student, steps)]
    ]
    every = tuple(setting for case in main for setting in case.settings)
    signs = train_head(
        preset.tasks[0], sign_codes(SIGN_WIDTH, SIGN_DRAWS), SIGN_STEPS, rate=SIGN_RATE
    )
    same = _same_subset(preset.tasks[0], steps)
    return [
        *main,
        Case("all-sizes", "all sizes", every, (FOLLOWED, HALVING)),
        Case(
            "whole-head",
            f"all 35 subsets, {WHOLE.label}",
            (train_head(WHOLE, Part("subset_attention"), WHOLE_STEPS),),
            (TWO_NUMBERS,),
        ),
        Case("fixed-subset", "the subset is the same in every input", (same,), (FIXED_SUBSET,)),
        Case(
            "log-over-t",
            f"fixed codes, {preset.tasks[0].label}",
            main[0].settings,
            (SHARP_BOUND,),
            "the order 1/t: this claims a factor log t beside it",
            derived=read_bound,
        ),
        Case(
            "random-signs",
            f"random signs, m = {SIGN_WIDTH}, {preset.tasks[0].label}",
            (signs,),
            (ORDER, CONSTANT, BOUND, FOLLOWED),
            "orthonormal codes: with random signs the loss comes to a floor",
            derived=read_bound,
        ),
        Case(
            "not-in-the-input",
            "the subset is the same in every input",
            (same,),
            (CONSTANT,),
            "the subset is part of the input: a fixed one has another constant",
        ),
    ]


def _law_case(name: str, label: str, setting: Setting) -> Case:
    fresh = setting.student.options.get("codes") == "fresh"
    whose = ClaimedBy.SHARPER if fresh else ClaimedBy.BEYOND
    claims: tuple[Claim, ...] = (
        replace(ORDER, claimed_by=whose),
        replace(CONSTANT, claimed_by=whose),
        *((BOUND,) if fresh else ()),
    )
    return Case(name, label, (setting,), claims, derived=read_bound)


def _same_subset(task: Task, steps: int) -> Setting:
    """The token selection of `teacher-models`: one query, scores of scale 1, V* = I."""
    teacher = Part("token_selection", **task._asdict(), queries=1, scale=1.0)
    student = Part("position_attention", attention_scale=1.0)
    return Setting(teacher, 0.2, steps, student=student, measures=("excess_risk",))


study = Study(
    source=f"{BOUND_REPORTED}; sharper: {DERIVED}",
    statement=(
        "A softmax head learns to average the q tokens that its input names. The paper bounds its "
        "loss by O(log t/t). Sharper, and derived here for orthonormal codes: L·t tends to N/4, "
        "with N = T − 1 for fixed codes and N = m for codes of width m that are drawn anew at "
        "every step, whatever q and d. So L = Θ(1/t), without a logarithm."
    ),
    equation=(
        "L = (d/2)[(αa − 1)²/q + α²(1 − a)²/(T − q)],  a = q/(q + (T − q)e^(−C));   "
        "L·t → N/4;   plateau N(T − q)/(2d)"
    ),
    choices=(
        "The paper's T, d, q and step size are not known to us; sizes here are small, and those "
        "of `large` are larger.",
        "The exact risk, where the paper draws batches of 256. Orthonormal codes, where it has "
        "random signs: those are the study `codes`.",
        "Steps of 0.2 one by one to 10⁶, by gradient flow beyond.",
    ),
    presets={
        "quick": RatesPreset(
            seconds=25.0,
            tasks=(Task(20, 4, 5), Task(20, 1, 5), Task(40, 3, 10), Task(16, 8, 3)),
            width=64,
            steps=10**9,
        ),
        "large": RatesPreset(
            seconds=60.0,
            tasks=(Task(200, 8, 20), Task(500, 20, 50), Task(1000, 3, 10)),
            width=1024,
            steps=10**12,
        ),
    },
    cases=cases,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    compares="kinds of codes and sizes, each with the order and the constant of its own run",
    checked_in="src/tutelage/papers/token_selection/theory/collapse.py",
)
