"""Sparse token selection and the group-sparse predictor: every query reads the same few tokens."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from tutelage.refuse import Refused, whole


def same_subset(tokens: int, chosen: np.ndarray, queries: int | None = None) -> Float[np.ndarray, "D Q"]:
    """S* = 1_g 1ᵀ / K: every column averages the tokens in `chosen`; one token gives the group-sparse predictor."""
    tokens = whole("tokens", tokens, least=1, reason="there must be a token to attend to")
    queries = tokens if queries is None else whole("queries", queries, least=1, reason="there must be an output")
    chosen = np.asarray(chosen)
    if chosen.size == 0 or len(set(chosen.tolist())) != chosen.size or (chosen < 0).any() or (chosen >= tokens).any():
        raise Refused(f"`chosen` must be distinct token indices from 0 to {tokens - 1}, since each is read once. Got {chosen!r}.")
    column = np.zeros(tokens)
    column[chosen] = 1.0 / chosen.size
    return np.tile(column[:, None], (1, queries))


def random_subset(tokens: int, support: int, generator: np.random.Generator) -> np.ndarray:
    """`support` distinct tokens, all subsets equally likely."""
    tokens = whole("tokens", tokens, least=1, reason="there must be a token to attend to")
    support = whole("support", support, least=1, reason="a teacher reads at least one token")
    if support > tokens:
        raise Refused(
            "`support` must be between 1 and `tokens`, since a column of S* averages that many tokens. "
            f"Got support={support}, tokens={tokens}."
        )
    return np.sort(generator.choice(tokens, support, replace=False))
