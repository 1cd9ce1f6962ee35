"""The least loss that a head can have with sign codes, as a mean over drawn codes."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize_scalar

from tutelage.calculations.base import Calculated, Calculation, Ingredients
from tutelage.papers.token_selection.parts.codes import Codes, make_codes
from tutelage.papers.token_selection.parts.teacher import SubsetAverage
from tutelage.refuse import Refused

MOST_GAP = 60.0  # C up to which the least loss is looked for


class SignFloor(Calculation):
    """`hard_loss`, the least loss over α at C = ∞, where all weight is on the tokens of largest
    overlap; where `soft`, also `floor`, the least loss over α and C, and `best_gap`, the C of it.
    """

    def __init__(self, width: int, draws: int, soft: bool) -> None:
        self.width, self.draws, self.soft = width, draws, soft

    def __call__(self, given: Ingredients) -> Calculated:
        teacher = given.teacher
        if not isinstance(teacher, SubsetAverage):
            raise Refused(
                "The floor of the loss is one of the teacher 'subset_average'. Got "
                f"{type(teacher).__name__}."
            )
        sizes = teacher.tokens, teacher.support, self.width, self.draws
        codes, dim = make_codes("signs", *sizes, given.seed), float(teacher.dim)
        hard = fit_loss(codes, dim, hard_weights(codes))
        if not self.soft:
            return Calculated.numbers(hard_loss=hard)
        found = minimize_scalar(
            lambda gap: fit_loss(codes, dim, soft_weights(codes, gap)),
            bounds=(0.0, MOST_GAP),
            method="bounded",
            options={"xatol": 1e-4},  # the loss is flat there: 1e-8 of it
        )
        return Calculated.numbers(floor=float(found.fun), best_gap=float(found.x), hard_loss=hard)


def soft_weights(codes: Codes, gap: float) -> Float[np.ndarray, "draws groups"]:
    """Softmax of C times the overlaps, per token."""
    lifted = np.exp(gap * (codes.overlaps - codes.overlaps.max(1, keepdims=True)))
    return lifted / (lifted @ codes.counts)[:, None]


def hard_weights(codes: Codes) -> Float[np.ndarray, "draws groups"]:
    """Equal weights on all tokens of the largest overlap; those are multiples of 1/m."""
    width = codes.modes
    whole = np.rint(codes.overlaps * width)
    best = (whole == whole.max(1, keepdims=True)).astype(float)
    return best / (best @ codes.counts)[:, None]


def fit_loss(codes: Codes, dim: float, weights: Float[np.ndarray, "draws groups"]) -> float:
    """The least loss over α, as squares and so without cancellation."""
    across = float(np.mean((weights * codes.targets) @ codes.counts))
    value = across / float(np.mean(weights**2 @ codes.counts))
    return 0.5 * dim * float(np.mean((value * weights - codes.targets) ** 2 @ codes.counts))
