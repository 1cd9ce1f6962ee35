"""The softmax with its own exponential, against fifty digits and against JAX's."""

from __future__ import annotations

from decimal import Decimal, localcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tutelage.numerics.columns import column_max, column_sum
from tutelage.numerics.softmax import exponential, softmax

pytestmark = pytest.mark.compiled

EPS = np.finfo(float).eps


def test_the_exponential_errs_by_one_unit_in_the_last_place() -> None:
    draw = np.random.default_rng(0)
    x = -np.concatenate(
        [
            draw.uniform(0, 1, 500),
            draw.uniform(0, 40, 500),
            draw.uniform(0, 707.9, 500),
            10.0 ** draw.uniform(-18, 0, 100),
        ]
    )
    got = np.asarray(jax.jit(exponential)(jnp.asarray(x)))
    with localcontext() as context:
        context.prec = 50
        error = max(
            abs(Decimal(float(g)) / Decimal(float(a)).exp() - 1)
            for g, a in zip(got, x, strict=True)
        )
    assert error < Decimal(float(EPS))


def test_the_exponential_in_single_precision_errs_by_one_unit_in_the_last_place() -> None:
    x = -np.random.default_rng(1).uniform(0, 86.9, 100_000).astype(np.float32)
    x[:50_000] /= 87
    got = np.asarray(jax.jit(exponential)(jnp.asarray(x)))
    assert got.dtype == np.float32
    right = np.exp(x.astype(float))
    assert np.abs(got / right - 1).max() < np.finfo(np.float32).eps


def test_the_exponential_at_its_ends() -> None:
    got = np.asarray(exponential(jnp.asarray([0.0, -0.0, -708.5, -1e9, -np.inf, np.nan])))
    np.testing.assert_array_equal(got, [1.0, 1.0, 0.0, 0.0, 0.0, np.nan])
    single = jnp.asarray([0.0, -0.0, -87.5, -1e9, -np.inf, np.nan], jnp.float32)
    np.testing.assert_array_equal(exponential(single), got)


@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0, 1e4])
def test_softmax_is_that_of_jax(size: float) -> None:
    scores = size * jax.random.normal(jax.random.key(1), (7, 5))
    # Each weight has the roundings of its exponential, of a sum of seven, and of a quotient.
    np.testing.assert_allclose(
        softmax(scores), jax.nn.softmax(scores, 0), rtol=12 * EPS, atol=1e-300
    )


def test_softmax_and_its_derivatives_in_both_modes() -> None:
    scores, to = (
        jax.random.normal(jax.random.key(2), (7, 5)),
        jax.random.normal(jax.random.key(3), (7, 5)),
    )
    own, jaxs = (
        (lambda z: jnp.sum(to * softmax(z) ** 2)),
        (lambda z: jnp.sum(to * jax.nn.softmax(z, 0) ** 2)),
    )
    for derivative, error in ((jax.grad, 1e-15), (jax.hessian, 1e-14)):
        got, wanted = (jax.jit(derivative(loss))(scores) for loss in (own, jaxs))
        np.testing.assert_allclose(got, wanted, rtol=0, atol=error)
    batch = jnp.stack([scores, 2 * scores])
    np.testing.assert_allclose(jax.vmap(softmax)(batch)[1], softmax(2 * scores), rtol=4 * EPS)


def test_a_score_that_is_not_a_number_spoils_its_column_alone() -> None:
    scores = jnp.zeros((4, 3)).at[2, 1].set(jnp.nan)
    got = np.asarray(softmax(scores))
    assert np.isnan(got[:, 1]).all()
    np.testing.assert_array_equal(got[:, [0, 2]], 0.25)


def test_single_precision_stays_single() -> None:
    scores = jax.random.normal(jax.random.key(4), (7, 5), jnp.float32)
    assert softmax(scores).dtype == jnp.float32
    np.testing.assert_allclose(softmax(scores), jax.nn.softmax(scores, 0), rtol=1e-6)


@pytest.mark.brief(2)
@pytest.mark.parametrize("rows", [1, 48, 49, 64, 100, 2000])
def test_columns_in_blocks(rows: int) -> None:
    # Whole numbers: sums are exact in any order.
    x = np.random.default_rng(5).integers(-9, 9, (rows, 3)).astype(float)
    x[-1] = [100.0, -100.0, 0.5]
    np.testing.assert_array_equal(column_sum(jnp.asarray(x)), x.sum(0, keepdims=True))
    np.testing.assert_array_equal(column_max(jnp.asarray(x)), x.max(0, keepdims=True))
