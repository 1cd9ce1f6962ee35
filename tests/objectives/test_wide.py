"""A wide attention, a block of columns at a time, against the plain form of all columns at once."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tutelage.numerics.closed_forms import ERF, leaky
from tutelage.numerics.softmax_excess import softmax_excess
from tutelage.objectives import wide

pytestmark = pytest.mark.compiled

TOKENS, QUERIES = 24, 75  # two blocks of 32 columns, and one of 11
SCALE = jnp.asarray(0.7)


@pytest.fixture
def weights():
    draw = np.random.default_rng(3)
    value, teacher_value = (jnp.asarray(draw.normal(size=(3, 4))) for _ in range(2))
    scores = jnp.asarray(2 * draw.normal(size=(TOKENS, QUERIES)))
    selection = jnp.asarray(draw.dirichlet(np.ones(TOKENS), size=QUERIES).T)
    return value, scores, teacher_value, selection


@pytest.mark.brief(1)
@pytest.mark.parametrize("form", [leaky(0.0), ERF], ids=["ReLU", "erf"])
def test_blocks_of_columns_give_the_risk_and_gradient_of_all_at_once(form, weights, monkeypatch):
    """1e-13 of the largest entry: the numbers are the same but for the order in which blocks are
    added, 75 terms of one sign.
    """
    monkeypatch.setattr(wide, "BLOCK", 1)
    value, scores, teacher_value, selection = weights
    gap = value - teacher_value

    def blocked(value, scores, scale):
        return wide.wide_excess(form, value, scores, gap, scale, teacher_value, selection)

    def plain(value, scores, scale):
        return softmax_excess(form, value, scale * scores, gap, teacher_value, selection)

    found, expected = (
        jax.jit(jax.value_and_grad(risk, argnums=(0, 1, 2)))(value, scores, SCALE)
        for risk in (blocked, plain)
    )
    for ours, twin in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(ours, twin, rtol=0, atol=1e-13 * float(jnp.abs(twin).max()))


def test_a_block_is_two_megabytes_and_never_narrower_than_four_cache_lines():
    columns = {tokens: wide.columns_per_block(tokens) for tokens in (1024, 4096, 5000, 10**6)}
    assert columns == {1024: 256, 4096: 64, 5000: 32, 10**6: 32}
