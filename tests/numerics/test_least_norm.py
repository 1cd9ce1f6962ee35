"""The least-norm programme: its optimality conditions, closed forms, and what has no solution."""

from __future__ import annotations

import numpy as np
import pytest

from tutelage.claims.claim import NoPrediction
from tutelage.numerics import least_norm as programme
from tutelage.numerics.least_norm import Infeasible, least_norm


def gaussian(rows: int, columns: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((rows, columns))


def test_the_conditions_of_optimality():
    """w is in the cone of its active constraints: no feasible point is nearer to 0."""
    G, h, A = gaussian(4, 6, 4), np.full(4, 0.5), gaussian(2, 6, 6)
    solved = least_norm(G, h, A)
    slack = G @ solved.w - h
    assert slack.min() > -1e-12
    assert np.abs(A @ solved.w).max() < 1e-12
    assert solved.multipliers.min() >= 0
    assert np.abs(solved.multipliers * slack).max() < 1e-12
    free = np.eye(6) - np.linalg.pinv(A) @ A
    np.testing.assert_allclose(free @ G.T @ solved.multipliers, solved.w, atol=1e-12)


def test_orthogonal_constraints_have_a_closed_form():
    """min ‖w‖ with c_i w_i ≥ h_i is w_i = h_i/c_i, with the multipliers h_i/c_i²."""
    lengths, h = np.array([2.0, 0.5, 1.0]), np.array([1.0, 1.0, 3.0])
    solved = least_norm(np.diag(lengths), h)
    np.testing.assert_allclose(solved.w, h / lengths, rtol=1e-12)
    np.testing.assert_allclose(solved.multipliers, h / lengths**2, rtol=1e-12)


def test_the_residual_says_how_far_it_is_from_infeasible():
    solved = least_norm(np.array([[3.0, 4.0]]), np.array([2.0]))
    np.testing.assert_allclose(solved.w, [0.24, 0.32], rtol=1e-12)
    np.testing.assert_allclose(solved.residual, 1 / np.sqrt(1 + (5 * 0.4) ** 2), rtol=1e-12)


def test_what_cannot_be_satisfied_is_said():
    with pytest.raises(Infeasible, match="no vector, however long"):
        least_norm(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.ones(2))


def test_an_ill_conditioned_programme_is_not_taken_for_solved():
    with pytest.raises(NoPrediction):
        least_norm(np.array([[1.0, 1e-9], [1.0, -1e-9], [-1.0, 3e-9]]), np.ones(3))


def test_a_margin_far_smaller_than_the_others_is_no_worse():
    """Rounding is told by the largest margin: of the smallest, 1e-12 here, it is a large part."""
    G = gaussian(3, 6, 1)
    solved = least_norm(G, np.array([1.0, 1e-12, 0.7]))
    assert (G @ solved.w - [1.0, 1e-12, 0.7]).min() > -1e-12


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_what_is_missed_is_told_relative_to_the_margins(size):
    """Margins of another size give the same vector in other units, and are no worse solved."""
    G, h = gaussian(3, 6, 1), np.array([1.0, 0.4, 0.7])
    one, other = least_norm(G, h), least_norm(G, size * h)
    np.testing.assert_allclose(other.w, size * one.w, rtol=1e-9)
    np.testing.assert_allclose(other.multipliers, size * one.multipliers, rtol=1e-9)


@pytest.mark.parametrize(
    ("G", "active", "missed"),
    [
        (
            [[1.0, 0.0], [2.0, 1.0]],
            [1.0, 1.0],
            "0.3",
        ),  # the second would have to pull the wrong way
        ([[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0], "1"),  # the second is not met
    ],
)
def test_a_wrong_set_of_active_constraints_is_seen(monkeypatch, G, active, missed):
    monkeypatch.setattr(programme, "nnls", lambda *_, **__: (np.array(active), 0.5))
    with pytest.raises(NoPrediction, match=f"was solved to {missed} only"):
        least_norm(np.array(G), np.ones(2))


def test_many_constraints_take_many_steps():
    """One step at least for each of them that is active."""
    np.testing.assert_allclose(least_norm(np.eye(150), np.ones(150)).w, 1.0, rtol=1e-12)
