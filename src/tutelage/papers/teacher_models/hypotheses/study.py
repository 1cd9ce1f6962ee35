"""Theorem 3.1 inside its own hypotheses: literal steps of η = 1/(M D^5/2), and the same teachers at
practical steps beside them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tutelage.claims import Claim, Exponent
from tutelage.papers.teacher_models.rates import study as rates
from tutelage.papers.teacher_models.rates.study import LETTERS, predicted
from tutelage.papers.teacher_models.scaling.study import QUANTITIES, Quantity, limit
from tutelage.refuse import Refused
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Answered, Case, NoSuchOption, Plan, changed

NAME = "teacher-models/hypotheses"
PAPER = "Zhang et al. 2026, Theorem 3.1"
OPEN = {
    letter: LETTERS[letter] for letter in ("D", "K", "d", "M", "V", "tau")
}  # the study sets η, and from it T
HORIZON = {"quick": 20_000, "full": 200_000}  # plateaus
SEEDS = {"quick": 3, "full": 10}

# ‖V*‖² about 2 K D², so that attention forms as soon as C₁ has settled: literal steps reach the
# limit soonest.
CNN = Part("convolution", tokens=8, support=2, outputs=1, dim=4, norm=16.0, activation="relu")
RUNS: dict[
    str, tuple[str, Part, float]
] = {  # label, teacher, the practical step size: a fifth of the largest stable one
    "cnn-relu": ("CNN, ReLU", CNN, 0.1),
    "gcn-leaky": (
        "GCN, leaky ReLU",
        Part(
            "graph_convolution",
            tokens=8,
            outputs=1,
            dim=4,
            norm=20.0,
            graph="cycle",
            activation="leaky_relu(0.1)",
        ),
        0.14,
    ),
    "token-selection": (
        "token selection",
        Part("token_selection", tokens=8, support=2, dim=2, scale=11.0),
        0.05,
    ),
    "group-sparse": ("group-sparse", Part("group_sparse", tokens=8, dim=4, norm=12.0), 0.05),
}
MULTIPLES = (0.25, 1.0, 4.0, 16.0, 64.0)  # of 1/(M D^5/2), for the same teacher
SWEPT = {"quick": 1_500, "full": 10_000}  # plateaus of that sweep


def claims_of(case: str) -> dict[str, Claim]:
    """The claims of teacher-models/rates, word for word."""
    return {
        name: replace(claim, id=f"{NAME}/{case}/{name}")
        for name, claim in rates.claims_of(case).items()
    }


def inside(setting: Setting, multiple: float = 1.0) -> Setting:
    """The setting with the step size of the theorem, 1/(M D^5/2), or a multiple of it."""
    return replace(setting, rate=multiple * predicted("theorem_rate")(setting))


@dataclass(frozen=True)
class Hypotheses:
    """The study `teacher-models/hypotheses`."""

    name: str = NAME
    sentence: str = (
        "Theorem 3.1 inside its own step-size condition, η = 1/(M D^5/2) taken "
        "literally, and at practical steps beside it"
    )
    statement: str = (
        "Theorem 3.1 asks for η ≤ O(1/(M D^5/2)) and D ≥ poly(M, K), which practical runs leave "
        "behind by 10³ and more. With few tokens "
        "and outputs literal steps of exactly 1/(M D^5/2) reach thousands of plateaus: the same "
        "claims must hold there, with the same "
        "constants, as at practical steps."
    )
    equation: str = (
        "η = 1/(M D^5/2):  L(T) − L_opt = Θ(1/T),  ‖W_V − V*‖_F = Θ(1/√T),  ‖S − "
        "S*‖_F = Θ(1/√T), and the constants of ηT"
    )
    source: str = PAPER
    choices: tuple[str, ...] = (
        "The constant in η ≤ O(1/(M D^5/2)) is not stated: it is taken as 1, and a sweep goes "
        "from a quarter of that to 64 times.",
        "D = 8 tokens, M = 1 (token selection M = d = 2), K = 1 to 3: D = (MK)³ for the CNN, and "
        "for the group-sparse predictor, where "
        "MK = 1, D exceeds every power. The polynomial in D ≥ poly(M, K) is not stated; the case "
        "`crowded` has D = (MK)^0.6.",
        "‖V*‖ = 16, 20, 11√2 and 12, so that ‖V*‖² is about 2 K D²: attention then forms as soon "
        "as C₁ has settled.",
        "The claims, their tolerances and their plateaus are those of teacher-models/rates.",
    )
    letters: Mapping[str, str] = field(default_factory=lambda: OPEN)
    seconds: Mapping[str, float] = field(default_factory=lambda: {"quick": 30.0, "full": 700.0})
    gigabytes: Mapping[str, float] = field(default_factory=lambda: {"quick": 1.0, "full": 1.0})
    checked_in: str = "src/tutelage/papers/teacher_models/theory/constants.py"

    def cases(self, plan: Plan) -> list[Case]:
        """Each teacher inside the condition and at a practical step; unless something was changed,
        the sweep of η and the controls.
        """
        for key in plan.changes:
            if key in ("eta", "rate", "T", "steps"):
                raise Refused(
                    "This study sets the step size itself, since that is what it is about. Got "
                    f"{key}; --steps sets the horizon."
                )
        cases = [_case(name, practical, plan) for name in RUNS for practical in (False, True)]
        return (
            cases if plan.changes else [*cases, _step_sizes(plan), _crowded(plan), *_controls(plan)]
        )

    def figures(self, answered: Sequence[Answered], folder: Path) -> list[Path]:
        from tutelage.papers.teacher_models.hypotheses import figures as hypotheses_figures

        return hypotheses_figures.draw(answered, folder)


def _case(name: str, practical: bool, plan: Plan) -> Case:
    label, teacher, rate = RUNS[name]
    case = f"{name}-practical" if practical else name
    words = f"{label}, η = {rate:g}" if practical else f"{label}, η = 1/(M D^5/2)"
    try:
        setting = changed(Setting(teacher, rate, steps=1), plan.changes, OPEN)
    except NoSuchOption as reason:
        return Case(case, words, (), (), left_out=str(reason))
    setting = setting if practical else inside(setting)
    return Case(
        case, words, _seeds(setting, plan, HORIZON[plan.preset]), tuple(claims_of(case).values())
    )


def _seeds(setting: Setting, plan: Plan, plateaus: float) -> tuple[Setting, ...]:
    steps = plan.steps or math.ceil(plateaus * predicted("plateau")(setting))
    return tuple(
        replace(setting, steps=steps, seed=seed) for seed in range(plan.seeds or SEEDS[plan.preset])
    )


def _step_sizes(plan: Plan) -> Case:
    """One teacher from a quarter of the theorem's step size to 64 times: the constants of ηT do not
    depend on it.
    """
    base = Setting(CNN, 1.0, steps=1)
    settings = [
        s
        for multiple in MULTIPLES
        for s in _seeds(inside(base, multiple), plan, SWEPT[plan.preset])
    ]

    def claim(quantity: Quantity) -> Claim:
        def points(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
            return [
                (run.setting.rate, limit(run, quantity), run.setting.seed)
                for run in runs
                if run.setting is not None
            ]

        return Exponent(
            points=points,
            exponent=0.0,
            of=f"the limit of {quantity.words} in η",
            id=f"{NAME}/step-sizes/{quantity.name}",
            statement=f"the limit of {quantity.words} does not depend on η",
            source=f"{PAPER}, in which η enters through ηT alone",
            hypotheses=rates.hypotheses,
        )

    words = f"η = {MULTIPLES[0]:g} to {MULTIPLES[-1]:g} times 1/(M D^5/2)"
    return Case(
        "step-sizes", words, tuple(settings), tuple(claim(quantity) for quantity in QUANTITIES)
    )


def _crowded(plan: Plan) -> Case:
    """D < MK: if D ≥ poly(M, K) were needed, here is where it would show."""
    teacher = Part(
        "convolution", tokens=8, support=4, outputs=8, dim=10, norm=11.0, activation="relu"
    )
    setting = Setting(teacher, 0.2, steps=1)
    return Case(
        "crowded",
        "crowded (M = 8, K = 4), η = 0.2",
        _seeds(setting, plan, HORIZON[plan.preset]),
        tuple(claims_of("crowded").values()),
    )


def _controls(plan: Plan) -> list[Case]:
    """Inside the step-size condition, with another hypothesis broken."""

    def control(
        name: str, label: str, setting: Setting, steps: int, claim: str, breaks: str
    ) -> Case:
        settings = tuple(
            replace(s, steps=plan.steps or steps) for s in _seeds(inside(setting), plan, 1)
        )
        return Case(name, label, settings, (claims_of(name)[claim],), breaks)

    base, about = Setting(CNN, 1.0, steps=1), "inside the step-size condition, but without"
    unequal: dict[str, Any] = {"inputs": Part("gaussian", covariance=np.diag([0.2, 0.5, 1.0, 2.0]))}
    return [
        control(
            "all-tokens",
            "D = K",
            replace(base, teacher=CNN.change(support=8, norm=40.0)),
            9_000,  # then e^-50 is left; far below that such small steps only round
            "excess-rate",
            f"K < D: {about} zeros in S* uniform attention is right from the start",
        ),
        control(
            "anisotropic",
            "features of unequal variance",
            replace(base, **unequal),
            20_000,
            "cosine",
            f"tokens N(0, I): {about} it W_V is not parallel to V* on the way",
        ),
    ]


HYPOTHESES = Hypotheses()
