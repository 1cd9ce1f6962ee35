"""Attention heads with one query: their parameters, what one reads from an input, and the features
of their tangent space.

Head i of Arda et al. 2026 has W_i (d×d), U_i (d) and c_i. On an input X (d×T, a column a token)
with query q it attends by α = softmax(Xᵀ W_i q), reads a = Xα and gives σ(U_iᵀ a). Its derivatives
need M = Σ_t α_t x_t x_tᵀ − a aᵀ, the covariance of the tokens under α. ‖M‖_F ≤ tr M ≤ max_t ‖x_t‖²,
whatever the number of tokens: that is why nothing here grows with T.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from tutelage.activations import Activation
from tutelage.numerics.compiling import SOON


class Heads(eqx.Module):
    """The parameters of m heads: `attention` is W (m×d×d), `reading` U (m×d), `output` c (m)."""

    attention: Float[Array, "m d d"]
    reading: Float[Array, "m d"]
    output: Float[Array, "m"]


class Features(NamedTuple):
    """What m heads make of one input.

    `value` is φ_c = σ(Uᵀa), `read` is φ_u = σ′(Uᵀa)·a, and φ_w = σ′·(MU)qᵀ is held by its left
    factor `spread` = σ′·MU.
    """

    value: Float[Array, "m"]
    read: Float[Array, "m d"]
    spread: Float[Array, "m d"]


def features(
    heads: Heads, tokens: Float[Array, "d T"], query: Float[Array, "d"], activation: Activation
) -> Features:
    """φ_c, φ_u and φ_w of every head at one input.

    With u_t = U·x_t and ū = Σα_t u_t = U·a, the vector MU is Σ_t α_t (u_t − ū) x_t: M itself is
    never formed.
    """
    weights = jax.nn.softmax(
        jnp.einsum("mde,e->md", heads.attention, query) @ tokens, axis=1
    )  # α, m×T
    along = heads.reading @ tokens  # u, m×T
    mean = jnp.sum(weights * along, axis=1)
    value, slope = jax.jvp(activation, (mean,), (jnp.ones_like(mean),))
    read = weights @ tokens.T
    spread = (weights * (along - mean[:, None])) @ tokens.T
    return Features(value, slope[:, None] * read, slope[:, None] * spread)


def covariance(
    heads: Heads, tokens: Float[Array, "d T"], query: Float[Array, "d"]
) -> Float[Array, "m d d"]:
    """M = Σ_t α_t x_t x_tᵀ − a aᵀ of every head, formed outright."""
    weights = jax.nn.softmax(jnp.einsum("mde,e->md", heads.attention, query) @ tokens, axis=1)
    centred = tokens[None] - (weights @ tokens.T)[:, :, None]  # m×d×T
    return jnp.einsum("mt,mdt,met->mde", weights, centred, centred)


def output_of(
    heads: Heads, tokens: Float[Array, "d T"], query: Float[Array, "d"], activation: Activation
) -> Float[Array, ""]:
    """f(X) = m^(−½) Σ_i c_i σ(U_iᵀ a_i)."""
    weights = jax.nn.softmax(jnp.einsum("mde,e->md", heads.attention, query) @ tokens, axis=1)
    mean = jnp.sum(weights * (heads.reading @ tokens), axis=1)
    return heads.output @ activation(mean) / jnp.sqrt(float(len(heads.output)))


def gradient_of(
    heads: Heads, tokens: Float[Array, "d T"], query: Float[Array, "d"], activation: Activation
) -> Heads:
    """∇f(X): ∂c_i = φ_c/√m, ∂U_i = c_i φ_u/√m, ∂W_i = c_i φ_w/√m."""
    seen = features(heads, tokens, query, activation)
    root = jnp.sqrt(float(len(heads.output)))
    signed = (heads.output / root)[:, None]
    return Heads(
        (signed * seen.spread)[:, :, None] * query[None, None],
        signed * seen.read,
        seen.value / root,
    )


DRAWN = 64  # heads at a time, so that one compiled program draws any number of them


def draw_heads(count: int, dim: int, *, key: Key[Array, ""]) -> Heads:
    """W and U standard normal, c = ±1. Head i has a key of its own: a wider draw begins with the
    narrower one.
    """
    parts = [_drawn(key, first, dim) for first in range(0, count, DRAWN)]
    return Heads(
        *(jnp.asarray(np.concatenate(leaves)[:count]) for leaves in zip(*parts, strict=True))
    )


@partial(jax.jit, static_argnames="dim", compiler_options=SOON)
def _drawn(key: Key[Array, ""], first: int, dim: int) -> tuple[Array, Array, Array]:
    def one(number: Array) -> tuple[Array, Array, Array]:
        first, second, third = jax.random.split(jax.random.fold_in(key, number), 3)
        return (
            jax.random.normal(first, (dim, dim)),
            jax.random.normal(second, (dim,)),
            jax.random.rademacher(third, (), jnp.float64),
        )

    return jax.vmap(one)(first + jnp.arange(DRAWN))


def mirrored(heads: Heads) -> Heads:
    """The heads and, after them, each again with c negated: together they give f = 0 on every
    input.
    """
    return Heads(
        jnp.concatenate([heads.attention, heads.attention]),
        jnp.concatenate([heads.reading, heads.reading]),
        jnp.concatenate([heads.output, -heads.output]),
    )
