"""The patterns S* of `teacher-models/starts`, each a matrix whose columns sum to 1, and when their
laws can be read.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from tutelage.settings import Part, Setting

TOKENS, SUPPORT = 12, 4
MIXED = {
    "mixed": (12, (1, 1, 2, 4, 6, 11, 11)),
    "mixed-wide": (8, (1, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 7, 7, 7, 8, 8)),
}  # D, K_i


def teacher(
    selection: Float[np.ndarray, "D Q"], activation: str = "relu", norm: float = 30.0
) -> Part:
    return Part("bilinear", selection=selection, outputs=4, dim=6, norm=norm, activation=activation)


def even(tokens: int, support: int) -> Float[np.ndarray, "D D"]:
    """Column i reads tokens i, …, i+K−1 alike, round the circle."""
    return (
        np.sum([np.roll(np.eye(tokens), shift, axis=0) for shift in range(support)], axis=0)
        / support
    )


def geometric(
    ratio: float, support: int, seed: int, tokens: int = TOKENS
) -> Float[np.ndarray, "D D"]:
    """Every column has the weights 1, 1/ratio, 1/ratio², … over their sum, on tokens drawn anew."""
    rng = np.random.default_rng(seed)
    weights = np.zeros(tokens)
    weights[:support] = ratio ** -np.arange(support, dtype=float)
    return np.stack([rng.permutation(weights / weights.sum()) for _ in range(tokens)], axis=1)


def dirichlet(concentration: float, support: int, seed: int) -> Float[np.ndarray, "D D"]:
    """Every column has weights of its own on tokens of its own."""
    rng = np.random.default_rng(seed)
    selection = np.zeros((TOKENS, TOKENS))
    for column in selection.T:
        column[rng.choice(TOKENS, support, replace=False)] = rng.dirichlet(
            np.full(support, concentration)
        )
    return selection


def without_zeros(seed: int, tokens: int = 5, queries: int = 3) -> Float[np.ndarray, "D Q"]:
    """Random columns, of which 3/10 are spread evenly: no two weights alike, none below 3/(10D)."""
    return 0.3 / tokens + 0.7 * np.random.default_rng(seed).dirichlet(np.ones(tokens), queries).T


def leaking(share: float) -> Float[np.ndarray, "D D"]:
    """Average pooling in groups of K, of which a share is spread over all D tokens."""
    pooled = np.kron(np.eye(TOKENS // SUPPORT), np.full((SUPPORT, SUPPORT), 1 / SUPPORT))
    return (1 - share) * pooled + share / TOKENS


def mixed(name: str) -> Float[np.ndarray, "D Q"]:
    """Supports from one token to all but one, or all."""
    tokens, supports = MIXED[name]
    selection = np.zeros((tokens, len(supports)))
    for i, support in enumerate(supports):
        selection[(np.arange(support) + 3 * i) % tokens, i] = 1 / support
    return selection


def plateau(setting: Setting) -> float:
    """Steps until every zero is told from every weight: max_i K_i max(D, 1/s_i)²/(2η‖V*‖²), three
    times that for ReLU.

    s_i is the least weight on the support of column i. The law wants weights off the support,
    √(K/(2λ‖V*‖²t)), that are small beside all those on it. With equal weights, 1/s_i = K_i ≤ D, it
    is the plateau of `theory.py`.
    """
    from tutelage.papers.teacher_models.theory import facts

    f = facts(setting)
    least = np.where(f.on, f.weights, np.inf).min(0)
    slowest = float(np.max(f.supports * np.maximum(f.tokens, 1 / least) ** 2))
    return (
        slowest / (2 * f.rate * f.value_square) * (1.0 if f.lam is None else f.lam ** -math.log2(3))
    )


def support_spread(setting: Setting) -> float:
    """(range of C·S − S* on the support)·t → max_i (D−K)(1/s_min − 1/s_max)/(2‖V*‖²c²D): equal K,
    identity (docs/derivations.md, 13).
    """
    from tutelage.claims.claim import NoPrediction
    from tutelage.papers.teacher_models.theory import facts

    f = facts(setting)
    if f.slope != 1.0 or len(set(f.supports.tolist())) > 1:
        raise NoPrediction(
            "The shares on a support are known for the identity and supports of one size."
        )
    least, most = np.where(f.on, f.weights, np.inf).min(0), f.weights.max(0)
    widest = float(np.max((f.tokens - f.supports) * (1 / least - 1 / most)))
    return widest / (2 * f.value_square * f.attention_scale**2 * f.tokens)
