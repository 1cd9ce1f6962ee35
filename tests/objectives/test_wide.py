"""A wide attention, a block of columns at a time, against the plain form of all columns at once."""

from __future__ import annotations

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import tutelage as tt
from tutelage.numerics.closed_forms import ERF, leaky
from tutelage.numerics.softmax_excess import softmax_excess
from tutelage.objectives import wide
from tutelage.students.collapsed_attention import CollapsedAttention
from tutelage.teachers.collapsed import CollapsedTeacher, equal_weights

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
    columns = {
        tokens: wide.columns_per_block(tokens, wide.BLOCK) for tokens in (1024, 4096, 5000, 10**6)
    }
    assert columns == {1024: 256, 4096: 64, 5000: 32, 10**6: 32}
    assert wide.columns_per_block(4096, wide.MOVED_BLOCK) == 32


def problem_with_correlated_features() -> tuple[tt.PopulationRisk, tt.PositionAttention]:
    draw = np.random.default_rng(4)
    mixed = draw.normal(size=(4, 4))
    teacher = tt.BilinearTeacher(
        draw.normal(size=(3, 4)), draw.dirichlet(np.ones(TOKENS), size=QUERIES).T, activation="relu"
    )
    risk = tt.PopulationRisk(teacher, tt.Gaussian(covariance=mixed @ mixed.T + np.eye(4)))
    start = tt.PositionAttention.zeros(teacher)
    values = draw.normal(size=(3, 4)), 2 * draw.normal(size=(TOKENS, QUERIES))
    student = eqx.tree_at(lambda s: (s.value, s.key_query), start, tuple(map(jnp.asarray, values)))
    return risk, student


def test_plain_descent_moves_each_block_in_place_as_a_gradient_step_would(monkeypatch):
    """1e-13 of the largest entry, as above: one step changes each by less than its size."""
    monkeypatch.setattr(wide, "WIDE", 1)
    monkeypatch.setattr(wide, "BLOCK", 1)
    monkeypatch.setattr(wide, "MOVED_BLOCK", 1)
    risk, student = problem_with_correlated_features()
    moved = eqx.filter_jit(type(risk).descend)(risk, student, jnp.asarray(0.3))
    gradient = eqx.filter_jit(eqx.filter_grad(lambda student, risk: risk(student)))(student, risk)
    for name in ("value", "key_query"):
        twin = getattr(student, name) - 0.3 * getattr(gradient, name)
        np.testing.assert_allclose(
            getattr(moved, name), twin, rtol=0, atol=1e-13 * float(jnp.abs(twin).max())
        )


@pytest.mark.depth
def test_in_training_only_the_optimiser_without_momentum_moves_blocks_in_place(monkeypatch):
    monkeypatch.setattr(wide, "WIDE", 1)
    risk, student = problem_with_correlated_features()
    taken = []
    monkeypatch.setattr(
        tt.PopulationRisk, "descend", lambda risk, student, rate: taken.append(rate)
    )
    tt.train(student, risk, rate=0.3, steps=1)
    assert taken
    taken.clear()
    tt.train(student, risk, rate=0.3, steps=1, optimiser=partial(optax.sgd, momentum=0.5))
    assert not taken


def test_fewer_queries_than_columns_of_a_block_are_one_block(monkeypatch):
    """As with a hundred thousand tokens and a few queries."""
    risk, student = problem_with_correlated_features()
    plain = float(risk.excess(student))
    monkeypatch.setattr(wide, "WIDE", 1)
    assert float(risk.excess(student)) == pytest.approx(plain, rel=1e-13)


def test_scores_that_are_a_product_with_codes_are_not_moved_in_place(monkeypatch):
    monkeypatch.setattr(wide, "WIDE", 1)
    risk, student = problem_with_correlated_features()
    coded = tt.PositionAttention.zeros(
        risk.teacher, key_codes=np.eye(TOKENS), query_codes=np.eye(QUERIES)
    )
    assert risk.descend(coded, jnp.asarray(0.3)) is None
    monkeypatch.undo()
    assert risk.descend(student, jnp.asarray(0.3)) is None  # too small to gain from it


def test_an_attention_of_so_many_numbers_and_more_is_wide(monkeypatch):
    teacher = tt.BilinearTeacher(np.eye(2), np.full((4, 3), 0.25))
    student = tt.PositionAttention.zeros(teacher)
    for least, found in ((12, True), (13, False)):
        monkeypatch.setattr(wide, "WIDE", least)
        assert wide.is_wide(student, teacher.selection) is found
    monkeypatch.setattr(wide, "WIDE", 1)
    assert not wide.is_wide(jnp.sum, teacher.selection)


def test_sums_over_tokens_are_those_of_every_column(monkeypatch):
    """Σ_j (S_ji − S*_ji)², block by block and at once; of a collapsed teacher with its counts."""
    draw = np.random.default_rng(0)
    selection = draw.dirichlet(np.ones(4), size=70).T
    teacher = tt.BilinearTeacher(np.eye(2), selection)
    scores = draw.standard_normal((4, 70))
    student = eqx.tree_at(
        lambda s: s.key_query, tt.PositionAttention.zeros(teacher), jnp.asarray(scores)
    )
    lifted = np.exp(0.5 * scores)
    expected = np.sum((lifted / lifted.sum(0) - selection) ** 2, axis=0)
    monkeypatch.setattr(wide, "BLOCK", 4 * 32)  # blocks of 32, 32 and 6 columns
    for least in (1, 281):
        monkeypatch.setattr(wide, "WIDE", least)
        found = wide.column_sums(lambda s, t: (s - t) ** 2, student, teacher)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    collapsed = CollapsedTeacher(np.eye(2), equal_weights(5, 2, 7))
    found = wide.column_sums(lambda s, t: t, CollapsedAttention.zeros(collapsed), collapsed)
    np.testing.assert_allclose(found, [1.0], rtol=1e-14)
