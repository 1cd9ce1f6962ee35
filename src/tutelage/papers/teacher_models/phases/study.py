"""How the student of Theorem 3.1 gets there: two scalars, three phases, the length of the plateau,
the largest stable step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tutelage.claims import Claim, Curve, Exponent, Ratio
from tutelage.papers.teacher_models.phases.plateau import (
    EXACT,
    MEASURES,
    NAME,
    PAPER,
    SEEDS,
    SLOW,
    SWEEPS,
    TIMES,
    crossing,
    setting_at,
    slow,
    sweep_case,
)
from tutelage.papers.teacher_models.phases.stability import stability_cases
from tutelage.papers.teacher_models.rates.study import LETTERS, RUNS, hypotheses, predicted
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Answered, Case, NoSuchOption, Plan, changed

HORIZON = {"quick": 20, "full": 200}  # plateaus
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


def recursion(curve: str) -> Callable[[Setting, Any], Any]:
    """One curve of `recursion.py`, loaded when it is asked."""

    def at(setting: Setting, steps: Any) -> Any:
        from tutelage.papers.teacher_models.theory.recursion import along

        return along(setting, steps)[curve]

    return at


def curve_claims(case: str) -> dict[str, Claim]:
    """The measured curves are those of the recursion."""
    return {
        curve: Curve(
            curve,
            recursion(curve),
            tolerance=1e-10,  # a million steps that each round by 1.1e-16, if all fell the same way
            id=f"{NAME}/{case}/{curve.replace('_', '-')}",
            statement=f"{words} follows the two-scalar recursion at every step",
            source=EXACT,
            hypotheses=hypotheses,
        )
        for curve, words in CURVES.items()
    }


@dataclass(frozen=True)
class Phases:
    """The study `teacher-models/phases`."""

    name: str = NAME
    sentence: str = (
        "How it gets there: C₁, C₂+C₃ and p by an exact recursion, the plateau's "
        "length, the largest stable step"
    )
    statement: str = (
        "Along the way W_V = C₁V* and W_KQ has two values, C₂ on the supports and −C₃ off them. "
        "First C₁ rises while p ≈ 1/D, then C₁ "
        "tracks its optimum while p rises to 1/(2K), which takes T* = Θ(K D²/(η‖V*‖²)) steps, "
        "then p → 1/K and C₁ → 1 from above. Sharper, "
        "and derived here: C₁ and C₂+C₃ obey a recursion of two numbers exactly; for the "
        "identity the whole curve is elementary; K p = ½ "
        "comes at twice the time at which the excess has halved; and step sizes are stable below "
        "min(2K/(λD), 2DK²/(λ‖V*‖²))."
    )
    equation: str = (
        "‖V*‖²ηT = Kn²/(2ω²) + 2K²n ln(n/(Kω)) + (Kn² − K³ − K³ω²)/2,  excess = (Q‖V*‖²/2) ω²/(n "
        "+ Kω²),  K p = 1/(1+ω),  n = D − K;   "
        "T(excess halved) = (Kn² − K³ + 2K²n ln(n/K))/(2η‖V*‖²)"
    )
    source: str = PAPER
    choices: tuple[str, ...] = (
        "The paper's six runs as in teacher-models/rates, with a shorter V* (norms 6, 4, √10, "
        "3): the phases lie apart where ‖V*‖² ≪ K D².",
        "The first phase ends where C₁ first comes within 1% of its optimum at the present p, "
        "the second where K p = ½. The theorem does "
        "not say where; the shading of the figure does not enter any verdict.",
        "The recursion is checked to 1e-10, what a million roundings can do; the elementary "
        "curve to 1% from ten relaxation times of C₁ "
        "on, at ‖V*‖²/(K D²) = 0.0017, since its error is of the order of that ratio.",
        "The printed T* is Θ(·) for large D: its exponents are judged to 0.1, at D/K from 9 up, "
        "for the identity; for ReLU its lower "
        "orders fall too slowly to be judged.",
        "Stability at D = 12, K = 4, ReLU, at 0.9 to 1.3 times the formula; 'perturbed' is a "
        "start with iid N(0, 10⁻⁶) entries.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: LETTERS)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 45.0, "full": 400.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.0, "full": 1.0})
    checked_in: str = "src/tutelage/papers/teacher_models/theory/recursion.py"

    def cases(self, plan: Plan) -> list[Case]:
        """The six runs; and, unless something was changed, the closed form, the plateau, stable
        steps and the controls.
        """
        cases = [_main_case(name, plan) for name in RUNS]
        if plan.changes:
            return cases
        sweeps = [sweep_case(sweep, plan) for sweep in SWEEPS]
        return [
            *cases,
            _closed_form(plan),
            _closed_form_error(plan),
            *sweeps,
            *stability_cases(plan),
            *_controls(plan),
        ]

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.teacher_models.phases import figures as phases_figures

        return phases_figures.draw(answered, folder)


def _main_case(name: str, plan: Plan) -> Case:
    label, teacher, rate = RUNS[name]
    base = Setting(teacher.change(**SHORT[name]), rate, steps=1, measures=MEASURES)
    try:
        setting = changed(base, plan.changes, LETTERS)
    except NoSuchOption as reason:
        return Case(name, label, (), (), left_out=str(reason))
    if setting.steps == base.steps:  # not among the changes
        setting = replace(
            setting,
            steps=plan.steps or math.ceil(HORIZON[plan.preset] * predicted("plateau")(setting)),
        )
    return Case(name, label, _seeds(setting, plan), tuple(curve_claims(name).values()))


def _closed_form(plan: Plan) -> Case:
    """The identity with phases far apart: the elementary curve, and the two times that follow from
    it.
    """
    setting = setting_at("identity", 36, 4, 3.0, 0.2)
    setting = replace(
        setting, steps=plan.steps or math.ceil(HORIZON[plan.preset] * predicted("plateau")(setting))
    )
    about: dict[str, Any] = {"source": SLOW, "hypotheses": hypotheses}
    curve = Curve(
        "excess_risk",
        slow("excess_curve"),
        tolerance=0.01,
        start=slow("settling"),
        id=f"{NAME}/closed-form/curve",
        statement="the excess risk follows the elementary curve, with no fit",
        **about,
    )
    formula = "(Kn² − K³ + 2K²n ln(n/K))/(2η‖V*‖²)"
    halving = Ratio(
        lambda run: crossing(run, "halving"),
        slow("halving_time"),
        tolerance=0.01,
        of=TIMES["halving"],
        id=f"{NAME}/closed-form/halving",
        statement=f"{TIMES['halving']} is {formula}",
        **about,
    )
    twice = Ratio(
        lambda run: crossing(run, "attention") / crossing(run, "halving"),
        2.0,
        tolerance=0.01,
        of="the time of K p = ½ over that of halving",
        id=f"{NAME}/closed-form/twice",
        statement="K p = ½ comes at twice the time at which the excess has halved",
        **about,
    )
    return Case(
        "closed-form", "identity, closed form", _seeds(setting, plan), (curve, halving, twice)
    )


def _closed_form_error(plan: Plan) -> Case:
    """The elementary curve is a limit: how far a run is from it falls like ‖V*‖²."""
    settings = []
    for norm in (1.0, 1.4, 2.0):
        setting = setting_at("identity", 20, 4, norm, 0.2)
        steps = plan.steps or math.ceil(5 * predicted("plateau")(setting))
        settings += [
            replace(setting, steps=steps, seed=seed)
            for seed in range(plan.seeds or SEEDS[plan.preset])
        ]
    claim = Exponent(
        points=_departures,
        exponent=2.0,
        of="the largest departure from the elementary curve, in ‖V*‖,",
        tolerance=0.1,  # the next order is ‖V*‖⁴, a few percent of the first at the longest V*
        id=f"{NAME}/closed-form-error/order",
        statement="the departure from the elementary curve falls like ‖V*‖²",
        source=SLOW,
        hypotheses=hypotheses,
    )
    return Case("closed-form-error", "identity, three ‖V*‖", tuple(settings), (claim,))


def _departures(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
    """(‖V*‖, largest |excess/curve − 1| around the halving, seed)."""
    found = []
    for run in runs:
        assert run.setting is not None
        halving = crossing(run, "halving")
        near = (run.steps > halving / 3) & (
            run.steps < 3 * halving
        )  # long after C₁ has settled, whatever ‖V*‖
        departure = np.abs(
            run.curves["excess_risk"][near] / slow("excess_curve")(run.setting, run.steps[near]) - 1
        )
        found.append(
            (float(run.setting.teacher.options["norm"]), float(departure.max()), run.setting.seed)
        )
    return found


def _controls(plan: Plan) -> list[Case]:
    """Where W_V is not a multiple of V*, or S has more than two values a column, two scalars cannot
    follow.
    """
    _, teacher, rate = RUNS["cnn-relu"]
    base = Setting(
        teacher.change(**SHORT["cnn-relu"]), rate, steps=plan.steps or 3_000, measures=MEASURES
    )
    unequal = Part("gaussian", covariance=np.diag(np.geomspace(0.2, 2.0, 10)))
    return [
        Case(
            "anisotropic",
            "features of unequal variance",
            _seeds(replace(base, inputs=unequal, rate=rate / 2), plan),
            (curve_claims("anisotropic")["value_scale"],),
            "tokens N(0, I): with another covariance W_V is not parallel to V* on the way",
        ),
        Case(
            "random-start",
            "random start",
            _seeds(replace(base, student=Part("position_attention", start=0.1)), plan),
            (curve_claims("random-start")["support_mass"],),
            "a zero start: from another one W_V is not parallel to V*, and columns of S have "
            "more than two values",
        ),
    ]


def _seeds(setting: Setting, plan: Plan) -> tuple[Setting, ...]:
    return tuple(
        replace(setting, seed=setting.seed + i) for i in range(plan.seeds or SEEDS[plan.preset])
    )


PHASES = Phases()
