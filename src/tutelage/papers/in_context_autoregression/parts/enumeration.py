"""The expected loss without a formula: a mean over all angles on a grid of roots of unity.

The squared error is a trigonometric polynomial of each angle. Its degree is below the number of
roots, so that the mean over the grid is the expectation itself.
"""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.calculations.base import Calculated, Calculation, Ingredients
from tutelage.papers.in_context_autoregression.parts.loss import NextTokenLoss
from tutelage.papers.in_context_autoregression.parts.rotations import RotatingTokens, turn
from tutelage.refuse import Refused

MOST_POINTS = 200_000  # of the grid


class EnumeratedLoss(Calculation):
    """`enumerated`, the loss of the student at its start, through its own answers; `formula`, what
    the objective says about it; `independent_formula`, what it says if angles were independent.
    """

    def __call__(self, given: Ingredients) -> Calculated:
        teacher, student = given.teacher, given.student
        if not isinstance(teacher, RotatingTokens):
            raise Refused(
                "The expected loss is enumerated for the teacher 'rotating_tokens', whose angles "
                f"are uniform. Got {given.setting.teacher.name!r}."
            )
        grid = angle_grid(teacher)

        def error(drawn: Float[Array, "free"]) -> Float[Array, ""]:
            tokens = turn(teacher.spread_angles(drawn), teacher.tokens)
            prefixes = [tokens[:, :m] for m in range(2, teacher.tokens + 1)]
            return sum(
                (jnp.sum((student(one) - teacher(one)) ** 2) for one in prefixes),
                start=jnp.zeros(()),
            )

        errors = np.asarray(jax.jit(jax.vmap(error))(jnp.asarray(grid)))
        independent = RotatingTokens(teacher.dim, teacher.tokens, "unitary")
        return Calculated.numbers(
            enumerated=float(np.mean(errors)),
            formula=float(given.objective(student)),
            independent_formula=float(NextTokenLoss(independent)(student)),
        )


def angle_grid(teacher: RotatingTokens) -> Float[np.ndarray, "points free"]:
    """All combinations of roots of unity.

    Of one angle an output has degrees between −m and 2m, and pairs within ±2m; so the squared
    error is of degree below 4T + 1 in each direction.
    """
    roots = 4 * teacher.tokens + 1
    if roots**teacher.free_angles > MOST_POINTS:
        raise Refused(
            f"The grid must have at most {MOST_POINTS:,} points, since the student answers on each "
            f"of them. Got {roots} roots for each of {teacher.free_angles} angles."
        )
    angles = 2 * np.pi * np.arange(roots) / roots
    return np.array(list(itertools.product(angles, repeat=teacher.free_angles)))
