"""Theorem 3.1 in the paper's six runs: rates, sharp constants, alignment and attention (Figures 2a, 2c and 3), on the exact risk."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tutelage.claims.kinds import Claim, Constant, Exponent, Rate, Recovery
from tutelage.claims.verdict import Hypothesis
from tutelage.settings import Part, Setting
from tutelage.study import Answered, Case, NoSuchOption, Plan, changed

if TYPE_CHECKING:
    from tutelage.run import Run

SOURCE = "Zhang et al. 2026, Theorem 3.1"
SHARP = "derived here (docs/derivations.md); the rate is Zhang et al. 2026, Theorem 3.1"
LETTERS = {"D": "teacher.tokens", "K": "teacher.support", "d": "teacher.dim", "M": "teacher.outputs", "V": "teacher.norm", "eta": "rate", "T": "steps", "tau": "teacher.noise"}  # fmt: skip

HORIZON = {"quick": 10_000, "full": 100_000}  # plateaus; constants are read from the 100th on
SEEDS = {"quick": 4, "full": 10}

_CNN = Part("convolution", tokens=36, support=4, outputs=8, dim=10, norm=50.0, activation="relu")
_GCN = Part("graph_convolution", tokens=20, outputs=8, dim=10, norm=30.0, graph="cycle", activation="relu")
_LEAKY = "leaky_relu(0.1)"

# name -> label, teacher, rate. The largest stable rates are 0.44, 0.44, 0.6, 0.6, 0.4 and 0.1.
RUNS: dict[str, tuple[str, Part, float]] = {
    "cnn-relu": ("CNN, ReLU", _CNN, 0.2),
    "cnn-leaky": ("CNN, leaky ReLU", _CNN.change(activation=_LEAKY), 0.2),
    "gcn-relu": ("GCN, ReLU", _GCN, 0.2),
    "gcn-leaky": ("GCN, leaky ReLU", _GCN.change(activation=_LEAKY), 0.2),
    "token-selection": ("token selection", Part("token_selection", tokens=20, support=4, dim=40), 0.3),
    "group-sparse": ("group-sparse", Part("group_sparse", tokens=20, dim=10, norm=15.0), 0.04),
}


def predicted(function: str) -> Callable[[Setting], float]:
    """A prediction of `theory.py` by name; loaded with JAX only when it is asked for."""

    def at(setting: Setting) -> float:
        from tutelage.papers.teacher_models import theory

        return getattr(theory, function)(setting)  # type: ignore[no-any-return]

    return at


def hypotheses(setting: Setting) -> Sequence[Hypothesis]:
    from tutelage.papers.teacher_models import theory

    return theory.theorem_3_1(setting)


def claims_of(name: str) -> tuple[Claim, ...]:
    """The claims of Theorem 3.1 about one run."""

    def about(id: str, statement: str, source: str) -> dict[str, object]:
        return {"id": f"teacher-models/rates/{name}/{id}", "statement": statement, "source": source, "hypotheses": hypotheses}

    plateau = predicted("plateau")
    return (
        Rate("excess_risk", -1.0, plateau=plateau, **about("excess-rate", "excess risk = Θ(1/T)", SOURCE)),
        Constant("excess_risk", -1.0, predicted("counting_law"), plateau=plateau, **about("excess-constant", "excess·ηT → Σ_i K_i(D−K_i)/4", SHARP)),
        Rate("value_error", -0.5, plateau=plateau, **about("value-rate", "‖W_V − V*‖ = Θ(1/√T)", SOURCE)),
        Constant("value_error", -0.5, predicted("value_constant"), plateau=plateau, **about("value-constant", "‖W_V − V*‖√(ηT) → (D−K)√(K/2λ)", SHARP)),
        Rate("attention_error", -0.5, plateau=plateau, **about("attention-rate", "‖S − S*‖ = Θ(1/√T)", SOURCE)),
        Constant("attention_error", -0.5, predicted("attention_constant"), plateau=plateau, **about("attention-constant", "‖S − S*‖√(ηT) → √(QD(D−K)/2λ)/‖V*‖", SHARP)),
        # W_V = C₁V* exactly; what is left is the rounding of some 10⁵ steps, far below 1e-9.
        Recovery("cosine", 1.0, 1e-9, from_step=1, **about("cosine", "cos(W_V, V*) = 1 from the first step", SOURCE)),
    )  # type: ignore[arg-type]  # fmt: skip


@dataclass(frozen=True)
class Rates:
    """The study `teacher-models/rates`."""

    name: str = "teacher-models/rates"
    sentence: str = "Theorem 3.1 in the paper's six runs: rates, sharp constants, alignment and attention (Fig. 2a, 2c, 3)"
    statement: str = (
        "Trained by gradient descent on the population risk from zero, one layer of position-only attention learns every teacher of "
        "the class: for T ≥ T*, the excess risk is Θ(1/T), both parameter errors are Θ(1/√T), and W_V is parallel to V* from the first "
        "step on. Sharper, and derived here: each of the three tends to a constant over its rate."
    )
    equation: str = (
        "L(T) − L_opt = Θ(1/T),  ‖W_V − V*‖_F = Θ(1/√T),  ‖S − S*‖_F = Θ(1/√T);   excess·ηT → Σ_i K_i(D−K_i)/4,  "
        "‖W_V−V*‖√(ηT) → (D−K)√(K/2λ),  ‖S−S*‖√(ηT) → √(QD(D−K)/2λ)/‖V*‖"
    )
    source: str = SOURCE
    choices: tuple[str, ...] = (
        "Exact gradient descent on the population risk, where the paper draws a fresh batch of 100 a step.",
        "d = 10, M = 8 (token selection d = M = 40, group-sparse d = 10, M = 1): not stated in the paper.",
        "V* with iid normal entries scaled to norm 50 (CNN), 30 (GCN), 15 (group-sparse); token selection has V* = I. A longer V* "
        "shortens the plateau in steps; of the constants only that of ‖S−S*‖ depends on it, through 1/‖V*‖.",
        "Leaky slope 0.1: not stated in the paper.",
        "Step sizes 0.2 (CNN, GCN), 0.3 (token selection), 0.04 (group-sparse), a third to three quarters of the largest stable one, and far above "
        "the theorem's condition; the case small-steps shows how little that matters.",
        "No label noise: it shifts the risk by a constant and leaves the excess as it is.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: LETTERS)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 45.0, "full": 1800.0})
    checked_in: str = "src/tutelage/papers/teacher_models/theory.py"

    def cases(self, plan: Plan) -> list[Case]:
        """The six runs; and, unless something was changed, the controls and the step-size limit."""
        main = [self._case(name, label, Setting(teacher, rate, steps=1), plan) for name, (label, teacher, rate) in RUNS.items()]
        return main if plan.changes else [*main, *self._controls(plan), self._small_steps(plan)]

    def _case(self, name: str, label: str, base: Setting, plan: Plan, claims: Sequence[Claim] | None = None, control: str = "") -> Case:
        try:
            setting = changed(base, plan.changes, self.letters)
        except NoSuchOption as reason:
            return Case(name, label, (), (), left_out=str(reason))
        if "steps" not in plan.changes and "T" not in plan.changes:
            steps = plan.steps or math.ceil(HORIZON[plan.preset] * predicted("plateau")(setting))
            setting = replace(setting, steps=steps)
        first = setting.seed
        seeds = tuple(replace(setting, seed=first + i) for i in range(plan.seeds or SEEDS[plan.preset]))
        return Case(name, label, seeds, tuple(claims or claims_of(name)), control)

    def _controls(self, plan: Plan) -> list[Case]:
        """Settings that break one hypothesis each; the claim that rests on it must not hold."""
        # As many seeds as the run beside them, so that they share its compiled program.
        cnn = Setting(_CNN, 0.2, steps=1)

        def one(name: str, claim: str) -> list[Claim]:
            return [c for c in claims_of(name) if c.id.endswith("/" + claim)]

        pooled = np.kron(np.eye(9), np.full((4, 4), 0.25))
        leaking = Part("bilinear", selection=0.5 * pooled + 0.5 / 36, outputs=8, dim=10, norm=50.0, activation="relu")
        return [
            self._case("all-tokens", "D = K", replace(cnn, teacher=_CNN.change(support=36)), replace(plan, steps=plan.steps or 100_000), one("all-tokens", "excess-rate"), "K < D: with K = D uniform attention is right from the start"),
            self._case("no-zeros", "S* without zeros", replace(cnn, teacher=leaking), replace(plan, steps=plan.steps or 60_000), one("no-zeros", "excess-rate"), "zeros in S*: without them the softmax reaches S* at finite scores"),
            self._case("large-step", "step size 1.3 × stable", replace(cnn, rate=0.58), replace(plan, steps=plan.steps or 50_000), one("large-step", "excess-rate"), "a small step size: above 2K/(λD) the descent stalls at the edge of stability"),
            self._case("anisotropic", "features of unequal variance", replace(cnn, inputs=Part("gaussian", covariance=np.diag(np.geomspace(0.2, 4.0, 10))), rate=0.05), replace(plan, steps=plan.steps or 2_000), one("anisotropic", "cosine"), "tokens N(0, I): with another covariance W_V is not parallel to V* on the way"),
        ]  # fmt: skip

    def _small_steps(self, plan: Plan) -> Case:
        """One run at falling step sizes: against ηt the curves fall on one another, at the first order of Euler's method."""
        teacher = Part("graph_convolution", tokens=20, outputs=8, dim=10, norm=20.0)
        rates = [0.2 / 2**i for i in range(6 if plan.preset == "full" else 5)]
        time = 400.0  # ηT of every run: about a hundred plateaus
        claim = Exponent(
            points=_departures,
            exponent=1.0,
            of="the largest departure of log excess between step sizes η and η/2, against ηt,",
            tolerance=0.1,
            id="teacher-models/rates/small-steps/collapse",
            statement="curves against ηt fall on one another as η → 0, to first order in η",
            source="gradient descent is Euler's method for gradient flow, of order 1",
            hypotheses=hypotheses,
        )
        settings = tuple(Setting(teacher, rate, steps=math.ceil(time / rate)) for rate in rates)
        return Case("small-steps", "step sizes 0.2 to 0.0125", settings, (claim,))

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.teacher_models import rates_figures

        return rates_figures.draw(answered, folder)


def _departures(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
    """(η, largest |log excess_η − log excess_η/2| over common ηt, seed) for successive step sizes."""
    from scipy.interpolate import CubicSpline

    ordered = sorted(runs, key=lambda run: -(run.rate or 0.0))
    splines = [CubicSpline(np.log(r.time[1:]), np.log(r.curves["excess_risk"][1:])) for r in ordered]
    times = np.linspace(np.log(1.0), np.log(0.99 * ordered[0].time[-1]), 200)  # from ηt = 1: five steps of the largest η
    return [
        (float(big.rate or 0.0), float(np.abs(a(times) - b(times)).max()), big.setting.seed if big.setting else 0)
        for big, a, b in zip(ordered[:-1], splines[:-1], splines[1:], strict=True)
    ]


RATES = Rates()
