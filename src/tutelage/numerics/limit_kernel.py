"""The tangent kernel at infinite width, K = K_c + K_u + K_w, by Monte Carlo over independent blocks
of heads.

At width m from the symmetric start the kernel is a mean over m/2 independent heads, K_m = (2/m)Σ
k_i, and K = E k. One head's kernel on n inputs is k = FFᵀ, where row j of F (n × (1+d+d²)) holds
φ_c, φ_u and φ_w of input j. So everything about the fluctuation of K_m follows from the law of one
head: E‖K_m − K‖_F² = (2/m)·Σ_ij Var k_ij.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from tutelage.activations import Activation
from tutelage.numerics.heads import Heads, draw_heads, features
from tutelage.numerics.tangent_kernel import gram
from tutelage.refuse import whole

BLOCK = 128  # heads in a block: its mean is one draw for the standard error


Parts = tuple[Float[Array, "n k"], Float[Array, "n k"], Float[Array, "n k"]]  # K_c, K_u, K_w


class Limit(NamedTuple):
    """K by its parts, the standard error of every entry of their sum, and how many heads stand for
    the expectation.
    """

    parts: Parts
    error: Float[Array, "n k"]
    heads: int

    @property
    def kernel(self) -> Float[Array, "n k"]:
        return _sum(self.parts)


def limit_kernel(
    tokens: Float[Array, "n d T"],
    queries: Float[Array, "n d"],
    other_tokens: Float[Array, "k d T"] | None = None,
    other_queries: Float[Array, "k d"] | None = None,
    *,
    heads: int,
    key: Key[Array, ""],
    activation: Activation,
) -> Limit:
    """K_c = E[φ_cφ_c′], K_u = E⟨φ_u, φ_u′⟩ and K_w = E⟨φ_w, φ_w′⟩ over W, U standard normal;
    `heads` is rounded up to whole blocks.

    The error of an entry is the spread of the block means over the root of their number.
    """
    heads = whole("heads", heads, least=2, reason="their spread tells the error of their mean")
    blocks = max(2, -(-heads // BLOCK))
    others = tokens if other_tokens is None else other_tokens
    zero = jnp.zeros((len(tokens), len(others)))
    mean, square = (zero, zero, zero), zero
    for number in range(blocks):
        drawn = draw_heads(BLOCK, tokens.shape[1], key=jax.random.fold_in(key, number))
        new: Any = gram(
            drawn.attention,
            drawn.reading,
            tokens,
            queries,
            other_tokens,
            other_queries,
            activation=activation,
            parts=True,
        )
        mean, square = _added(mean, square, new, number + 1.0)
    return Limit(mean, jnp.sqrt(square / (blocks - 1) / blocks), blocks * BLOCK)


@jax.jit
def _added(
    mean: Parts, square: Float[Array, "n k"], new: Parts, count: Float[Array, ""]
) -> tuple[Parts, Float[Array, "n k"]]:
    """The mean of `count` blocks and their summed squares about it, by Welford's update: Σk² −
    (Σk)² would cancel.
    """
    moved = jax.tree.map(lambda m, k: m + (k - m) / count, mean, new)
    return moved, square + (_sum(new) - _sum(mean)) * (_sum(new) - _sum(moved))


def _sum(parts: Parts) -> Float[Array, "n k"]:
    return parts[0] + parts[1] + parts[2]


def head_spread(
    tokens: Float[Array, "n d T"],
    queries: Float[Array, "n d"],
    kernel: Float[Array, "n n"],
    *,
    heads: int,
    key: Key[Array, ""],
    activation: Activation,
) -> Float[Array, ""]:
    """Σ_ij Var k_ij = E‖k − K‖_F² for one head's kernel k on n inputs; `kernel` is K, known better
    from elsewhere.

    ‖k‖_F = ‖FFᵀ‖_F = ‖FᵀF‖_F is taken from the side that does not grow with n: a head costs
    n·(1+d+d²)² and not n²·(1+d+d²).
    """
    return _mean_over_heads(_distance, (kernel,), tokens, queries, heads, key, activation)


def head_response(
    tokens: Float[Array, "n d T"],
    queries: Float[Array, "n d"],
    kernel: Float[Array, "n n"],
    basis: Float[Array, "n n"],
    weights: Float[Array, "n n"],
    *,
    heads: int,
    key: Key[Array, ""],
    activation: Activation,
) -> Float[Array, ""]:
    """E‖v(k) − v(K)‖² for v(k)_i = Σ_j B_ij (UᵀkU)_ij, U being `basis` and B `weights`: what one
    head does to a linear function of K.
    """
    centre = jnp.sum(weights * (basis.T @ kernel @ basis), axis=1)
    return _mean_over_heads(
        _moved, (basis, weights, centre), tokens, queries, heads, key, activation
    )


def _distance(rows: Float[Array, "n p"], kernel: Float[Array, "n n"]) -> Float[Array, ""]:
    """‖FFᵀ − K‖_F² = ‖FᵀF‖_F² − 2 tr(FᵀKF) + ‖K‖_F²."""
    return jnp.sum((rows.T @ rows) ** 2) - 2 * jnp.sum(rows * (kernel @ rows)) + jnp.sum(kernel**2)


def _moved(
    rows: Float[Array, "n p"],
    basis: Float[Array, "n n"],
    weights: Float[Array, "n n"],
    centre: Float[Array, "n"],
) -> Float[Array, ""]:
    """‖v(FFᵀ) − v(K)‖²; with F̂ = UᵀF, entry i of v(FFᵀ) is Σ_p F̂_ip (BF̂)_ip."""
    turned = basis.T @ rows
    return jnp.sum((jnp.sum(turned * (weights @ turned), axis=1) - centre) ** 2)


def _mean_over_heads(
    square: Callable[..., Float[Array, ""]],
    given: tuple[Array, ...],
    tokens: Float[Array, "n d T"],
    queries: Float[Array, "n d"],
    heads: int,
    key: Key[Array, ""],
    activation: Activation,
) -> Float[Array, ""]:
    """The mean of a function of F over heads, one after the other: F (n × (1+d+d²)) is written down
    for one head at a time.
    """
    heads = whole("heads", heads, least=2, reason="a variance needs two")
    return _mean(
        square, given, tokens, queries, draw_heads(heads, tokens.shape[1], key=key), activation
    )


@eqx.filter_jit
def _mean(
    square: Callable[..., Array],
    given: tuple[Array, ...],
    tokens: Array,
    queries: Array,
    drawn: Heads,
    activation: Activation,
) -> Array:
    def one(head: Heads) -> Float[Array, ""]:
        alone = jax.tree.map(lambda leaf: leaf[None], head)
        phi = jax.vmap(lambda x, q: features(alone, x, q, activation))(tokens, queries)
        outer = (phi.spread[:, 0, :, None] * queries[:, None, :]).reshape(len(tokens), -1)
        return square(jnp.concatenate([phi.value, phi.read[:, 0], outer], axis=1), *given)

    return jnp.mean(jax.lax.map(one, drawn))
