"""The constants of equal supports, taken at the mean K of a teacher: wrong where the K_i differ,
which is what a control is for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from tutelage.papers.teacher_models.theory.facts import Facts, facts, lam
from tutelage.settings import Setting


def excess_at_mean_support(setting: Setting) -> float:
    """Q K(D−K)/4."""
    f, K = _mean_support(setting)
    return f.queries * K * (f.tokens - K) / 4


def value_at_mean_support(setting: Setting) -> float:
    """(D−K)√(K/2λ)."""
    f, K = _mean_support(setting)
    return (f.tokens - K) * math.sqrt(K / (2 * lam(f)))


def attention_at_mean_support(setting: Setting) -> float:
    """√(QD(D−K)/2λ)/‖V*‖."""
    f, K = _mean_support(setting)
    return math.sqrt(f.queries * f.tokens * (f.tokens - K) / (2 * lam(f))) / f.norm


def _mean_support(setting: Setting) -> tuple[Facts, float]:
    f = facts(setting)
    return f, float(f.supports.mean())


AT_MEAN_SUPPORT: Mapping[str, Callable[[Setting], float]] = {  # by the names of the laws
    "excess": excess_at_mean_support,
    "value": value_at_mean_support,
    "attention": attention_at_mean_support,
}
