"""What must not change, or must change in a known way, when a problem is turned, permuted, scaled,
doubled or split: relations between two calls, with no reference to compare with.

Blocks of columns are in test_wide.py and tests/problem/test_large.py, one batch against its members
in tests/running/test_execution_store.py, single precision in tests/running/test_devices.py.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tutelage as tt
from tutelage.objectives.sample import Sample

M, D, TOKENS, QUERIES = 2, 3, 4, 3
ACTIVATIONS = ("identity", "relu", "leaky_relu(0.1)", "erf")
SEEDS = st.integers(0, 2**31)
# Sums of a few dozen numbers in another order: some hundred roundings.
CLOSE = {"rtol": 1e-12, "atol": 1e-14}


class Drawn:
    """V*, S*, W_V and scores, all drawn."""

    def __init__(self, seed: int, activation: str) -> None:
        random = np.random.default_rng(seed)
        self.activation = activation
        self.target = random.normal(size=(M, D))
        self.selection = random.dirichlet(np.ones(TOKENS), QUERIES).T
        self.value = random.normal(size=(M, D))
        self.scores = random.normal(size=(TOKENS, QUERIES))
        self.random = random

    def change(self, **arrays: np.ndarray) -> Drawn:
        other = object.__new__(Drawn)
        vars(other).update({**vars(self), **arrays})
        return other

    def evaluate(self) -> tuple[float, np.ndarray, np.ndarray]:
        """The risk, and its gradient in W_V and in the scores."""
        teacher = tt.BilinearTeacher(self.target, self.selection, self.activation)
        student = tt.PositionAttention.zeros(teacher)
        student = eqx.tree_at(
            lambda s: (s.value, s.key_query),
            student,
            (jnp.asarray(self.value), jnp.asarray(self.scores)),
        )
        risk, gradient = _slopes(tt.PopulationRisk(teacher), student)
        return float(risk), np.asarray(gradient.value), np.asarray(gradient.key_query)


@jax.jit
def _slopes(objective, student):
    return jax.value_and_grad(objective)(student)


def check(got, want):
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, **CLOSE)


pytestmark = pytest.mark.parametrize("activation", ACTIVATIONS)


@pytest.mark.brief(2)
@settings(max_examples=10, deadline=None)
@given(seed=SEEDS)
def test_tokens_have_no_order(activation, seed):
    """Permuted in teacher and student, the risk stays and the gradient is permuted."""
    drawn = Drawn(seed, activation)
    order = drawn.random.permutation(TOKENS)
    risk, value, scores = drawn.evaluate()
    moved = drawn.change(selection=drawn.selection[order], scores=drawn.scores[order])
    check(moved.evaluate(), (risk, value, scores[order]))


@settings(max_examples=10, deadline=None)
@given(seed=SEEDS)
def test_queries_have_no_order(activation, seed):
    drawn = Drawn(seed, activation)
    order = drawn.random.permutation(QUERIES)
    risk, value, scores = drawn.evaluate()
    moved = drawn.change(selection=drawn.selection[:, order], scores=drawn.scores[:, order])
    check(moved.evaluate(), (risk, value, scores[:, order]))


@settings(max_examples=10, deadline=None)
@given(seed=SEEDS)
def test_features_have_no_axes(activation, seed):
    """X and RX have one law, so that V* and W_V may be turned together."""
    drawn = Drawn(seed, activation)
    turn = np.linalg.qr(drawn.random.normal(size=(D, D)))[0]
    risk, value, scores = drawn.evaluate()
    turned = drawn.change(target=drawn.target @ turn, value=drawn.value @ turn)
    check(turned.evaluate(), (risk, value @ turn, scores))


@settings(max_examples=10, deadline=None)
@given(seed=SEEDS, factor=st.sampled_from([2.0**-20, 0.25, 2.0, 2.0**20]))
def test_the_risk_is_quadratic_in_the_scale(activation, seed, factor):
    """Where σ(cz) = cσ(z) for c > 0; powers of two change no digit of the others."""
    drawn = Drawn(seed, activation)
    risk, value, scores = drawn.evaluate()
    scaled = drawn.change(target=factor * drawn.target, value=factor * drawn.value)
    homogeneous = (factor**2 * risk, factor * value, factor**2 * scores)
    if activation == "erf":
        assert not np.isclose(scaled.evaluate()[0], homogeneous[0], rtol=1e-6, atol=0)
    else:
        got = scaled.evaluate()
        for one, other in zip(got, homogeneous, strict=True):
            size = np.max(np.abs(other))
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14 * size)


@pytest.mark.brief(2)
@settings(max_examples=10, deadline=None)
@given(seed=SEEDS)
def test_every_query_counts_alike(activation, seed):
    """All columns twice: twice the risk, twice the gradient in W_V, and that of each copy of the
    scores as before.
    """
    drawn = Drawn(seed, activation)
    risk, value, scores = drawn.evaluate()
    doubled = drawn.change(selection=np.tile(drawn.selection, 2), scores=np.tile(drawn.scores, 2))
    check(doubled.evaluate(), (2 * risk, 2 * value, np.tile(scores, 2)))


@pytest.mark.brief(1)
@settings(max_examples=5, deadline=None)
@given(seed=SEEDS, first=st.sampled_from([1, 5]))
def test_a_sample_is_the_mean_of_its_parts(activation, seed, first):
    drawn = Drawn(seed, activation)
    inputs = jnp.asarray(drawn.random.normal(size=(8, D, TOKENS)))
    teacher = tt.BilinearTeacher(drawn.target, drawn.selection, activation)
    labels = jax.vmap(teacher)(inputs)
    student = eqx.tree_at(
        lambda s: (s.value, s.key_query),
        tt.PositionAttention.zeros(teacher),
        (jnp.asarray(drawn.value), jnp.asarray(drawn.scores)),
    )
    parts = (slice(None), slice(first), slice(first, None))
    whole, one, two = (float(Sample(inputs[part], labels[part])(student)) for part in parts)
    assert whole == pytest.approx((first * one + (8 - first) * two) / 8, rel=1e-12)
