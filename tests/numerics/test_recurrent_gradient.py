"""The loss of recurrent units in blocks of samples against automatic differentiation of the loss of
all samples at once, and against finite differences.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tutelage import stream
from tutelage.activations import activation
from tutelage.numerics import recurrent_gradient
from tutelage.objectives.squared_loss import mean_square
from tutelage.students.indrnn import IndRNN

# Some hundred roundings of 1.1e-16, multiplied by |u|^T ≤ 1.5^8 = 26 at most.
TIGHT = 1e-12
DRAW = np.random.default_rng(0)
TOKENS, LABELS = jnp.asarray(DRAW.normal(size=(23, 3, 8))), jnp.asarray(DRAW.normal(size=23))


def moved(name="tanh", recurrent=1.5):
    student = IndRNN.symmetric(
        6, 3, recurrent=recurrent, key=stream(0, "units"), activation_name=name
    )
    units = jax.tree.map(lambda x: x + 0.3 * DRAW.normal(size=x.shape), student.units)
    return eqx.tree_at(lambda s: s.units, student, units)


def plainly(units, student):
    own = eqx.tree_at(lambda s: s.units, student, units)
    return jnp.mean((jax.vmap(own)(TOKENS) - LABELS) ** 2)


@pytest.mark.parametrize("name", ["tanh", "identity", "gelu"])
@pytest.mark.parametrize("samples", [1, 5, 8, 23, 100])  # of a block; 23 is no multiple of 5 or 8
def test_blocks_have_the_loss_and_gradient_of_all_samples_at_once(monkeypatch, name, samples):
    student = moved(name)
    monkeypatch.setattr(recurrent_gradient, "STATES", 6 * samples)
    units = student.units
    loss, slopes = recurrent_gradient.loss_and_gradient(
        units.reading,
        units.recurrence,
        units.output,
        TOKENS,
        LABELS,
        activation=activation(name),
    )
    want, expected = jax.value_and_grad(plainly)(units, student)
    assert float(loss) == pytest.approx(float(want), rel=TIGHT)
    for got, right in zip(slopes, jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(got, right, rtol=TIGHT, atol=TIGHT * float(jnp.abs(right).max()))


def test_the_objective_moves_by_that_gradient():
    """Along a random direction, by a central difference: its error is of order h² and ε/h."""
    student, h = moved(), 1e-5
    way = jax.tree.map(lambda x: jnp.asarray(DRAW.normal(size=x.shape)), student.units)

    def at(step):
        units = jax.tree.map(lambda x, w: x + step * w, student.units, way)
        return float(mean_square(eqx.tree_at(lambda s: s.units, student, units), TOKENS, LABELS))

    slope = eqx.filter_grad(lambda s: 3.0 * mean_square(s, TOKENS, LABELS))(student).units
    along = sum(
        float(jnp.sum(a * b)) for a, b in zip(*map(jax.tree.leaves, (slope, way)), strict=True)
    )
    assert along == pytest.approx(3 * (at(h) - at(-h)) / (2 * h), rel=1e-7)
