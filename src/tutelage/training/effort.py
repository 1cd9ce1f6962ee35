"""What a run costs, in steps taken one by one."""

from __future__ import annotations

import math

from tutelage.settings import LITERAL


def estimate_effort(steps: int, literal: int = LITERAL) -> float:
    """What a number of steps costs, of which `literal` are taken one by one.

    By gradient flow (docs/horizon.md) a decade costs about as much as those before it. A
    calculation takes no steps, and counts as one.
    """
    return max(1.0, min(steps, literal) * (1 + max(0.0, math.log10(max(steps, 1) / literal))))
