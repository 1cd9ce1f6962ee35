"""The important claims of this paper once more, registered before they were run, on sizes and seeds
that no other study has.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from tutelage.claims import Claim, Constant, Exponent, Rate
from tutelage.claims.contraction import DELTA
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.ood import claims as ood
from tutelage.papers.teacher_models.ood.readings import SNAPSHOTS
from tutelage.papers.teacher_models.scaling.study import sweep_claims
from tutelage.papers.teacher_models.scaling.sweeps import Point, make_large
from tutelage.papers.teacher_models.setup import (
    SHARP,
    THEOREM,
    claims_of_mixed_supports,
    claims_of_theorem,
)
from tutelage.papers.teacher_models.sweeps import Sweep, tokens
from tutelage.papers.teacher_models.theory.slowest_column import slowest_plateau
from tutelage.settings import MEASURES, Part, Setting
from tutelage.studies.study import Case, Control, Plan, Preset, Study

SEED = 4021  # other studies count from 0
PLATEAUS = 3000  # the horizon of every run
LAWS = ("excess-rate", "excess-constant", "value-constant")
LEAKY = "leaky_relu(0.3)"
RUNS = {  # kinds of the paper's six runs, in sizes of their own, with their step size
    "cnn-relu": (
        Part("convolution", tokens=30, support=5, outputs=5, dim=7, norm=41.0, activation="relu"),
        0.23,
    ),
    "cnn-leaky": (
        Part("convolution", tokens=28, support=7, outputs=3, dim=6, norm=37.0, activation=LEAKY),
        0.21,
    ),
    "gcn-relu": (
        Part(
            "graph_convolution",
            tokens=26,
            outputs=5,
            dim=7,
            norm=33.0,
            graph="cycle",
            activation="relu",
        ),
        0.17,
    ),
    "gcn-leaky": (
        Part(
            "graph_convolution",
            tokens=22,
            outputs=6,
            dim=9,
            norm=27.0,
            graph="cycle",
            activation=LEAKY,
        ),
        0.19,
    ),
    "token-selection": (Part("token_selection", tokens=18, support=3, dim=7, scale=4.3), 0.13),
    "group-sparse": (Part("group_sparse", tokens=23, dim=9, norm=13.0), 0.03),
}
LARGE = Sweep("D", "D", "K = 3, M = 1", tokens)
POINTS = [Point(D, 3, 1.0) for D in (96, 768, 6144, 49152)]
SUPPORTS = (1, 2, 3, 4, 6, 7, 9, 12)
TOKENS = 15


def cases(plan: Plan, preset: Preset) -> list[Case]:
    made = [
        *(law_case(name, teacher, rate) for name, (teacher, rate) in RUNS.items()),
        mixed_case(),
        large_case(),
        foreign_case(),
        *(control.case() for control in controls()),
    ]
    return [_shorten(_as_registered(case), plan) for case in made]


def _as_registered(case: Case) -> Case:
    """The case with its claims as they stand in the ledger: with the usual exponent of the class,
    and with nothing said of chance or of errors of points.
    """
    return replace(case, claims=tuple(_usual(claim) for claim in case.claims))


def _usual(claim: Claim) -> Claim:
    if isinstance(claim, Rate | Constant):
        return replace(claim, approach=DELTA)
    if isinstance(claim, Exponent):
        return replace(claim, certain=False, errors=None)
    return claim


def _shorten(case: Case, plan: Plan) -> Case:
    if plan.steps is None:
        return case
    settings = tuple(replace(setting, steps=plan.steps) for setting in case.settings)
    return replace(case, settings=settings)


def long_enough(setting: Setting) -> Setting:
    return replace(setting, steps=math.ceil(PLATEAUS * theory.plateau(setting)), seed=SEED)


def law_case(name: str, teacher: Part, rate: float) -> Case:
    """The rate and two constants of Theorem 3.1; one seed, since from zero V* counts by its norm
    alone.
    """
    claims = claims_of_theorem()
    setting = long_enough(Setting(teacher, rate, steps=1))
    return Case(name, f"{name}, fresh sizes", (setting,), tuple(claims[law] for law in LAWS))


def mixed_supports() -> Float[np.ndarray, "D Q"]:
    """Columns of equal weights, every one with another support."""
    selection = np.zeros((TOKENS, len(SUPPORTS)))
    for column, support in enumerate(SUPPORTS):
        selection[(np.arange(support) * 4 + column) % TOKENS, column] = 1 / support
    return selection


def mixed_case() -> Case:
    """The counting law where every column has another K_i."""
    teacher = Part(
        "bilinear", selection=mixed_supports(), outputs=3, dim=5, norm=21.0, activation="identity"
    )
    setting = Setting(teacher, rate=0.06, steps=1)
    steps = math.ceil(PLATEAUS * slowest_plateau(setting))
    rates, constants = claims_of_mixed_supports(
        plateau=slowest_plateau, rate_source=THEOREM, hypotheses=theory.theorem_3_1
    )
    return Case(
        "mixed",
        "K_i from 1 to 12",
        (replace(setting, steps=steps, seed=SEED),),
        (rates["excess"], constants["excess"]),
    )


def large_case() -> Case:
    """The power of D, printed and sharp."""
    settings = tuple(long_enough(make_large(point)) for point in POINTS)
    wanted = ("excess-sharp", "excess-printed")
    claims = [claim for claim in sweep_claims(LARGE, settings) if claim.id in wanted]
    return Case("D", LARGE.label, settings, tuple(claims))


def foreign_case() -> Case:
    """The excess on exponential inputs with the teacher's labels."""
    teacher, rate = RUNS["token-selection"]
    setting = Setting(teacher, rate, steps=1, measures=(*MEASURES, *SNAPSHOTS))
    return Case(
        "foreign",
        "token selection, exponential inputs",
        (long_enough(setting),),
        ood.own_claims(ood.EXPONENTIAL, 1),
        derived=ood.foreign_curves(ood.EXPONENTIAL, 1),
    )


