"""What a film of a run shows of this paper: the line that its excess tends to."""

from __future__ import annotations

from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models import theory
from tutelage.settings import Setting


def predict_limit(setting: Setting) -> float | None:
    r"""The limit of $\eta T \cdot$ excess: for plain descent on the exact risk, iid tokens."""
    if setting.student.name != "position_attention":
        return None
    try:
        facts, law = theory.facts(setting), theory.counting_law(setting)
    except NoPrediction:
        return None
    applies = facts.plain_descent and facts.exact and facts.standard and facts.iid_positions
    return law if applies and law > 0 else None
