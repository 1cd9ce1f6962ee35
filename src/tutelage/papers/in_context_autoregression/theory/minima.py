r"""Floors of the loss, how fast it is approached, and the minima that are not global.

**Independent angles.** At a position weight p on the newest token alone the loss of a prefix is
$\|pC - I\|^2 \ge d - (\mathrm{tr}\,C)^2/\|C\|^2 \ge d - \mathrm{rank}\,C$, so that H heads leave
$d - H$.

**Angles in pairs.** With H = d/2 heads each pair of features gets a block of rank one, $c_+$ times
$[[1,1],[1,1]]$ or $c_-$ times $[[1,-1],[-1,1]]$. Blocks of the first kind alone predict the next
token. Each of the second kind leaves a loss, and is a minimum none the less, since a block cannot
change its kind without passing through zero.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize_scalar

LEAST_LOG_RATIO, LARGEST_LOG_RATIO = -3.0, 3.0  # of the levels of the two kinds of block


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
    r"""The mean loss of prefixes 2, …, T if every block is of the second kind, $d(H_T - 1)/(T-1)$
    with the harmonic number $H_T$.

    Such a C has $C1 = 0$, and the loss of a prefix of m tokens is $d\,\min_q[(\sum q)^2 + \|q\|^2 -
    2q_m + 1] = d/m$.
    """
    return dim * float(np.sum(1 / np.arange(2, tokens + 1))) / (tokens - 1)


def spurious_losses(dim: int, tokens: int) -> Float[np.ndarray, "kinds"]:
    """The mean loss of a prefix at H = d/2 with 0, 1, …, d/2 blocks of the second kind."""
    pairs = dim // 2
    mixed = [_mixed_loss(dim, tokens, turned) for turned in range(1, pairs)]
    return np.array([0.0, *mixed, turned_block_loss(dim, tokens)])


def _mixed_loss(dim: int, tokens: int, turned: int) -> float:
    """The least over c₋/c₊ of the loss with the best weights for it."""

    def loss(log_ratio: float) -> float:
        ratio = float(np.exp(log_ratio))
        found = [_prefix_loss(dim, turned, ratio, m) for m in range(2, tokens + 1)]
        return float(np.mean(found))

    bounds = (LEAST_LOG_RATIO, LARGEST_LOG_RATIO)
    return float(
        minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-10}).fun
    )


def _prefix_loss(dim: int, turned: int, ratio: float, prefix: int) -> float:
    r"""$\min_q$ of a quadratic form in the weights $q = c_+p$, with $\rho = c_-/c_+$ and $\bar q =
    \sum_{t\ne m-1}q_t$. Features of the first kind have $(2q_{m-1} + \bar q)^2$, those of the
    second $(\rho\bar q)^2$; each adds $\sum_{t\ne m-1} q_t^2 - 2q_m + 1$, the second with $\rho q$.
    """
    first, second = dim - 2 * turned, 2 * turned
    newest, lag = prefix - 1, prefix - 2
    others = np.ones(prefix)
    others[lag] = 0.0
    plain = others.copy()
    plain[lag] = 2.0
    form = first * np.outer(plain, plain) + second * ratio**2 * np.outer(others, others)
    form += (first + second * ratio**2) * np.diag(others)
    pull = np.zeros(prefix)
    pull[newest] = first + second * ratio
    return float(dim - pull @ np.linalg.solve(form, pull))
