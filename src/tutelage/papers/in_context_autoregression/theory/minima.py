r"""Floors of the loss, how fast it is approached, and the minima that are not global.

**Independent angles.** At a position weight p on the newest token alone the loss of a prefix is
$\|pC - I\|^2 \ge d - (\mathrm{tr}\,C)^2/\|C\|^2 \ge d - \mathrm{rank}\,C$, so that H heads leave
$d - H$.

**Angles in pairs.** With H = d/2 heads each pair of features gets one direction: $u = (1,1)/\sqrt2$
or, *turned*, $w = (1,-1)/\sqrt2$. If none is turned, $C = \bigoplus c\,[[1,1],[1,1]]$ predicts the
next token. With turned blocks a loss is left, and it is a minimum none the less: a block cannot
change its direction without passing through zero. Minima with some turned blocks have cross terms.
Pairs that are alike may be exchanged, so that five numbers describe them.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize


def unitary_floor(dim: int, heads: int) -> int:
    """d − H, the least loss of a prefix."""
    return max(0, dim - heads)


def contraction_per_step(dim: int, level: float, rate: float) -> float:
    r"""By how much log L changes in a step close to the minimum, $2\log(1 - 2\eta dc^2)$.

    To second order a weight of an older token enters the loss as $dc^2p^2$ and with nothing else,
    so it shrinks by $1 - 2\eta dc^2$. Errors of C shrink at the rate $4R/|c|$ at least, which is
    faster where $|c|^3 < 2R/d$.
    """
    return float(2 * np.log1p(-2 * rate * dim * level**2))


def turned_block_loss(dim: int, tokens: int) -> float:
    r"""The mean loss of prefixes 2, …, T if every block is turned, $d(H_T - 1)/(T-1)$ with
    the harmonic number $H_T$.

    Such a C has $C1 = 0$, and the loss of a prefix of m tokens is $d\,\min_q[(\sum q)^2 + \|q\|^2 -
    2q_m + 1] = d/m$.
    """
    return dim * float(np.sum(1 / np.arange(2, tokens + 1))) / (tokens - 1)


@lru_cache(maxsize=64)
def spurious_losses(dim: int, tokens: int) -> Float[np.ndarray, "kinds"]:
    """The mean loss of a prefix at H = d/2 with 0, 1, …, d/2 turned blocks."""
    pairs = dim // 2
    mixed = [_mixed_loss(pairs, tokens, turned) for turned in range(1, pairs)]
    return np.array([0.0, *mixed, turned_block_loss(dim, tokens)])


def _mixed_loss(pairs: int, tokens: int, turned: int) -> float:
    """The least loss over the five numbers of a matrix with some turned blocks."""

    def loss(numbers: Float[np.ndarray, "5"]) -> float:
        matrix = mixed_matrix(pairs, turned, numbers)
        return float(np.mean([best_weights_loss(matrix, m) for m in range(2, tokens + 1)]))

    begin = np.array([1.5, 2.0, 0.0, 0.0, 0.0])
    found = minimize(loss, begin, method="BFGS", options={"gtol": 1e-9})
    return float(found.fun)


def mixed_matrix(
    pairs: int, turned: int, numbers: Float[np.ndarray, "5"]
) -> Float[np.ndarray, "d d"]:
    """C of rank d/2: the first number on each turned w; on the u of all pairs a matrix of the rank
    that is left, the same for all pairs of a kind.
    """
    on_turned, on_plain, among, right, left = numbers
    plain = pairs - turned
    inner = on_plain * np.eye(plain) + among * np.ones((plain, plain))
    across, back = right * np.ones((plain, turned)), left * np.ones((turned, plain))
    corner = back @ np.linalg.solve(inner, across)
    sums = np.block([[inner, across], [back, corner]])
    differences = np.diag([0.0] * plain + [on_turned] * turned)
    u, w = np.array([[1.0, 1.0], [1.0, 1.0]]) / 2, np.array([[1.0, -1.0], [-1.0, 1.0]]) / 2
    return np.kron(sums, u) + np.kron(differences, w)


def best_weights_loss(matrix: Float[np.ndarray, "d d"], prefix: int) -> float:
    """The loss of a prefix of pairs of angles at the best position weights for C, which enter it
    as a quadratic form.
    """
    dim = len(matrix)
    partner = matrix[np.arange(dim), np.arange(dim) ^ 1]
    sums = matrix.sum(1)
    others, query = np.ones(prefix), np.zeros(prefix)
    others[prefix - 2], query[prefix - 2] = 0.0, 1.0
    common = np.outer(sums, query) + np.outer(partner, others)
    form = common.T @ common + (np.sum(matrix**2) - np.sum(partner**2)) * np.diag(others)
    pull = np.zeros(prefix)
    pull[-1] = np.trace(matrix)
    return float(dim - pull @ np.linalg.solve(form, pull))
