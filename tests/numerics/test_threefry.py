"""The generator of starts against JAX's own: the same words and numbers to the last bit."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from tutelage.numerics import threefry
from tutelage.numerics.streams import stream
from tutelage.students import starts
from tutelage.students.starts import draw_normals

SEEDS = (0, 7, 2**31, 2**40 + 3, -1)
SHAPES = ((3, 5), (40,), (2, 2, 2))


def words(key):
    return np.asarray(jax.random.key_data(key))


@pytest.mark.parametrize("seed", SEEDS)
def test_keys_are_those_of_jax(seed):
    theirs, ours = jax.random.key(seed), threefry.key_of(seed)
    assert (words(theirs) == np.array(ours)).all()
    for number in (0, 5, 2**32 - 1):
        folded, again = jax.random.fold_in(theirs, number), threefry.fold_in(ours, number)
        assert (words(folded) == np.array(again)).all()
    assert (words(jax.random.split(theirs, 4)) == np.array(threefry.split(ours, 4))).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_numbers_are_those_of_jax_to_the_last_bit(seed):
    keys = jax.random.split(jax.random.key(seed), len(SHAPES))
    drawn = draw_normals(SHAPES, 0.3, jax.random.key(seed))
    for key, shape, ours in zip(keys, SHAPES, drawn, strict=True):
        assert (np.asarray(0.3 * jax.random.normal(key, shape)) == np.asarray(ours)).all()


def test_a_stream_is_the_same_key_for_a_seed_that_is_an_array():
    assert (words(stream(11, "start")) == words(stream(jax.numpy.asarray(11), "start"))).all()


@pytest.mark.parametrize("seed", [2**63, 2**64 + 5, -(2**63) - 1])
def test_a_seed_of_more_than_64_bits_is_not_cut_to_them(seed):
    with pytest.raises(OverflowError):
        stream(seed, "start")


def test_a_key_of_another_generator_draws_by_jax():
    key = jax.random.key(3, impl="rbg")
    first, *_ = draw_normals(SHAPES, 0.3, key)
    own = jax.random.split(key, len(SHAPES))[0]
    # Compiled as one program, where the products may be rounded once.
    np.testing.assert_allclose(first, 0.3 * jax.random.normal(own, SHAPES[0]), rtol=1e-14)


def test_keys_inside_a_program_draw_the_same():
    keys = jax.random.split(jax.random.key(3), 2)
    beside = jax.vmap(lambda key: draw_normals(SHAPES, 0.3, key)[0])(keys)
    for key, ours in zip(keys, beside, strict=True):
        np.testing.assert_allclose(draw_normals(SHAPES, 0.3, key)[0], ours, rtol=1e-14)


def test_very_many_numbers_are_drawn_by_jax_and_are_the_same(monkeypatch):
    """NumPy takes several times the memory of what it draws."""
    few = draw_normals(SHAPES, 0.3, jax.random.key(5))
    monkeypatch.setattr(starts, "MANY", 62)  # of 63
    monkeypatch.setattr(threefry, "normals", None)
    many = draw_normals(SHAPES, 0.3, jax.random.key(5))
    for first, second in zip(few, many, strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-14)
