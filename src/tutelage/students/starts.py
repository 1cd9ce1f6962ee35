"""Random starts of students."""

from __future__ import annotations

import jax
from jaxtyping import Array, Float, Key

from tutelage.numerics.compiling import soon


@soon  # one program, and not one for each of the shapes: drawing takes long to compile
def draw_normals(
    shapes: tuple[tuple[int, ...], ...], spread: Float[Array, ""], key: Key[Array, ""]
) -> tuple[Float[Array, "..."], ...]:
    """Arrays of these shapes with iid N(0, spread²) entries, each with a key of its own."""
    keys = jax.random.split(key, len(shapes))
    return tuple(
        spread * jax.random.normal(each, shape) for each, shape in zip(keys, shapes, strict=True)
    )
