r"""The logistic risk of a Gaussian score, exactly, by one function of one variable.

Let $f$ be a centred Gaussian of standard deviation $τ$, $y = \mathrm{sign}\,g$ with $g \sim N(0,1)$
jointly Gaussian, and $A = \mathrm{cov}(f, g)$. Since $\log(1+e^{-m}) = \log(2\cosh\frac m2) - \frac
m2$, the first part does not see the label and the second is linear:

$E\log(1+e^{-yf}) = G(τ) - A/\sqrt{2π}$, with $G(τ) = E\log(2\cosh(τZ/2))$, $Z \sim N(0,1)$.

So the risk of any value vector and any attention by position is known up to $G$. For large $τ$ both
terms grow, and their difference is taken as $(τ-A)/\sqrt{2π} + M(τ)$ with the *tail*
$M(τ) = E\log(1+e^{-τ|Z|}) = G(τ) - τ/\sqrt{2π}$, which is positive and falls like $c_0/τ$. With $z
= x/\sqrt{1+τ^2}$ its integrand has the scale 1 in $x$ for every $τ$: the layer $f = O(1)$ and the
bell of $f$ are resolved by the same 64 nodes.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float
from scipy.special import expit

FARTHEST = 40.0  # beyond it the integrand is below e⁻⁴⁰ of its size
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
NODES: Float[np.ndarray, "nodes"] = FARTHEST / 2 * (_NODES + 1)
WEIGHTS: Float[np.ndarray, "nodes"] = FARTHEST / 2 * _WEIGHTS
DENSITY_AT_ZERO = 1 / math.sqrt(2 * math.pi)  # of a standard normal


def tail(deviation: float) -> float:
    r"""$M(τ) = E\log(1+e^{-τ|Z|})$; log 2 at 0."""
    scale, bell = _scale_nodes(deviation)
    terms = bell * np.log1p(np.exp(-deviation / scale * NODES))
    return float(2 * DENSITY_AT_ZERO / scale * np.sum(terms))


def tail_slope(deviation: float) -> float:
    r"""$M'(τ) = -E\,|Z|/(1+e^{τ|Z|})$."""
    scale, bell = _scale_nodes(deviation)
    terms = bell * NODES * expit(-deviation / scale * NODES)
    return float(-2 * DENSITY_AT_ZERO / scale**2 * np.sum(terms))


def _scale_nodes(deviation: float) -> tuple[float, Float[np.ndarray, "nodes"]]:
    r"""$\sqrt{1+τ^2}$, and the weights times $e^{-z^2/2}$."""
    scale = math.sqrt(1 + deviation**2)
    return scale, WEIGHTS * np.exp(-((NODES / scale) ** 2) / 2)


def risk(signal: float, noise: float) -> float:
    r"""$L(A,B) = E\log(1+e^{-(A|g|+Bh)})$ with independent normals g and h; A has either sign.

    The deviation is $τ = \sqrt{A^2+B^2}$, and $τ - |A|$ is taken without cancellation. Turning the
    sign of A adds its mean: $L(-A) = L(A) + A\sqrt{2/π}$.
    """
    deviation = math.hypot(signal, noise)
    lost = _above(signal, noise, deviation) + abs(signal) - signal
    return DENSITY_AT_ZERO * lost + tail(deviation)


def risk_slopes(signal: float, noise: float) -> tuple[float, float]:
    r"""$∂L/∂A = A(1/\sqrt{2π} + M')/τ - 1/\sqrt{2π}$ and $∂L/∂B = B(1/\sqrt{2π} + M')/τ$."""
    deviation = math.hypot(signal, noise)
    if deviation == 0.0:
        return -DENSITY_AT_ZERO, 0.0
    slope = tail_slope(deviation)
    # ∂τ/∂|A| − 1, then the sign of A.
    apart = -_above(signal, noise, deviation) / deviation
    by_size = DENSITY_AT_ZERO * apart + slope * abs(signal) / deviation
    by_signal = by_size if signal >= 0 else -by_size - 2 * DENSITY_AT_ZERO
    return by_signal, (DENSITY_AT_ZERO + slope) * noise / deviation


def _above(signal: float, noise: float, deviation: float) -> float:
    """τ − |A|."""
    return noise * (noise / (deviation + abs(signal))) if deviation > 0 else 0.0
