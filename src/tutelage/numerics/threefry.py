"""JAX's default generator in NumPy, for the few keys and numbers that a run begins with.

Threefry-2x32 (Salmon et al. 2011) mixes two words under a key of two words in twenty rounds. JAX's
own functions give the same bits, but each is a program that takes a tenth of a second or more to
compile, and a command that trains for a moment waits for three of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key, UInt32

Word = UInt32[np.ndarray, "..."]
RawKey = tuple[Word, Word]
Normals = Float[np.ndarray, "..."]

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = np.uint32(0x1BD11BDA)


def key_of(seed: int) -> RawKey:
    """The key of a seed: its two words, the upper one first."""
    bits = seed & (2**64 - 1)
    return np.array(bits >> 32, np.uint32), np.array(bits & 0xFFFFFFFF, np.uint32)


def words_of(key: Key[Array, ""]) -> RawKey | None:
    """The two words of a key, or None for a key of another generator or inside a program."""
    if isinstance(key, jax.core.Tracer):
        return None
    is_key = jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
    if not is_key or str(jax.random.key_impl(key)) != "threefry2x32":
        return None
    first, second = np.asarray(jax.random.key_data(key))
    return np.asarray(first), np.asarray(second)


def as_key(words: RawKey) -> Key[Array, ""]:
    """The key as JAX has it."""
    return jax.random.wrap_key_data(jnp.asarray(np.stack(words)), impl="threefry2x32")


def fold_in(key: RawKey, number: int) -> RawKey:
    """The key that a number of 32 bits leads to from another."""
    return mix(key, key_of(number))


def split(key: RawKey, count: int) -> list[RawKey]:
    """So many keys from one."""
    first, second = mix(key, _counter(count))
    return [(np.asarray(x), np.asarray(y)) for x, y in zip(first, second, strict=True)]


def normals(keys: Sequence[RawKey], shapes: Sequence[tuple[int, ...]]) -> list[Normals]:
    """Standard normal numbers in double precision, an array per key: √2·erf⁻¹ of uniform ones.

    All go through one erf⁻¹, which is compiled for each number of them.
    """
    counts = [math.prod(shape) for shape in shapes]
    uniform = [uniforms(key, count) for key, count in zip(keys, counts, strict=True)]
    found = math.sqrt(2) * np.asarray(jax.lax.erf_inv(np.concatenate(uniform)))
    parts = np.split(found, np.cumsum(counts)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def uniforms(key: RawKey, count: int) -> Float[np.ndarray, "count"]:
    """Numbers in (−1, 1)."""
    upper, lower = (word.astype(np.uint64) for word in mix(key, _counter(count)))
    # The upper 52 bits are the fraction of a number in [1, 2).
    ones = (((upper << np.uint64(32)) | lower) >> np.uint64(12)) | np.float64(1).view(np.uint64)
    least = np.nextafter(-1.0, 0.0)
    return np.maximum(least, (ones.view(np.float64) - 1.0) * (1.0 - least) + least)


def mix(key: RawKey, words: RawKey) -> RawKey:
    """Twenty rounds over two words, or two arrays of them; sums are modulo 2³²."""
    schedule = (*key, key[0] ^ key[1] ^ PARITY)
    with np.errstate(over="ignore"):
        x, y = words[0] + schedule[0], words[1] + schedule[1]
        for group in range(5):
            for places in ROTATIONS[group % 2]:
                x = x + y
                y = x ^ ((y << np.uint32(places)) | (y >> np.uint32(32 - places)))
            x = x + schedule[(group + 1) % 3]
            y = y + schedule[(group + 2) % 3] + np.uint32(group + 1)
    return np.asarray(x), np.asarray(y)


def _counter(count: int) -> RawKey:
    """0, 1, … as two words each."""
    numbers = np.arange(count, dtype=np.uint64)
    return (numbers >> np.uint64(32)).astype(np.uint32), numbers.astype(np.uint32)
