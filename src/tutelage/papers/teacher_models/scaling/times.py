"""The time T_ε of Theorem 3.2 in the sweeps of `teacher-models/scaling`: after how many steps the
student's loss exceeds the teacher's by ε at most, on the worst inputs and labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tutelage.claims import Claim, Constant, Exponent, Number
from tutelage.claims.claim import NotYet, no_ceiling
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.readings import read_limit, read_limit_errors
from tutelage.papers.teacher_models.sweeps import Sweep, exponent_through, read_along
from tutelage.papers.teacher_models.theory.worst_case import (
    of_one_output,
    printed_tolerance_time,
    tolerance_time,
    worst_excess,
)
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.study import Curves

THEOREM_3_2 = "Zhang et al. 2026, Theorem 3.2, as printed"
SHARP = "derived here (docs/derivations.md, section 7)"
BOUND_TOLERANCE = 0.1  # as for the exponents of the printed powers
WORST = replace(
    theory.LAW["value"],
    name="worst",
    curve="worst_excess",
    constant=worst_excess,
    scaled_text="sup excess·√(ηT)/ξ",
    limit_text="Q(D−K)√(K/2λ)(1+‖V*‖)",
)


def worst_curves(run: Run) -> Curves:
    """The excess on equal tokens √ξ V*ᵀ/‖V*‖ with labels −√ξ, over ξ: Q(½e² + e(1+‖V*‖)) with
    e = ‖W_V − V*‖, since columns of S sum to 1 and W_V = (1+e/‖V*‖)V*. So once W_V is longer than
    V*, long before limits are read; earlier it is larger than the excess there.
    """
    assert run.setting is not None
    f, error = of_one_output(run.setting), run.curves["value_error"]
    return {WORST.curve: f.queries * (0.5 * error**2 + error * (1 + f.norm))}


def read_time(run: Run) -> float:
    """ηT_ε ε²/ξ² as ε → 0: the limit of the worst excess·√(ηT)/ξ, squared."""
    return read_limit(run, WORST) ** 2


def read_time_errors(runs: Sequence[Run]) -> list[float]:
    return [(1 + error) ** 2 - 1 for error in read_limit_errors(runs, WORST)]


def read_growth(axis: Callable[[Setting], float]) -> Callable[[Sequence[Run]], list[float]]:
    """By how much T_ε over the printed bound grows from the first point of a sweep to the last, if
    both limits are known well enough.
    """

    def growth(runs: Sequence[Run]) -> list[float]:
        made = [(axis(run.setting), run.setting, run) for run in runs if run.setting is not None]
        ordered = sorted(made, key=lambda one: one[0])
        errors = read_time_errors([run for _, _, run in ordered])
        if max(errors) > 0.25 * BOUND_TOLERANCE:  # two of them, and room to spare
            raise NotYet(
                f"Limits are known to {max(errors):.2g} only, too little for a tolerance of "
                f"{BOUND_TOLERANCE:g}. Longer runs would decide."
            )
        over = [read_time(run) / printed_tolerance_time(setting) for _, setting, run in ordered]
        return [over[-1] / over[0]]

    return growth


def constant_claim() -> Constant:
    return Constant(
        WORST.curve,
        WORST.exponent,
        value=worst_excess,
        plateau=theory.plateau,
        approach=theory.APPROACH,
        id="time-constant",
        statement=f"worst inputs and labels: {WORST.constant_text}",
        source=SHARP,
        claimed_by=ClaimedBy.SHARPER,
        hypotheses=theory.theorem_3_1,
    )


def exponent_claim(sweep: Sweep, settings: Sequence[Setting]) -> Exponent:
    at = {sweep.axis(setting): setting for setting in settings}
    return Exponent(
        certain=True,  # exact risks from zero: no chance in any point
        points=read_along(sweep.axis, read_time),
        errors=read_time_errors,
        exponent=exponent_through(tolerance_time, at),
        of=f"ηT_ε·ε²/ξ² in {sweep.letter}",
        tolerance=0.04,  # twice that of a limit, since the time is the square of one
        id="time-sharp",
        statement=f"ηT_ε·ε²/ξ² ∝ K D²(D−K)²(1+‖V*‖)² in {sweep.label} (sharp)",
        source=SHARP,
        claimed_by=ClaimedBy.SHARPER,
        hypotheses=theory.theorem_3_1,
    )


def bound_claim(sweep: Sweep) -> Number:
    """O(·) leaves its factor open: the least one that the first point allows must do at the
    last.
    """
    return Number(
        read_growth(sweep.axis),
        1.0,
        f"T_ε over its bound at the largest {sweep.letter}, with the factor that the smallest "
        "needs,",
        BOUND_TOLERANCE,
        "at most",
        certain=True,
        id="time-bound",
        statement=f"ηT_ε·ε²/ξ² = O(K D⁶‖V*‖²) in {sweep.label} (printed)",
        source=THEOREM_3_2,
        claimed_by=ClaimedBy.PAPER,
        source_text=SourceText.PARTLY_READ,
        ceiling=no_ceiling,
        hypotheses=theory.theorem_3_1,
    )


def time_claims(sweep: Sweep, settings: Sequence[Setting]) -> tuple[Claim, ...]:
    """Of a sweep with one output in which the theorem speaks."""
    return constant_claim(), exponent_claim(sweep, settings), bound_claim(sweep)
