r"""The same risk where no input is near the boundary: $|\langle v^*, x_{j^*}\rangle| \ge m$.

Then $Y = |g| + ρh$, $ρ = B/A$, with g a normal conditioned on $|g| \ge m$, has the density
$2φ(y/n)/n · Φ((y - mn^2)/(ρn)) / P(|g| \ge m)$, $n = \sqrt{1+ρ^2}$. The integrals have three scales
(1/A at 0 and at the margin, ρn at the margin, n), so that they are taken over panels that grow
geometrically from both points. At m = 0 this is an independent way to the risk of `risk.py`.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float
from scipy.special import expit, log_ndtr, ndtr

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
POWERS = 2.0 ** np.arange(-2, 8)
BELL = 38.0  # deviations beyond which a normal density is no number
LAYER = 60.0  # e⁻⁶⁰ is nothing beside what remains


def margin_risk(signal: float, noise: float, margin: float) -> float:
    """L(A, B) = E log(1 + e^−AY), for A > 0 and B > 0."""
    y, mass = _measure(signal, noise / signal, margin)
    return float(np.sum(mass * np.logaddexp(0.0, -signal * y)))


def margin_slopes(signal: float, noise: float, margin: float) -> tuple[float, float]:
    """∂L/∂A and ∂L/∂B.

    At fixed ρ the derivative in A is −E Yσ(−AY). By Stein's identity in h, ∂L/∂B = B E σ(AY)σ(−AY).
    """
    ratio = noise / signal
    y, mass = _measure(signal, ratio, margin)
    miss = expit(-signal * y)
    by_noise = noise * float(np.sum(mass * miss * expit(signal * y)))
    return -float(np.sum(mass * y * miss)) - ratio * by_noise, by_noise


def _measure(
    signal: float, ratio: float, margin: float
) -> tuple[Float[np.ndarray, "nodes"], Float[np.ndarray, "nodes"]]:
    """Nodes in y, and their weights times the density."""
    root = math.sqrt(1 + ratio**2)
    centre, width = margin * root**2, ratio * root
    low = max(centre - BELL * width, -BELL * root)
    high = min(centre + BELL * root, max(centre, 0.0) + LAYER / signal + BELL * width)
    layer, bell = POWERS / signal, POWERS * width
    near_zero = np.concatenate([-layer, [0.0], layer, root * POWERS, -root * POWERS])
    near_margin = centre + np.concatenate([-bell, [0.0], bell, -layer, layer])
    ends = np.concatenate([[low, high], near_zero, near_margin])
    ends = np.unique(ends[(ends >= low) & (ends <= high)])
    half = np.diff(ends)[:, None] / 2
    y = (ends[:-1, None] + half * (1 + _NODES)).ravel()
    log_density = log_ndtr((y - centre) / width) - (y / root) ** 2 / 2
    density = np.exp(log_density) / (root * math.sqrt(2 * math.pi) * ndtr(-margin))
    return y, (half * _WEIGHTS).ravel() * density
