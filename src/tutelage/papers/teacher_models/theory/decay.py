r"""Exponential learning where S* has no zeros: how fast, from the curvature at the teacher.
Predictions only.

A softmax reaches such an S* at finite scores, and there the excess is a positive quadratic form.
With W_V − V* = (α/‖V*‖)V* + W⊥ and scores Z* + z, column i of S moves by c J_i z_i, J = diag(s) −
ssᵀ, c the score scale, so that

    excess ≈ ½λ‖α S* + c‖V*‖ J z‖² + ½λ‖S*‖²‖W⊥‖²,

and a step multiplies the mode of curvature h by 1 − ηh. What is left in the end is the mode with
the largest |1 − ηh| among those that the start excites: from zero only those with the symmetry of
S*, from a random start all of them (docs/derivations.md, section 13).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int

from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models.theory import Facts, facts
from tutelage.settings import Setting

DIGITS = 12  # weights that agree so far are equal: they are shares of whole numbers, or random


@lru_cache(maxsize=64)
def curvatures(setting: Setting) -> Float[np.ndarray, "modes"]:
    """h of every mode that the start excites, rising; shifts of a whole column of scores, which no
    softmax sees, left out.
    """
    f = _without_zeros(setting)
    assert f.lam is not None
    classes = _classes(f) if f.zero_start else [np.array([i]) for i in range(f.queries)]
    columns = [math.sqrt(f.lam) * f.weights.ravel()]
    for members in classes:
        columns += [
            math.sqrt(f.lam) * f.norm * f.attention_scale * moved.ravel()
            for moved in _moves(f, members)
        ]
    # h are the squares of the singular values, which so keep twice the digits that eigenvalues of
    # the product would. They come falling, and all but one for each class, its shift, are above
    # zero.
    found = (
        np.linalg.svd(np.stack(columns, axis=1), compute_uv=False)[: len(columns) - len(classes)]
        ** 2
    )
    across = (
        [f.lam * float(np.sum(f.weights**2))] if not f.zero_start and f.outputs * f.dim > 1 else []
    )
    return np.sort(np.concatenate([found, across]))


def _without_zeros(setting: Setting) -> Facts:
    f = facts(setting)
    if f.lam is None or not (
        f.standard
        and f.iid_positions
        and f.orthonormal_codes
        and f.realisable
        and f.plain_descent
        and f.exact
    ):
        raise NoPrediction(
            "The decay is known for gradient descent on the exact risk, iid tokens N(0, I) and a "
            "teacher of the class."
        )
    if not f.on.all():
        raise NoPrediction(
            "Where S* has zeros nothing decays exponentially: their scores have no curvature."
        )
    return f


def _classes(f: Facts) -> list[Int[np.ndarray, "members"]]:
    """Columns of S* with the same weights, in whatever order: from zero they stay alike."""
    found: dict[tuple[float, ...], list[int]] = {}
    for i, column in enumerate(f.weights.T):
        found.setdefault(tuple(np.round(np.sort(column), DIGITS)), []).append(i)
    return [np.array(members) for members in found.values()]


def _moves(f: Facts, members: Int[np.ndarray, "members"]) -> list[Float[np.ndarray, "D Q"]]:
    """J z for unit vectors z: one a token and query; from zero one for each value of the weights,
    alike wherever that value is.
    """
    units = []
    if f.zero_start:
        for value in np.unique(np.round(f.weights[:, members[0]], DIGITS)):
            unit = np.zeros_like(f.weights)
            unit[:, members] = np.round(f.weights[:, members], DIGITS) == value
            units.append(unit / np.linalg.norm(unit))
    else:
        for token in range(f.tokens):
            unit = np.zeros_like(f.weights)
            unit[token, members] = 1.0
            units.append(unit)
    return [f.weights * (unit - (f.weights * unit).sum(0)) for unit in units]


def decay(setting: Setting) -> float:
    """−½ d ln(excess)/d(ηT) in the end: −ln(max_h |1 − ηh|)/η, which is the least h where steps are
    small.
    """
    factor = float(np.max(np.abs(1 - setting.rate * curvatures(setting))))
    if factor >= 1:
        raise NoPrediction(
            f"A rate of {setting.rate:g} is too large for the curvatures at this teacher."
        )
    return -math.log(factor) / setting.rate


def least_weight_decay(setting: Setting) -> float:
    """λ‖V*‖²c²s², s the least weight of S*: exact for two weights that share it, a bound in other
    columns where W_V is fast.
    """
    f = _without_zeros(setting)
    assert f.lam is not None
    return f.lam * f.value_square * f.attention_scale**2 * float(f.weights.min()) ** 2


def first_excess(setting: Setting) -> float:
    """D = K from zero, after the first step: ½λ‖V*‖²(Q/D)(1 − η(Q/D)((1+k)/2)²)², the slope at the
    kink being (1+k)/2.
    """
    f = _without_zeros(setting)
    assert f.lam is not None
    assert f.slope is not None
    if not (f.zero_start and f.uniform):
        raise NoPrediction("The first step is known for equal weights on all tokens, from zero.")
    share = f.queries / f.tokens
    return (
        0.5 * f.lam * f.value_square * share * (1 - f.rate * share * ((1 + f.slope) / 2) ** 2) ** 2
    )
