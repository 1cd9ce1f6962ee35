"""The plateau of Theorem 3.1 in `teacher-models/phases`: when the excess has halved and when K p =
½, in D, K, ‖V*‖ and η.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tutelage.claims import Claim, Exponent, Ratio
from tutelage.claims.claim import NotYet
from tutelage.claims.exponent import fitted_exponent
from tutelage.papers.teacher_models.rates.study import hypotheses
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Case, Plan

NAME = "teacher-models/phases"
PAPER = "Zhang et al. 2026, Theorem 3.1 and its proof"
EXACT = f"derived here (docs/derivations.md, section 4), from the form of W_V and W_KQ in {PAPER}"
SLOW = "derived here (docs/derivations.md, section 5)"
SEEDS = {"quick": 3, "full": 10}
MEASURES = ("excess_risk", "value_scale", "score_gap", "support_mass")
TIMES = {
    "halving": "the step at which the excess has halved",
    "attention": "the first step with K p ≥ ½",
}


def recursion_time(name: str) -> Callable[[Setting], float]:
    """One of the times of `recursion.py`, loaded when it is asked."""

    def at(setting: Setting) -> float:
        from tutelage.papers.teacher_models.theory.recursion import times

        return float(getattr(times(setting), name))

    return at


def slow(function: str) -> Callable[..., Any]:
    """A prediction of `slow_manifold.py` by name, likewise."""

    def at(*given: Any) -> Any:
        from tutelage.papers.teacher_models.theory import slow_manifold

        return getattr(slow_manifold, function)(*given)

    return at


def crossing(run: Run, quantity: str) -> float:
    """The step at which the excess has halved, or Kp has reached ½, by a cubic spline through the
    measured points in log time.
    """
    from scipy.interpolate import CubicSpline
    from scipy.optimize import brentq

    if quantity == "halving":
        level = np.log(2 * run.curves["excess_risk"] / run.curves["excess_risk"][0])
    else:
        level = 0.5 - run.curves["support_mass"].mean(1)
    below = np.flatnonzero(level <= 0)
    if not len(below):
        raise NotYet(
            f"Too short to tell: {TIMES[quantity]} lies beyond step {run.steps[-1]:,}. About ten "
            "times as many would decide."
        )
    if below[0] < 2:
        raise NotYet(
            f"Too fast to tell: {TIMES[quantity]} is among the first two. A smaller step size "
            "would decide."
        )
    near = slice(max(1, below[0] - 6), below[0] + 4)
    spline = CubicSpline(np.log(run.steps[near]), level[near])
    return float(np.exp(brentq(spline, *np.log(run.steps[[below[0] - 1, below[0]]]), xtol=1e-14)))


@dataclass(frozen=True)
class Sweep:
    """One axis: its number in a setting, and its points (activation, D, K, ‖V*‖, η); the full
    preset adds to the quick one's.
    """

    name: str
    words: str
    axis: Callable[[Setting], float]
    quick: Sequence[tuple[str, int, int, float, float]]
    more: Sequence[tuple[str, int, int, float, float]]

    def points(self, preset: str) -> list[tuple[str, int, int, float, float]]:
        return [*self.quick, *(self.more if preset == "full" else ())]


def _option(name: str) -> Callable[[Setting], float]:
    return lambda setting: float(setting.teacher.options[name])


LENGTHS = (20, 28, 36)
SWEEPS = (
    Sweep(
        "D",
        "D at K = 2",
        _option("tokens"),
        [("identity", D, 2, 1.0, 0.08) for D in LENGTHS],
        [("identity", 48, 2, 1.0, 0.08)],
    ),
    Sweep(
        "D-relu",
        "D at K = 2, ReLU",
        _option("tokens"),
        [("relu", D, 2, 1.0, 0.16) for D in LENGTHS],
        [("relu", 48, 2, 1.0, 0.16)],
    ),
    Sweep(
        "K",
        "K at D = 36",
        _option("support"),
        [("identity", 36, K, 2.0, 0.05) for K in (1, 2, 3, 4)],
        [("identity", 36, 6, 2.0, 0.05)],
    ),
    Sweep(
        "V",
        "‖V*‖ at D = 20, K = 2",
        _option("norm"),
        [("identity", 20, 2, V, 0.1) for V in (0.7, 1.0, 1.4)],
        [("identity", 20, 2, V, 0.1) for V in (0.35, 0.5)],
    ),
    Sweep(
        "eta",
        "η at D = 20, K = 2",
        lambda setting: float(setting.rate),
        [("identity", 20, 2, 1.0, eta) for eta in (0.16, 0.08, 0.04)],
        [("identity", 20, 2, 1.0, eta) for eta in (0.02, 0.01)],
    ),
)


# M and d of the runs of the same length in teacher-models/rates: what has one shape and activation
# shares one compiled program.
SHAPES = {"identity": (10, 10), "relu": (8, 10)}


def setting_at(activation: str, D: int, K: int, V: float, eta: float) -> Setting:
    outputs, dim = SHAPES[activation]
    part = Part(
        "convolution", tokens=D, support=K, outputs=outputs, dim=dim, norm=V, activation=activation
    )
    return Setting(part, eta, steps=1, measures=MEASURES)


def printed(setting: Setting) -> float:
    """T* of Theorem 3.1 up to its factor, K D²/(η‖V*‖²)."""
    options = setting.teacher.options
    return float(
        options["support"] * options["tokens"] ** 2 / (setting.rate * options["norm"] ** 2)
    )


def sweep_claims(sweep: Sweep, settings: Sequence[Setting]) -> tuple[Claim, ...]:
    """For both times their values by the recursion and the exponents of the slow manifold's
    formula; for K p = ½ those of the printed T*.

    The printed T* leaves out lower orders. For the identity they are (2K/D)(ln(D/K) − 1), which
    over these ranges bend an exponent by less than 0.1; for ReLU they are 4π√(K/D), as large as the
    rest at D = 150 K, so no sweep within reach could judge it.
    """
    once = {sweep.axis(setting): setting for setting in settings}
    claims: list[Claim] = []
    for quantity, words in TIMES.items():

        def measured(
            runs: Sequence[Run], quantity: str = quantity
        ) -> list[tuple[float, float, int]]:
            return [
                (sweep.axis(r.setting), crossing(r, quantity), r.setting.seed)
                for r in runs
                if r.setting is not None
            ]

        def through(theory: Callable[[Setting], float]) -> Callable[[Sequence[float]], float]:
            return lambda axis: fitted_exponent([(x, theory(once[x])) for x in axis])

        claims.append(
            Ratio(
                lambda run, quantity=quantity: crossing(run, quantity),  # type: ignore[misc]
                recursion_time(quantity),
                # a fiftieth of the spacing of measured steps, 24 a decade, between which the spline
                # reads
                tolerance=2e-3,
                of=words,
                id=f"{NAME}/{sweep.name}/{quantity}-recursion",
                statement=f"{words} is that of the recursion, in {sweep.words}",
                source=EXACT,
                hypotheses=hypotheses,
            )
        )
        theories: list[tuple[str, Callable[[Setting], float], float, str, str]] = [
            ("formula", slow(f"{quantity}_time"), 0.02, SLOW, "the slow manifold's formula")
        ]
        if quantity == "attention" and settings[0].teacher.options["activation"] == "identity":
            theories.append(("printed", printed, 0.1, PAPER, "T* = K D²/(η‖V*‖²)"))
        for theory, value, tolerance, source, formula in theories:
            claims.append(
                Exponent(
                    points=measured,
                    exponent=through(value),
                    of=words,
                    tolerance=tolerance,
                    id=f"{NAME}/{sweep.name}/{quantity}-{theory}",
                    statement=f"{words} grows like {formula} in {sweep.words}",
                    source=source,
                    hypotheses=hypotheses,
                )
            )
    return tuple(claims)


def sweep_case(sweep: Sweep, plan: Plan) -> Case:
    """Every point is run until a third after Kp = ½ is due."""
    settings = []
    for point in sweep.points(plan.preset):
        setting = setting_at(*point)
        steps = plan.steps or math.ceil(1.3 * slow("attention_time")(setting)) + 50
        settings += [
            replace(setting, steps=steps, seed=seed)
            for seed in range(plan.seeds or SEEDS[plan.preset])
        ]
    return Case(sweep.name, sweep.words, tuple(settings), sweep_claims(sweep, settings))
