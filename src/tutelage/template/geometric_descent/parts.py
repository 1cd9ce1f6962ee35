"""The paper's own parts. A setting names them as it names those that come with tutelage."""

from typing import Annotated

import numpy as np

from tutelage.problem.options import Option
from tutelage.problem.registry import register
from tutelage.teachers import BilinearTeacher

GOES_WITH = {"inputs": ("gaussian",), "student": ("position_attention",),
             "objective": ("population",), "optimiser": ("gradient_descent",)}  # fmt: skip


@register("teacher", "linear", begin={"dim": 5, "norm": 2.0}, goes_with=GOES_WITH)
def make_linear(
    seed: int,
    *,
    dim: Annotated[int, Option("features of the token", "d", 1, 64, shape=True)],
    norm: Annotated[float, Option("length of V*", "‖V*‖", 0.1, 100, log=True)],
) -> BilinearTeacher:
    """One token x, and three labels V* x."""
    value = np.random.default_rng(seed).standard_normal((3, dim))
    return BilinearTeacher(norm * value / np.linalg.norm(value), np.ones((1, 1)), "identity")
