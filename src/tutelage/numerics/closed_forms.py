r"""Gaussian expectations in closed form: identity, leaky ReLU (ReLU is slope 0) and erf.

Each is ½E(σ(a) − σ(b))² for jointly normal a, b, in the variables of `geometry.py` that never
cancel.
"""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.numerics.angle import angle
from tutelage.numerics.geometry import Form, Pairs, Slopes

# What four sums over rows or columns read is computed once, and not again in each of them
# (`training.COMPILER`).
_once = jax.lax.optimization_barrier


def _identity_excess(p: Pairs) -> Float[Array, "M Q"]:
    return 0.5 * p.distance


def _identity_slopes(p: Pairs) -> Slopes:
    # ½(A − 2C + B): 2∂_A = 1, ∂_C = −1.
    one, zero = jnp.ones_like(p.alpha * p.delta), jnp.zeros_like(p.alpha * p.delta)
    return Slopes(one, zero, zero)


def _angle(p: Pairs, area: Float[Array, "M Q"]) -> Float[Array, "M Q"]:
    """θ between a and b. At a = 0 the risk has a kink; π/2 there is the average over all directions
    of approach.
    """
    return jnp.where(p.student > 0, angle(area, p.covariance), 0.5 * math.pi)


def _leaky_excess(slope: float, p: Pairs) -> Float[Array, "M Q"]:
    r"""½λΔ − (1−k)²σ_aσ_b(sin θ − θ cos θ)/(2π), λ = (1+k²)/2.

    From E[relu(a)relu(b)] = σ_aσ_b(sin θ + (π−θ)cos θ)/(2π) (Cho & Saul 2009) and σ(x) = kx +
    (1−k)relu(x).
    """
    theta = _angle(p, p.area)
    direct = p.area - theta * p.covariance
    # Sin θ − θ cos θ = Σ_n (−1)^{n+1} 2n/(2n+1)! θ^{2n+1}; below θ = ½ the direct form loses
    # digits, and eight terms leave less than 1e-20.
    series = jnp.zeros_like(theta)
    for n in range(8, 0, -1):
        series = series * theta**2 + (-1) ** (n + 1) * 2 * n / math.factorial(2 * n + 1)
    near = jnp.sqrt(p.student * p.teacher) * series * theta**3
    return 0.25 * (1 + slope**2) * p.distance - (1 - slope) ** 2 / (2 * math.pi) * jnp.where(
        theta < 0.5, near, direct
    )


def _leaky_slopes(slope: float, p: Pairs) -> Slopes:
    """2∂_A = λ − c(σ_b/σ_a)sin θ and ∂_C = −λ + cθ, with c = (1−k)²/(2π)."""
    c = (1 - slope) ** 2 / (2 * math.pi)
    area = _once(p.area)
    theta = _once(_angle(p, area))
    # 1/A = 1/‖w‖² · 1/‖s‖²: M + Q divisions and not M·Q.
    row, column = (
        jnp.where(x > 0, 1 / jnp.where(x > 0, x, 1.0), 0.0)
        for x in (p.student_row, p.student_column)
    )
    ratio = area * (row * column)
    return Slopes(jnp.full_like(theta, 0.5 * (1 + slope**2)), c * ratio, c * theta)


def _erf_excess(p: Pairs) -> Float[Array, "M Q"]:
    r"""(asin x_aa + asin x_bb − 2 asin x_ab)/π, with x_ab = 2C/√((1+2A)(1+2B)) (Williams 1998), as
    one angle.

    With p = 1+2A, q = 1+2B, r = 2C, a₁ = √(2p−1), b₁ = √(2q−1), half of the sum is the argument of
    (r + i√(pq−r²))·(a₁b₁−1 − i(a₁+b₁)), because p−1+i√(2p−1) = ½(a₁+i)². Its imaginary part, made
    rational, is 4pq(Δ+4G)(a₁b₁−1+2r) / ((a₁b₁+1+2r)(√(pq−r²)(a₁b₁−1) + r(a₁+b₁))): every factor
    positive when r is.
    """
    A, B, C, spread, area = p.student, p.teacher, p.covariance, p.distance, p.area
    P, q, r = 1 + 2 * A, 1 + 2 * B, 2 * C
    a, b = jnp.sqrt(1 + 4 * A), jnp.sqrt(1 + 4 * B)
    product = a * b
    less_one = (4 * A + 4 * B + 16 * A * B) / (product + 1)  # a₁b₁ − 1
    root = jnp.sqrt(1 + 2 * A + 2 * B + 4 * area**2)  # √(pq − r²)
    below = (product + 1 + 2 * r) * (root * less_one + r * (a + b))
    rational = (
        4 * P * q * (spread + 4 * area**2) * (less_one + 2 * r) / jnp.where(r > 0, below, 1.0)
    )
    imaginary = jnp.where(r > 0, rational, root * less_one - r * (a + b))
    return 2 / math.pi * jnp.arctan2(imaginary, r * less_one + root * (a + b))


def _erf_slopes(p: Pairs) -> Slopes:
    r"""∂_C = −(4/π)/√(pq−r²) and 2∂_A = (4/π)(1/a₁ + r/√(pq−r²))/p; their sum is (4/π)(1/a₁ −
    (1+e)/√(pq−r²))/p, e = 2(A−C).

    The sum vanishes at the teacher, so it is made rational: over a common root its numerator is
    2(1+r)Δ + ef − 4e(1+r) − e²(5+2r+2e), with f = 2(B−C) = 2Δ − e.
    """
    A, B, C, spread, area = p.student, p.teacher, p.covariance, p.distance, p.area
    P, r = 1 + 2 * A, 2 * C
    a = jnp.sqrt(1 + 4 * A)
    root = jnp.sqrt(1 + 2 * A + 2 * B + 4 * area**2)
    e = 2 * (p.row_off * p.student_column + p.row_along * p.row * p.column_gap)
    f = 2 * spread - e
    numerator = 2 * (1 + r) * spread + e * f - 4 * e * (1 + r) - e**2 * (5 + 2 * r + 2 * e)
    below = jnp.where(e > -1, root * a * (root + (1 + e) * a), 1.0)
    gap = jnp.where(e > -1, numerator / below, 1 / a - (1 + e) / root)
    scale = 4 / (math.pi * P)
    return Slopes(_once(scale * (1 / a + r / root)), jnp.zeros_like(e), _once(scale * gap))


IDENTITY = Form(_identity_excess, _identity_slopes)
ERF = Form(_erf_excess, _erf_slopes)
_LEAKY: dict[float, Form] = {}


def leaky(slope: float) -> Form:
    """The form of one slope; one object per slope, so that compiled programs are reused."""
    if slope not in _LEAKY:
        _LEAKY[slope] = Form(partial(_leaky_excess, slope), partial(_leaky_slopes, slope))
    return _LEAKY[slope]
