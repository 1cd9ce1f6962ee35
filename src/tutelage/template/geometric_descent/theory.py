"""What the paper predicts: functions of a setting alone, which see no run."""

import numpy as np
from jaxtyping import Float, Int

from tutelage.settings import Setting


def excess(setting: Setting, steps: Int[np.ndarray, "points"]) -> Float[np.ndarray, "points"]:
    r"""Theorem 1: $\frac12 (1-\eta)^{2T} \|V^*\|_F^2$.

    The risk is $\frac12 \|W_V - V^*\|_F^2$, so that each step multiplies $W_V - V^*$ by $1-\eta$.
    """
    norm, rate = float(setting.teacher.options["norm"]), setting.rate
    return np.asarray(0.5 * norm**2 * (1 - rate) ** (2 * steps))
