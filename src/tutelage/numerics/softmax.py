r"""Softmax by columns, S_ij = e^{z_ij} / Σ_k e^{z_kj}, with an exponential of its own.

XLA's exponential in double precision takes any argument, by a rational function, a division and two
scalings; it is a third of a step of the exact risk. Here every argument is z − max z ≤ 0, and a
polynomial does: with n = round(x / ln 2) and r = x − n ln 2,

    e^x = 2^n e^r,   |r| ≤ ½ ln 2,   e^r = 1 + r + r² q(r).
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Float

from tutelage.numerics.columns import column_max, column_sum


class _Kind(NamedTuple):
    """What the exponential needs to know of a precision."""

    # Of q. Its interpolation error is 2 (½·¼·ln 2)^10/12! ≈ 1e-19 times r² with nine, and
    # 2 (½·¼·ln 2)^5/7! ≈ 2e-9 times r² with four: far below rounding.
    degree: int
    # E^x below is less than the smallest normal number, which XLA's programs take for 0.
    least: float
    # ln 2 in two parts; the first has 33 bits, or 9, so that its product with n is exact.
    ln2: tuple[float, float]
    fraction: int  # bits of a mantissa
    bias: int  # of an exponent
    word: DTypeLike


_KINDS = {
    "float64": _Kind(9, -708.0, (0.6931471804855391, 7.440617110012397e-11), 52, 1023, jnp.int64),
    "float32": _Kind(4, -87.0, (0.693359375, -2.1219444005469057e-4), 23, 127, jnp.int32),
}


def _coefficients(degree: int) -> list[float]:
    """1 + r + r² q(r) by powers of r, q interpolated at Chebyshev's points of [−½ ln 2, ½ ln 2]."""

    def rest(r: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
        return sum((r**k / math.factorial(k + 2) for k in range(16, 0, -1)), np.full_like(r, 0.5))

    half = 0.5 * math.log(2)
    fitted = np.polynomial.Chebyshev.interpolate(rest, degree, domain=(-half, half))
    return [1.0, 1.0, *(float(c) for c in fitted.convert(kind=np.polynomial.Polynomial).coef)]


_POLYNOMIALS = {name: _coefficients(kind.degree) for name, kind in _KINDS.items()}


def exponential(x: Float[Array, "*s"]) -> Float[Array, "*s"]:
    """e^x for x ≤ 0, to one unit in the last place; 0 below the smallest normal number."""
    name = x.dtype.name
    if name not in _KINDS:
        return jnp.exp(x)
    kind, (*lower, highest) = _KINDS[name], _POLYNOMIALS[name]
    n = jax.lax.round(x * (1 / math.log(2)), jax.lax.RoundingMethod.TO_NEAREST_EVEN)
    r = (x - n * kind.ln2[0]) - n * kind.ln2[1]
    total = jnp.full_like(r, highest)
    for coefficient in reversed(lower):
        total = total * r + coefficient
    # 2^n, by n + bias in the bits of the exponent. A conversion to integers would be done one by
    # one. A whole number added to this one is left in its last bits.
    integer = 1.5 * 2.0**kind.fraction + kind.bias
    power = jax.lax.bitcast_convert_type(n + integer, kind.word) << kind.fraction
    return jnp.where(x < kind.least, 0.0, total * jax.lax.bitcast_convert_type(power, x.dtype))


@jax.custom_jvp
@partial(
    jax.jit, inline=True
)  # outside of a compiled loop one call, and not one for each of its operations
def softmax(scores: Float[Array, "D Q"]) -> Float[Array, "D Q"]:
    """Each column's exponentials over their sum."""
    # The barriers keep what several passes read from being computed again in each
    # (`training.COMPILER`).
    weights = jax.lax.optimization_barrier(exponential(scores - column_max(scores)))
    return weights * jax.lax.optimization_barrier(1 / column_sum(weights))


@softmax.defjvp
def _tangent(
    primals: tuple[Float[Array, "D Q"]], tangents: tuple[Float[Array, "D Q"]]
) -> tuple[Float[Array, "D Q"], Float[Array, "D Q"]]:
    (scores,), (change,) = primals, tangents
    attention = softmax(scores)
    # Ds = (diag(s) − ssᵀ) dz
    return attention, attention * (change - column_sum(attention * change))
