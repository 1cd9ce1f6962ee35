"""Position codes by name: one column for each position."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tutelage.refuse import Refused, matrix, one_of, whole

NAMES = ("orthonormal", "sinusoidal", "gaussian")


def codes(
    given: ArrayLike, size: int, positions: int, generator: np.random.Generator
) -> Float[np.ndarray, "p D"]:
    """The codes of a name, drawn where the name says so; a matrix given by hand is taken as it is.

    orthonormal: a random rotation of the unit vectors (`size` ≥ `positions`); sinusoidal: pairs of
    sine and cosine whose wavelengths rise geometrically from 2π to 10⁴·2π; gaussian: iid N(0,
    1/size), so that a code has length about 1.
    """
    if not isinstance(given, str):
        array = matrix("codes", given, reason="it holds a code (column) for each position")
        if array.shape[1] != positions:
            raise Refused(
                f"`codes` must have {positions} columns, one for each position. Got shape "
                f"{array.shape}."
            )
        return array
    name, size = (
        one_of("position codes", given, NAMES),
        whole("size", size, least=1, reason="a code is a vector"),
    )
    if name == "orthonormal":
        if size < positions:
            raise Refused(
                f"Orthonormal codes of {positions} positions need at least as many dimensions. "
                f"Got size={size}."
            )
        rotation, _ = np.linalg.qr(generator.standard_normal((size, size)))
        return rotation[:, :positions]
    if name == "gaussian":
        return generator.standard_normal((size, positions)) / np.sqrt(size)
    return sinusoidal(size, positions)


def sinusoidal(size: int, positions: int) -> Float[np.ndarray, "p D"]:
    """Vaswani et al. 2017: rows 2k and 2k+1 are sin and cos of position / 10000^(2k/size)."""
    rows = np.arange(size)
    angles = np.arange(positions) / 10_000.0 ** (2 * (rows // 2)[:, None] / size)
    return np.where(rows[:, None] % 2 == 0, np.sin(angles), np.cos(angles))
