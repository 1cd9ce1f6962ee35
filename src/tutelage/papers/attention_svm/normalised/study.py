"""Normalised descent on W: the published curve, the rate of the excess, that of the direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tutelage.claims import Measured, Number
from tutelage.claims.claim import NotYet
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.papers.attention_svm.normalised import figures
from tutelage.papers.attention_svm.readings import (
    final_programme,
    is_settled,
    read_published,
    value_at,
)
from tutelage.papers.attention_svm.setup import (
    DERIVED,
    FRESH,
    FROM_CODE,
    RATE,
    W_FROM_UNIFORM,
    SvmPreset,
    build_settings,
    descent_part,
    expect_calculation,
    local_hypotheses,
    programme_of,
)
from tutelage.papers.attention_svm.theory.approach import normalised_rate
from tutelage.papers.attention_svm.theory.programmes import MaxMargin
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.study import Case, Plan, Study, at_setting

PUBLISHED_SIZES = 6, 8, 10  # n, T and d of the published figure
PUBLISHED_STEP = 1000  # the last that the published figure shows
SATURATED_STEP = 300  # by which its softmax has saturated


@dataclass(frozen=True, kw_only=True)
class DescentPreset(SvmPreset):
    steps: int

    @property
    def has_published_sizes(self) -> bool:
        return (self.sequences, self.tokens, self.dim) == PUBLISHED_SIZES


def settled_runs(runs: Sequence[Run]) -> list[Run]:
    """Those whose selection no longer changes in the second half of their steps."""
    found = [run for run in runs if is_settled(run, int(run.steps[-1]) // 2)]
    if not found:
        raise NotYet("Too short to tell: no run has settled by half of its steps.")
    return found


def rate_over(run: Run, solved: MaxMargin) -> float:
    """The slope of log(L − L_α) over the last half of the steps, over −η/‖W^mm‖."""
    late = run.steps >= run.steps[-1] // 2
    slope = float(np.polyfit(run.steps[late], run.curves["log_excess"][late], 1)[0])
    return slope / normalised_rate(solved, RATE)


def worst_rate(runs: Sequence[Run]) -> list[float]:
    """The largest departure from the predicted rate among settled runs."""
    return [max(abs(rate_over(run, final_programme(run)) - 1) for run in settled_runs(runs))]


def worst_rate_of_best(runs: Sequence[Run]) -> list[float]:
    """The same beside W^mm of the best tokens, wherever the run ends."""
    kept = settled_runs(runs)
    samples = [final_programme(run).sample for run in kept]
    best = [programme_of(sample, sample.best.tolist()) for sample in samples]
    return [max(abs(rate_over(*pair) - 1) for pair in zip(kept, best, strict=True))]


def exponents(runs: Sequence[Run]) -> list[float]:
    """The slope of log(1 − corr) in log k over the last half of the steps, one per settled run."""
    found = []
    for run in settled_runs(runs):
        late = run.steps >= run.steps[-1] // 2
        y = np.log(run.curves["direction_miss"][late])
        found.append(float(np.polyfit(np.log(run.steps[late]), y, 1)[0]))
    return found


def correlations(runs: Sequence[Run]) -> list[float]:
    return [1 - value_at(run, "direction_miss", PUBLISHED_STEP) for run in runs]


def best_correlations(runs: Sequence[Run]) -> list[float]:
    return [1 - value_at(run, "best_miss", PUBLISHED_STEP) for run in runs]


def nuclear_correlations(runs: Sequence[Run]) -> list[float]:
    return [1 - value_at(run, "nuclear_miss", PUBLISHED_STEP) for run in runs]


def top_weights(runs: Sequence[Run]) -> list[float]:
    return [value_at(run, "top_weight", SATURATED_STEP) for run in runs]


def early_top_weights(runs: Sequence[Run]) -> list[float]:
    return [value_at(run, "top_weight", 30) for run in runs]


def unsettled(runs: Sequence[Run]) -> list[float]:
    return [float(not is_settled(run, int(run.steps[-1]) // 2)) for run in runs]


RATE_CLAIM = Number(
    worst_rate,
    0.0,
    "the largest departure of the slope of log(L − L_α) from −η/‖W^mm‖, relatively,",
    0.02,
    "at most",
    certain=True,
    id="rate",
    statement="log(L − L_α) falls by η/‖W^mm‖ a step within 2%, in every run that has settled",
    source=DERIVED,
    hypotheses=local_hypotheses,
)
EXPONENT = Number(
    exponents,
    -2.0,
    "the exponent of 1 − corr(W, W^mm) in k",
    0.25,
    id="exponent",
    statement="1 − corr(W, W^mm) falls like k^−2",
    source=DERIVED,
    hypotheses=local_hypotheses,
)
CORRELATION = Number(
    correlations,
    0.99,
    "the correlation of W and W^mm after 1000 steps",
    0.01,
    scale="linear",  # of a number that is at most 1
    id="correlation",
    statement="the correlation of W and W^mm is about 0.99 after 1000 steps",
    source=f"the published figure, by {FROM_CODE}",
    hypotheses=local_hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.PARTLY_READ,
)
NUCLEAR = Number(
    nuclear_correlations,
    0.86,
    "the correlation of W and W_⋆ after 1000 steps",
    0.02,
    scale="linear",
    id="nuclear",
    statement="the correlation of W and W_⋆, of least nuclear norm, is about 0.86 after 1000 steps",
    source=f"the published figure (its legend names K and Q, its data are of W), by {FROM_CODE}",
    hypotheses=local_hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.PARTLY_READ,
)
SATURATED = Number(
    top_weights,
    0.99,
    "the largest softmax weight after 300 steps",
    0.01,
    "at least",
    id="saturated",
    statement="the largest softmax weight of a sequence is near 1 after 300 steps",
    source=f"the published figure, by {FROM_CODE}",
    hypotheses=local_hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.PARTLY_READ,
)
UNSETTLED = Measured(
    unsettled,
    of="the share of runs whose selection still changes in the second half",
    id="unsettled",
    statement="the share of runs whose selection still changes in the second half of the steps",
    source=DERIVED,
)


def cases(plan: Plan, preset: DescentPreset) -> list[Case]:
    """The published runs, and the same runs under predictions that must fail. At other sizes the
    published figure says nothing: its numbers are asked of runs at its own, with the same seeds.
    """

    def runs_of(sizes: DescentPreset) -> tuple[Setting, ...]:
        part = descent_part(plan.steps or sizes.steps)
        return build_settings(plan, sizes, part, W_FROM_UNIFORM)

    settings = runs_of(preset)
    n, T, d = PUBLISHED_SIZES
    of_figure = runs_of(replace(preset, sequences=n, tokens=T, dim=d))

    def case(
        name: str,
        claims: tuple[Number | Measured, ...],
        control: str = "",
        runs: tuple[Setting, ...] = of_figure,
    ) -> Case:
        return Case(name, "normalised descent", runs, claims, control, derived=read_published)

    laws, figure = (RATE_CLAIM, EXPONENT), (CORRELATION, NUCLEAR, SATURATED)
    if preset.has_published_sizes or plan.changes:
        main = [case("published", (*laws, *figure, UNSETTLED), runs=settings)]
    else:
        main = [case("laws", (*laws, UNSETTLED), runs=settings), case("published", figure)]
    if plan.changes:
        return main
    return [
        *main,
        case(
            "best-tokens",
            (
                replace(RATE_CLAIM, values=worst_rate_of_best),
                replace(CORRELATION, values=best_correlations),
            ),
            "W^mm is that of the selection that the run ends at, and not of the best tokens",
        ),
        case(
            "least-frobenius",
            (replace(NUCLEAR, values=correlations),),
            "the nuclear norm: W itself turns to W^mm, of least Frobenius norm",
        ),
        case(
            "one-over-k",
            (replace(EXPONENT, value=-1.0, statement="1 − corr(W, W^mm) falls like 1/k"),),
            "the distance of directions falls like 1/k, and 1 − corr like its square",
        ),
        case(
            "too-early",
            (replace(SATURATED, values=early_top_weights),),
            "300 steps: after 30 the softmax has not saturated",
        ),
    ]


def case_at(setting: Setting) -> Case:
    """What the published figure shows of normalised descent, and its rates."""
    expect_calculation(setting, "normalised_attention_descent")
    said = (RATE_CLAIM, EXPONENT, CORRELATION, NUCLEAR, SATURATED, UNSETTLED)
    return at_setting(setting, said, derived=read_published)


study = Study(
    source=f"{FROM_CODE}; sharper: {DERIVED}",
    statement=(
        "Normalised descent moves W by η a step, so that its norm grows linearly and the excess "
        "falls exponentially, at the rate η/‖W^mm‖ of the selection it ends at. 1 − corr(W, W^mm) "
        "falls like k^−2. The published curve of mean correlations is that of these selections."
    ),
    equation="log(L − L_α) ≈ −ηk/‖W^mm‖,   1 − corr(W, W^mm) ∝ k^−2",
    choices=(
        "In log domain: no weight underflows, and no ε is added to the norm of the gradient.",
        "8000 steps, where the published runs take 2000: slopes are read in the second half. "
        "Runs whose selection changes there are left out of them, and counted.",
    ),
    presets={
        "quick": DescentPreset(seconds=40.0, seeds=100, steps=8_000),
        "confirm": DescentPreset(seconds=240.0, seeds=300, steps=8_000, **FRESH),
        "paper": DescentPreset(seconds=40.0, seeds=100, steps=8_000),
        "larger": DescentPreset(seconds=120.0, seeds=300, steps=8_000, only=("published",)),
    },
    cases=cases,
    case_at=case_at,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/attention_svm/theory/approach.py",
)
