"""Convolution followed by average pooling, as a bilinear teacher."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tutelage.refuse import Refused
from tutelage.teachers.bilinear import ActivationLike, BilinearTeacher, support_within


def convolution(
    kernels: ArrayLike,
    *,
    tokens: int,
    support: int,
    activation: ActivationLike = "relu",
    noise: float = 0.0,
) -> BilinearTeacher:
    """f*(X) = σ(V* X S*): M flattened kernels V*, M×d, on the D patches of an image, average
    pooling S*, D×D, over groups of `support` patches, then σ.
    """
    return BilinearTeacher(kernels, pooling(tokens, support), activation, noise)


def pooling(tokens: int, support: int) -> Float[np.ndarray, "D D"]:
    """S* of average pooling over disjoint groups of `support` patches: column i is 1_g/K, g the
    group that holds i.

    The tokens are the patches of one image, the rows of V* the M flattened kernels; pooling comes
    before σ.
    """
    tokens, support = pooling_groups(tokens, support)
    group = np.arange(tokens) // support
    return (group[:, None] == group[None, :]) / support


def pooling_groups(tokens: int, support: int) -> tuple[int, int]:
    """D and K as whole numbers, K a divisor of D."""
    tokens, support = support_within(tokens, support)
    if tokens % support:
        raise Refused(
            "`tokens` must be a multiple of `support`, since pooling groups are disjoint and of "
            "equal size. "
            f"Got tokens={tokens}, support={support}."
        )
    return tokens, support
