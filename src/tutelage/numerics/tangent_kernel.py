r"""The finite-width tangent kernel ⟨∇f(X), ∇f(X′)⟩ of a shallow multi-head transformer, from
closed-form features.

With the features of `heads_gradient.features`, K = K_c + K_u + K_w (Arda, Cayci, Eryilmaz 2026):

    K_c = (1/m)Σ_i φ_c φ_c′,    K_u = (1/m)Σ_i c_i²⟨φ_u, φ_u′⟩,    K_w = ⟨q, q′⟩ (1/m)Σ_i c_i²⟨φ_w,
    φ_w′⟩.

⟨q, q′⟩ leaves the sum, so that no d × d gradient is ever formed. Heads are taken a group at a time:
the features of one group for all samples are held, and their products are added to the result tile
by tile. Beyond the result that is the features of some thirty heads.

At a symmetric start the second half of the heads repeats the first: K of all heads is K of the
first half, so pass those alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from tutelage.numerics.caches import second_cache_bytes
from tutelage.numerics.heads_gradient import (
    COMPILER,
    Activation,
    block_size,
    block_start,
    cut,
    even,
    features,
    heads_last,
)
from tutelage.numerics.threads import in_threads

# A group of heads: as many as give so many bytes of features, but at least so many heads. What a
# program holds beside its result is often fetched from the system anew at every call, page by page:
# with 4 MB for 300 samples, 128 heads took 12.4 ms where 8.8 would do.
GROUP, HEADS = second_cache_bytes(), 32
VECTOR = 8  # heads that are computed together
SHARED = 2**24  # entries: up to here every core may hold a matrix of its own
# Samples a side, at most: smaller tiles waste less on the diagonal, larger ones are multiplied
# faster
TILE = 104


def gram(
    attention: Float[Array, "m d d"],
    reading: Float[Array, "m d"],
    tokens: Float[Array, "n d T"],
    queries: Float[Array, "n d"],
    other_tokens: Float[Array, "n2 d T2"] | None = None,
    other_queries: Float[Array, "n2 d"] | None = None,
    *,
    activation: Activation,
    output: Float[Array, "m"] | None = None,
    parts: bool = False,
) -> Float[Array, "n n2"] | tuple[Float[Array, "n n2"], Float[Array, "n n2"], Float[Array, "n n2"]]:
    """K between samples and others, or among the samples, where only half of it is computed.

    `output` is c; without it c_i² = 1, as at the start. `parts` gives K_c, K_u and K_w instead of
    their sum.
    """
    others = (
        None if other_tokens is None or other_queries is None else (other_tokens, other_queries)
    )
    scale = jnp.ones_like(reading[:, 0]) if output is None else output
    # Compiler options are for a whole program: a part of another one takes that one's.
    given = attention, reading, scale, (tokens, queries), others
    traced = any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves(given))
    results: tuple[Array, ...]
    entries = tokens.shape[0] * (tokens if other_tokens is None else other_tokens).shape[0]
    cores = os.cpu_count() or 1
    if traced:
        results = _gram(*given, activation=activation, parts=parts)
    elif jax.default_backend() != "cpu" or entries > SHARED or len(reading) < 2 * HEADS * cores:
        results = _compiled(jax.default_backend())(*given, activation=activation, parts=parts)
    else:
        # A sum over heads: each core takes a share of them and holds a matrix of its own, which is
        # why large ones are not shared out.
        def share(own: Int[np.ndarray, "some"]) -> tuple[Array, ...]:
            some = (x[own[0] : own[-1] + 1] for x in given[:3])
            found = _compiled("cpu")(*some, *given[3:], activation=activation, parts=parts)
            return tuple(part * (len(own) / len(reading)) for part in found)

        shares = in_threads(share, np.array_split(np.arange(len(reading)), cores))
        results = tuple(sum(of_parts[1:], of_parts[0]) for of_parts in zip(*shares, strict=True))
    if not parts:
        return results[0]
    k_c, k_u, k_w = results
    return k_c, k_u, k_w


Samples = tuple[Float[Array, "n d T"], Float[Array, "n d"]]  # tokens and queries
Others = tuple[Float[Array, "n2 d T2"], Float[Array, "n2 d"]]
# W, U and c of some heads, and which of them were not seen before.
Group = tuple[Float[Array, "k d d"], Float[Array, "k d"], Float[Array, "k"], Bool[Array, "k"]]
# φ_c, cφ_u and cφ_w of some heads, those of one sample in a row.
Rows = tuple[Float[Array, "n k"], Float[Array, "n dk"], Float[Array, "n dk"]]
OtherRows = tuple[Float[Array, "n2 k"], Float[Array, "n2 dk"], Float[Array, "n2 dk"]]


@cache
def _compiled(backend: str) -> Callable[..., tuple[Array, ...]]:
    return jax.jit(
        _gram, static_argnames=("activation", "parts"), compiler_options=COMPILER.get(backend)
    )


def _gram(
    W: Float[Array, "m d d"],
    U: Float[Array, "m d"],
    c: Float[Array, "m"],
    samples: Samples,
    others: Others | None,
    *,
    activation: Activation,
    parts: bool,
) -> tuple[Array, ...]:
    m, d = U.shape
    rows, columns = (len(tokens) for tokens, _ in (samples, others or samples))
    held = (rows + (columns if others else 0)) * (2 * d + 1) * samples[0].dtype.itemsize
    size = _group_size(m, max(HEADS, GROUP // held))
    tiles = _tiles(rows, columns, symmetric=others is None)

    def group(number: Int[Array, ""], results: tuple[Array, ...]) -> tuple[Array, ...]:
        # The last group reaches back into its predecessor; a head seen twice has weight zero.
        start = block_start(number, size, m)
        fresh = start + jnp.arange(size) >= number * size
        heads = cut(W, start, size), cut(U, start, size), cut(c, start, size), fresh
        ours = _weighted(heads, samples, activation=activation)
        theirs = ours if others is None else _weighted(heads, others, activation=activation)
        return _added(results, ours, theirs, samples[1], (others or samples)[1], tiles, m)

    zeros = tuple(jnp.zeros((rows, columns), samples[0].dtype) for _ in range(3 if parts else 1))
    results = jax.lax.fori_loop(0, -(-m // size), group, zeros)
    return results if others is not None else tuple(_mirrored(result, tiles) for result in results)


def _group_size(heads: int, most: int) -> int:
    """Heads of a group, between half of the most and all of it: the largest size that takes the
    fewest vectors in all.
    """
    most = min(heads, most)
    return min(
        range(most, most // 2, -1),
        key=lambda size: -(-heads // size) * -(-size // VECTOR),
    )


def _weighted(heads: Group, samples: Samples, *, activation: Activation) -> Rows:
    """φ_c, cφ_u and cφ_w of a group of heads for all samples, those of one sample in a row,
    computed in blocks of samples.
    """
    (W, U, c, fresh), (tokens, queries) = heads, samples
    (n, d, _), m = tokens.shape, c.shape[0]
    turned, weights, size = tokens.swapaxes(1, 2), heads_last(W, U), block_size(tokens, m)
    once, scale = jnp.where(fresh, 1, jnp.zeros_like(c)), jnp.where(fresh, c, 0)
    factors = once[None], scale[None, None], scale[None, None]

    def block(number: Int[Array, ""], held: tuple[Array, ...]) -> tuple[Array, ...]:
        start = block_start(number, size, n)
        X, Xt, q = (cut(x, start, size) for x in (tokens, turned, queries))
        φ = features(*weights, X, Xt, q, activation=activation)
        new = [(factor * part).reshape(size, -1) for factor, part in zip(factors, φ, strict=True)]
        return tuple(
            jax.lax.dynamic_update_slice_in_dim(all_, part, start, 0)
            for all_, part in zip(held, new, strict=True)
        )

    zeros = tuple(jnp.zeros((n, width), tokens.dtype) for width in (m, d * m, d * m))
    return jax.lax.fori_loop(0, -(-n // size), block, zeros)


def _tiles(rows: int, columns: int, *, symmetric: bool) -> Int[np.ndarray, "tiles 2"]:
    """Numbers of the tiles to compute; those below the diagonal and on it if the result is
    symmetric.
    """
    i, j = (
        axis.ravel()
        for axis in np.indices((-(-rows // even(rows, TILE)), -(-columns // even(columns, TILE))))
    )
    chosen = (j <= i) if symmetric else np.ones_like(i, bool)
    return np.stack([i[chosen], j[chosen]], 1)


def _added(
    results: tuple[Array, ...],
    ours: Rows,
    theirs: OtherRows,
    queries: Float[Array, "n d"],
    other_queries: Float[Array, "n2 d"],
    tiles: Int[np.ndarray, "tiles 2"],
    m: int,
) -> tuple[Array, ...]:
    """The results with the products of these features added, one tile after the other."""
    high, wide = even(queries.shape[0], TILE), even(other_queries.shape[0], TILE)

    def tile(number: Int[Array, ""], results: tuple[Array, ...]) -> tuple[Array, ...]:
        i, j = jnp.asarray(tiles)[number]
        top, left = (
            block_start(i, high, queries.shape[0]),
            block_start(j, wide, other_queries.shape[0]),
        )
        left_rows, right_rows = (
            (cut(x, top, high) for x in (*ours, queries)),
            (cut(x, left, wide) for x in (*theirs, other_queries)),
        )
        k_c, k_u, k_w, qq = (a @ b.T for a, b in zip(left_rows, right_rows, strict=True))
        # The last tile of a row or column reaches back over entries that another tile has added.
        fresh = (top + jnp.arange(high) >= i * high)[:, None] & (
            left + jnp.arange(wide) >= j * wide
        )[None]
        new = [jnp.where(fresh, part / m, 0) for part in (k_c, k_u, qq * k_w)]
        new = new if len(results) == 3 else [sum(new[1:], new[0])]
        return tuple(
            jax.lax.dynamic_update_slice(
                result, jax.lax.dynamic_slice(result, (top, left), (high, wide)) + part, (top, left)
            )
            for result, part in zip(results, new, strict=True)
        )

    return jax.lax.fori_loop(0, len(tiles), tile, results)


def _mirrored(
    result: Float[Array, "n n"], tiles: Int[np.ndarray, "tiles 2"]
) -> Float[Array, "n n"]:
    """The tiles below the diagonal copied above it, in place; one on it is rounded to be symmetric
    too.
    """
    n = result.shape[0]
    size = even(n, TILE)

    def tile(number: Int[Array, ""], result: Float[Array, "n n"]) -> Float[Array, "n n"]:
        i, j = jnp.asarray(tiles)[number]
        top, left = block_start(i, size, n), block_start(j, size, n)
        below = jax.lax.dynamic_slice(result, (top, left), (size, size))
        return jax.lax.dynamic_update_slice(
            result, jnp.where(i == j, (below + below.T) / 2, below.T), (left, top)
        )

    return jax.lax.fori_loop(0, len(tiles), tile, result)
