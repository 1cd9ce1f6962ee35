"""The conservation law, the minima of pairs, and the filter, beside independent calculations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tutelage.papers.in_context_autoregression.parts.attention import used_entries
from tutelage.papers.in_context_autoregression.parts.positions import descend
from tutelage.papers.in_context_autoregression.theory import conservation, minima
from tutelage.papers.in_context_autoregression.theory.slepian import Filter, slepian_matrix


def unitary_slopes(
    scores: np.ndarray, values: np.ndarray, positions: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Minus the gradient of the loss of independent angles, written out."""
    dim, tokens = scores.shape[1], positions.shape[1]
    matrix = values.T @ scores
    sums = matrix.sum(1)
    down, moved = np.zeros_like(matrix), np.zeros_like(positions)
    for row in range(tokens - 1):
        p = positions[row, : row + 2]
        newest, query = row + 1, row
        rest = np.sum(p**2) - p[query] ** 2
        down += 2 * rest * matrix + 2 * p[query] ** 2 * np.outer(sums, np.ones(dim))
        down -= 2 * p[newest] * np.eye(dim)
        slope = 2 * p * np.sum(matrix**2)
        slope[query] = 2 * p[query] * np.sum(sums**2)
        slope[newest] -= 2 * np.trace(matrix)
        moved[row, : row + 2] = slope
    return -values @ down, -scores @ down.T, -moved


@pytest.mark.parametrize(("dim", "tokens"), [(2, 3), (3, 5)])
def test_gradient_flow_ends_at_the_level_of_the_law(dim: int, tokens: int):
    """By an adaptive solver on a gradient of its own, with no step size in it."""
    drawn = np.random.default_rng(dim)
    shapes = ((dim, dim), (dim, dim), (tokens - 1, tokens))
    start = [0.4 * drawn.standard_normal(shape) for shape in shapes]
    cuts = np.cumsum([one.size for one in start])[:-1]

    def apart(flat: np.ndarray) -> list[np.ndarray]:
        return [p.reshape(s) for p, s in zip(np.split(flat, cuts), shapes, strict=True)]

    solved = solve_ivp(
        lambda _, flat: np.concatenate([g.ravel() for g in unitary_slopes(*apart(flat))]),
        (0, 60),
        np.concatenate([one.ravel() for one in start]),
        method="LSODA",
        rtol=1e-11,
        atol=1e-13,
    )
    scores, values, _ = apart(solved.y[:, -1])
    matrix = values.T @ scores
    used = start[2][used_entries(tokens)]
    law = conservation.unitary_level(conservation.read_conserved(*start[:2], used), tokens - 1)
    np.testing.assert_allclose(matrix, matrix[0, 0] * np.eye(dim), atol=1e-8)
    assert abs(matrix[0, 0]) == pytest.approx(law, rel=1e-7)


def test_a_vanishing_start_has_the_level_of_zero():
    none = conservation.Conserved(np.zeros(6), 0.0)
    assert conservation.unitary_level(none, 9) == pytest.approx((9 / 6) ** (1 / 3), rel=1e-12)
    half = conservation.Conserved(np.zeros(3), 0.0)
    expected = (5 * 9 / (4 * 6)) ** (1 / 3)
    assert conservation.paired_level(half, 9) == pytest.approx(expected, rel=1e-12)
    assert conservation.paired_level_from_zero(6, 9) == pytest.approx(expected, rel=1e-12)


def test_the_loss_of_turned_blocks_alone_is_harmonic():
    """The least of d((Σq)² + ‖q‖² − 2q_n + 1) over the m − 1 weights that matter, by a solver."""
    losses = []
    for m in range(2, 7):
        form, newest = np.eye(m - 1) + np.ones((m - 1, m - 1)), np.eye(m - 1)[-1]
        losses.append(6 * (1 - newest @ np.linalg.solve(form, newest)))
    assert np.mean(losses) == pytest.approx(minima.turned_block_loss(6, 6), rel=1e-12)
    assert minima.turned_block_loss(6, 6) == pytest.approx(1.74, abs=1e-12)


def test_blocks_that_are_not_turned_predict():
    plain = np.kron(np.eye(2), [[0.7, 0.7], [0.7, 0.7]])
    assert max(minima.best_weights_loss(plain, m) for m in range(2, 8)) < 1e-12


@pytest.mark.depth
def test_mixed_minima_are_stationary_among_all_matrices_of_their_rank():
    """One turned block of two: no nearby pair of factors has a lower loss."""
    losses = minima.spurious_losses(4, 4)
    assert losses[0] == 0.0
    assert (np.diff(losses) > 0).all()
    drawn = np.random.default_rng(0)
    from scipy.optimize import minimize

    def loss(flat: np.ndarray) -> float:
        left, right = flat.reshape(2, 2, 4)
        matrix = left.T @ right
        return float(np.mean([minima.best_weights_loss(matrix, m) for m in range(2, 5)]))

    ends = [minimize(loss, drawn.standard_normal(16), method="BFGS").fun for _ in range(6)]
    settled = [end for end in ends if np.abs(losses - end).min() < 1e-6]
    assert len(settled) >= 4  # the others are on their way, where the form is nearly singular


def test_the_filter_is_what_literal_steps_give():
    found = Filter(7, 40.0, 0.5)
    matrix, weights = slepian_matrix(7, 40.0), np.zeros((6, 7))
    used, newest = used_entries(7), np.eye(6, 7, k=1)
    for _ in range(50):
        weights -= 2 * 0.5 / 6 * np.where(used, (weights - newest) @ matrix, 0.0)
    np.testing.assert_allclose(found.weights(50), weights, atol=1e-12)
    apart = weights - newest
    assert found.loss(50) == pytest.approx(np.sum((apart @ matrix) * apart) / 6, rel=1e-12)


def test_the_step_to_stop_at_is_the_first():
    found = Filter(10, 60.0, 0.5)
    steps = found.steps_until(1e-2)
    assert found.loss(steps) < 1e-2 <= found.loss(steps - 1)


def test_descent_on_many_angles_is_near_the_filter():
    angles = (np.arange(4000) + 0.5) / 4000 * 2 * np.pi / 60.0
    weights, steps = descend(angles, 10, 0.5, 1e-2)
    found = Filter(10, 60.0, 0.5)
    assert steps == found.steps_until(1e-2)
    np.testing.assert_allclose(weights, found.weights(steps), atol=1e-6)
