"""How measured curves become numbers for a chart."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

Numbers = list[float | None]  # as JSON has them: what is not finite is null
MATRIX = "_matrix"  # how the name of a measure ends that is a matrix, row by row
ENTRIES = {  # of curves that are vectors, where each entry means another thing
    "displacement": ("c", "U", "W"),
    "linearisation_gap": ("sup", "mean"),
    "saturation": ("share", "slope", "log_gain"),
}


def scalars(
    curves: Mapping[str, Float[np.ndarray, "points ..."]], begin: int = 0
) -> dict[str, Numbers]:
    """Curves from a point on as lists of numbers: a vector by its mean, least and largest entry;
    matrices are left out.
    """
    found: dict[str, Numbers] = {}
    for name, curve in curves.items():
        new = np.asarray(curve[begin:])
        if name.endswith(MATRIX):
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


def numbers(values: Float[np.ndarray, "points"] | Sequence[float]) -> Numbers:
    """As JSON has them: what is not finite is null."""
    return [
        float(value) if math.isfinite(value) else None
        for value in np.asarray(values, dtype=np.float64).tolist()
    ]


def packed(matrix: Float[np.ndarray, "entries"]) -> str:
    """Numbers as base64 of float32, little-endian."""
    return base64.b64encode(np.ascontiguousarray(matrix, dtype="<f4").tobytes()).decode()
