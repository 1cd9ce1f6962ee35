"""The largest stable step in `teacher-models/phases`: η < min(2K/(λQ), 2DK²/(λ‖V*‖²)), and what
happens above it.

At the teacher the curvature along W_V is λ‖S*‖_F² = λQ/K, and along the differences of scores
within a support λ‖V*‖²/(DK²). The first grows along the run (‖S‖_F² rises to ‖S*‖_F²), so a step
size above its limit begins to stall only once attention is sharp enough. The second belongs to
directions that the symmetric start never enters: only a perturbed start, or rounding that is not
symmetric, shows it.
"""

from __future__ import annotations

from dataclasses import replace

from tutelage.claims import Rate, Ratio
from tutelage.claims.claim import NotYet
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.phases.setup import PhasesPreset, repeat
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Case, Plan

BELOW, ABOVE = (0.9, 0.98), (1.02, 1.1, 1.3)
MEASURES = ("excess_risk", "support_mass", "attention_square")
SOURCE = "derived here (docs/derivations.md, section 3)"
TOKENS, SUPPORT, LAM = 12, 4, 0.5  # ReLU
WORDS = {
    "values": "2K/(λD), the limit of W_V",
    "scores": "2DK²/(λ‖V*‖²), the limit of the scores, from a perturbed start",
    "symmetric": "2DK²/(λ‖V*‖²), the limit of the scores, from zero",
}
# ‖V*‖² < K D² = 576 makes the limit of W_V the smaller one, a longer V* that of the scores.
NORMS = {"values": 23.0, "scores": 60.0, "symmetric": 60.0}


def stable_rates(V: float) -> tuple[float, float]:
    """The largest stable step sizes: of W_V, of the scores."""
    return 2 * SUPPORT / (LAM * TOKENS), 2 * TOKENS * SUPPORT**2 / (LAM * V**2)


def make_setting(kind: str, factor: float) -> Setting:
    """A run at `factor` times the limit that `kind` is about."""
    V = NORMS[kind]
    of_values, of_scores = stable_rates(V)
    teacher = Part(
        "convolution", tokens=TOKENS, support=SUPPORT, outputs=2, dim=4, norm=V, activation="relu"
    )
    start = {"start": 1e-3} if kind == "scores" else {}
    return Setting(
        teacher,
        factor * (of_values if kind == "values" else of_scores),
        steps=1,
        student=Part("position_attention", **start),
        measures=MEASURES,
    )


def read_late_sharpness(run: Run) -> float:
    """ηλ‖S‖_F²/2, the sharpness along W_V over what the step size bears, averaged over the last
    factor of ten of the steps.
    """
    assert run.rate is not None
    late = run.steps > run.steps[-1] / 10
    if run.steps[-1] < 10_000:
        raise NotYet(
            "Too short to tell: the edge is reached after some thousand steps. Got "
            f"{run.steps[-1]:,}; 80,000 would decide."
        )
    return float(run.rate * LAM / 2 * run.curves["attention_square"][late].mean())


def stability_cases(plan: Plan, preset: PhasesPreset) -> list[Case]:
    """Below the limits the rate holds; above each it must not; on the way above the first, the
    sharpness waits at 2/η.
    """
    tried = {
        "values": (*BELOW, *ABOVE),
        "scores": (*BELOW, *ABOVE),
        "symmetric": ABOVE[1:],
    }
    cases = [
        rate_case(kind, factor, plan, preset)
        for kind, factors in tried.items()
        for factor in factors
    ]
    edge = Ratio(
        read_late_sharpness,
        1.0,
        tolerance=0.03,  # a constant's: the oscillation is not small, and shifts where the mean is
        of="ηλ‖S‖_F²/2 over the last factor of ten of the steps",
        id="sharpness",
        statement="above η₁ = 2K/(λD) the sharpness λ‖S‖_F² waits at 2/η",
        source=SOURCE,
        hypotheses=theory.theorem_3_1,
    )
    runs = [s for factor in ABOVE for s in make_seeds("values", factor, plan, preset)]
    return [*cases, Case("edge", "above η₁", tuple(runs), (edge,))]


def rate_case(kind: str, factor: float, plan: Plan, preset: PhasesPreset) -> Case:
    """The rate at a factor times one of the limits: a control above it, unless the start is
    symmetric.
    """
    claim = Rate(
        "excess_risk",
        -1.0,
        plateau=theory.plateau,
        id="excess-rate",
        statement=f"excess risk = Θ(1/T) at η = {factor:g} × {WORDS[kind]}",
        source=SOURCE,
        hypotheses=theory.theorem_3_1,
    )
    breaks = f"stability: η is {factor:g} times its largest stable value"
    return Case(
        f"{kind}-{factor:g}",
        f"{factor:g} × {'η₁' if kind == 'values' else 'η₂'}",
        make_seeds(kind, factor, plan, preset),
        (claim,),
        control=breaks if factor > 1 and kind != "symmetric" else "",
    )


def make_seeds(kind: str, factor: float, plan: Plan, preset: PhasesPreset) -> tuple[Setting, ...]:
    steps = plan.steps or preset.stability_steps
    return repeat(replace(make_setting(kind, factor), steps=steps), plan, preset)
