"""What an exported page runs by itself: gradient descent on the closed-form risk of the bilinear
class. Everything else is Python's, and the page says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tutelage.problem.parts.vocabulary import ACTIVATIONS
from tutelage.settings import Setting

if TYPE_CHECKING:
    from tutelage.problem.registry import Names

RUNS_IN_PAGE: Mapping[str, Names] = {
    "teacher": (
        "convolution",
        "graph_convolution",
        "token_selection",
        "group_sparse",
        "bilinear",
    ),
    "inputs": ("gaussian",),
    "student": ("position_attention", "known_selection"),
    "objective": ("population",),
    "optimiser": ("gradient_descent", "momentum", "adam", "normalised", "sign"),
}
NEEDS_PYTHON = "Runs in Python only: install tutelage and use `tutelage explore`."
_QUADRATURE = tuple(name for name in ACTIVATIONS if name in ("tanh", "gelu", "silu"))
# Values of options that the page cannot run, as its fields write them.
PYTHON_ONLY: Mapping[str, tuple[str, ...]] = {
    "activation": _QUADRATURE,
    "graph": ("regular",),
    "learned": ("true",),
}


def runs_in_page(setting: Setting) -> bool:
    """Whether an exported page runs this setting live."""
    from tutelage.activations import Smooth, activation
    from tutelage.problem.registry import options_of

    parts = setting.parts
    if any(parts[kind].name not in names for kind, names in RUNS_IN_PAGE.items()):
        return False
    teacher = setting.teacher
    default = options_of("teacher", teacher.name)["activation"].default
    bend = activation(str(teacher.options.get("activation", default)))
    graph = teacher.options.get("graph")
    return not (
        isinstance(bend, Smooth)
        or teacher.options.get("collapse")
        or (isinstance(graph, str) and graph == "regular")
        or setting.student.options.get("learned")
        or setting.objective.options
    )
