r"""The sharp constants behind the rates of Theorem 3.1, and the length of the plateau.

The rates are the paper's. The constants are derived in docs/derivations.md by a slow-manifold
argument and are not in the paper.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models.theory.facts import (
    Facts,
    facts,
    lam,
    of_the_class,
    scale_square,
)
from tutelage.settings import Setting


def plateau(setting: Setting) -> float:
    """Steps until the excess has about halved: K D²/(2η‖V*‖²) for the identity, three times that
    for ReLU (λ^-log₂3 between).
    """
    f = facts(setting)
    lam = 1.0 if f.lam is None else f.lam
    return float(f.support * f.tokens**2 / (2 * f.rate * f.value_square) * lam ** -math.log2(3))


def counting_law(setting: Setting) -> float:
    """excess·t → Σ_i K_i(D−K_i)/4 for orthonormal codes; a scale c other than 1/√D divides by
    c²D.
    """
    return counted_pairs(of_the_class(facts(setting)))


def counted_pairs(f: Facts) -> float:
    """Σ_i K_i(D−K_i)/(4c²D) itself, whatever the codes."""
    return float(np.sum(f.supports * (f.tokens - f.supports)) / 4 / scale_square(f))


def value_constant(setting: Setting) -> float:
    """‖W_V − V*‖·√t; (D−K)√(K/2)/√λ when all supports are equal."""
    f = facts(setting)
    rho, _ = _slow_manifold(f)
    return float(rho * f.norm / math.sqrt(2 * lam(f) * f.value_square * scale_square(f)))


def attention_constant(setting: Setting) -> float:
    """‖S − S*‖_F·√t; √(Q D(D−K)/2)/(√λ‖V*‖) when all supports are equal."""
    f = facts(setting)
    rho, x = _slow_manifold(f)
    D, K = f.tokens, f.supports
    square = np.sum(D * (D - K) * x**2 / K) + rho**2 * (f.selection_square - np.sum(1 / K))
    return float(math.sqrt(square / (2 * lam(f) * f.value_square * scale_square(f))))


def gap_constant(setting: Setting) -> float:
    """e^{2c(C₂+C₃)}/(‖V*‖²t) → 2λ/K³ for one K < D, c = 1/√D the score scale; another c multiplies
    by c²D.

    It is (p/q)² with the limits p → 1/K on the supports and q²t → K/(2λ‖V*‖²) off them.
    """
    f = of_the_class(facts(setting))
    if not f.uniform or f.support == f.tokens:
        raise NoPrediction(
            "The gap C₂+C₃ is one number where every column has K < D equal weights. Got supports "
            f"from {f.supports.min()} to {f.supports.max()} of {f.tokens} tokens."
        )
    return float(2 * lam(f) * scale_square(f) / f.support**3 * f.value_square / f.norm**2)


def limit_error(setting: Setting) -> tuple[Float[np.ndarray, "D Q"], float]:
    r"""(N, c) with TF(X) − f*(X) ≈ c t^-½ σ′(V*XS*) ⊙ (V* X N) once the slow manifold is reached: N
    = ρS* + (S − S*)/u, c = u√t.

    Off the support of column i the weight is x_i u; on it each of the K_i equal weights has lost
    (D−K_i)x_i u/K_i.
    """
    f = facts(setting)
    if not f.iid_positions:
        raise NoPrediction(
            "The limit of the error is known for tokens that are independent between positions "
            "in training."
        )
    if not np.allclose(
        f.weights[f.on] * np.broadcast_to(f.supports, f.weights.shape)[f.on],
        1.0,
        rtol=1e-12,
        atol=0,
    ):
        raise NoPrediction(
            "The limit of the error is known for equal weights within each support only."
        )
    rho, x = _slow_manifold(f)
    moved = np.where(f.on, -(f.tokens - f.supports) * x / f.supports, x)
    return rho * f.weights + moved, 1 / math.sqrt(2 * lam(f) * f.value_square * scale_square(f))


def invariance_exponent(setting: Setting) -> float:
    """Of E‖TF(XΠ) − TF(X)‖² in t, for Π inside one support and a random start: −1 − 2K/D
    (docs/derivations.md, section 7).
    """
    f = facts(setting)
    if not f.uniform:
        raise NoPrediction("The exponent is known for equal weights on equal supports only.")
    return -1 - 2 * f.support / f.tokens


def _slow_manifold(f: Facts) -> tuple[float, Float[np.ndarray, "Q"]]:
    r"""ρ and x_i with W_V − V* = ρuV* and off-support weights x_i u/…: x_i = (ρ + √(ρ² +
    4DK_i²))/(2D), ρΣ1/K_i = Σ(D−K_i)x_i/K_i.
    """
    from scipy.optimize import brentq

    of_the_class(f)
    D, K = f.tokens, f.supports.astype(float)
    if (K == D).all():
        return 0.0, np.zeros_like(K)

    def x(rho: float) -> Float[np.ndarray, "Q"]:
        return (rho + np.sqrt(rho**2 + 4 * D * K**2)) / (2 * D)

    def balance(rho: float) -> float:
        return float(rho * np.sum(1 / K) - np.sum((D - K) * x(rho) / K))

    top = 1.0
    while balance(top) < 0:
        top *= 2
    rho = brentq(balance, 0.0, top, xtol=1e-14, rtol=1e-14)
    return rho, x(rho)
