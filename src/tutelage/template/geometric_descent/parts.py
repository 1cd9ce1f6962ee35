"""The paper's own parts. A setting names them as it names those that come with tutelage."""

from typing import Annotated

import numpy as np

from tutelage.problem.options import Option
from tutelage.problem.parts.companions import IN_CLASS
from tutelage.problem.registry import register
from tutelage.teachers import BilinearTeacher

BEGIN = {"tokens": 4, "dim": 5, "norm": 2.0}


@register("teacher", "averaging", begin=BEGIN, goes_with=IN_CLASS)
def make_averaging(
    seed: int,
    *,
    tokens: Annotated[int, Option("tokens", "D", 2, 64, shape=True)],
    dim: Annotated[int, Option("features of a token", "d", 1, 64, shape=True)],
    norm: Annotated[float, Option("norm of V*", "‖V*‖", 0.1, 100, log=True)],
) -> BilinearTeacher:
    """y = V* x̄, where x̄ is the mean of the tokens and V* has three rows."""
    value = np.random.default_rng(seed).standard_normal((3, dim))
    mean = np.full((tokens, 1), 1 / tokens)
    return BilinearTeacher(norm * value / np.linalg.norm(value), mean, "identity")
