r"""The angle between two vectors from their inner product and the area they span, without a library
arctangent.

XLA's atan2 costs as much as everything else in a step of the ReLU risk. With y = σ_aσ_b sin θ ≥ 0
and x = σ_aσ_b cos θ, the smaller of y and |x| over the larger, s/l, is the tangent of an angle in
[0, π/4]. Where that is above π/8, (s−l)/(s+l) is the tangent of the angle less π/4. Either lies
within ±tan(π/8), where twelve terms of a polynomial in its square give the arctangent to rounding.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

_TERMS = 12
_TANGENT = math.sqrt(2) - 1  # tan(π/8)


def _coefficients() -> list[float]:
    """The polynomial of atan(√z)/√z on [0, tan²(π/8)]: exactly 1 at z = 0, the rest interpolated at
    Chebyshev's points.

    The function's nearest singularity is z = −1, so the interpolation error of degree 10 is about
    0.04^11 ≈ 1e-16 of z.
    """

    def rest(z: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
        # (atan(√z)/√z − 1)/z by its series, which converges like 0.172^n: no cancellation, no
        # extended precision.
        return sum((-1) ** n * z ** (n - 1) / (2 * n + 1) for n in range(24, 0, -1))

    fitted = np.polynomial.Chebyshev.interpolate(rest, _TERMS - 2, domain=(0.0, _TANGENT**2))
    return [1.0, *(float(c) for c in fitted.convert(kind=np.polynomial.Polynomial).coef)]


_POLYNOMIAL = _coefficients()


def angle(y: Float[Array, "*s"], x: Float[Array, "*s"]) -> Float[Array, "*s"]:
    """atan2(y, x) for y ≥ 0, to 1e-15; 0 where both are 0."""
    side = jnp.abs(x)
    small, large = jnp.minimum(y, side), jnp.maximum(y, side)
    middle = small > _TANGENT * large
    below = jnp.where(middle, small + large, large)
    tangent = jnp.where(middle, small - large, small) / jnp.where(below > 0, below, 1.0)
    square = tangent**2
    total = jnp.full_like(square, _POLYNOMIAL[-1])
    for coefficient in _POLYNOMIAL[-2::-1]:
        total = total * square + coefficient
    eighth = jnp.where(middle, 0.25 * math.pi, 0.0) + tangent * total
    quarter = jnp.where(y > side, 0.5 * math.pi - eighth, eighth)
    return jnp.where(x < 0, math.pi - quarter, quarter)
