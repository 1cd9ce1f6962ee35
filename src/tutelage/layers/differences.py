"""Slopes of a function that no framework differentiates: central differences, with their error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from tutelage.layers.foreign import Slopes

Batch = Float[np.ndarray, "n ..."]
STRADDLES = 1e-3  # two step sizes that differ by more, relative to the largest slope, meet a kink
MOST_AT_ONCE = 2**22  # numbers of shifted inputs that are held together


def difference_slopes(
    values: Callable[[Batch], Batch], inputs: Batch, outputs: Int[np.ndarray, "k"], *, eps: float
) -> Slopes:
    r"""(f(x+h) − f(x−h))/2h with h = ε^{1/3} times the size of x, where ε is the rounding of f.

    The same with 2h tells the error: for a smooth f the two differ by thrice the truncation error
    of the first, and by rounding. At a kink they differ by as much as the slope itself; such an
    entry is left out.
    """
    count, size = len(inputs), int(np.prod(inputs.shape[1:]))
    step = eps ** (1 / 3) * max(float(np.sqrt(np.mean(inputs**2))), 1e-3)
    flat = inputs.reshape(count, size)
    near, far = (np.empty((count, len(outputs), size)) for _ in range(2))
    block = max(1, MOST_AT_ONCE // (4 * count * size))
    for first in range(0, size, block):
        chosen = np.arange(first, min(first + block, size))
        shifts = np.zeros((4, len(chosen), size))
        for row, factor in enumerate((1.0, -1.0, 2.0, -2.0)):
            shifts[row, np.arange(len(chosen)), chosen] = factor * step
        moved = flat[:, None, None, :] + shifts[None]
        found = values(moved.reshape(-1, *inputs.shape[1:]))
        kept = found.reshape(count, 4, len(chosen), -1)[..., outputs]
        near[:, :, chosen] = np.swapaxes((kept[:, 0] - kept[:, 1]) / (2 * step), 1, 2)
        far[:, :, chosen] = np.swapaxes((kept[:, 2] - kept[:, 3]) / (4 * step), 1, 2)
    largest = max(float(np.abs(near).max()), np.finfo(float).tiny)
    apart = np.abs(near - far).max(-1) / largest
    sound = apart < STRADDLES
    error = float(apart[sound].max()) if sound.any() else 1.0
    rounding = eps * float(np.abs(values(inputs)).max()) / (step * largest)
    return Slopes(near.reshape(count, len(outputs), *inputs.shape[1:]), sound, max(error, rounding))
