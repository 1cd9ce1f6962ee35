r"""The loss of a shallow multi-head transformer and its gradient in closed form, in blocks of
samples.

Head i reads α = softmax_t(x_tᵀW_i q), a_i = Xα, h_i = σ(U_iᵀa_i); the model is f(X) = m^{-1/2} Σ_i
c_i h_i and the loss (1/n)Σ(f − y)². Everything that a gradient needs of one sample and one head is
in three features (Arda, Cayci, Eryilmaz 2026):

    φ_c = h_i,    φ_u = σ′a_i,    φ_w = σ′M_iU_i  with  M_i = Σ_t α_t x_t x_tᵀ − a_i a_iᵀ,
    √m ∂f/∂c_i = φ_c,    √m ∂f/∂U_i = c_i φ_u,    √m ∂f/∂W_i = c_i φ_w qᵀ.

With u_t = x_tᵀU_i and ū = U_iᵀa_i = Σ_t α_t u_t the matrix M_i is never formed: M_iU_i = Σ_t α_t
(u_t − ū) x_t.

Arrays have the heads as their last axis, so that the softmax over tokens works on whole vectors of
heads and each product with a sample's tokens is one matrix product. A block has as many samples as
keep its scores in a core's cache. Inputs of few tokens have a layout of their own
(`few_tokens.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int

from tutelage.numerics import few_tokens
from tutelage.numerics.caches import second_cache_bytes
from tutelage.numerics.compiling import BARRIERS, SMALL_LOOPS, SOON, THREADS
from tutelage.numerics.vectors import wide_vectors

Activation = Callable[[Array], Array]
Gradient = tuple[Float[Array, "m d d"], Float[Array, "m d"], Float[Array, "m"]]
Features = tuple[Float[Array, "n m"], Float[Array, "n d m"], Float[Array, "n d m"]]

# Bytes of the scores of one block: half of a core's second-level cache. Where that has 512 kB a
# step of 64 heads on 32 tokens takes 6.2 ms, and 7.0 ms with blocks of all of it or more.
BLOCK = second_cache_bytes() // 2

# For `jax.jit(…, compiler_options=COMPILER.get(backend))` around a loop of such steps: products by
# XLA's library for small matrices, but neither sums nor element-wise work, which that library does
# slower and, since it repeats what two sums share, more than once. The passes are those that
# `training.COMPILER` leaves out, and the one that no barrier survives.
COMPILER: dict[str, dict[str, Any]] = {
    "cpu": {
        "xla_disable_hlo_passes": ",".join(
            (THREADS, "tree_reduction_rewriter", *BARRIERS, SMALL_LOOPS)
        ),
        "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
        "xla_cpu_parallel_codegen_split_count": 1,
        "xla_backend_optimization_level": 1,
        **wide_vectors(),
    }
}
# The same for a loop that is over before this would have been compiled: steps take up to twice as
# long, the program half as long.
BRIEF: dict[str, dict[str, Any]] = {"cpu": COMPILER["cpu"] | SOON}
# Samples × tokens × heads × steps, below which that pays: 6 ns more for each against 2 s of
# compilation
LITTLE = 3e8


def heads_last(
    attention: Float[Array, "m d d"], reading: Float[Array, "m d"]
) -> tuple[Float[Array, "d dm"], Float[Array, "d m"]]:
    """W as (query's dimension, token's dimension × heads) and U as (dimension, heads)."""
    m, d = reading.shape
    return attention.transpose(2, 1, 0).reshape(d, d * m), reading.T


def features(
    attention: Float[Array, "d dm"],
    reading: Float[Array, "d m"],
    tokens: Float[Array, "n d T"],
    turned: Float[Array, "n T d"],
    queries: Float[Array, "n d"],
    *,
    activation: Activation,
) -> Features:
    """φ_c, φ_u, φ_w of each sample and head; weights as `heads_last` lays them out, `turned` is
    each sample's Xᵀ.
    """
    (n, d, T), m = tokens.shape, reading.shape[1]
    scores = turned @ (queries @ attention).reshape(n, d, m)
    u = (turned.reshape(n * T, d) @ reading).reshape(n, T, m)
    # Less their maximum: scores may be large, and then exp would overflow. α = weights·scale; only
    # what is left of the T axis is scaled.
    weights = jnp.exp(scores - scores.max(1, keepdims=True))
    scale = 1 / weights.sum(1)
    a = tokens @ weights
    mean = (a * reading[None]).sum(1) * scale
    h, slope = jax.jvp(activation, (mean,), (jnp.ones_like(mean),))
    mu = tokens @ (weights * (u - mean[:, None]))
    scale = (slope * scale)[:, None]
    return h, scale * a, scale * mu


def loss_and_gradient(
    attention: Float[Array, "m d d"],
    reading: Float[Array, "m d"],
    output: Float[Array, "m"],
    tokens: Float[Array, "n d T"],
    queries: Float[Array, "n d"],
    labels: Float[Array, "n"],
    *,
    activation: Activation,
    laid: Float[Array, "..."] | None = None,
) -> tuple[Float[Array, ""], Gradient]:
    """(1/n)Σ(f(X) − y)² and its gradient in W, U and c.

    `laid` is `laid_out(tokens)`; left out, it is made at every call. A loop saves that if it takes
    it as an argument of its program: made inside, before the loop, the compiler makes it at every
    step again.
    """
    n, again = labels.shape[0], laid_out(tokens) if laid is None else laid
    return _averaged(
        _sums(attention, reading, output, tokens, again, queries, labels, n, activation=activation),
        n,
    )


def laid_out(tokens: Float[Array, "n d T"]) -> Float[Array, "..."]:
    """The tokens a second time: as (d, T, n) where they are few, else each sample's Xᵀ."""
    return tokens.transpose(1, 2, 0) if tokens.shape[2] <= few_tokens.FEW else tokens.swapaxes(1, 2)


