r"""The loss of a recurrent layer of independent units and its gradient, in blocks of samples.

Unit i has h_t = σ(z_t) with z_t = w_i·x_t + u_i h_{t−1} and h_0 = 0; the model is f(X) = m^{-1/2}
Σ_i c_i h_{i,T} and the loss (1/n)Σ(f − y)². With g_T = c r/√m and r = f − y, backwards in time

    δ_t = g_t σ′(z_t),    g_{t−1} = u δ_t,    ∂w = Σ_t δ_t x_tᵀ,    ∂u = Σ_t δ_t h_{t−1},

summed over samples and times 2/n. Samples are the last axis, so that a step in time is one product
and a few operations on whole vectors. A block has enough samples to be worth a step, and no more,
since its states are read again on the way back.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from tutelage.numerics.heads_gradient import block_start, even

Activation = Callable[[Array], Array]
Gradient = tuple[Float[Array, "m d"], Float[Array, "m"], Float[Array, "m"]]

# Units × samples of a block: 100 samples of 64 units. With half or twice as many a step takes up to
# a quarter longer, and without blocks from twice (double precision) to seven times as long.
STATES = 6400


def loss_and_gradient(
    reading: Float[Array, "m d"],
    recurrence: Float[Array, "m"],
    output: Float[Array, "m"],
    tokens: Float[Array, "n d T"],
    labels: Float[Array, "n"],
    *,
    activation: Activation,
) -> tuple[Float[Array, ""], Gradient]:
    """(1/n)Σ(f(X) − y)² and its gradient in W_in, u and c."""
    n, m = len(labels), len(output)
    size = even(n, max(1, STATES // m))

    def block(number: Int[Array, ""], sums: tuple[Array, ...]) -> tuple[Array, ...]:
        start = block_start(number, size, n)
        some, asked = (
            jax.lax.dynamic_slice_in_dim(x, start, size, axis=0) for x in (tokens, labels)
        )
        seen = start + jnp.arange(size, dtype=start.dtype) >= number * size
        new = _sums(reading, recurrence, output, some, asked, seen, activation)
        return jax.tree.map(jnp.add, sums, new)

    zeros = jax.tree.map(jnp.zeros_like, (tokens[0, 0, 0], reading, recurrence, output))
    loss, *slopes = jax.lax.fori_loop(0, -(-n // size), block, zeros)
    in_w, in_u, in_c = (2 / n * slope for slope in slopes)
    return loss / n, (in_w, in_u, in_c)


def _sums(
    reading: Float[Array, "m d"],
    recurrence: Float[Array, "m"],
    output: Float[Array, "m"],
    tokens: Float[Array, "k d T"],
    labels: Float[Array, "k"],
    seen: Array,
    activation: Activation,
) -> tuple[Array, ...]:
    """Σr² of a block and half its gradient; r = f − y, and 0 where not seen."""
    signed, u = output / math.sqrt(len(output)), recurrence[:, None]
    in_time = tokens.transpose(2, 1, 0)  # T×d×k
    rest = jnp.zeros((len(output), len(labels)), tokens.dtype)

    def forwards(h: Float[Array, "m k"], x: Float[Array, "d k"]) -> tuple[Array, tuple[Array, ...]]:
        z = reading @ x + u * h
        new, slope = jax.jvp(activation, (z,), (jnp.ones_like(z),))
        return new, (h, slope)

    last, (before, slopes) = jax.lax.scan(forwards, rest, in_time)
    r = jnp.where(seen, signed @ last - labels, 0)

    def backwards(
        carry: tuple[Array, Array, Array], at: tuple[Array, Array, Array]
    ) -> tuple[tuple[Array, Array, Array], None]:
        (g, in_w, in_u), (x, h, slope) = carry, at
        delta = jax.lax.optimization_barrier(g * slope)
        return (u * delta, in_w + delta @ x.T, in_u + delta * h), None

    begin = (signed[:, None] * r[None], jnp.zeros_like(reading), rest)
    (_, in_w, in_u), _ = jax.lax.scan(backwards, begin, (in_time, before, slopes), reverse=True)
    return r @ r, in_w, in_u.sum(1), last @ r / math.sqrt(len(output))
