"""All blocks: the gradient written out beside autodiff, and what symmetry says about it."""

from __future__ import annotations

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tutelage.papers.group_sparse.parts.blocks import Blocks, GroupBlocks, attend, differentiate
from tutelage.papers.group_sparse.parts.path import Groups, State
from tutelage.papers.group_sparse.parts.teacher import GroupSigns
from tutelage.papers.group_sparse.theory import laws

D, DIM, BETA = 4, 3, 1.7


def draw_blocks(seed: int, scale: float = 0.4) -> Blocks:
    draw = np.random.default_rng(seed)
    zero = Blocks.zero(D, DIM)
    return Blocks(*(scale * draw.standard_normal(part.shape) for part in vars(zero).values()))


def whole_loss(
    value: jax.Array, matrix: jax.Array, tokens: jax.Array, codes: jax.Array
) -> jax.Array:
    """The definition, with z = [x; p] and all of W and v."""

    def one(x: jax.Array) -> jax.Array:
        z = jnp.concatenate([x.T, codes])  # a column per token
        answer = jnp.sum(value @ z @ jax.nn.softmax(z.T @ matrix @ z, axis=0))
        label = jnp.where(x[0, 0] >= 0, 1.0, -1.0)
        return jax.nn.softplus(-label * answer)

    return jnp.mean(jax.vmap(one)(tokens))


def test_the_gradient_is_that_of_autodiff():
    blocks = draw_blocks(1)
    tokens = np.random.default_rng(2).standard_normal((D, DIM, 7))
    value = jnp.concatenate([blocks.first_value, blocks.second_value])
    matrix = jnp.block([[blocks.features, blocks.to_codes], [blocks.to_features, blocks.codes]])
    slope = jax.jit(jax.grad(whole_loss, (0, 1)))
    by_value, by_matrix = slope(value, matrix, tokens.transpose(2, 0, 1), BETA * jnp.eye(D))
    found, right = differentiate(blocks, tokens, BETA)
    close = {"rtol": 1e-11, "atol": 1e-14}
    np.testing.assert_allclose(found.first_value, by_value[:DIM], **close)
    np.testing.assert_allclose(found.second_value, by_value[DIM:], **close)
    np.testing.assert_allclose(found.features, by_matrix[:DIM, :DIM], **close)
    np.testing.assert_allclose(found.to_codes, by_matrix[:DIM, DIM:], **close)
    np.testing.assert_allclose(found.to_features, by_matrix[DIM:, :DIM], **close)
    np.testing.assert_allclose(found.codes, by_matrix[DIM:, DIM:], **close)
    assert right == pytest.approx(attend(blocks, tokens, BETA)[0].mean(), rel=1e-14)


def test_cross_blocks_have_no_gradient_by_symmetry():
    """On a sample and its mirror image −X together, exactly; and W₁₁ has one."""
    drawn = draw_blocks(3)
    zero = Blocks.zero(D, DIM)
    blocks = Blocks(
        drawn.first_value, zero.second_value, drawn.features, zero.to_codes, zero.to_features,
        drawn.codes,
    )  # fmt: skip
    tokens = np.random.default_rng(4).standard_normal((D, DIM, 50))
    found, _ = differentiate(blocks, np.concatenate([tokens, -tokens], axis=2), BETA)
    for part in (found.second_value, found.to_codes, found.to_features):
        assert np.abs(part).max() < 1e-15
    assert np.abs(found.features).max() > 1e-3
    assert np.abs(found.codes).max() > 1e-3


def test_the_first_pull_on_features():
    """At v = αv*, W = 0: within four standard errors of a batch, which its second term exceeds."""
    groups, length, batches = 6, 0.05, 40
    draw = np.random.default_rng(5)
    zero = Blocks.zero(groups, 2)
    blocks = Blocks(np.array([length, 0.0]), *list(vars(zero).values())[1:])
    found = []
    for _ in range(batches):
        tokens = draw.standard_normal((groups, 2, 4000))
        slope, _ = differentiate(blocks, tokens, 1.0)
        found.append(-slope.features[0, 0])
    error = float(np.std(found) / np.sqrt(batches))
    assert np.mean(found) == pytest.approx(laws.feature_pull(groups, length), abs=4 * error)
    assert 4 * error < length**2 / 4 * (groups - 1)


def test_with_features_frozen_the_codes_move_as_the_exact_flow_says():
    """The slope of v₁ and W₂₂ at a symmetric point, a mean over batches, beside the closed form."""
    state = State(Groups(D, BETA**4), 0.3, 0.6)
    column = np.full(D, -state.gap / D)
    column[0] += state.gap
    zero = Blocks.zero(D, DIM)
    codes = np.repeat(column[:, None], D, 1) / BETA**2
    value = np.array([state.length, 0.0, 0.0])
    blocks = Blocks(value, zero.second_value, zero.features, zero.to_codes, zero.to_features, codes)
    draw = np.random.default_rng(6)
    rows = []
    for _ in range(40):
        slope, _ = differentiate(blocks, draw.standard_normal((D, DIM, 2000)), BETA)
        moves = -(BETA**2) * slope.codes.mean(1)
        rows.append((-slope.first_value[0], moves[0] - moves[1:].mean()))
    means, errors = np.mean(rows, 0), np.std(rows, 0) / np.sqrt(len(rows))
    assert (np.abs(means - state.slopes()) < 4 * errors).all()
    assert (4 * errors < 0.1 * np.abs(state.slopes())).all()


def test_descent_begins_with_the_known_first_step():
    teacher = GroupSigns(D, DIM, "unit")
    run = GroupBlocks(20_000, 0.5, 1)(SimpleNamespace(teacher=teacher, seed=0))
    expected = 0.5 / np.sqrt(2 * np.pi)
    assert run.curves["value_part"][0] == pytest.approx(expected, rel=0.05)
    assert run.curves["right"][0] == pytest.approx(1 / D)
    assert run.curves["code_block"][0] == 0.0