def sharded_loss_and_gradient(
    mesh: jax.sharding.Mesh,
    attention: Float[Array, "m d d"],
    reading: Float[Array, "m d"],
    output: Float[Array, "m"],
    tokens: Float[Array, "n d T"],
    queries: Float[Array, "n d"],
    labels: Float[Array, "n"],
    *,
    activation: Activation,
    laid: Float[Array, "..."] | None = None,
) -> tuple[Float[Array, ""], Gradient]:
    """The same with the samples dealt out over the devices of a one-dimensional mesh; each holds
    the weights and a share of the data.
    """
    (axis,), n = mesh.axis_names, labels.shape[0]
    again = laid_out(tokens) if laid is None else laid
    share, missing = _deal(n, mesh.size)
    padded = partial(_pad, missing)
    last = tokens.shape[2] <= few_tokens.FEW

    def of_share(
        weights: Gradient, samples: tuple[Array, Array, Array, Array]
    ) -> tuple[Float[Array, ""], Gradient]:
        (W, U, c), (X, again, q, y) = weights, samples
        count = _count(n, share, jax.lax.axis_index(axis).astype(int))
        # As one vector: devices wait for one another at each array that they sum.
        flat, shaped = ravel_pytree(_sums(W, U, c, X, again, q, y, count, activation=activation))
        return shaped(jax.lax.psum(flat, axis))

    samples = padded(tokens), padded(again, 2 if last else 0), padded(queries), padded(labels)
    everywhere, split = jax.P(), jax.P(axis)
    specs = split, jax.P(None, None, axis) if last else split, split, split
    sums = jax.shard_map(
        of_share, mesh=mesh, in_specs=(everywhere, specs), out_specs=everywhere, check_vma=False
    )
    return _averaged(sums((attention, reading, output), samples), n)


