r"""The whole learning curve in the limit of a slow attention: C₁ follows its optimum, and one
scalar ω = nq/(Kp) is left.

ω falls from n/K (uniform attention) to 0; Kp = 1/(1+ω), tan θ = √(K/n) ω. C₁ relaxes within a few
D/(ληQ) steps, attention needs about K D²/(η‖V*‖²), so the limit is that of ‖V*‖² ≪ K D², where the
error is of the order of their ratio. With Y = C₁Kp at the optimum,

    excess = (λQ‖V*‖²/2K)(1 − Y²/cos²θ),     ‖V*‖² dt = −K²n(1+ω)/(ω²Y|B|) dω
    (docs/derivations.md, section 5).

For the identity the integral is elementary: ‖V*‖²t = Kn²/(2ω²) + 2K²n ln(n/(Kω)) + (Kn² − K³ −
K³ω²)/2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models.theory import Facts
from tutelage.papers.teacher_models.theory.recursion import reducible
from tutelage.settings import Setting


class Manifold(NamedTuple):
    """Y = C₁Kp at the optimal C₁, the share of the first excess that is left, and the force B on
    the attention, at one ω.
    """

    scale: float
    left: float
    force: float


def manifold(f: Facts, omega: float) -> Manifold:
    assert f.lam is not None
    assert f.slope is not None
    K, n = f.support, f.tokens - f.support
    tangent = math.sqrt(K / n) * omega
    theta, cosine_square = math.atan(tangent), 1 / (1 + tangent**2)
    bend, u = (1 - f.slope) ** 2 / (2 * math.pi), K * omega / n  # u = q/p
    scale = cosine_square * (1 + bend / f.lam * (tangent - theta))
    force = f.lam * (scale * (1 - u) - 1) - bend * (tangent * cosine_square * (1 - u) - theta)
    return Manifold(scale, 1 - scale**2 / cosine_square, force)


def time_to(setting: Setting, omega: float) -> float:
    """t = ηT at which ω is reached: the elementary form for the identity, quadrature for the
    others.
    """
    f = reducible(setting)
    K, n = f.support, f.tokens - f.support
    if omega >= n / K:
        return 0.0
    if f.slope == 1.0:
        time = (
            K * n**2 / (2 * omega**2)
            + 2 * K**2 * n * math.log(n / (K * omega))
            + (K * n**2 - K**3 - K**3 * omega**2) / 2
        )
    else:
        from scipy.integrate import quad

        def pace(log_omega: float) -> float:
            at = math.exp(log_omega)
            scale, _, force = manifold(f, at)
            return -(K**2) * n * (1 + at) / (at * scale * force)

        time, _ = quad(pace, math.log(omega), math.log(n / K), epsabs=0.0, epsrel=1e-11, limit=400)
    return time / _speed(f)


def _speed(f: Facts) -> float:
    """‖V*‖², the unit of time; a score scale c other than 1/√D multiplies it by c²D."""
    return f.value_square * f.attention_scale**2 * f.tokens


def halving_time(setting: Setting) -> float:
    """Steps until half of the first excess is left; for the identity (Kn²/2 − K³/2 + K²n
    ln(n/K))/(η‖V*‖²).
    """
    from scipy.optimize import brentq

    f = reducible(setting)
    K, n = f.support, f.tokens - f.support
    if manifold(f, n / K).left <= 0.5:
        raise NoPrediction(
            "The excess halves before attention moves when K is not small against D. Got K = "
            f"{K}, D = {f.tokens}."
        )
    omega = brentq(lambda at: manifold(f, at).left - 0.5, 1e-9, n / K, xtol=1e-14, rtol=1e-14)
    return time_to(setting, omega) / f.rate


def attention_time(setting: Setting) -> float:
    """Steps until Kp = ½, that is ω = 1; for the identity exactly twice the time of halving."""
    return time_to(setting, 1.0) / reducible(setting).rate


def settling(setting: Setting) -> float:
    """Ten relaxation times D/(ληQ) of C₁, after which e^-20 is left of what its rise adds to the
    excess.
    """
    f = reducible(setting)
    assert f.lam is not None
    return 10 * f.tokens / (f.lam * f.rate * f.queries)


def excess_curve(setting: Setting, steps: Int[np.ndarray, "points"]) -> Float[np.ndarray, "points"]:
    """The excess risk at some steps for the identity, (Q‖V*‖²/2) ω²/(n + Kω²), with ω from the
    elementary time.
    """
    f = _of_identity(setting)
    K, n = f.support, f.tokens - f.support
    squares = np.array([omega_at(setting, f.rate * float(step)) ** 2 for step in steps])
    return f.queries * f.value_square / 2 * squares / (n + K * squares)


def gap_curve(setting: Setting, steps: Int[np.ndarray, "points"]) -> Float[np.ndarray, "points"]:
    r"""C₂+C₃ at some steps for the identity, z = √D u with e^{2u} + (4n/K)u + n²/K² − 1 −
    (n/K)²e^{−2u} = 2‖V*‖²ηT/K³.

    It is the elementary time with ω = (n/K)e^{−u}. All but the first term are lower orders: they
    are what "+ …" stands for in C₂+C₃ = (√D/2) log(2η‖V*‖²T/K³ + …).
    """
    f = _of_identity(setting)
    K, n = f.support, f.tokens - f.support
    gaps = [math.log(n / (K * omega_at(setting, f.rate * float(step)))) for step in steps]
    return np.array(gaps) / f.attention_scale


def omega_at(setting: Setting, time: float) -> float:
    """ω at t = ηT for the identity: the elementary time, inverted."""
    from scipy.optimize import brentq

    f = _of_identity(setting)
    K, n = f.support, f.tokens - f.support
    # Below this ω the term Kn²/(2ω²) alone is later than `time`: what else there is adds up to
    # −K³/2 at the least.
    lowest = n * math.sqrt(K / (2 * (_speed(f) * time + K**3)))
    return float(
        brentq(lambda omega: time_to(setting, omega) - time, lowest, n / K, xtol=1e-15, rtol=1e-14)
    )


def _of_identity(setting: Setting) -> Facts:
    f = reducible(setting)
    if f.slope != 1.0:
        raise NoPrediction(
            f"The curve is in closed form for the identity only. Got activation {f.activation}."
        )
    return f
