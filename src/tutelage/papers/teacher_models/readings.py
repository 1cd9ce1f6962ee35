"""How several studies of this paper read a run: the limit of a curve over its law."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tutelage.claims.claim import NotYet
from tutelage.claims.contraction import extrapolate, find_horizon
from tutelage.claims.power_laws import CONSTANTS_AFTER
from tutelage.claims.trend import Stretch, levels, stretch
from tutelage.papers.teacher_models import theory
from tutelage.run import Run
from tutelage.studies.study import Curves

TOLERANCE = 0.03  # of a constant, relative


def read_late(run: Run, law: theory.Law) -> Stretch:
    """A curve over its power of ηT where its limit is read: after 100 plateaus, as a constant
    is.
    """
    assert run.setting is not None
    begun, plateau = run.steps > 0, theory.plateau(run.setting)
    scaled = run.curves[law.curve][begun] * run.time[begun] ** -law.exponent
    part = stretch(run.steps[begun].astype(float), scaled, CONSTANTS_AFTER * plateau, 0.5)
    if part is None:
        raise NotYet(
            f"Too short to tell: constants are read after {CONSTANTS_AFTER:g} plateaus of "
            f"{plateau:,.0f} steps and the curve ends at {run.steps[-1]:,}. "
            f"About {300 * plateau:.1g} steps would decide."
        )
    return part


def gap_growth(run: Run) -> Curves:
    """e^{2c(C₂+C₃)}/‖V*‖² of a run with one K, c the score scale: the curve of `theory.GAP`."""
    assert run.setting is not None
    f = theory.facts(run.setting)
    gap = run.curves["score_gap"].reshape(len(run.steps), -1).mean(1)
    return {theory.GAP.curve: np.exp(2 * f.attention_scale * gap) / f.norm**2}


def read_limit(run: Run, law: theory.Law) -> float:
    """The extrapolated limit of a curve over its power of ηT."""
    return float(np.exp(extrapolate(levels(read_late(run, law)))))


def read_limit_errors(runs: Sequence[Run], law: theory.Law) -> list[float]:
    """How far, relatively, the limit of each run may lie from the extrapolated one, by the class
    of docs/verdicts.md.
    """
    return [_limit_error(run, law) for run in runs if run.setting is not None]


def _limit_error(run: Run, law: theory.Law) -> float:
    late = read_late(run, law)
    found = find_horizon(levels(late), late.log_ratio, theory.APPROACH)
    if not np.isfinite(found.interval).all():
        raise NotYet(
            f"{law.scaled_text} is not seen to settle after {int(run.steps[-1]):,} steps. Longer "
            "runs would decide."
        )
    return float(np.expm1(max(found.high - found.estimate, found.estimate - found.low)))
