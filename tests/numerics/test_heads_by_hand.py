"""What attention heads make of an input, head by head and token by token."""

import math

import heads_twin as twin
import jax.numpy as jnp
import numpy as np
import pytest

from tutelage.activations import activation
from tutelage.numerics import heads as ours
from tutelage.numerics import limit_kernel
from tutelage.numerics.tangent_kernel import _group_size

TANH = activation("tanh")
X = twin.some_inputs(1, 2)[0]
QUERY = np.array([0.5, -1.0, 2.0])  # not a token


def test_features_covariance_and_output_of_every_head():
    heads = twin.some_heads(3, 1)
    given = (heads, jnp.asarray(X), jnp.asarray(QUERY))
    value, read, spread = ours.features(*given, TANH)
    squares = ours.covariance(*given)
    for i, (W, U) in enumerate(zip(np.asarray(heads.attention), heads.reading, strict=True)):
        _, a, M = twin.head(W, np.asarray(U), X, QUERY)
        h = np.tanh(U @ a)
        twin.same(value[i], h)
        twin.same(read[i], (1 - h**2) * a)
        twin.same(spread[i], (1 - h**2) * M @ np.asarray(U))
        twin.same(squares[i], M)
    twin.same(ours.output_of(*given, TANH), twin.value(heads, X, QUERY))
    found = ours.gradient_of(*given, TANH)
    for got, want in zip(twin._blocks(found), twin.gradient(heads, X, QUERY), strict=True):
        twin.same(got, want)


def test_heads_and_their_mirror_images_cancel():
    heads = twin.some_heads(3, 1)
    both = ours.mirrored(heads)
    np.testing.assert_array_equal(both.attention[3:], heads.attention)
    np.testing.assert_array_equal(both.reading[3:], heads.reading)
    np.testing.assert_array_equal(both.output, np.append(heads.output, -heads.output))


def test_the_mean_and_the_spread_of_three_blocks():
    """Each block's kernel has three parts, whose sum is what has an error."""
    draw = np.random.default_rng(0).standard_normal((3, 3, 2, 2))
    mean, square = (jnp.zeros((2, 2)),) * 3, jnp.zeros((2, 2))
    for number, parts in enumerate(draw):
        new = tuple(jnp.asarray(part) for part in parts)
        mean, square = limit_kernel._added(mean, square, new, number + 1.0)
    twin.same(jnp.stack(mean), draw.mean(0))
    totals = draw.sum(1)
    twin.same(square, np.sum((totals - totals.mean(0)) ** 2, axis=0))
    twin.same(limit_kernel.Limit(mean, square, 3).kernel, totals.mean(0))


def test_how_far_one_kernel_is_from_another():
    draw = np.random.default_rng(1)
    rows, kernel, basis, weights = (draw.standard_normal(s) for s in ((3, 4), *[(3, 3)] * 3))
    kernel, basis = kernel + kernel.T, np.linalg.qr(basis)[0]
    away = rows @ rows.T - kernel
    twin.same(limit_kernel._distance(*map(jnp.asarray, (rows, kernel))), np.sum(away**2), 1e-11)
    seen = (weights * (basis.T @ away @ basis)).sum(1)
    centre = (weights * (basis.T @ kernel @ basis)).sum(1)
    found = limit_kernel._moved(*map(jnp.asarray, (rows, basis, weights, centre)))
    twin.same(found, np.sum(seen**2), 1e-11)


@pytest.mark.parametrize(("heads", "most"), [(5, 64), (40, 24), (64, 64), (100, 64), (1, 1)])
def test_a_group_of_heads_takes_the_fewest_vectors_of_eight(heads, most):
    """Of the sizes above half of the most, and of those the largest."""
    most = min(heads, most)
    sizes = [size for size in range(1, most + 1) if 2 * size > most]
    vectors = [math.ceil(heads / size) * math.ceil(size / 8) for size in sizes]
    best = max(s for s, v in zip(sizes, vectors, strict=True) if v == min(vectors))
    assert _group_size(heads, most) == best
