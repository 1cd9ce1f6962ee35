"""Named random streams: one seed, many independent keys, none of which depends on which others are
used.
"""

from __future__ import annotations

import zlib

import jax
import numpy as np
from jaxtyping import Array, Key

from tutelage.numerics import threefry
from tutelage.refuse import SEEDS


def stream(seed: int | Array, name: str) -> Key[Array, ""]:
    """The key of the stream `name` of a seed.

    The name enters through its checksum, so adding a measure, a seed or another stream changes no
    other number.
    """
    checksum = zlib.crc32(name.encode())
    if isinstance(seed, int) and abs(seed) < SEEDS:
        return threefry.as_key(threefry.fold_in(threefry.key_of(seed), checksum))
    return jax.random.fold_in(jax.random.key(seed), checksum)


def generator(seed: int, name: str) -> np.random.Generator:
    """The same for what is drawn once on the host, such as a teacher."""
    return np.random.default_rng(np.random.SeedSequence([seed, zlib.crc32(name.encode())]))
