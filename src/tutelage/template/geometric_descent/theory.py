"""What the paper predicts: functions of a setting alone, which see no run."""

import numpy as np
from jaxtyping import Float, Int

from tutelage.settings import Setting


def excess(setting: Setting, steps: Int[np.ndarray, "points"]) -> Float[np.ndarray, "points"]:
    r"""Theorem 1: $\frac{1}{2D} (1-\eta/D)^{2T} \|V^*\|_F^2$.

    Attention from zero is uniform, and by symmetry stays so. The risk is then
    $\frac{1}{2D} \|W_V - V^*\|_F^2$, and a step multiplies $W_V - V^*$ by $1-\eta/D$.
    """
    tokens, norm = (float(setting.teacher.options[name]) for name in ("tokens", "norm"))
    return np.asarray(norm**2 / (2 * tokens) * (1 - setting.rate / tokens) ** (2 * steps))
