"""Theorem 3.1 in the paper's six runs: rates, sharp constants, alignment, attention (Fig. 2a, 2c,
3), on the exact risk.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tutelage.claims import Claim, Constant, Exponent, Hypothesis, Rate, Recovery
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Answered, Case, NoSuchOption, Plan, changed

NAME = "teacher-models/rates"
PAPER = "Zhang et al. 2026, Theorem 3.1"
SHARP = f"derived here (docs/derivations.md); the rate is {PAPER}"
LETTERS = {
    "D": "teacher.tokens",
    "K": "teacher.support",
    "d": "teacher.dim",
    "M": "teacher.outputs",
    "V": "teacher.norm",
    "tau": "teacher.noise",
    "eta": "rate",
    "T": "steps",
}

HORIZON = {
    "quick": 10_000,
    "full": 100_000,
}  # plateaus; slopes are read from the 30th on, constants from the 100th
SEEDS = {"quick": 4, "full": 10}

CNN = Part("convolution", tokens=36, support=4, outputs=8, dim=10, norm=50.0, activation="relu")
GCN = Part(
    "graph_convolution", tokens=20, outputs=8, dim=10, norm=30.0, graph="cycle", activation="relu"
)
LEAKY = "leaky_relu(0.1)"

# name -> label, teacher, rate. The largest stable rates are 0.44, 0.44, 0.6, 0.6, 0.4 and 0.1.
RUNS: dict[str, tuple[str, Part, float]] = {
    "cnn-relu": ("CNN, ReLU", CNN, 0.2),
    "cnn-leaky": ("CNN, leaky ReLU", CNN.change(activation=LEAKY), 0.2),
    "gcn-relu": ("GCN, ReLU", GCN, 0.2),
    "gcn-leaky": ("GCN, leaky ReLU", GCN.change(activation=LEAKY), 0.2),
    "token-selection": (
        "token selection",
        Part("token_selection", tokens=20, support=4, dim=10, scale=5.0),
        0.2,
    ),
    "group-sparse": ("group-sparse", Part("group_sparse", tokens=20, dim=10, norm=15.0), 0.04),
}


def predicted(function: str) -> Callable[[Setting], float]:
    """A prediction of `theory.py` by name; it loads JAX only when it is asked."""

    def at(setting: Setting) -> float:
        from tutelage.papers.teacher_models.theory import constants as theory

        return float(getattr(theory, function)(setting))

    return at


def hypotheses(setting: Setting) -> Sequence[Hypothesis]:
    from tutelage.papers.teacher_models.theory import constants as theory

    return theory.theorem_3_1(setting)


def claims_of(case: str) -> dict[str, Claim]:
    """The claims of Theorem 3.1 about one run, by their short names."""

    def named(
        name: str, kind: Callable[..., Claim], *given: Any, statement: str, source: str, **more: Any
    ) -> Claim:
        return kind(
            *given,
            id=f"{NAME}/{case}/{name}",
            statement=statement,
            source=source,
            hypotheses=hypotheses,
            **more,
        )

    claims: dict[str, Claim] = {}
    for name, curve, exponent, constant, rate_statement, constant_statement in (
        (
            "excess",
            "excess_risk",
            -1.0,
            "counting_law",
            "excess risk = Θ(1/T)",
            "excess·ηT → Σ_i K_i(D−K_i)/4",
        ),
        (
            "value",
            "value_error",
            -0.5,
            "value_constant",
            "‖W_V − V*‖ = Θ(1/√T)",
            "‖W_V − V*‖√(ηT) → (D−K)√(K/2λ)",
        ),
        (
            "attention",
            "attention_error",
            -0.5,
            "attention_constant",
            "‖S − S*‖ = Θ(1/√T)",
            "‖S − S*‖√(ηT) → √(QD(D−K)/2λ)/‖V*‖",
        ),
    ):
        about: dict[str, Any] = {"plateau": predicted("plateau")}
        claims[f"{name}-rate"] = named(
            f"{name}-rate", Rate, curve, exponent, statement=rate_statement, source=PAPER, **about
        )
        about["value"] = predicted(constant)
        claims[f"{name}-constant"] = named(
            f"{name}-constant",
            Constant,
            curve,
            exponent,
            statement=constant_statement,
            source=SHARP,
            **about,
        )
    # W_V = C₁V* exactly; what is left is the rounding of some 10⁵ steps, far below 1e-9.
    first: dict[str, Any] = {
        "statement": "cos(W_V, V*) = 1 from the first step",
        "source": PAPER,
        "from_step": 1,
    }
    claims["cosine"] = named("cosine", Recovery, "cosine", 1.0, 1e-9, **first)
    return claims


@dataclass(frozen=True)
class Control:
    """A setting that breaks one hypothesis, and the claim that rests on it: it must not hold."""

    name: str
    label: str
    setting: Setting
    claim: str
    breaks: str


def controls() -> list[Control]:
    pooled = np.kron(np.eye(9), np.full((4, 4), 0.25))
    leaking = Part(
        "bilinear",
        selection=0.5 * pooled + 0.5 / 36,
        outputs=8,
        dim=10,
        norm=50.0,
        activation="relu",
    )
    unequal = Part("gaussian", covariance=np.diag(np.geomspace(0.2, 4.0, 10)))
    return [
        Control(
            "all-tokens",
            "D = K",
            Setting(CNN.change(support=36), 0.2, steps=100_000),
            "excess-rate",
            "K < D: with K = D uniform attention is right from the start",
        ),
        Control(
            "no-zeros",
            "S* without zeros",
            Setting(leaking, 0.2, steps=60_000),
            "excess-rate",
            "zeros in S*: without them the softmax reaches S* at finite scores",
        ),
        Control(
            "large-step",
            "step size 1.3 × stable",
            Setting(CNN, 0.58, steps=50_000),
            "excess-rate",
            "a small step size: above 2K/(λD) the descent stalls at the edge of stability",
        ),
        Control(
            "anisotropic",
            "features of unequal variance",
            Setting(CNN, 0.05, steps=2_000, inputs=unequal),
            "cosine",
            "tokens N(0, I): with another covariance W_V is not parallel to V* on the way",
        ),
    ]


@dataclass(frozen=True)
class Rates:
    """The study `teacher-models/rates`."""

    name: str = NAME
    sentence: str = (
        "Theorem 3.1 in the paper's six runs: rates, sharp constants, alignment and "
        "attention (Fig. 2a, 2c, 3)"
    )
    statement: str = (
        "Trained by gradient descent on the population risk from zero, one layer of "
        "position-only attention learns every teacher of the "
        "class: for T ≥ T*, the excess risk is Θ(1/T), both parameter errors are Θ(1/√T), and "
        "W_V is parallel to V* from the first step "
        "on. Sharper, and derived here: each of the three tends to a constant over its rate."
    )
    equation: str = (
        "L(T) − L_opt = Θ(1/T),  ‖W_V − V*‖_F = Θ(1/√T),  ‖S − S*‖_F = Θ(1/√T);   excess·ηT → "
        "Σ_i K_i(D−K_i)/4,  "
        "‖W_V−V*‖√(ηT) → (D−K)√(K/2λ),  ‖S−S*‖√(ηT) → √(QD(D−K)/2λ)/‖V*‖"
    )
    source: str = PAPER
    choices: tuple[str, ...] = (
        "Exact gradient descent on the population risk, where the paper draws a fresh batch of "
        "100 a step.",
        "d = 10, M = 8 (token selection M = d = 10, group-sparse M = 1): not stated in the paper.",
        "V* with iid normal entries scaled to norm 50 (CNN), 30 (GCN), 15 (group-sparse); token "
        "selection has "
        "V* = 5·I, the paper's V* = I in other units. A longer V* "
        "shortens the plateau in steps; of the constants only that of ‖S−S*‖ depends on it, "
        "through 1/‖V*‖.",
        "Leaky slope 0.1: not stated in the paper.",
        "Step sizes 0.2 (0.04 for group-sparse), a third to a half of the largest stable one, "
        "and far above the theorem's condition; the case small-steps shows how little that "
        "matters.",
        "No label noise: it shifts the risk by a constant and leaves the excess as it is.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: LETTERS)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 45.0, "full": 600.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.0, "full": 1.0})
    checked_in: str = "src/tutelage/papers/teacher_models/theory/constants.py"

    def cases(self, plan: Plan) -> list[Case]:
        """The six runs; and, unless something was changed, the controls and the limit of small
        steps.
        """
        cases = [
            _main_case(name, label, Setting(teacher, rate, steps=1), plan)
            for name, (label, teacher, rate) in RUNS.items()
        ]
        if plan.changes:
            return cases
        return [
            *cases,
            *(_control_case(control, plan) for control in controls()),
            _small_steps(plan),
        ]

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.teacher_models.rates import figures as rates_figures

        return rates_figures.draw(answered, folder)


def _main_case(name: str, label: str, base: Setting, plan: Plan) -> Case:
    try:
        setting = changed(base, plan.changes, LETTERS)
    except NoSuchOption as reason:
        return Case(name, label, (), (), left_out=str(reason))
    if setting.steps == base.steps:  # not among the changes
        setting = replace(
            setting,
            steps=plan.steps or math.ceil(HORIZON[plan.preset] * predicted("plateau")(setting)),
        )
    return Case(name, label, _seeds(setting, plan), tuple(claims_of(name).values()))


def _control_case(control: Control, plan: Plan) -> Case:
    setting = replace(control.setting, steps=plan.steps or control.setting.steps)
    # As many seeds as the run beside it, so that the two share one compiled program.
    return Case(
        control.name,
        control.label,
        _seeds(setting, plan),
        (claims_of(control.name)[control.claim],),
        control.breaks,
    )


def _seeds(setting: Setting, plan: Plan) -> tuple[Setting, ...]:
    return tuple(
        replace(setting, seed=setting.seed + i) for i in range(plan.seeds or SEEDS[plan.preset])
    )


def _small_steps(plan: Plan) -> Case:
    """One run at falling step sizes: against ηt the curves fall on one another, at the first order
    of Euler's method.
    """
    rates = [0.2 / 2**i for i in range(6 if plan.preset == "full" else 5)]
    claim = Exponent(
        points=_departures,
        exponent=1.0,
        of="the largest departure of log excess between step sizes η and η/2, against ηt,",
        tolerance=0.1,  # the next order of Euler's error is still visible at the largest step
        id=f"{NAME}/small-steps/collapse",
        statement="curves against ηt meet as η → 0, at first order",
        source="gradient descent is Euler's method for gradient flow, of order 1",
        hypotheses=hypotheses,
    )
    time = 400.0  # ηT of every run: about a hundred plateaus
    settings = tuple(
        Setting(GCN.change(norm=20.0), rate, steps=math.ceil(time / rate)) for rate in rates
    )
    return Case("small-steps", f"step sizes {rates[0]:g} to {rates[-1]:g}", settings, (claim,))


def _departures(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
    """(η, largest |log excess_η − log excess_η/2| over common ηt, seed) for successive step
    sizes.
    """
    from scipy.interpolate import CubicSpline

    ordered = sorted(runs, key=lambda run: -run.time[-1] / run.steps[-1])
    splines = [
        CubicSpline(np.log(run.time[1:]), np.log(run.curves["excess_risk"][1:])) for run in ordered
    ]
    times = np.linspace(
        np.log(1.0), np.log(0.99 * ordered[0].time[-1]), 200
    )  # from ηt = 1: five steps of the largest η
    return [
        (
            float(run.time[1]),
            float(np.abs(a(times) - b(times)).max()),
            run.setting.seed if run.setting else 0,
        )
        for run, a, b in zip(ordered[:-1], splines[:-1], splines[1:], strict=True)
    ]


RATES = Rates()
