"""What unequal weights change: when the laws can be read, and how a support is served. Predictions
only (docs/derivations.md, section 13).
"""

from __future__ import annotations

import math

import numpy as np

from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models.theory.facts import facts
from tutelage.settings import Setting


def least_weight_plateau(setting: Setting) -> float:
    """Steps until every zero is told from every weight: max_i K_i max(D, 1/s_i)²/(2η‖V*‖²), three
    times that for ReLU.

    s_i is the least weight on the support of column i. The law wants weights off the support,
    √(K/(2λ‖V*‖²t)), that are small beside all those on it. With equal weights, 1/s_i = K_i ≤ D, it
    is the plateau of `sharp_constants.py`.
    """
    f = facts(setting)
    least = np.where(f.on, f.weights, np.inf).min(0)
    slowest = float(np.max(f.supports * np.maximum(f.tokens, 1 / least) ** 2))
    bend = 1.0 if f.lam is None else f.lam ** -math.log2(3)
    return slowest / (2 * f.rate * f.value_square) * bend


def support_spread(setting: Setting) -> float:
    """(range of C·S − S* on the support)·t → max_i (D−K)(1/s_min − 1/s_max)/(2‖V*‖²c²D): equal K,
    identity.
    """
    f = facts(setting)
    if f.slope != 1.0 or len(set(f.supports.tolist())) > 1:
        raise NoPrediction(
            "The shares on a support are known for the identity and supports of one size."
        )
    least, most = np.where(f.on, f.weights, np.inf).min(0), f.weights.max(0)
    widest = float(np.max((f.tokens - f.supports) * (1 / least - 1 / most)))
    return widest / (2 * f.value_square * f.attention_scale**2 * f.tokens)


def effective_counting_law(setting: Setting) -> float:
    """The counting law with 1/‖s*_i‖² in the place of K_i: wrong where weights are unequal, which
    is what a control is for.
    """
    f = facts(setting)
    supports = 1 / np.sum(f.weights**2, axis=0)
    return float(np.sum(supports * (f.tokens - supports)) / 4)
