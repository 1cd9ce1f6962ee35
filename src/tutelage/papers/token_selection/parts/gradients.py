"""The mean gradient of W over fresh codes and subsets, drawn one by one."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from tutelage.calculations.base import Calculated, Calculation, Ingredients
from tutelage.numerics.streams import generator
from tutelage.papers.token_selection.parts.teacher import SubsetAverage
from tutelage.refuse import Refused, whole

VALUE, GAP = 0.7, 1.3  # α and C at which it is taken: the law of its mean holds at any


class CodeGradient(Calculation):
    r"""`distance`: how far the mean gradient of W over draws is from $(\partial L/\partial C)/m$
    times the identity, in units of that.

    A draw has orthonormal codes E and a subset y. With g the gradient of the scores it is
    $E g (E 1_y)^\top$. Of `fixed` codes only the subset is drawn.
    """

    def __init__(self, width: int, draws: int, fresh: bool) -> None:
        self.width = whole("width", width, least=2, reason="codes are orthonormal vectors")
        self.draws = whole("draws", draws, least=1, reason="a mean is taken")
        self.fresh = fresh

    def __call__(self, given: Ingredients) -> Calculated:
        teacher = given.teacher
        if not isinstance(teacher, SubsetAverage) or teacher.tokens > self.width:
            raise Refused(
                "The gradient of W is taken of the teacher 'subset_average' with no more tokens "
                f"than codes are wide, since they are orthonormal. Got width={self.width} and "
                f"{teacher}."
            )
        draw = generator(given.seed, "codes and subsets")
        slope = score_slopes(teacher)
        codes = draw_codes(draw, self.width, teacher.tokens)
        mean = np.zeros((self.width, self.width))
        for _ in range(self.draws):
            if self.fresh:
                codes = draw_codes(draw, self.width, teacher.tokens)
            order = draw.permutation(teacher.tokens)  # its first q are the subset
            chosen = codes[:, order[: teacher.support]].sum(1)
            mean += np.outer(codes[:, order] @ slope, chosen) / self.draws
        along = float(slope[: teacher.support].sum())  # ∂L/∂C
        unit = along * np.eye(self.width) / self.width
        distance = np.linalg.norm(mean - unit) / np.linalg.norm(unit)
        return Calculated.numbers(distance=float(distance), trace=float(np.trace(mean)) / along)


def score_slopes(teacher: SubsetAverage) -> Float[np.ndarray, "T"]:
    """∂L/∂s of each token, the subset first: by the softmax's own rule, from the weights."""
    T, q = teacher.tokens, teacher.support
    scores = GAP * (np.arange(T) < q)
    weights = np.exp(scores) / np.exp(scores).sum()
    targets = (np.arange(T) < q) / q
    toward = teacher.dim * VALUE * (VALUE * weights - targets)
    return weights * (toward - weights @ toward)


def draw_codes(
    draw: np.random.Generator, width: int, tokens: int
) -> Float[np.ndarray, "width tokens"]:
    """Orthonormal columns, uniformly."""
    found, upper = np.linalg.qr(draw.standard_normal((width, tokens)))
    return found * np.sign(np.diag(upper))
