"""The selections S* of `teacher-models/starts`, each a matrix whose columns sum to 1."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

TOKENS, SUPPORT = 12, 4
MIXED = {
    "mixed": (12, (1, 1, 2, 4, 6, 11, 11)),
    "mixed-wide": (8, (1, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 7, 7, 7, 8, 8)),
}  # D, K_i


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
