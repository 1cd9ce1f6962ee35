r"""The two numbers that gradient descent from zero moves, and what they do.

The target is the mean of $x_i$ over a subset y of q of T tokens, $x_i \sim N(0, I_d)$. One softmax
head with value matrix V and scores $E^\top W E\,1_y$ starts at zero. By symmetry it stays at
$V = \alpha I$ and scores $C\,1_y$ up to a constant. With $a = q/(q+(T-q)e^{-C})$, the attention
that the subset gets,

$$L = \frac d2\Bigl[\frac{(\alpha a-1)^2}{q} + \frac{\alpha^2(1-a)^2}{T-q}\Bigr],\qquad
\dot\alpha = -\frac1d\,\partial_\alpha L,\qquad \dot C = -\frac1N\,\partial_C L.$$

N is the squared length of the direction of W that C multiplies. For fixed orthonormal codes W acts
as $C(I - 11^\top/T)$, and $N = T-1$. For orthonormal codes of width m that are drawn anew at
every step $W = C I_m$, and $N = m$.

At the best α, with $r = \frac{T-q}{q}e^{-2C}$, exactly $L = \frac{d}{2q}\frac{r}{1+r}$. Late
$\dot L = -4L^2/N$, so that $L\,t \to N/4$, whatever q and d are. While α follows C,
$\dot r = -\frac{2d}{qN}\frac{r^2}{(1+r)^2}$, whose integral is `followed_time`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import brentq

FloatOrCurve = float | Float[np.ndarray, "..."]


class Sizes(NamedTuple):
    """T tokens of d features, of which q are averaged; N as in the module's head."""

    tokens: int
    support: int
    dim: int
    modes: float


class Slopes(NamedTuple):
    """∂L/∂α and ∂L/∂C."""

    value: float
    gap: float


class Path(NamedTuple):
    """α and C at some steps."""

    value: Float[np.ndarray, "points"]
    gap: Float[np.ndarray, "points"]


def missed_weight(tokens: int, support: int, gap: FloatOrCurve) -> FloatOrCurve:
    """1 − a: the attention that tokens outside of the subset get, without cancellation."""
    others = (tokens - support) * np.exp(-gap)
    return others / (support + others)


def loss(
    tokens: int, support: int, dim: int, value: FloatOrCurve, gap: FloatOrCurve
) -> FloatOrCurve:
    """L at α and C."""
    missed = missed_weight(tokens, support, gap)
    chosen = (value - 1 - value * missed) ** 2 / support
    if tokens == support:
        return 0.5 * dim * chosen
    return 0.5 * dim * (chosen + value**2 * missed**2 / (tokens - support))


def find_slopes(tokens: int, support: int, dim: int, value: float, gap: float) -> Slopes:
    """∂L/∂α and ∂L/∂C, by da/dC = a(1 − a)."""
    missed = float(missed_weight(tokens, support, gap))
    weight, others = 1 - missed, tokens - support
    off = value * weight - 1
    along_value = dim * (off * weight / support + value * missed**2 / others)
    along_weight = dim * (off * value / support - value**2 * missed / others)
    return Slopes(along_value, along_weight * weight * missed)


def descend(sizes: Sizes, rate: float, steps: Int[np.ndarray, "points"]) -> Path:
    """Gradient descent on α and C from zero, one step after another."""
    value = gap = 0.0
    found = np.zeros((2, len(steps)))
    taken = 0
    for place, step in enumerate(steps):
        while taken < step:
            slopes = find_slopes(sizes.tokens, sizes.support, sizes.dim, value, gap)
            value -= rate * slopes.value / sizes.dim
            gap -= rate * slopes.gap / sizes.modes
            taken += 1
        found[:, place] = value, gap
    return Path(found[0], found[1])


def constant(sizes: Sizes) -> float:
    """The limit of L·t."""
    return sizes.modes / 4


def fixed_subset_constant(tokens: int, support: int) -> float:
    """The limit of L·t where the subset is the same in every input, with scores of scale 1.

    The one vector of scores moves along 1_y − (q/T)1, of squared length q(T − q)/T.
    """
    return support * (tokens - support) / (4 * tokens)


def plateau(sizes: Sizes) -> float:
    """The time in which r comes down to order 1: N(T − q)/(2d)."""
    return sizes.modes * (sizes.tokens - sizes.support) / (2 * sizes.dim)


def followed_time(sizes: Sizes, ratio: FloatOrCurve) -> FloatOrCurve:
    """When r is reached from C = 0, if α is at its best all the way."""
    first = (sizes.tokens - sizes.support) / sizes.support
    passed = first - ratio + 2 * np.log(first / ratio) + 1 / ratio - 1 / first
    return passed * sizes.support * sizes.modes / (2 * sizes.dim)


def followed_loss(sizes: Sizes, times: Float[np.ndarray, "points"]) -> Float[np.ndarray, "points"]:
    """L at some times, if α is at its best all the way."""
    first = (sizes.tokens - sizes.support) / sizes.support
    found = []
    for time in times:
        log_ratio = brentq(
            lambda x, time=time: float(followed_time(sizes, np.exp(x))) - time,
            -np.log1p(4 * sizes.dim * time / (sizes.support * sizes.modes)) - 10,
            np.log(first),
            xtol=1e-13,
        )
        found.append(np.exp(log_ratio))
    ratio = np.array(found)
    return sizes.dim / (2 * sizes.support) * ratio / (1 + ratio)
