"""Predictions of Zhang et al. 2026 and what was derived from them. Nothing here sees a run."""

from tutelage.papers.teacher_models.theory.facts import Facts, facts
from tutelage.papers.teacher_models.theory.laws import APPROACH, GAP, LAW, LAWS, Law
from tutelage.papers.teacher_models.theory.noise_floor import batch_of, curvatures, noise_floor
from tutelage.papers.teacher_models.theory.printed import printed_plateau
from tutelage.papers.teacher_models.theory.sharp_constants import (
    attention_constant,
    counted_pairs,
    counting_law,
    gap_constant,
    invariance_exponent,
    limit_error,
    plateau,
    value_constant,
)
from tutelage.papers.teacher_models.theory.theorem import MANY_TOKENS, theorem_3_1, theorem_rate

__all__ = [
    "MANY_TOKENS",
    "APPROACH",
    "GAP",
    "LAW",
    "LAWS",
    "Facts",
    "Law",
    "attention_constant",
    "batch_of",
    "counted_pairs",
    "counting_law",
    "curvatures",
    "facts",
    "gap_constant",
    "invariance_exponent",
    "limit_error",
    "noise_floor",
    "plateau",
    "printed_plateau",
    "theorem_3_1",
    "theorem_rate",
    "value_constant",
]
