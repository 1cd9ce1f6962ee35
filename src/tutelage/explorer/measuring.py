"""Which measures the explorer takes of a setting, and how their curves become numbers for a
chart.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from tutelage.explorer.limits import BYTES
from tutelage.numerics.grids import NOISY, PER_DECADE
from tutelage.settings import MEASURES, Setting

CLASS = ("convolution", "graph_convolution", "token_selection", "group_sparse", "bilinear")
MATRICES = ("attention_matrix", "value_matrix")
ENTRIES = {
    "displacement": ("c", "U", "W"),
    "linearisation_gap": ("sup", "mean"),
    "saturation": ("share", "slope", "log_gain"),
}


def measures_of(setting: Setting) -> tuple[str, ...]:
    """The standard measures where the student has them, its attention where that is not too much,
    the losses of heads otherwise.
    """
    student, teacher = setting.student.name, setting.teacher.name
    if student in ("shallow_transformer", "indrnn"):
        losses: tuple[str, ...] = (
            "loss",
            *(("validation_loss",) if setting.objective.options.get("validation", 0) else ()),
        )
        if setting.optimiser.name == "projected_descent":
            losses += ("least_loss", "averaged_loss")
        return (
            *losses,
            "label_power",
            *(
                ("displacement", "linearisation_gap")
                if student == "shallow_transformer"
                else ("saturation",)
            ),
        )
    judged = (
        teacher in CLASS and setting.objective.name != "minibatch"
    )  # whose risk knows the data, and not the teacher
    if student == "known_selection" and judged:
        return ("excess_risk", "value_error", "cosine", "value_scale")
    if student != "position_attention":
        return ("excess_risk",)
    standard = (*MEASURES, "value_scale") if judged else ("excess_risk",)
    return (
        (*standard, "attention_matrix")
        if 8 * _points(setting) * _entries(setting) <= BYTES
        else standard
    )


def _entries(setting: Setting) -> float:
    """D·Q as the options say it; infinity where they are not numbers, which is refused later."""
    options = setting.teacher.options
    shape = getattr(options.get("selection"), "shape", None)
    if shape is not None:
        return float(math.prod(shape))
    tokens, queries = options.get("tokens", 0), options.get("queries") or options.get("tokens", 0)
    return (
        float(tokens) * float(queries)
        if all(isinstance(n, int | float) for n in (tokens, queries))
        else math.inf
    )


def _points(setting: Setting) -> float:
    """About how many steps are measured."""
    each = (
        PER_DECADE
        if setting.objective.name in ("population", "empirical", "squared_loss")
        else NOISY
    )
    return (
        each * (1 + math.log10(setting.steps))
        if isinstance(setting.steps, int) and setting.steps > 0
        else math.inf
    )


def scalars(
    curves: Mapping[str, Float[np.ndarray, "points ..."]], begin: int = 0
) -> dict[str, list[float | None]]:
    """Curves from a point on as lists of numbers: a vector by its mean, least and largest entry;
    matrices are left out.
    """
    found: dict[str, list[float | None]] = {}
    for name, curve in curves.items():
        new = np.asarray(curve[begin:])
        if name in MATRICES:
            continue
        if new.ndim == 1:
            found[name] = numbers(new)
        elif name in ENTRIES and new.shape[1] == len(ENTRIES[name]):
            found |= {
                f"{name}.{entry}": numbers(new[:, i]) for i, entry in enumerate(ENTRIES[name])
            }
        elif new.shape[1] == 1:
            found[name] = numbers(new[:, 0])
        else:
            found |= {
                name: numbers(new.mean(1)),
                f"{name}.min": numbers(new.min(1)),
                f"{name}.max": numbers(new.max(1)),
            }
    return found


def numbers(values: Any) -> list[float | None]:
    """As JSON has them: what is not finite is null."""
    return [
        float(value) if math.isfinite(value) else None
        for value in np.asarray(values, dtype=np.float64).tolist()
    ]


def packed(matrix: Float[np.ndarray, "entries"]) -> str:
    """Numbers as base64 of float32, little-endian."""
    return base64.b64encode(np.ascontiguousarray(matrix, dtype="<f4").tobytes()).decode()
