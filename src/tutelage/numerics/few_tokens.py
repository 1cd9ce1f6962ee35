r"""The loss of heads where inputs have few tokens, and its gradient: samples are the last axis, so
that every sum is over whole vectors of samples.

φ_c, φ_u and φ_w are those of `heads_gradient`. There each sample's tokens meet the weights in a
matrix product of its own, T×d by d×m, which for few tokens and heads is over before it has begun.
Here a sum over tokens or dimensions is written out term by term, which the compiler makes one pass
of: half the time at T = 16 and m = 8, equal at m = 256, more than that for T of 32 and above.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from tutelage.numerics.caches import second_cache_bytes
from tutelage.numerics.softmax import exponential

FEW = 16  # tokens, up to which it pays
LEAST, MOST = (
    32,
    96,
)  # samples of a block: four to twelve vectors of eight numbers in single precision
# Bytes that the scores of a block may have between these: three eighths of a core's second-level
# cache.
CACHE = 3 * second_cache_bytes() // 8

Activation = Callable[[Array], Array]
# Σ r², and sums over samples of r φ_w qᵀ, r φ_u and r φ_c.
Sums = tuple[Float[Array, ""], Float[Array, "md d"], Float[Array, "m d"], Float[Array, "m"]]


def sums(
    attention: Float[Array, "m d d"],
    reading: Float[Array, "m d"],
    output: Float[Array, "m"],
    tokens: Float[Array, "d T n"],
    queries: Float[Array, "n d"],
    labels: Float[Array, "n"],
    seen: Bool[Array, "n"],
    *,
    activation: Activation,
) -> Sums:
    """What a block of samples adds to the loss and its gradient; r = f − y, and 0 where not seen.

    φ_u is not formed, since Σ_n r σ′ a = Σ_{n,t} (r σ′ α_t) x_t is one product. φ_w is, since its
    sum over tokens comes before that with the query.
    """
    (d, T, n), m = tokens.shape, reading.shape[0]
    barrier = jax.lax.optimization_barrier  # stores what several passes read
    asked = jax.lax.dot_general(
        attention.reshape(m * d, d), queries, (((1,), (1,)), ((), ()))
    ).reshape(m, d, n)
    scores = barrier(sum(asked[:, k, None] * tokens[k][None] for k in range(d)))
    side_by_side = tokens.reshape(d, T * n)
    u = (reading @ side_by_side).reshape(m, T, n)
    # Less their maximum: scores may be large, and then exp would overflow. α = weights·scale.
    weights = barrier(exponential(scores - jnp.max(scores, axis=1, keepdims=True)))
    scale = 1 / weights.sum(1)
    mean = (weights * u).sum(1) * scale
    h, slope = jax.jvp(activation, (mean,), (jnp.ones_like(mean),))
    r = jnp.where(seen, output @ h / math.sqrt(m) - labels, 0)
    shares = barrier(weights * (r[None] * slope * scale)[:, None])
    apart = shares * (u - mean[:, None])
    spread = sum(apart[:, None, t] * tokens[None, :, t] for t in range(T))
    in_w = spread.reshape(m * d, n) @ queries
    return r @ r, in_w, shares.reshape(m, T * n) @ side_by_side.T, h @ r


def block_size(samples: int, tokens: int, heads: int, itemsize: int) -> int:
    """The samples of a block: equal parts within the cache, and whole vectors where there are that
    many.
    """
    most = min(MOST, max(LEAST, CACHE // (tokens * heads * itemsize)))
    blocks = -(-samples // most)
    return min(samples, -(-samples // (8 * blocks)) * 8)
