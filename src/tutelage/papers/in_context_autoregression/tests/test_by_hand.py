"""Numbers of the theory that studies use and no other test asks for alone, worked out by hand."""

import numpy as np
import pytest
from scipy.optimize import minimize

from tutelage.papers.in_context_autoregression.theory import conservation, minima, slepian


def test_levels_of_a_vanishing_start():
    assert conservation.unitary_level_from_zero(4, 32) == pytest.approx(2.0, rel=1e-12)
    assert conservation.paired_level_from_zero(5, 32) == pytest.approx(2.0, rel=1e-12)


def test_what_a_start_conserves():
    """AAᵀ − BBᵀ = diag(3, −4), and ½(5 + 6) − 2.25."""
    scores, values = np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 5**0.5]])
    found = conservation.read_conserved(scores, values, np.array([0.5, -1.0, 1.0]))
    np.testing.assert_allclose(found.differences, [-4.0, 3.0], rtol=1e-12)
    assert found.balance == pytest.approx(5.5 - 2.25, rel=1e-12)


def test_levels_balance_what_is_conserved():
    """c = 2 with δ = 3 and 0: ½(5 + 4) − R/c², and singular values 2c with 5R/(4c²)."""
    differences = np.array([3.0, 0.0])
    start = conservation.Conserved(differences, 4.5 - 7 / 4)
    assert conservation.unitary_level(start, 7) == pytest.approx(2.0, rel=1e-12)
    paired = conservation.Conserved(differences, 0.5 * (73**0.5 + 8) - 1.25 * 7 / 4)
    assert conservation.paired_level(paired, 7) == pytest.approx(2.0, rel=1e-12)


def test_heads_that_lack_leave_one_each():
    assert [minima.unitary_floor(5, heads) for heads in (3, 5, 6)] == [2, 0, 0]


def test_the_loss_shrinks_by_the_square_of_a_weight_of_an_older_token():
    assert minima.contraction_per_step(2, 0.5, 0.1) == pytest.approx(2 * np.log(0.9), rel=1e-12)


def test_every_turned_block_costs_a_harmonic_sum():
    """d(½ + ⅓ + ¼)/3 for four tokens."""
    assert minima.turned_block_loss(6, 4) == pytest.approx(6 * (13 / 12) / 3, rel=1e-12)


def test_a_matrix_with_one_turned_block_of_two():
    """Sums [[2.5, 0.4], [0.6, 0.6·0.4/2.5]] on (1, 1)/√2, and 3 on (1, −1)/√2 of the second."""
    found = minima.mixed_matrix(2, 1, np.array([3.0, 2.0, 0.5, 0.4, 0.6]))
    by_hand = [
        [1.25, 1.25, 0.2, 0.2],
        [1.25, 1.25, 0.2, 0.2],
        [0.3, 0.3, 1.548, -1.452],
        [0.3, 0.3, -1.452, 1.548],
    ]
    np.testing.assert_allclose(found, by_hand, rtol=1e-12)
    assert np.linalg.matrix_rank(found) == 2
    wide = minima.mixed_matrix(3, 1, np.array([3.0, 2.0, 0.5, 0.4, 0.6]))
    assert np.linalg.matrix_rank(wide) == 3
    np.testing.assert_allclose(
        wide[::2, ::2] + wide[::2, 1::2],
        [[2.5, 0.5, 0.4], [0.5, 2.5, 0.4], [0.6, 0.6, 0.6 * 0.4 * 2 / 3]],
        rtol=1e-12,
    )


@pytest.mark.parametrize("rate", [0.1, 1.1])  # the largest mode moves by less than half, and more
def test_learned_modes_are_the_trace_of_the_filter(rate):
    """tr(I − (I − 2ηG/R)^k) with R = 3 rows of four tokens."""
    matrix = slepian.slepian_matrix(4, 20.0)
    left = np.linalg.matrix_power(np.eye(4) - 2 * rate / 3 * matrix, 5)
    found = slepian.Filter(4, 20.0, rate).learned_modes(5)
    assert found == pytest.approx(np.trace(np.eye(4) - left), rel=1e-12)


def test_the_entries_of_the_matrix_and_how_many_modes_are_expected():
    """sinc(4πk/μ): at μ = 8 and one apart sin(π/2)/(π/2), and 1 + 4·10/8 modes of ten tokens."""
    assert slepian.slepian_matrix(3, 8.0)[0] == pytest.approx([1.0, 2 / np.pi, 0.0], abs=1e-15)
    assert slepian.expected_modes(10, 8.0) == 6.0


def test_losses_of_turned_blocks_are_least_means_over_prefixes():
    """None of two blocks turned costs nothing, both of them the harmonic sum. With one turned, no
    matrix of its kind nearby does better in the mean over prefixes of 2 to 4 tokens.
    """
    found = minima.spurious_losses(4, 4)
    assert found.shape == (3,)
    assert found[0] == 0.0
    assert found[2] == pytest.approx(minima.turned_block_loss(4, 4), rel=1e-12)

    def loss(numbers):
        matrix = minima.mixed_matrix(2, 1, numbers)
        return np.mean([minima.best_weights_loss(matrix, m) for m in (2, 3, 4)])

    begin = np.array([1.5, 2.0, 0.0, 0.0, 0.0])
    draws = begin + 0.3 * np.random.default_rng(0).normal(size=(20, 5))
    assert 0 < found[1] < min(map(loss, draws)) < 2 * found[1]
    assert found[1] == pytest.approx(minimize(loss, draws[0], method="BFGS").fun, rel=1e-8)
