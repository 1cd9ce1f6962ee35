"""Gradient flow on W: the constant of its excess, and how its direction turns to W^mm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from tutelage.claims import Curve, Measured, Recovery
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.papers.attention_svm.max_margin import figures
from tutelage.papers.attention_svm.readings import read_flow
from tutelage.papers.attention_svm.setup import (
    DERIVED,
    FRESH,
    FROM_MEMORY,
    SvmPreset,
    build_settings,
    expect_calculation,
    hypotheses,
    programme_of,
    sample_of,
)
from tutelage.papers.attention_svm.theory.approach import miss_of_direction
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Case, Plan, Study, at_setting

MILLION = 10**6
HUNDRED_THOUSAND = 10**5
SLOPE_FROM = 10**8  # where the exponent of the direction is read, to the end
W = Part("matrix_attention")
K_AND_Q = Part("factored_attention")


@dataclass(frozen=True, kw_only=True)
class FlowPreset(SvmPreset):
    decades: int  # of t


CONSTANT = Recovery(
    "constant_ratio",
    1.0,
    0.03,
    from_step=MILLION,
    id="constant",
    statement="(L − L_α)·t is ‖W^mm‖² within 3% from t = 10⁶ on",
    source=DERIVED,
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.BEYOND,
)
LIMIT = Recovery(
    "constant_ratio",
    1.0,
    0.03,
    reading="limit",
    id="limit",
    statement="(L − L_α)·t ends at ‖W^mm‖² within 3%, however long the selection took to settle",
    source=DERIVED,
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.BEYOND,
)
SELECTION = Recovery(
    "wrong_selections",
    0.0,
    0.0,
    id="selection",
    statement="flow from zero selects the best token of every sequence",
    source=f"the theorem on equal scores, {FROM_MEMORY}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.RECONSTRUCTED,
)
DISTANCE = Recovery(
    "law_distance",
    0.0,
    0.01,
    from_step=HUNDRED_THOUSAND,
    id="path",
    statement="W = W^mm log t + W̃ within 1% of ‖W‖ from t = 10⁵ on, W̃ in closed form",
    source=f"the direction: {FROM_MEMORY}; the path: {DERIVED}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.SHARPER,
    source_text=SourceText.RECONSTRUCTED,
)


def predict_miss(setting: Setting, times: Int[np.ndarray, "points"]) -> Float[np.ndarray, "points"]:
    """1 − corr of the best tokens' law at whole times t."""
    sample = sample_of(setting)
    return miss_of_direction(programme_of(sample, sample.best.tolist()), np.log(times))


def predict_slower(
    setting: Setting, times: Int[np.ndarray, "points"]
) -> Float[np.ndarray, "points"]:
    """The same at t = 10⁵, and from there on like 1/log t."""
    begin = np.array([HUNDRED_THOUSAND])
    return predict_miss(setting, begin) * np.log(begin) / np.log(times)


DIRECTION = Curve(
    "direction_miss",
    predict_miss,
    tolerance=0.01,
    start=float(HUNDRED_THOUSAND),
    id="direction",
    statement="1 − corr(W, W^mm) is on its predicted curve, 1/log² t, within 1% from t = 10⁵ on",
    source=f"the direction: {FROM_MEMORY}; the curve: {DERIVED}",
    hypotheses=hypotheses,
    claimed_by=ClaimedBy.SHARPER,
    source_text=SourceText.RECONSTRUCTED,
)
SLOWER = replace(
    DIRECTION,
    theory=predict_slower,
    statement="1 − corr(W, W^mm) falls like 1/log t from t = 10⁵ on",
)


def direction_exponents(runs: Sequence[Run]) -> list[float]:
    """The slope of log(1 − corr) against log log t over the last decades, one per run that has
    settled by t = 10⁶; one that switches later is still turning.
    """
    found = []
    for run in runs:
        selected = run.curves["selected"][run.steps >= MILLION]
        if (selected != selected[-1]).any():
            continue
        late = run.steps >= SLOPE_FROM
        x, y = np.log(run.curves["log_time"][late]), np.log(run.curves["direction_miss"][late])
        found.append(float(np.polyfit(x, y, 1)[0]))
    return found


