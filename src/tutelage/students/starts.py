"""Random starts of students."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from tutelage.numerics import threefry
from tutelage.numerics.compiling import soon

# Numbers of a start, from which on a program of JAX is worth its compilation: NumPy takes several
# times the memory of what it draws, and one core.
MANY = 2**20


def draw_normals(
    shapes: tuple[tuple[int, ...], ...], spread: Float[Array, ""] | float, key: Key[Array, ""]
) -> tuple[Float[Array, "..."], ...]:
    """Arrays of these shapes with iid N(0, spread²) entries, each with a key of its own."""
    words = threefry.words_of(key)
    if words is None or sum(map(math.prod, shapes)) > MANY:
        return _by_jax(shapes, jnp.asarray(spread), key)
    drawn = threefry.normals(threefry.split(words, len(shapes)), shapes)
    return tuple(jnp.asarray(float(spread) * each) for each in drawn)


@soon  # one program, and not one for each of the shapes: drawing takes long to compile
def _by_jax(
    shapes: tuple[tuple[int, ...], ...], spread: Float[Array, ""], key: Key[Array, ""]
) -> tuple[Float[Array, "..."], ...]:
    """The same by JAX: very many, or with a key of another generator, or inside a program."""
    keys = jax.random.split(key, len(shapes))
    return tuple(
        spread * jax.random.normal(each, shape) for each, shape in zip(keys, shapes, strict=True)
    )
