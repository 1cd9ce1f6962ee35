r"""What a statistician would fit to the same sample: least squares and ridge on the flattened
input, and least squares that knows S*.

Each linear map has an intercept, but for the oracle's. Expectations are over samples of n tokens
iid N(0, I) with label noise τ; p = Dd.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models.theory import Facts
from tutelage.papers.teacher_models.theory.tangent_cone import teacher_facts
from tutelage.settings import Setting

PENALTIES = np.logspace(-3, 3, 31)  # of ridge, over n: from next to none to next to nothing learned


class LinearMap(NamedTuple):
    """Y ≈ B vec X + b, a row for each of the MQ outputs."""

    slopes: Float[np.ndarray, "MQ p"]
    intercepts: Float[np.ndarray, "MQ"]


def samples_of(setting: Setting) -> int:
    return int(setting.objective.options["samples"])


def _linear(f: Facts) -> Facts:
    if f.slope is None or not (f.standard and f.iid_positions):
        raise NoPrediction(
            "The baselines are judged for tokens N(0, I) and for identity, ReLU and leaky ReLU."
        )
    return f


# --- the fits


def least_squares(inputs: Float[np.ndarray, "n p"], labels: Float[np.ndarray, "n MQ"]) -> LinearMap:
    """Ordinary least squares with an intercept; of all that fit equally well, that of the least
    norm.
    """
    x, y = inputs - inputs.mean(0), labels - labels.mean(0)
    plenty = (
        len(x) > 2 * x.shape[1]
    )  # the normal equations are well conditioned there, and several times faster
    slopes = (
        np.linalg.solve(x.T @ x, x.T @ y) if plenty else np.linalg.lstsq(x, y, rcond=None)[0]
    ).T
    return LinearMap(slopes, labels.mean(0) - slopes @ inputs.mean(0))


def ridge(inputs: Float[np.ndarray, "n p"], labels: Float[np.ndarray, "n MQ"]) -> LinearMap:
    """Ridge with an intercept, its penalty for each output the one with the least leave-one-out
    error, which is closed form.
    """
    n = len(inputs)
    x, y = inputs - inputs.mean(0), labels - labels.mean(0)
    # X = U diag(s) Wᵀ by the smaller of its two Gram matrices.
    if n > x.shape[1]:
        squares, w = np.linalg.eigh(x.T @ x)
        s = np.sqrt(np.maximum(squares, 1e-300))
        u = (x @ w) / s
    else:
        squares, u = np.linalg.eigh(x @ x.T)
        squares, u = squares[1:], u[:, 1:]  # less the constant, which centring has taken out
        s = np.sqrt(squares)
        w = (x.T @ u) / s
    turned = u.T @ y
    shrunk = s**2 / (s**2 + n * PENALTIES[:, None])  # a row a penalty
    left = 1 - 1 / n - (u**2) @ shrunk.T  # 1 − h_ii, the intercept's 1/n included
    slopes = []
    for rotated, target in zip(turned.T, y.T, strict=True):
        residuals = target[:, None] - u @ (shrunk * rotated).T
        best = PENALTIES[np.argmin(np.mean((residuals / left) ** 2, axis=0))]
        slopes.append(w @ (s / (s**2 + n * best) * rotated))
    found = np.stack(slopes)
    return LinearMap(found, labels.mean(0) - found @ inputs.mean(0))


def oracle(
    tokens: Float[np.ndarray, "n d D"],
    labels: Float[np.ndarray, "n M Q"],
    selection: Float[np.ndarray, "D Q"],
) -> Float[np.ndarray, "M d"]:
    """W_V by least squares on the pooled tokens X S*, all queries together."""
    pooled = np.moveaxis(tokens @ selection, 1, 2).reshape(-1, tokens.shape[1])
    return np.linalg.lstsq(
        pooled, np.moveaxis(labels, 1, 2).reshape(-1, labels.shape[1]), rcond=None
    )[0].T


def linear_excess(found: LinearMap, teacher: Any) -> float:
    r"""½E‖B vec X + b − σ(V*XS*)‖² exactly: with k the leaky slope, the best B is (1+k)/2 times the
    teacher's own map a, the best intercept (1−k)‖a‖/√2π, and what is left is the gap of
    `linear_gap`.
    """
    value, selection = np.asarray(teacher.value), np.asarray(teacher.selection)
    own = np.einsum("me,jq->mqej", value, selection).reshape(len(found.slopes), -1)
    k = slope_of(teacher)
    size = np.linalg.norm(own, axis=1)
    slopes, shifts = (
        found.slopes - (1 + k) / 2 * own,
        found.intercepts - (1 - k) * size / math.sqrt(2 * math.pi),
    )
    return float(0.5 * (np.sum(slopes**2) + np.sum(shifts**2)) + _gap(k, float(np.sum(size**2))))


def slope_of(teacher: Any) -> float:
    from tutelage.activations import Identity

    return 1.0 if isinstance(teacher.activation, Identity) else float(teacher.activation.slope)


def _gap(k: float, square: float) -> float:
    return 0.5 * (1 - k) ** 2 * (0.25 - 1 / (2 * math.pi)) * square


# --- what is expected of them


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
    return _gap(f.slope, f.value_square * float(np.sum(f.weights**2)))


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
    from tutelage.problem.build import build_teacher

    rows = np.sum(np.asarray(build_teacher(setting).value) ** 2, 1)
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
