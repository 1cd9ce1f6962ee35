"""The one result of training: what was measured, where it ended and how."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from jaxtyping import Float, Int
from typing_extensions import TypeVar

from tutelage.notebook import card, log_log

if TYPE_CHECKING:
    import pandas
    from jaxtyping import PyTree

    from tutelage.settings import Setting

Trained = TypeVar("Trained", default=Any)  # the kind of student


class Outcome(enum.Enum):
    """How a run ended; the value is a sentence."""

    FINISHED = "Finished all steps."
    CONVERGED = "Reached the rounding floor: further steps would measure rounding, not learning."
    DIVERGED = "Diverged."
    UNSTEADY = (
        "Oscillates across a valley, where gradient flow would not follow it; ended with the "
        "literal steps."
    )
    STUCK = (
        "Gradient flow could not be followed any further, since its path is not smooth on the "
        "scale of ln t."
    )
    CALCULATED = "Calculated without training."
    STOPPED = "Stopped before the last step; can be resumed."
    FAILED = "Could not be run."


@dataclass(frozen=True)
class Rest:
    """Where a run stood after its last step: with the student, all that it takes to go on as if it
    had never stopped.
    """

    taken: int  # steps
    state: PyTree  # the optimiser's
    first: float  # the excess at step 0, by which divergence and convergence are told


@dataclass(frozen=True)
class Continued:
    """That a run went on by gradient flow, and how far to trust it: relative errors of the excess,
    the largest of all measured steps.
    """

    literal: int  # steps that were taken one by one
    solver: float  # of the integration, from a coarser one beside it
    # a bound on what steps of finite size do beyond the flow (docs/derivations.md, section 19)
    stepping: float
    variation: float  # ∫‖d∇L‖ since then, from which a longer run goes on with that bound

    @property
    def sentence(self) -> str:
        return (
            f"Steps beyond {self.literal:,} are by gradient flow, with a relative error of the "
            "excess of about "
            f"{self.solver + self.stepping:.0e} (integration {self.solver:.0e}, finite steps at "
            f"most {self.stepping:.0e})."
        )


@dataclass(frozen=True)
class ErrorTerm:
    """One known error of what was measured, such as that of a quadrature, relative to it."""

    name: str
    size: float


@dataclass(frozen=True)
class Run(Generic[Trained]):
    """A trajectory: `curves[name][i]` was measured after `steps[i]` steps; vectors have a second
    axis (one entry per query).
    """

    steps: Int[np.ndarray, "points"]
    curves: dict[str, Float[np.ndarray, "points ..."]]
    student: Trained  # as it stood at the end; None where nothing was trained
    outcome: Outcome
    note: str = ""
    rate: float | None = None
    setting: Setting | None = field(default=None)
    rest: Rest | None = field(default=None, repr=False)
    made: tuple[Mapping[str, Any], ...] = field(
        default=(), repr=False
    )  # by which versions, on what, a piece each; empty when fresh
    continued: Continued | None = (
        # Where it went on by gradient flow, and with which error; None where every step was taken
        None
    )
    errors: tuple[ErrorTerm, ...] = ()  # of its curves, as far as they are known

    @property
    def time(self) -> Float[np.ndarray, "points"]:
        """ηT at each measured step."""
        if self.rate is None:
            raise ValueError(
                "This run has no single step size, so it has no time ηT; its optimiser set its "
                "own steps."
            )
        return self.rate * self.steps

    @property
    def complete(self) -> bool:
        """Whether it is all that its setting asks for: it took all its steps, or came to an end of
        its own.
        """
        return self.outcome not in (Outcome.STOPPED, Outcome.FAILED)

    def table(self) -> pandas.DataFrame:
        """A row a measured step, a column a measure; `name.0`, `name.1`, … where a measure has one
        entry a query.
        """
        import pandas

        return pandas.DataFrame(columns_of(self.steps, self.curves))

    @property
    def sentence(self) -> str:
        return " ".join(
            said
            for said in (
                self.outcome.value,
                self.note,
                self.continued.sentence if self.continued else "",
            )
            if said
        )

    def __repr__(self) -> str:
        names = ", ".join(f"{name}={_last(curve):.4g}" for name, curve in self.curves.items())
        if not len(self.steps):
            return f"Run(outcome={self.outcome.name}: {self.note})"
        if self.outcome is Outcome.CALCULATED:
            return f"Run(outcome={self.outcome.name}, {names})"
        return f"Run(steps={int(self.steps[-1]):,}, outcome={self.outcome.name}, {names})"

    def _repr_html_(self) -> str:
        """How it ended, the excess on log-log axes, and the last value of every measure."""
        taken = self._about()
        drawn = next(
            (
                name
                for name in ("excess_risk", *self.curves)
                if name in self.curves and self.curves[name].ndim == 1
            ),
            None,
        )
        picture = (
            ""
            if drawn is None
            else log_log(self.steps.tolist(), self.curves[drawn].tolist(), self._axis, drawn)
        )
        rows = {
            name: f"{_last(curve):.5g}{' (mean)' if curve.ndim > 1 else ''}"
            for name, curve in self.curves.items()
            if len(curve)
        }
        return card(self.outcome.name, taken, [self.sentence], rows, picture)

    @property
    def _axis(self) -> str:
        return "n" if self.outcome is Outcome.CALCULATED else "step"

    def _about(self) -> str:
        taken = f"{int(self.steps[-1]) if len(self.steps) else 0:,} steps"
        if self.setting is None:
            return taken
        if self.setting.calculation is not None:
            return f"{self.setting.calculation.name}, seed {self.setting.seed}"
        parts = f"{self.setting.teacher.name}, {self.setting.student.name}"
        return f"{parts}, seed {self.setting.seed}, {taken}"


def columns_of(
    steps: Int[np.ndarray, "points"], curves: Mapping[str, Float[np.ndarray, "points ..."]]
) -> dict[str, np.ndarray]:
    """Curves as columns of numbers: `step`, each measure by its name, vectors and matrices entry by
    entry (`name.0`, `name.1`, …).
    """
    columns: dict[str, np.ndarray] = {"step": steps}
    for name, curve in curves.items():
        if curve.ndim == 1:
            columns[name] = curve
        else:
            entries = curve.reshape(len(curve), int(np.prod(curve.shape[1:])))
            columns |= {f"{name}.{i}": entries[:, i] for i in range(entries.shape[1])}
    return columns


def _last(curve: Float[np.ndarray, "points ..."]) -> float:
    return float(np.mean(curve[-1]))