EXPONENT = Measured(
    direction_exponents,
    of="the exponent of 1 − corr(W, W^mm) in log t, from t = 10⁸ to the end,",
    id="exponent",
    statement="the exponent of 1 − corr(W, W^mm) in log t, −2 in the limit",
    source=DERIVED,
)


def cases(plan: Plan, preset: FlowPreset) -> list[Case]:
    """Flows from zero on three designs; unless something was changed, the controls."""
    flow = Part("attention_flow", decades=preset.decades)

    def case(
        name: str,
        label: str,
        claims: Sequence[Recovery | Curve | Measured],
        design: str = "sphere",
        student: Part = W,
        control: str = "",
    ) -> Case:
        settings = build_settings(plan, preset, flow, student, design)
        return Case(name, label, settings, tuple(claims), control, derived=read_flow)

    main = [
        case("sphere", "random tokens", (CONSTANT, LIMIT, EXPONENT)),
        case(
            "equal-scores",
            "equal scores",
            (CONSTANT, LIMIT, SELECTION, EXPONENT),
            "equal_scores",
        ),
        case(
            "orthonormal",
            "orthonormal tokens",
            (CONSTANT, LIMIT, DISTANCE, DIRECTION),
            "orthonormal",
        ),
    ]
    if plan.changes:
        return main
    return [
        *main,
        case(
            "unequal-scores",
            "random tokens",
            (SELECTION,),
            control="equal scores of all tokens but the best: with random ones flow may settle at "
            "another locally optimal token",
        ),
        case(
            "factored-student",
            "K and Q trained",
            (CONSTANT, LIMIT),
            student=K_AND_Q,
            control="W itself is trained: with W = KQᵀ the excess falls faster, by a factor log t",
        ),
        case(
            "some-slack",
            "random tokens",
            (DISTANCE, DIRECTION),
            control="every constraint supports: elsewhere W̃ has a part that the path decides",
        ),
        Case(
            "one-over-log",
            "orthonormal tokens",
            main[2].settings,
            (SLOWER,),
            "the exponent 2 of log t: this is the curve of exponent 1",
            derived=read_flow,
        ),
    ]


def case_at(setting: Setting) -> Case:
    """The constant of the excess of a flow on W, and its exponent; more where the tokens are equal
    in score or orthonormal.
    """
    expect_calculation(setting, "attention_flow")
    more = {"equal_scores": (SELECTION,), "orthonormal": (DISTANCE, DIRECTION)}
    design = str(setting.teacher.options.get("design", "sphere"))
    said = (CONSTANT, LIMIT, EXPONENT, *more.get(design, ()))
    return at_setting(setting, said, derived=read_flow)


study = Study(
    source=f"{FROM_MEMORY}; sharper: {DERIVED}",
    statement=(
        "Gradient descent on attention with a fixed head turns W to the max-margin matrix W^mm "
        "of the tokens that it selects, as a support vector machine would separate them. Sharper, "
        "and derived here: (L − L_α)·t tends to ‖W^mm‖², and 1 − corr(W, W^mm) falls like "
        "1/log² t, on a curve that is known in closed form where every constraint supports."
    ),
    equation=(
        "W^mm = argmin ‖W‖_F  with  (x_iα − x_it)ᵀ W z_i ≥ 1;   (L − L_α)·t → ‖W^mm‖_F²;   "
        "W = W^mm log t + W̃ + o(1);   1 − corr(W, W^mm) = ‖W̃_⊥‖²/(2‖W^mm‖²(log t + b)²)"
    ),
    choices=(
        "Gradient flow from W = 0 in log time, in log domain: no step size, and times far beyond "
        "any number of steps.",
        "Equal scores: the best token has score ½, all others 0. Orthonormal: the tokens of each "
        "sequence, and the queries, are orthonormal; every constraint then supports, with the "
        "multiplier 1/T, and ‖W^mm‖² = n(T−1)/T.",
        "The excess is over L_α, the loss of the selection that the run ends at; W^mm is that "
        "selection's.",
    ),
    presets={
        "quick": FlowPreset(seconds=25.0, seeds=6, decades=16),
        "confirm": FlowPreset(seconds=60.0, seeds=12, decades=16, **FRESH),
        "paper": FlowPreset(seconds=300.0, seeds=100, decades=16),
    },
    cases=cases,
    case_at=case_at,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/attention_svm/theory/approach.py",
)
