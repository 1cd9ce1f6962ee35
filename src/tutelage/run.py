"""The one result of training: what was measured, where it ended and how."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

if TYPE_CHECKING:
    from tutelage.settings import Setting


class Outcome(enum.Enum):
    """How a run ended; the value is a sentence."""

    FINISHED = "It ran all its steps."
    CONVERGED = "It reached the rounding floor, below which further steps measure rounding and not learning."
    DIVERGED = "It diverged."


@dataclass(frozen=True)
class Run:
    """A trajectory: `curves[name][i]` was measured after `steps[i]` steps; vectors have a second axis (one entry a query)."""

    steps: Int[np.ndarray, "points"]
    curves: dict[str, Float[np.ndarray, "points ..."]]
    student: Any
    outcome: Outcome
    note: str = ""
    rate: float | None = None
    setting: Setting | None = field(default=None)

    @property
    def time(self) -> Float[np.ndarray, "points"]:
        """ηT at each measured step."""
        if self.rate is None:
            raise ValueError("This run has no single step size, so it has no time ηT; its optimiser set its own steps.")
        return self.rate * self.steps

    @property
    def sentence(self) -> str:
        return f"{self.outcome.value} {self.note}".strip()

    def __repr__(self) -> str:
        names = ", ".join(f"{name}={_last(curve):.4g}" for name, curve in self.curves.items())
        return f"Run(steps={int(self.steps[-1]):,}, outcome={self.outcome.name}, {names})"


def _last(curve: Float[np.ndarray, "points ..."]) -> float:
    return float(np.mean(curve[-1]))
