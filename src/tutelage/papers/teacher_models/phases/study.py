"""How the student of Theorem 3.1 gets there: two scalars, three phases, the length of the plateau,
the largest stable step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from tutelage.claims import Claim, Curve, Exponent, Ratio
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.phases import figures
from tutelage.papers.teacher_models.phases.plateau import SWEEPS, TIMES, crossing, sweep_case
from tutelage.papers.teacher_models.phases.setup import (
    EXACT,
    MEASURES,
    PROOF,
    SLOW,
    PhasesPreset,
    Point,
    make_setting,
    repeat,
)
from tutelage.papers.teacher_models.phases.stability import stability_cases
from tutelage.papers.teacher_models.phases.table import phases_table
from tutelage.papers.teacher_models.setup import RUNS, change_setting, set_horizon
from tutelage.papers.teacher_models.sweeps import norm, read_along
from tutelage.papers.teacher_models.theory import recursion, slow_manifold
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.changes import NoSuchOption
from tutelage.studies.study import Case, Control, Plan, Study, at_setting

CURVES = {
    "value_scale": "C₁",
    "score_gap": "C₂ + C₃",
    "support_mass": "K p",
    "excess_risk": "the excess risk",
}

# The paper's six runs with a V* so short that the phases lie apart: C₁ settles within some D/(ληQ)
# steps, attention needs K D²/(η‖V*‖²).
SHORT: dict[str, dict[str, float]] = {
    "cnn-relu": {"norm": 6.0},
    "cnn-leaky": {"norm": 6.0},
    "gcn-relu": {"norm": 4.0},
    "gcn-leaky": {"norm": 4.0},
    "token-selection": {"scale": 1.0},
    "group-sparse": {"norm": 3.0},
}


CLOSED_FORM = Point("identity", 36, 4, 3.0, 0.2)  # ‖V*‖²/(K D²) = 0.0017: phases far apart


def cases(plan: Plan, preset: PhasesPreset) -> list[Case]:
    """The six runs; and, unless something was changed, the closed form, the plateau, stable steps
    and the controls.
    """
    six = [six_runs_case(name, plan, preset) for name in RUNS]
    if plan.changes:
        return six
    return [
        *six,
        closed_form_case(plan, preset),
        closed_form_error_case(plan, preset),
        *(sweep_case(sweep, plan, preset) for sweep in SWEEPS),
        *stability_cases(plan, preset),
        *(control.case(plan.seeds or preset.seeds, plan.steps) for control in controls()),
    ]


def case_at(setting: Setting) -> Case:
    """The recursion of two numbers, which any setting of Theorem 3.1 follows."""
    return at_setting(setting, (curve_claim(curve) for curve in CURVES), measures=MEASURES)


def six_runs_case(name: str, plan: Plan, preset: PhasesPreset) -> Case:
    run = RUNS[name]
    base = Setting(run.teacher.change(**SHORT[name]), run.rate, steps=1, measures=MEASURES)
    try:
        setting = change_setting(base, plan, preset.plateaus)
    except NoSuchOption as reason:
        return Case(name, run.label, (), (), left_out=str(reason))
    claims = tuple(curve_claim(curve) for curve in CURVES)
    return Case(name, run.label, repeat(setting, plan, preset), claims)


def curve_claim(curve: str) -> Claim:
    """The measured curve is that of the recursion."""
    return Curve(
        curve,
        predict_curve(curve),
        tolerance=1e-10,  # a million steps that each round by 1.1e-16, if all fell the same way
        id=curve.replace("_", "-"),
        statement=f"{CURVES[curve]} follows the two-scalar recursion at every step",
        source=EXACT,
        claimed_by=ClaimedBy.SHARPER,
        source_text=SourceText.PARTLY_READ,
        derived=True,
        hypotheses=theory.theorem_3_1,
    )


def predict_curve(
    curve: str,
) -> Callable[[Setting, Int[np.ndarray, "points"]], Float[np.ndarray, "points"]]:
    return lambda setting, steps: recursion.along(setting, steps)[curve]


def closed_form_case(plan: Plan, preset: PhasesPreset) -> Case:
    """The identity with phases far apart: the elementary curve, and the two times that follow from
    it.
    """
    setting = set_horizon(make_setting(CLOSED_FORM), plan, preset.plateaus)
    halving = TIMES["halving"]
    claims = (
        Curve(
            "excess_risk",
            slow_manifold.excess_curve,
            tolerance=0.01,
            start=slow_manifold.settling,
            id="curve",
            statement="the excess risk follows the elementary curve, with no fit",
            source=SLOW,
            hypotheses=theory.theorem_3_1,
        ),
        Ratio(
            lambda run: crossing(run, "halving"),
            halving.by_formula,
            tolerance=0.01,
            of=halving.text,
            id="halving",
            statement=f"{halving.text} is (Kn² − K³ + 2K²n ln(n/K))/(2η‖V*‖²)",
            source=SLOW,
            hypotheses=theory.theorem_3_1,
        ),
        Ratio(
            lambda run: crossing(run, "attention") / crossing(run, "halving"),
            2.0,
            tolerance=0.01,
            of="the time of K p = ½ over that of halving",
            id="twice",
            statement="K p = ½ comes at twice the time at which the excess has halved",
            source=SLOW,
            hypotheses=theory.theorem_3_1,
        ),
        gap_curve_claim(),
    )
    return Case("closed-form", "identity, closed form", repeat(setting, plan, preset), claims)


def gap_curve_claim() -> Claim:
    """C₂+C₃ by the elementary time, from T* on, where the theorem speaks: lower orders included."""
    return Curve(
        "score_gap",
        slow_manifold.gap_curve,
        tolerance=0.01,
        start=theory.printed_plateau,
        id="gap-curve",
        statement=(
            "from T* on C₂+C₃ = √D u, e^{2u} + (4n/K)u + n²/K² − 1 − (n/K)²e^{−2u} = "
            "2η‖V*‖²T/K³, with no fit"
        ),
        source=SLOW,
        claimed_by=ClaimedBy.SHARPER,
        hypotheses=theory.theorem_3_1,
    )


def closed_form_error_case(plan: Plan, preset: PhasesPreset) -> Case:
    """The elementary curve is a limit: how far a run is from it falls like ‖V*‖²."""
    points = [
        set_horizon(make_setting(Point("identity", 20, 4, V, 0.2)), plan, 5)
        for V in (1.0, 1.4, 2.0)
    ]
    claim = Exponent(
        certain=True,  # exact risks: no chance in any point
        points=read_along(norm, read_departure),
        exponent=2.0,
        of="the largest departure from the elementary curve, in ‖V*‖,",
        tolerance=0.1,  # the next order is ‖V*‖⁴, a few percent of the first at the longest V*
        id="order",
        statement="the departure from the elementary curve falls like ‖V*‖²",
        source=SLOW,
        hypotheses=theory.theorem_3_1,
    )
    settings = tuple(setting for point in points for setting in repeat(point, plan, preset))
    return Case("closed-form-error", "identity, three ‖V*‖", settings, (claim,))


def read_departure(run: Run) -> float:
    """The largest |excess/curve − 1| around the halving, long after C₁ has settled."""
    assert run.setting is not None
    halving = crossing(run, "halving")
    near = (run.steps > halving / 3) & (run.steps < 3 * halving)
    curve = slow_manifold.excess_curve(run.setting, run.steps[near])
    return float(np.abs(run.curves["excess_risk"][near] / curve - 1).max())


def controls() -> list[Control]:
    """Where W_V is not a multiple of V*, or columns of S have more than two values, two scalars
    cannot follow. With momentum time goes twice as fast.
    """
    run = RUNS["cnn-relu"]
    teacher = run.teacher.change(**SHORT["cnn-relu"])
    base = Setting(teacher, run.rate, steps=3_000, measures=MEASURES)
    hurried = replace(make_setting(CLOSED_FORM), steps=6_000, optimiser=Part("momentum", decay=0.5))
    unequal = Part("gaussian", covariance=np.diag(np.geomspace(0.2, 2.0, 10)))
    return [
        Control(
            "anisotropic",
            "features of unequal variance",
            replace(base, inputs=unequal, rate=run.rate / 2),
            curve_claim("value_scale"),
            "tokens N(0, I): with another covariance W_V is not parallel to V* on the way",
        ),
        Control(
            "random-start",
            "random start",
            replace(base, student=Part("position_attention", start=0.1)),
            curve_claim("support_mass"),
            "a zero start: from another one W_V is not parallel to V*, and columns of S have "
            "more than two values",
        ),
        Control(
            "momentum",
            "momentum ½",
            hurried,
            gap_curve_claim(),
            "plain gradient descent: momentum β multiplies time by 1/(1−β)",
        ),
    ]


def sweep_points(*, more: bool) -> dict[str, Sequence[Point]]:
    """The points of the plateau's sweeps; with `more` some beside those of the quick preset."""
    lengths = (20, 28, 36, 48) if more else (20, 28, 36)
    norms = (0.7, 1.0, 1.4, 0.35, 0.5) if more else (0.7, 1.0, 1.4)
    rates = (0.16, 0.08, 0.04, 0.02, 0.01) if more else (0.16, 0.08, 0.04)
    return {
        "D": [Point("identity", D, 2, 1.0, 0.08) for D in lengths],
        "D-relu": [Point("relu", D, 2, 1.0, 0.16) for D in lengths],
        "K": [Point("identity", 36, K, 2.0, 0.05) for K in (1, 2, 3, 4)],
        "V": [Point("identity", 20, 2, V, 0.1) for V in norms],
        "eta": [Point("identity", 20, 2, 1.0, eta) for eta in rates],
    }


