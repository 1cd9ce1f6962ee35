"""Where descent ends, and from where it does not leave: locally optimal tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from tutelage.claims import Measured, Recovery
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.numerics.streams import generator
from tutelage.papers.attention_svm.local_optima import figures
from tutelage.papers.attention_svm.parts.sample import Sample
from tutelage.papers.attention_svm.readings import read_selection
from tutelage.papers.attention_svm.setup import (
    FRESH,
    FROM_MEMORY,
    W_FROM_UNIFORM,
    SvmPreset,
    build_settings,
    descent_part,
    expect_calculation,
    local_hypotheses,
    programme_of,
    sample_of,
)
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Case, Plan, Study, at_setting

LENGTHS = (5, 15, 60, 200, 1000)  # R, of starts at R·W^mm
JUDGED_LENGTHS = (200, 1000)
DRAWS = 60  # selections that are looked at in each sample, most of them of high scores
STEPS_OUT = 8_000  # of a run that starts far out
# Steps of R/400, and of 0.1 at least: ten times the start's own length is covered in the run.
LENGTH_PER_RATE, LEAST_RATE = 400.0, 0.1


@dataclass(frozen=True, kw_only=True)
class OptimaPreset(SvmPreset):
    steps: int  # of runs from random starts
    samples: int  # whose selections are started from
    each: int  # selections of each kind in a sample, at most


ENDS = Recovery(
    "locally_optimal",
    1.0,
    0.0,
    id="ends",
    statement="every run ends at a locally optimal selection",
    source=f"the theorem on local convergence, {FROM_MEMORY}",
    hypotheses=local_hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.RECONSTRUCTED,
)
BEST = Recovery(
    "wrong_selections",
    0.0,
    0.0,
    id="best",
    statement="every run ends at the best tokens",
    source="what the theorem on equal scores would say without its hypothesis",
    hypotheses=local_hypotheses,
)
STAYS = Recovery(
    "left",
    0.0,
    0.0,
    id="stays",
    statement="descent from R·W^mm of a locally optimal selection ends at that selection",
    source=f"the theorem on local convergence, {FROM_MEMORY}",
    hypotheses=local_hypotheses,
    claimed_by=ClaimedBy.PAPER,
    source_text=SourceText.RECONSTRUCTED,
)


def shares_staying(runs: Sequence[Run]) -> list[float]:
    """1 for a run that ends where it started, else 0."""
    return [1.0 - float(run.curves["left"][-1]) for run in runs]


SHARE = Measured(
    shares_staying,
    of="the share of locally optimal starts that stay",
    id="share",
    statement="the share of locally optimal starts at R·W^mm that stay",
    source=FROM_MEMORY,
)


def lengths_times_slack(runs: Sequence[Run], left: bool) -> list[float]:
    """R times the smallest slack of a token that scores higher, of starts that left or stayed."""
    found = []
    for run in runs:
        assert run.setting is not None
        solved = programme_of(sample_of(run.setting), run.curves["selected"][0].tolist())
        length = float(run.setting.part("calculation").options["length"])
        if bool(run.curves["left"][-1]) == left and np.isfinite(solved.slack_of_better):
            found.append(length * solved.slack_of_better)
    return found


def largest_that_leaves(runs: Sequence[Run]) -> list[float]:
    return [max(lengths_times_slack(runs, left=True), default=0.0)]


def smallest_that_stays(runs: Sequence[Run]) -> list[float]:
    return [min(lengths_times_slack(runs, left=False), default=np.inf)]


LEAVES_BELOW = Measured(
    largest_that_leaves,
    of="the largest R·slack of a start that leaves",
    certain=True,
    id="leaves-below",
    statement="the largest R·slack of a locally optimal start that leaves, slack that of the "
    "nearest token with a higher score",
    source=FROM_MEMORY,
)
STAYS_ABOVE = Measured(
    smallest_that_stays,
    of="the smallest R·slack of a start that stays",
    certain=True,
    id="stays-above",
    statement="the smallest R·slack of a locally optimal start that stays",
    source=FROM_MEMORY,
)


def read_leaving(run: Run) -> Mapping[str, Float[np.ndarray, "points"]]:
    """`left`: 1 where the selection is another than at the start."""
    selected = run.curves["selected"]
    return {"left": (selected != selected[0]).any(1).astype(float)}


def draw_selections(sample: Sample, seed: int, optimal: bool, most: int) -> list[tuple[int, ...]]:
    """Selections of a sample that are, or are not, locally optimal; the first of some draws.

    High scores are drawn more often, since selections of low ones are hardly ever optimal.
    """
    draw = generator(seed, "selections")
    order = np.argsort(-sample.scores, axis=1)
    found: dict[tuple[int, ...], None] = {}
    for _ in range(DRAWS):
        ranks = np.minimum(draw.geometric(0.6, len(order)) - 1, order.shape[1] - 1)
        selected = tuple(order[sample.rows, ranks].tolist())
        if programme_of(sample, selected).locally_optimal == optimal:
            found[selected] = None
    return list(found)[:most]


def settings_far_out(
    plan: Plan, preset: OptimaPreset, length: float, optimal: bool
) -> tuple[Setting, ...]:
    """One setting per selection: descent from R·W^mm."""
    rate = max(LEAST_RATE, length / LENGTH_PER_RATE)
    part = Part("normalised_attention_descent", rate=rate, steps=STEPS_OUT, length=length)
    few = replace(plan, seeds=min(plan.seeds or preset.samples, preset.samples))
    return tuple(
        setting.change(**{"calculation.selection": np.array(selected, float)})
        for setting in build_settings(few, preset, part, Part("matrix_attention"))
        for selected in draw_selections(sample_of(setting), setting.seed, optimal, preset.each)
    )


def cases(plan: Plan, preset: OptimaPreset) -> list[Case]:
    """Random starts, starts far out along W^mm of selections, and the controls."""
    runs = build_settings(plan, preset, descent_part(preset.steps), W_FROM_UNIFORM)
    main = [Case("random-starts", "random starts", runs, (ENDS,), derived=read_selection)]
    if plan.changes:
        return main
    for length in LENGTHS:
        claims = (STAYS, SHARE) if length in JUDGED_LENGTHS else (SHARE,)
        settings = settings_far_out(plan, preset, length, optimal=True)
        main.append(Case(f"R{length}", f"R = {length}", settings, claims, derived=read_leaving))
    every = tuple(setting for case in main[1:] for setting in case.settings)
    thresholds = (LEAVES_BELOW, STAYS_ABOVE)
    main.append(Case("all-R", "all R", every, thresholds, derived=read_leaving))
    narrow = replace(preset, dim=2, seeds=12)
    return [
        *main,
        Case(
            "best-tokens",
            "random starts",
            runs,
            (BEST,),
            "equal scores of all tokens but the best: with unequal ones other selections are "
            "locally optimal too",
            derived=read_selection,
        ),
        Case(
            "two-features",
            "d = 2",
            build_settings(plan, narrow, descent_part(preset.steps // 2), W_FROM_UNIFORM),
            (ENDS,),
            "d ≥ max(T − 1, n): with two features many selections cannot be made at all",
            derived=read_selection,
        ),
        Case(
            "not-optimal",
            f"R = {LENGTHS[-1]}, not locally optimal",
            settings_far_out(plan, preset, LENGTHS[-1], optimal=False),
            (STAYS,),
            "the selection is locally optimal: descent leaves others, from however far out",
            derived=read_leaving,
        ),
    ]


def case_at(setting: Setting) -> Case:
    """Where descent ends."""
    expect_calculation(setting, "normalised_attention_descent")
    return at_setting(setting, (ENDS,), derived=read_selection)


study = Study(
    source=FROM_MEMORY,
    statement=(
        "Descent selects one token per sequence. The selection is locally optimal: the selected "
        "token scores higher than each of its support vectors. From far enough out along W^mm of "
        "a locally optimal selection descent stays there; from W^mm of any other it leaves."
    ),
    equation=(
        "α is locally optimal  ⇔  γ_iα > γ_it for every t with (x_iα − x_it)ᵀ W_α^mm z_i = 1,   "
        "γ_it = Y_i vᵀx_it"
    ),
    choices=(
        "Normalised descent in log domain, rate 0.1, from U(±1/√d) as in the published code; it "
        "follows the path of gradient flow, at a speed of its own.",
        "Starts at R·W^mm: selections drawn with a preference for high scores, up to two or "
        "three of each kind in a sample; steps of R/400 (at least 0.1), 8000 of them.",
    ),
    presets={
        "quick": OptimaPreset(seconds=45.0, seeds=100, steps=8_000, samples=8, each=2),
        "confirm": OptimaPreset(seconds=90.0, seeds=100, steps=8_000, samples=12, each=3, **FRESH),
        "paper": OptimaPreset(seconds=300.0, seeds=400, steps=8_000, samples=40, each=3),
    },
    cases=cases,
    case_at=case_at,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    checked_in="src/tutelage/papers/attention_svm/theory/programmes.py",
)
