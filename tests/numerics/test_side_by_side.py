"""Inputs side by side against one input after the other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tutelage.activations import activation
from tutelage.numerics import side_by_side
from tutelage.numerics.side_by_side import apart, beside, bilinear_loss, bilinear_outputs

N, D, Q = 5, 6, 4


def given(outputs, dim):
    draw = np.random.default_rng(0)
    shapes = (outputs, dim), (D, Q), (N, dim, D), (N, outputs, Q)
    return [jnp.asarray(draw.normal(size=shape)) for shape in shapes]


def one_by_one(sigma, value, attention, tokens, labels):
    return jnp.mean(
        jnp.stack(
            [
                0.5 * jnp.sum((y - sigma(value @ x @ attention)) ** 2)
                for x, y in zip(tokens, labels, strict=True)
            ]
        )
    )


@pytest.mark.brief(1)
@pytest.mark.parametrize("name", ["relu", "tanh", "identity"])
@pytest.mark.parametrize(("outputs", "dim"), [(2, 3), (3, 2)])  # either order of the two products
def test_the_loss_and_its_gradient_are_those_of_one_input_after_the_other(name, outputs, dim):
    value, attention, tokens, labels = given(outputs, dim)
    sigma = activation(name)
    plain = jax.value_and_grad(
        lambda w, s: one_by_one(sigma, w, s, tokens, labels), argnums=(0, 1)
    )(value, attention)
    ours = jax.value_and_grad(
        lambda w, s: bilinear_loss(sigma, w, s, beside(tokens), beside(labels)), argnums=(0, 1)
    )(value, attention)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13), ours, plain)


@pytest.mark.depth
def test_single_precision_is_the_double_one_rounded():
    """To 1e-5: sums of some hundred products, each rounded to 6e-8."""
    numbers = given(3, 4)
    sigma = activation("relu")
    double, single = (
        bilinear_loss(sigma, *(x.astype(kind) for x in (*numbers[:2], *map(beside, numbers[2:]))))
        for kind in (jnp.float64, jnp.float32)
    )
    assert single.dtype == jnp.float32
    np.testing.assert_allclose(single, double, rtol=1e-5)


def test_apart_undoes_beside():
    _, _, tokens, _ = given(2, 3)
    np.testing.assert_array_equal(apart(beside(tokens), N), tokens)
    np.testing.assert_array_equal(beside(tokens)[:, D : 2 * D], tokens[1])


def test_samples_that_are_mixed_up_are_noticed(monkeypatch):
    """Cut in the wrong order, rows of different inputs meet."""
    value, attention, tokens, _ = given(2, 3)
    right = np.stack([value @ x @ attention for x in tokens])
    found = apart(bilinear_outputs(activation("identity"), value, attention, beside(tokens)), N)
    np.testing.assert_allclose(found, right, rtol=1e-12)
    monkeypatch.setattr(
        side_by_side,
        "_weigh",
        lambda rows, s: (rows.reshape(D, -1).T @ s).reshape(len(rows), -1),
    )
    wrong = apart(bilinear_outputs(activation("identity"), value, attention, beside(tokens)), N)
    assert np.abs(wrong - right).max() > 0.1