def controls() -> list[Control]:
    """No zeros in S* ends the rate; momentum multiplies time, and so the constants."""
    teacher, rate = RUNS["cnn-relu"]
    claims = claims_of_theorem()
    plain = Setting(teacher, rate, steps=1)
    full = Setting(teacher.change(support=30), rate, steps=60_000, seed=SEED)
    hurried = replace(long_enough(plain), optimiser=Part("momentum", decay=0.5))
    broken = "K < D: with K = D uniform attention is right from the start"
    found = [Control("all-tokens", "D = K", full, claims["excess-rate"], broken)]
    broken = "plain gradient descent: momentum β multiplies time by 1/(1−β)"
    return found + [
        Control(f"momentum-{law}", "momentum ½", hurried, claims[law], broken) for law in LAWS[1:]
    ]


study = Study(
    source=f"{THEOREM} and 3.2; constants {SHARP}",
    statement=(
        "The rate of the excess and the sharp constants in the paper's six kinds of runs, the "
        "counting law for mixed supports, the power of D and the constant on foreign inputs. Each "
        "claim, with its tolerance, sizes, seed and horizon, was written to the ledger before its "
        "runs were made; no other study has these sizes."
    ),
    equation=(
        "L(T) − L_opt = Θ(1/T);   excess·ηT → Σ_i K_i(D−K_i)/4;   ‖W_V−V*‖√(ηT) → (D−K)√(K/2λ)"
    ),
    choices=(
        "Sizes, norms, step sizes and the seed 4021 are used nowhere else. Horizons are 3,000 "
        "plateaus of each run.",
        "Tolerances are those of the other studies.",
    ),
    presets={"quick": Preset(seconds=40.0)},
    cases=cases,
    compares="fresh sizes with what rates, scaling, starts and ood found",
    checked_in="src/tutelage/papers/teacher_models/theory/sharp_constants.py",
    letters={"T": "steps"},
)
