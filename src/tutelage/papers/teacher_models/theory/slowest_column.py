"""The length of the plateau where the columns of S* have supports of many sizes."""

from __future__ import annotations

import math

import numpy as np

from tutelage.papers.teacher_models.theory.facts import facts
from tutelage.settings import Setting


def slowest_plateau(setting: Setting) -> float:
    """Steps until attention has formed in the slowest column: max_i K_i(D−K_i)²/(2η‖V*‖²) for the
    identity, as in `theory.plateau`.
    """
    f = facts(setting)
    slowest = float(np.max(f.supports * (f.tokens - f.supports) ** 2))
    lam = 1.0 if f.lam is None else f.lam
    return slowest / (2 * f.rate * f.value_square) * lam ** -math.log2(3)
