r"""What is expected of the fits that a statistician would make to the same sample: least squares
and ridge on the flattened input, and least squares that knows S*. Predictions only.

Each linear map has an intercept, but for the oracle's. Expectations are over samples of n tokens
iid N(0, I) with label noise τ; p = Dd.
"""

from __future__ import annotations

import math

import numpy as np

from tutelage.activations import Identity, LeakyReLU
from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models.theory.bilinear import build_bilinear
from tutelage.papers.teacher_models.theory.facts import Facts
from tutelage.papers.teacher_models.theory.tangent_cone import teacher_facts
from tutelage.settings import Setting
from tutelage.teachers.base import BilinearClass


def samples_of(setting: Setting) -> int:
    return int(setting.objective.options["samples"])


def _linear(f: Facts) -> Facts:
    if f.slope is None or not (f.standard and f.iid_positions):
        raise NoPrediction(
            "The baselines are judged for tokens N(0, I) and for identity, ReLU and leaky ReLU."
        )
    return f


def slope_of(teacher: BilinearClass) -> float:
    """k: 1 for the identity, 0 for ReLU."""
    if isinstance(teacher.activation, Identity):
        return 1.0
    if isinstance(teacher.activation, LeakyReLU):
        return float(teacher.activation.slope)
    raise NoPrediction(
        "The baselines are judged for identity, ReLU and leaky ReLU. Got activation "
        f"{teacher.activation.name}."
    )


def gap_of_slope(k: float, square: float) -> float:
    """½(1−k)²(¼ − 1/2π) times ‖V*‖²‖S*‖²."""
    return 0.5 * (1 - k) ** 2 * (0.25 - 1 / (2 * math.pi)) * square


def zero_excess(setting: Setting) -> float:
    """½λ‖V*‖²‖S*‖²: the excess of a student that says 0, by which relative excesses are
    relative.
    """
    f = _linear(teacher_facts(setting))
    assert f.lam is not None
    return 0.5 * f.lam * f.value_square * float(np.sum(f.weights**2))


def linear_gap(setting: Setting) -> float:
    """½(1−k)²(¼ − 1/2π)‖V*‖²‖S*‖²: what no linear map learns, |u|/2 less its mean for ReLU; 0 for
    the identity.
    """
    f = _linear(teacher_facts(setting))
    assert f.slope is not None
    return gap_of_slope(f.slope, f.value_square * float(np.sum(f.weights**2)))


def _identity(setting: Setting) -> Facts:
    f = _linear(teacher_facts(setting))
    if f.slope != 1.0:
        raise NoPrediction(
            "The expected excess of a linear fit is known for the identity; a misspecified one "
            "has no closed form."
        )
    return f


def _with_intercept(f: Facts, n: int, slopes: float) -> float:
    """An error of Σ‖β̂−β‖² = slopes costs (1 + 1/n) times that once the intercept, whose own noise
    is τ²/n an output, is fitted.
    """
    return 0.5 * ((1 + 1 / n) * slopes + f.outputs * f.queries * f.noise**2 / n)


def least_squares_excess(setting: Setting) -> float:
    r"""E excess of least squares, exact: Σ‖β̂−β‖² = MQτ²p/(n−p−2) for n > p+2, and for n < p that
    of the least-norm fit, ‖V*‖²‖S*‖²(1 − (n−1)/p) + MQτ²(n−1)/(p−n). Between them it is infinite.
    """
    f, n = _identity(setting), samples_of(setting)
    p, noise = f.tokens * f.dim, f.outputs * f.queries * f.noise**2
    if n > p + 2:
        return _with_intercept(f, n, noise * p / (n - p - 2))
    if n >= p:
        return math.inf
    return _with_intercept(
        f,
        n,
        f.value_square * float(np.sum(f.weights**2)) * (1 - (n - 1) / p)
        + noise * (n - 1) / (p - n),
    )


def resolvent(penalty: float, ratio: float) -> float:
    """m(−λ) = ∫ (x + λ)^-1 dμ, μ the law of Marchenko and Pastur of ratio γ = p/n."""
    b = 1 - ratio + penalty
    return (math.sqrt(b * b + 4 * ratio * penalty) - b) / (2 * ratio * penalty)


def ridge_excess(setting: Setting) -> float:
    r"""E excess of the best ridge, to leading order in large n and p: Σ‖β̂−β‖² = Σ_o τ²γ m(−λ_o), γ
    = p/(n−1), λ_o = γτ²/‖β_o‖².

    Dobriban and Wager 2018, for white inputs. The penalty that leave-one-out chooses is near the
    best one.
    """
    f, n = _identity(setting), samples_of(setting)
    if f.noise == 0:
        raise NoPrediction("Without label noise the best ridge is the limit of no penalty.")
    ratio = f.tokens * f.dim / (n - 1)
    rows = np.sum(np.asarray(build_bilinear(setting).value) ** 2, 1)
    sizes = np.outer(rows, np.sum(f.weights**2, 0)).ravel()
    return _with_intercept(
        f,
        n,
        sum(f.noise**2 * ratio * resolvent(ratio * f.noise**2 / size, ratio) for size in sizes),
    )


def oracle_excess(setting: Setting) -> float:
    r"""E excess of least squares that knows S*, exact: ½Mτ² dR/(nR−d−1) where S*ᵀS* has R equal
    eigenvalues and else zeros.

    The nQ pooled tokens are then as good as nR independent ones. One query, or queries that read
    alike: R = 1, free of D.
    """
    f, n = _identity(setting), samples_of(setting)
    eigenvalues = np.linalg.eigvalsh(f.weights.T @ f.weights)
    kept = eigenvalues[eigenvalues > 1e-12 * eigenvalues[-1]]
    if np.ptp(kept) > 1e-9 * kept[-1]:
        raise NoPrediction(
            "The oracle's expectation is known where the columns of S* are equal or orthogonal."
        )
    if n * len(kept) <= f.dim + 1:
        return math.inf
    return 0.5 * f.outputs * f.noise**2 * f.dim * len(kept) / (n * len(kept) - f.dim - 1)