def _deal(samples: int, devices: int) -> tuple[int, int]:
    """The share of a device, and how many samples are missing where all have as many."""
    share = -(-samples // devices)
    return share, share * devices - samples


def _count(samples: int, share: int, device: Int[Array, ""]) -> Int[Array, ""]:
    """How many samples a device has, of its share."""
    return jnp.clip(samples - share * device, 0, share)


def _pad(missing: int, x: Float[Array, "..."], along: int = 0) -> Float[Array, "..."]:
    """With so many zeros at the end of one axis."""
    return jnp.pad(x, [(0, missing if i == along else 0) for i in range(x.ndim)]) if missing else x


def predict(
    attention: Float[Array, "m d d"],
    reading: Float[Array, "m d"],
    output: Float[Array, "m"],
    tokens: Float[Array, "n d T"],
    queries: Float[Array, "n d"],
    *,
    activation: Activation,
) -> Float[Array, "n"]:
    """f(X) = m^{-1/2} Σ_i c_i h_i of each sample."""
    turned, W, U = tokens.swapaxes(1, 2), *heads_last(attention, reading)
    size = block_size(tokens, output.shape[0])

    def block(number: Int[Array, ""], predictions: Float[Array, "n"]) -> Float[Array, "n"]:
        start = block_start(number, size, tokens.shape[0])
        X, Xt, q = (cut(x, start, size) for x in (tokens, turned, queries))
        h, _, _ = features(W, U, X, Xt, q, activation=activation)
        return jax.lax.dynamic_update_slice_in_dim(
            predictions, h @ output / math.sqrt(output.shape[0]), start, 0
        )

    return jax.lax.fori_loop(0, -(-tokens.shape[0] // size), block, jnp.zeros_like(tokens[:, 0, 0]))


def _sums(
    attention: Float[Array, "m d d"],
    reading: Float[Array, "m d"],
    output: Float[Array, "m"],
    tokens: Float[Array, "n d T"],
    laid: Float[Array, "..."],
    queries: Float[Array, "n d"],
    labels: Float[Array, "n"],
    count: int | Int[Array, ""],
    *,
    activation: Activation,
) -> tuple[Float[Array, ""], Gradient]:
    """Σ(f − y)² over the first `count` samples and its gradient."""
    (n, _, T), (m, d), root = tokens.shape, reading.shape, math.sqrt(output.shape[0])
    few, (W, U) = T <= few_tokens.FEW, heads_last(attention, reading)
    size = few_tokens.block_size(n, T, m, tokens.dtype.itemsize) if few else block_size(tokens, m)

    def block(number: Int[Array, ""], sums: tuple[Array, ...]) -> tuple[Array, ...]:
        start = block_start(number, size, n)
        q, y, sample = (
            cut(queries, start, size),
            cut(labels, start, size),
            start + jnp.arange(size, dtype=start.dtype),
        )
        seen = (sample >= number * size) & (sample < count)
        if few:
            X = jax.lax.dynamic_slice_in_dim(laid, start, size, axis=2)
            new = few_tokens.sums(attention, reading, output, X, q, y, seen, activation=activation)
        else:
            φ_c, φ_u, φ_w = features(
                W, U, cut(tokens, start, size), cut(laid, start, size), q, activation=activation
            )
            r = jnp.where(seen, φ_c @ output / root - y, 0)
            new = (
                r @ r,
                (r[:, None] * q).T @ φ_w.reshape(size, d * m),
                r @ φ_u.reshape(size, d * m),
                r @ φ_c,
            )
        return jax.tree.map(jnp.add, sums, new)

    shapes = (), *(((m * d, d), (m, d)) if few else ((d, d * m), (d * m,))), (m,)
    zeros = tuple(jnp.zeros(shape, tokens.dtype) for shape in shapes)
    loss, in_w, in_u, in_c = jax.lax.fori_loop(0, -(-n // size), block, zeros)
    in_w, in_u = (
        (in_w.reshape(m, d, d), in_u)
        if few
        else (in_w.reshape(d, d, m).transpose(2, 1, 0), in_u.reshape(d, m).T)
    )
    c = 2 * output / root
    return loss, (c[:, None, None] * in_w, c[:, None] * in_u, 2 * in_c / root)


def _averaged(sums: tuple[Float[Array, ""], Gradient], n: int) -> tuple[Float[Array, ""], Gradient]:
    return jax.tree.map(lambda x: x / n, sums)


def block_size(tokens: Float[Array, "n d T"], heads: int) -> int:
    n, _, T = tokens.shape
    return even(n, BLOCK // (T * heads * tokens.dtype.itemsize))


def even(whole: int, most: int) -> int:
    """The size of the fewest parts of equal size, at most `most`, that cover the whole."""
    return -(-whole // -(-whole // max(1, most)))


def block_start(number: Int[Array, ""], size: int, n: int) -> Int[Array, ""]:
    """Where a block begins. The last one reaches back into its predecessor, so that no data is
    padded; what is seen twice is left out.
    """
    return jnp.minimum(number * size, n - size)


def cut(x: Float[Array, "n ..."], start: Int[Array, ""], size: int) -> Float[Array, "size ..."]:
    return jax.lax.dynamic_slice_in_dim(x, start, size)
