"""Sparse token selection and the group-sparse predictor: every query reads the same few tokens."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from tutelage.refuse import Refused, positive, whole
from tutelage.teachers.bilinear import ActivationLike, BilinearTeacher, support_within


def token_selection(
    dim: int,
    *,
    tokens: int,
    chosen: ArrayLike,
    queries: int | None = None,
    scale: float = 1.0,
    activation: ActivationLike = "identity",
    noise: float = 0.0,
) -> BilinearTeacher:
    """Sparse token selection, f*(X) = σ(V* X S*): V* = scale·I_d (d×d), and every column of S*
    (D×Q) averages the tokens in `chosen` (K numbers), a subset that is fixed and not an input.
    """
    dim = whole("dim", dim, least=1, reason="tokens have at least one feature")
    scale = positive("scale", scale, reason="V* is that multiple of the identity")
    return BilinearTeacher(
        scale * np.eye(dim), same_subset(tokens, chosen, queries), activation, noise
    )


def group_sparse(
    direction: ArrayLike,
    *,
    tokens: int,
    token: int,
    queries: int | None = None,
    activation: ActivationLike = "identity",
    noise: float = 0.0,
) -> BilinearTeacher:
    """The group-sparse linear predictor, f*(X) = σ(v*ᵀ x_j): `direction` v* (d numbers) applied to
    token j, whatever the query.
    """
    return BilinearTeacher(
        np.atleast_2d(np.asarray(direction, float)),
        same_subset(tokens, [token], queries),
        activation,
        noise,
    )


def same_subset(
    tokens: int, chosen: ArrayLike, queries: int | None = None
) -> Float[np.ndarray, "D Q"]:
    """S* = 1_g 1ᵀ / K: every column averages the tokens in `chosen`; one token gives the
    group-sparse predictor.
    """
    tokens = whole("tokens", tokens, least=1, reason="there must be a token to attend to")
    queries = (
        tokens
        if queries is None
        else whole("queries", queries, least=1, reason="there must be an output")
    )
    chosen = np.asarray(chosen)
    named = chosen.ndim == 1 and chosen.size > 0 and chosen.dtype.kind in "iu"
    if (
        not named
        or len(set(chosen.tolist())) != chosen.size
        or (chosen < 0).any()
        or (chosen >= tokens).any()
    ):
        raise Refused(
            f"`chosen` must be distinct token indices from 0 to {tokens - 1}, at least one, "
            f"since each is read once. Got {chosen!r}."
        )
    column = np.zeros(tokens)
    column[chosen] = 1.0 / chosen.size
    return np.tile(column[:, None], (1, queries))


def random_subset(
    tokens: int, support: int, generator: np.random.Generator
) -> Int[np.ndarray, "K"]:
    """`support` distinct tokens, all subsets equally likely."""
    tokens, support = support_within(tokens, support)
    return np.sort(generator.choice(tokens, support, replace=False))
