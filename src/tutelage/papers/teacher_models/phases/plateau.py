"""The plateau of Theorem 3.1 in `teacher-models/phases`: when the excess has halved and when
K p = ½, in D, K, ‖V*‖ and η.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Float
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

from tutelage.claims import Claim, Exponent, Ratio
from tutelage.claims.claim import NotYet
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.phases.setup import (
    EXACT,
    PROOF,
    SLOW,
    PhasesPreset,
    make_setting,
    repeat,
)
from tutelage.papers.teacher_models.sweeps import (
    Sweep,
    exponent_through,
    norm,
    rate,
    read_along,
    support,
    tokens,
)
from tutelage.papers.teacher_models.theory import recursion, slow_manifold
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.study import Case, Plan

SWEEPS = (
    Sweep("D", "D", "K = 2", tokens, "$D$\n$K=2$"),
    Sweep("D-relu", "D", "K = 2, ReLU", tokens, "$D$\n$K=2$, ReLU"),
    Sweep("K", "K", "D = 36", support, "$K$\n$D=36$"),
    Sweep("V", "‖V*‖", "D = 20, K = 2", norm, "$\\|V^*\\|$\n$D=20$, $K=2$"),
    Sweep("eta", "η", "D = 20, K = 2", rate, "$\\eta$\n$D=20$, $K=2$"),
)


@dataclass(frozen=True)
class PlateauTime:
    """A step at which the plateau ends, as a run shows it and as two theories predict it."""

    text: str
    label: str
    level: Callable[[Run], Float[np.ndarray, "points"]]  # falls through 0 at that step
    by_recursion: Callable[[Setting], float]
    by_formula: Callable[[Setting], float]


TIMES = {
    "halving": PlateauTime(
        "the step at which the excess has halved",
        "excess halved",
        lambda run: np.log(2 * run.curves["excess_risk"] / run.curves["excess_risk"][0]),
        lambda setting: recursion.times(setting).halving,
        slow_manifold.halving_time,
    ),
    "attention": PlateauTime(
        "the first step with K p ≥ ½",
        "$Kp=½$",
        lambda run: 0.5 - run.curves["support_mass"].mean(1),
        lambda setting: recursion.times(setting).attention,
        slow_manifold.attention_time,
    ),
}


def crossing(run: Run, name: str) -> float:
    """One of the TIMES in a run, by a cubic spline through the measured points in log time."""
    time = TIMES[name]
    level = time.level(run)
    below = np.flatnonzero(level <= 0)
    if not len(below):
        raise NotYet(
            f"Too short to tell: {time.text} lies beyond step {run.steps[-1]:,}. About ten "
            "times as many would decide."
        )
    if below[0] < 2:
        raise NotYet(
            f"Too fast to tell: {time.text} is among the first two. A smaller step size "
            "would decide."
        )
    near = slice(max(1, below[0] - 6), below[0] + 4)
    spline = CubicSpline(np.log(run.steps[near]), level[near])
    return float(np.exp(brentq(spline, *np.log(run.steps[[below[0] - 1, below[0]]]), xtol=1e-14)))


def sweep_case(sweep: Sweep, plan: Plan, preset: PhasesPreset) -> Case:
    """Every point is run until a third after Kp = ½ is due."""
    points = []
    for point in preset.points[sweep.name]:
        setting = make_setting(point)
        steps = plan.steps or math.ceil(1.3 * slow_manifold.attention_time(setting)) + 50
        points.append(replace(setting, steps=steps))
    settings = tuple(setting for point in points for setting in repeat(point, plan, preset))
    return Case(sweep.name, sweep.label, settings, sweep_claims(sweep, points))


def sweep_claims(sweep: Sweep, settings: Sequence[Setting]) -> tuple[Claim, ...]:
    """For both times their values by the recursion and the exponents of the slow manifold's
    formula; for K p = ½ those of the printed T*.

    The printed T* leaves out lower orders. For the identity they are (2K/D)(ln(D/K) − 1), which
    over these ranges bend an exponent by less than 0.1; for ReLU they are 4π√(K/D), as large as the
    rest at D = 150 K, so no sweep within reach could judge it.
    """
    claims: list[Claim] = []
    for name, time in TIMES.items():
        claims += [
            recursion_claim(name, sweep),
            exponent_claim(
                name,
                sweep,
                settings,
                id=f"{name}-formula",
                predict=time.by_formula,
                formula="the slow manifold's formula",
                tolerance=0.02,
                source=SLOW,
                claimed_by=ClaimedBy.SHARPER,
            ),
        ]
    if settings[0].teacher.options["activation"] == "identity":
        claims.append(
            exponent_claim(
                "attention",
                sweep,
                settings,
                id="attention-printed",
                predict=theory.printed_plateau,
                formula="T* = K D²/(η‖V*‖²)",
                tolerance=0.1,
                source=PROOF,
                claimed_by=ClaimedBy.PAPER,
                source_text=SourceText.PARTLY_READ,
            )
        )
    return tuple(claims)


def recursion_claim(name: str, sweep: Sweep) -> Claim:
    time = TIMES[name]
    return Ratio(
        partial(crossing, name=name),
        time.by_recursion,
        # A fiftieth of the spacing of measured steps, 24 per decade, between which the spline
        # reads.
        tolerance=2e-3,
        of=time.text,
        id=f"{name}-recursion",
        statement=f"{time.text} is that of the recursion, in {sweep.label}",
        source=EXACT,
        claimed_by=ClaimedBy.SHARPER,
        source_text=SourceText.PARTLY_READ,
        derived=True,
        hypotheses=theory.theorem_3_1,
    )


def exponent_claim(
    name: str,
    sweep: Sweep,
    settings: Sequence[Setting],
    *,
    id: str,
    predict: Callable[[Setting], float],
    formula: str,
    tolerance: float,
    source: str,
    claimed_by: ClaimedBy = ClaimedBy.BEYOND,
    source_text: SourceText = SourceText.READ,
) -> Claim:
    """That a time grows along a sweep like a theory's own values at its points."""
    text = TIMES[name].text
    return Exponent(
        certain=True,  # exact risks: no chance in any point
        points=read_along(sweep.axis, partial(crossing, name=name)),
        exponent=exponent_through(predict, {sweep.axis(setting): setting for setting in settings}),
        of=text,
        tolerance=tolerance,
        id=id,
        statement=f"{text} grows like {formula} in {sweep.label}",
        source=source,
        claimed_by=claimed_by,
        source_text=source_text,
        hypotheses=theory.theorem_3_1,
    )
