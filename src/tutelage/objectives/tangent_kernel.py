"""The tangent kernel of given heads, ⟨∇f(X), ∇f(X′)⟩, from closed-form features and block by block."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.activations import Activation
from tutelage.heads import Features, Heads, features

BLOCK = 64  # heads at a time: n inputs and 64 heads make 64·(2d+1)·n numbers, never n times the number of parameters


class Gram(NamedTuple):
    """The kernel in the three parts that c, U and W contribute."""

    output: Float[Array, "n k"]  # K_c
    reading: Float[Array, "n k"]  # K_u
    attention: Float[Array, "n k"]  # K_w

    @property
    def total(self) -> Float[Array, "n k"]:
        return self.output + self.reading + self.attention


def gram(
    attention: Float[Array, "m d d"],
    reading: Float[Array, "m d"],
    tokens: Float[Array, "n d T"],
    queries: Float[Array, "n d"],
    other_tokens: Float[Array, "k d T"] | None = None,
    other_queries: Float[Array, "k d"] | None = None,
    *,
    activation: Activation,
    output: Float[Array, "m"] | None = None,
) -> Gram:
    """K_c = (1/m)Σφ_cφ_c′, K_u = (1/m)Σc²⟨φ_u, φ_u′⟩ and K_w = (1/m)Σc²⟨φ_w, φ_w′⟩ over the heads; c² = 1 where c is left out.

    φ_w = s qᵀ has rank one, so that ⟨φ_w, φ_w′⟩ = ⟨s, s′⟩⟨q, q′⟩: the d² entries of φ_w are never written down.
    """
    count = len(reading)
    heads = Heads(attention, reading, jnp.ones(count) if output is None else output)
    same = other_tokens is None or other_queries is None
    outer = queries @ (queries if same else other_queries).T

    def seen(part: Heads, inputs: Float[Array, "n d T"], asked: Float[Array, "n d"]) -> tuple[Array, Array, Array]:
        phi: Features = jax.vmap(lambda x, q: features(part, x, q, activation))(inputs, asked)
        signed = part.output[:, None]
        return phi.value, (signed * phi.read).reshape(len(inputs), -1), (signed * phi.spread).reshape(len(inputs), -1)

    def block(part: Heads) -> Gram:
        left = seen(part, tokens, queries)
        right = left if same else seen(part, other_tokens, other_queries)
        value, read, spread = (a @ b.T for a, b in zip(left, right, strict=True))
        return Gram(value, read, spread * outer)

    whole = count - count % BLOCK
    total = Gram(*(jnp.zeros(outer.shape) for _ in range(3)))
    if whole:
        parts = jax.tree.map(lambda leaf: leaf[:whole].reshape(-1, BLOCK, *leaf.shape[1:]), heads)
        total, _ = jax.lax.scan(lambda sum_, part: (jax.tree.map(jnp.add, sum_, block(part)), None), total, parts)
    if count > whole:
        total = jax.tree.map(jnp.add, total, block(jax.tree.map(lambda leaf: leaf[whole:], heads)))
    return jax.tree.map(lambda k: k / count, total)