study = Study(
    source=PROOF,
    statement=(
        "Along the way W_V = C₁V* and W_KQ has two values, C₂ on the supports and −C₃ off them. "
        "First C₁ rises while p ≈ 1/D, then C₁ tracks its optimum while p rises to 1/(2K), which "
        "takes T* = Θ(K D²/(η‖V*‖²)) steps, then p → 1/K and C₁ → 1 from above. Sharper, and "
        "derived here: C₁ and C₂+C₃ obey a recursion of two numbers exactly; for the identity the "
        "whole curve is elementary, and with it C₂+C₃; K p = ½ comes at twice the time at which "
        "the excess has halved; and step sizes are stable below min(2K/(λD), 2DK²/(λ‖V*‖²))."
    ),
    equation=(
        "‖V*‖²ηT = Kn²/(2ω²) + 2K²n ln(n/(Kω)) + (Kn² − K³ − K³ω²)/2,  "
        "excess = (Q‖V*‖²/2) ω²/(n + Kω²),  K p = 1/(1+ω),  n = D − K;   "
        "T(excess halved) = (Kn² − K³ + 2K²n ln(n/K))/(2η‖V*‖²)"
    ),
    choices=(
        "The paper's six runs as in teacher-models/rates, with a shorter V* (norms 6, 4, √10, "
        "3): the phases lie apart where ‖V*‖² ≪ K D².",
        "The first phase ends where C₁ first comes within 1% of its optimum at the present p, "
        "the second where K p = ½. The theorem does not say where; the shading of the figure does "
        "not enter any verdict.",
        "The recursion is checked to 1e-10, what a million roundings can do; the elementary "
        "curve to 1% from ten relaxation times of C₁ on, at ‖V*‖²/(K D²) = 0.0017, since its "
        "error is of the order of that ratio.",
        "The printed T* is Θ(·) for large D: its exponents are judged to 0.1, at D/K from 9 up, "
        "for the identity; for ReLU its lower orders fall too slowly to be judged.",
        "Stability at D = 12, K = 4, ReLU, at 0.9 to 1.3 times the formula; 'perturbed' is a "
        "start with iid N(0, 10⁻⁶) entries.",
    ),
    presets={
        "quick": PhasesPreset(
            seconds=45.0,
            seeds=3,
            plateaus=20,
            stability_steps=80_000,
            points=sweep_points(more=False),
        ),
        # D and K of the six runs are the paper's in both. Three seeds of the perturbed starts.
        "paper": PhasesPreset(
            seconds=80.0,
            seeds=3,
            plateaus=200,
            stability_steps=500_000,
            points=sweep_points(more=True),
        ),
    },
    cases=cases,
    case_at=case_at,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    table=phases_table,
    checked_in="src/tutelage/papers/teacher_models/theory/recursion.py",
)
