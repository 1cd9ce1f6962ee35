"""The phases of one run, as `teacher-models/phases` knows them: when each ends by theory, and when
it was seen to.
"""

from __future__ import annotations

import math
from typing import Any

from tutelage.claims.claim import NoPrediction, NotYet
from tutelage.run import Run
from tutelage.settings import Setting

# steps of the plateau that the recursion is asked to go through; it takes them one by one
LONG = 100_000
WORDS = {  # a short name, and what it means
    "settled": ("C₁ settled", "W_V has come within 1% of its best length at the present attention"),
    "halving": ("excess halved", "half of the first excess risk is left"),
    "attention": ("plateau ends", "the tokens that the teacher reads have half of the attention"),
}


def phases_of(setting: Setting, run: Run | None, *, theorem: bool) -> list[dict[str, Any]]:
    """A row a phase: name, words, predicted and seen step (None where unknown). `theorem`: whether
    the hypotheses that the recursion rests on are met; without them nothing is predicted.
    """
    predicted = _predicted(setting) if theorem else {}
    rows = []
    for phase, (name, words) in WORDS.items():
        seen = None if run is None or phase == "settled" else _seen(run, phase)
        if phase in predicted or seen is not None:
            rows.append(
                {"name": name, "label": words, "predicted": predicted.get(phase), "seen": seen}
            )
    return rows


def _predicted(setting: Setting) -> dict[str, float]:
    from tutelage.papers.teacher_models import theory
    from tutelage.papers.teacher_models.theory import recursion, slow_manifold

    try:
        if theory.plateau(setting) <= LONG:
            return {
                name: step
                for name, step in recursion.times(setting)._asdict().items()
                if math.isfinite(step)
            }
        return {
            "halving": slow_manifold.halving_time(setting),
            "attention": slow_manifold.attention_time(setting),
        }
    except NoPrediction:
        return {}


def _seen(run: Run, phase: str) -> float | None:
    from tutelage.papers.teacher_models.phases.plateau import crossing

    if (
        not {"excess_risk", "support_mass"} <= set(run.curves)
        or not (run.curves["excess_risk"] > 0).all()
    ):
        return None
    try:
        return crossing(run, phase)
    except NotYet:
        return None
