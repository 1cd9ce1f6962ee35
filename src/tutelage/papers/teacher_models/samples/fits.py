"""What a statistician would fit to the same sample: least squares and ridge on the flattened input,
and least squares that knows S*.

Each linear map has an intercept, but for the oracle's.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from tutelage.objectives.empirical import EmpiricalRisk
from tutelage.papers.teacher_models.theory.linear_baselines import gap_of_slope, slope_of
from tutelage.papers.teacher_models.theory.tangent_cone import length_square
from tutelage.problem.build import build
from tutelage.settings import Setting
from tutelage.teachers.base import BilinearClass
from tutelage.teachers.bilinear import BilinearTeacher

PENALTIES = np.logspace(-3, 3, 31)  # of ridge, over n: from next to none to next to nothing learned


class LinearMap(NamedTuple):
    """Y ≈ B vec X + b, one row for each of the MQ outputs."""

    slopes: Float[np.ndarray, "MQ p"]
    intercepts: Float[np.ndarray, "MQ"]


def fit_least_squares(
    inputs: Float[np.ndarray, "n p"], labels: Float[np.ndarray, "n MQ"]
) -> LinearMap:
    """Ordinary least squares with an intercept; of all that fit equally well, that of the least
    norm.
    """
    x, y = inputs - inputs.mean(0), labels - labels.mean(0)
    if len(x) > 2 * x.shape[1]:
        # The normal equations are well conditioned there, and several times faster.
        slopes = np.linalg.solve(x.T @ x, x.T @ y).T
    else:
        slopes = np.linalg.lstsq(x, y, rcond=None)[0].T
    return LinearMap(slopes, labels.mean(0) - slopes @ inputs.mean(0))


def fit_ridge(inputs: Float[np.ndarray, "n p"], labels: Float[np.ndarray, "n MQ"]) -> LinearMap:
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
    shrunk = s**2 / (s**2 + n * PENALTIES[:, None])  # one row per penalty
    left = 1 - 1 / n - (u**2) @ shrunk.T  # 1 − h_ii, the intercept's 1/n included
    slopes = []
    for rotated, target in zip(turned.T, y.T, strict=True):
        residuals = target[:, None] - u @ (shrunk * rotated).T
        best = PENALTIES[np.argmin(np.mean((residuals / left) ** 2, axis=0))]
        slopes.append(w @ (s / (s**2 + n * best) * rotated))
    found = np.stack(slopes)
    return LinearMap(found, labels.mean(0) - found @ inputs.mean(0))


def fit_oracle(
    tokens: Float[np.ndarray, "n d D"],
    labels: Float[np.ndarray, "n M Q"],
    selection: Float[np.ndarray, "D Q"],
) -> Float[np.ndarray, "M d"]:
    """W_V by least squares on the pooled tokens X S*, all queries together."""
    pooled = np.moveaxis(tokens @ selection, 1, 2).reshape(-1, tokens.shape[1])
    return np.linalg.lstsq(
        pooled, np.moveaxis(labels, 1, 2).reshape(-1, labels.shape[1]), rcond=None
    )[0].T


def linear_excess(found: LinearMap, teacher: BilinearClass) -> float:
    r"""½E‖B vec X + b − σ(V*XS*)‖² exactly: with k the leaky slope, the best B is (1+k)/2 times the
    teacher's own map a, the best intercept (1−k)‖a‖/√2π, and what is left is the gap of
    `linear_gap`.
    """
    value, selection = np.asarray(teacher.value), np.asarray(teacher.selection)
    own = np.einsum("me,jq->mqej", value, selection).reshape(len(found.slopes), -1)
    k = slope_of(teacher)
    size = np.linalg.norm(own, axis=1)
    slopes = found.slopes - (1 + k) / 2 * own
    shifts = found.intercepts - (1 - k) * size / math.sqrt(2 * math.pi)
    missed = 0.5 * (np.sum(slopes**2) + np.sum(shifts**2))
    return float(missed + gap_of_slope(k, float(np.sum(size**2))))


class Fits(NamedTuple):
    """Excesses of the linear baselines on a setting's sample, and how long its noise is in each
    method's tangent directions, squared.
    """

    least_squares: float
    ridge: float
    oracle: float  # not a number where σ is not the identity: it is then trained
    along_student: float
    along_oracle: float
    along_map: float


@lru_cache(maxsize=65536)  # of six numbers each; several claims read each
def fit_all(setting: Setting) -> Fits:
    """All of them from the one sample that the setting's student is trained on."""
    problem = build(setting)
    teacher, objective = problem.teacher, problem.objective
    assert isinstance(teacher, BilinearTeacher)
    assert isinstance(objective, EmpiricalRisk)
    tokens, labels = np.asarray(objective.sample.tokens), np.asarray(objective.sample.labels)
    value, selection = np.asarray(teacher.value), np.asarray(teacher.selection)
    n, (outputs, dim, positions, queries) = len(tokens), teacher.shape
    flat, flat_labels = tokens.reshape(n, -1), labels.reshape(n, -1)
    k = slope_of(teacher)
    oracle = math.nan
    if k == 1.0:
        gap = fit_oracle(tokens, labels, selection) - value
        oracle = 0.5 * float(np.sum(gap**2) * np.sum(selection**2))
    before = value @ tokens @ selection
    noise = labels - np.where(before > 0, before, k * before)
    tau = float(teacher.noise)
    along = (0.0, 0.0, 0.0)
    if tau > 0:
        # White, of variance 1, in the metric of the risk: σ′ scales curvature and the score's
        # variance by the same λ.
        driven = noise * np.where(before > 0, 1.0, k) / (tau * math.sqrt(n * (1 + k * k) / 2))
        pushed = (driven.reshape(n, -1).T @ flat).reshape(outputs, queries, dim, positions)
        known = np.einsum("mqej,jq->me", pushed, selection) / np.linalg.norm(selection)
        along = (
            length_square(pushed, value, selection),
            float(np.sum(known**2)),
            float(np.sum(pushed**2)),
        )
    return Fits(
        linear_excess(fit_least_squares(flat, flat_labels), teacher),
        linear_excess(fit_ridge(flat, flat_labels), teacher),
        oracle,
        *along,
    )
