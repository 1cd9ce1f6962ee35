"""Which subsets of some codes a query can select, by linear programmes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from jaxtyping import Float
from numpy.polynomial import chebyshev
from scipy.optimize import linprog

from tutelage.calculations.base import Calculated, Calculation, Ingredients
from tutelage.numerics.streams import generator
from tutelage.papers.token_selection.parts.kinds import POINTS
from tutelage.refuse import Refused, one_of, whole

LEAST_MARGIN = 1e-7  # of a subset that is selected; the solver is right to about 1e-9


class SubsetFaces(Calculation):
    """`selected`, how many of all subsets some query scores equally and above the rest; and
    `least_margin`, the smallest of their margins, for codes and queries with entries up to 1.
    """

    def __init__(self, tokens: int, support: int, width: int, points: str) -> None:
        self.tokens = whole("tokens", tokens, least=2, reason="a subset leaves one out")
        self.support = whole("support", support, least=1, reason="a subset has a token")
        self.width = whole("width", width, least=1, reason="codes have an entry")
        self.points = one_of("kind of points", points, POINTS)
        if self.support >= self.tokens:
            raise Refused(
                "`support` must be smaller than `tokens`, since nothing is above the rest of "
                f"nothing. Got support={support}, tokens={tokens}."
            )

    def __call__(self, given: Ingredients) -> Calculated:
        codes = make_points(self.points, self.tokens, self.width, given.seed)
        subsets = combinations(range(self.tokens), self.support)
        margins = np.array([find_margin(codes, chosen) for chosen in subsets])
        kept = margins[margins > LEAST_MARGIN]
        return Calculated.numbers(
            selected=len(kept), least_margin=float(kept.min()) if len(kept) else 0.0
        )


def make_points(kind: str, tokens: int, width: int, seed: int) -> Float[np.ndarray, "tokens width"]:
    """Points of the moment curve, in Chebyshev's polynomials, which are a linear map of the powers
    and far from parallel; or Gaussian points, drawn.
    """
    if kind == "moment":
        places = np.cos(np.pi * (np.arange(tokens) + 0.5) / tokens)
        return chebyshev.chebvander(places, width)[:, 1:]
    drawn = generator(seed, "points").standard_normal((tokens, width))
    return drawn / np.abs(drawn).max()


def find_margin(codes: Float[np.ndarray, "tokens width"], chosen: tuple[int, ...]) -> float:
    """By how much a query with entries up to 1 can score the chosen codes, all equally, above all
    others; 0 where it cannot.
    """
    tokens, width = codes.shape
    inside = np.zeros(tokens, bool)
    inside[list(chosen)] = True
    first = codes[chosen[0]]
    above = np.column_stack([codes[~inside] - first, np.ones(tokens - len(chosen))])
    equal = np.column_stack([codes[inside][1:] - first, np.zeros(len(chosen) - 1)])
    solved = linprog(
        np.append(np.zeros(width), -1.0),
        A_ub=above,
        b_ub=np.zeros(len(above)),
        A_eq=equal if len(equal) else None,
        b_eq=np.zeros(len(equal)) if len(equal) else None,
        bounds=[*[(-1.0, 1.0)] * width, (0.0, None)],
        method="highs",
    )
    if not solved.success:
        raise Refused(
            "A linear programme with a bounded set of queries, one of them zero, has a solution. "
            f"The solver found none: {solved.message}"
        )
    return float(solved.x[-1])
