r"""Features of heads where inputs have few tokens: the samples are the last axis, so that every sum
is over whole vectors of samples.

φ_c, φ_u and φ_w are those of `heads_gradient`. There each sample's tokens meet the weights in a
matrix product of its own, T×d by d×m, which for few tokens and heads is over before it has begun.
Here a sum over tokens or dimensions is written out term by term, which the compiler makes one pass
of: half the time at T = 16 and m = 8, equal at m = 256, more than that for T of 32 and above.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.numerics.caches import second_cache_bytes

FEW = 16  # tokens, up to which it pays
LEAST, MOST = (
    32,
    96,
)  # samples of a block: four to twelve vectors of eight numbers in single precision
# Bytes that the scores of a block may have between these: three eighths of a core's second-level
# cache.
CACHE = 3 * second_cache_bytes() // 8

Activation = Callable[[Array], Array]
Features = tuple[Float[Array, "m n"], Float[Array, "m d n"], Float[Array, "m d n"]]


def features(
    attention: Float[Array, "m d d"],
    reading: Float[Array, "m d"],
    tokens: Float[Array, "d T n"],
    queries: Float[Array, "n d"],
    *,
    activation: Activation,
) -> Features:
    """φ_c, φ_u, φ_w of each head and sample."""
    (d, T, n), m = tokens.shape, reading.shape[0]
    asked = jax.lax.dot_general(
        attention.reshape(m * d, d), queries, (((1,), (1,)), ((), ()))
    ).reshape(m, d, n)
    scores = sum(asked[:, k, None] * tokens[k][None] for k in range(d))
    u = (reading @ tokens.reshape(d, T * n)).reshape(m, T, n)
    # Less their maximum: scores may be large, and then exp would overflow. α = weights·scale.
    weights = jnp.exp(scores - jnp.max(scores, axis=1, keepdims=True))
    scale = 1 / weights.sum(1)
    mean = (weights * u).sum(1) * scale
    h, slope = jax.jvp(activation, (mean,), (jnp.ones_like(mean),))
    apart = weights * (u - mean[:, None])
    a, mu = (
        sum(over[:, None, t] * tokens[None, :, t] for t in range(T)) for over in (weights, apart)
    )
    scale = (slope * scale)[:, None]
    return h, scale * a, scale * mu


def block_size(samples: int, tokens: int, heads: int, itemsize: int) -> int:
    """The samples of a block: equal parts within the cache, and whole vectors where there are that
    many.
    """
    most = min(MOST, max(LEAST, CACHE // (tokens * heads * itemsize)))
    blocks = -(-samples // most)
    return min(samples, -(-samples // (8 * blocks)) * 8)
