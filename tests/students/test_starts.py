"""Random starts beside the same draws, one by one."""

import jax
import jax.numpy as jnp
import numpy as np

from tutelage.students.starts import draw_normals

SHAPES = ((8, 46), (46, 46), (3,))


def test_a_start_is_drawn_as_its_arrays_would_be_one_by_one():
    key = jax.random.key(7)
    drawn = draw_normals(SHAPES, jnp.asarray(0.3), key)
    keys = jax.random.split(key, len(SHAPES))
    for found, each, shape in zip(drawn, keys, SHAPES, strict=True):
        np.testing.assert_allclose(found, 0.3 * jax.random.normal(each, shape), rtol=1e-14)


def test_a_further_array_leaves_those_before_it_as_they_were():
    key = jax.random.key(7)
    fewer, more = (draw_normals(SHAPES[:count], jnp.asarray(0.3), key) for count in (2, 3))
    for one, other in zip(fewer, more[:2], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)
