"""Numbers of the theory that studies use and no other test asks for alone, worked out by hand."""

import numpy as np
import pytest

from tutelage.claims.claim import NoPrediction
from tutelage.papers.attention_svm.parts.sample import Sample
from tutelage.papers.attention_svm.theory import approach, nuclear, programmes

# Two sequences of three tokens in the plane; the second has the label −1.
SAMPLE = Sample(
    tokens=np.array([[[2.0, 0.0], [1.0, 1.0], [0.0, 3.0]], [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]]),
    queries=np.array([[1.0, 0.0], [0.0, 2.0]]),
    labels=np.array([1.0, -1.0]),
    head=np.array([1.0, 0.5]),
)
FIRST = np.array([0, 1])


def solved_by(matrix):
    return programmes.MaxMargin(SAMPLE, FIRST, np.array(matrix), np.zeros((2, 3)), 0.0)


def test_constraints_are_differences_times_the_query():
    by_hand = np.zeros((2, 3, 2, 2))
    by_hand[0, 1] = [[1.0, 0.0], [-1.0, 0.0]]
    by_hand[0, 2] = [[2.0, 0.0], [-3.0, 0.0]]
    by_hand[1, 0] = [[0.0, 2.0], [0.0, 0.0]]
    by_hand[1, 2] = [[0.0, 2.0], [0.0, -4.0]]
    np.testing.assert_array_equal(programmes.difference_matrices(SAMPLE, FIRST), by_hand)
    left = programmes.unselected(SAMPLE, FIRST)
    np.testing.assert_array_equal(left, [[False, True, True], [True, False, True]])
    rows = programmes.constraint_rows(SAMPLE, FIRST)
    np.testing.assert_array_equal(rows, by_hand[left].reshape(4, 4))


def test_margins_supports_and_slacks():
    """W = I/2: the margins are 0.5 and 1 in the first sequence, 0 and −2 in the second. Scores are
    2, 1.5, 1.5 and −0, −1, −1: of tokens that score higher only the first of the second sequence.
    """
    solved = solved_by([[0.5, 0.0], [0.0, 0.5]])
    np.testing.assert_allclose(
        solved.margins, [[np.inf, 0.5, 1.0], [0.0, np.inf, -2.0]], rtol=0, atol=1e-15
    )
    np.testing.assert_allclose(SAMPLE.scores, [[2.0, 1.5, 1.5], [0.0, -1.0, -1.0]], atol=1e-15)
    np.testing.assert_array_equal(solved.supports, [[False, True, True], [True, False, True]])
    assert solved.smallest_slack == np.inf
    assert solved.slack_of_better == pytest.approx(-1.0, abs=1e-15)
    assert not solved.locally_optimal  # the second sequence loses against its first token


def test_a_constraint_that_does_not_support_has_slack():
    """W = [[3, 1], [0, −1]]: 3 and 6 in the first sequence, 2 and 6 in the second."""
    solved = solved_by([[3.0, 1.0], [0.0, -1.0]])
    np.testing.assert_allclose(solved.margins, [[np.inf, 3.0, 6.0], [2.0, np.inf, 6.0]])
    assert solved.smallest_slack == pytest.approx(1.0, rel=1e-12)
    assert solved.slack_of_better == pytest.approx(1.0, rel=1e-12)
    assert solved.square == pytest.approx(11.0, rel=1e-12)


def test_the_weights_of_the_exponentials():
    """(γ_α − γ_t)/(n(1 + e^γ_α)) with γ_α = 2 and −1."""
    found = approach.exponential_weights(SAMPLE, solved_by(np.eye(2)))
    first, second = 0.5 / (2 * (1 + np.exp(2.0))), -1.0 / (2 * (1 + np.exp(-1.0)))
    np.testing.assert_allclose(found, [[0.0, first, first], [second, 0.0, 0.0]], rtol=1e-12)


def test_normalised_descent_loses_one_margin_per_length():
    assert approach.normalised_rate(solved_by([[3.0, 0.0], [0.0, 4.0]]), 0.1) == pytest.approx(
        -0.02, rel=1e-12
    )


def test_the_excess_of_factored_flow_by_its_margin():
    assert nuclear.factored_excess(2.0) == pytest.approx(2.0, rel=1e-12)
    assert nuclear.factored_excess(4.0) == pytest.approx(1.375, rel=1e-12)


def test_the_rank_counts_values_above_a_thousandth():
    matrix = np.diag([2.0, 0.0021, 0.0019])
    assert nuclear.LeastNuclear(matrix, 2.004, 0.0, 10).rank == 2


@pytest.mark.parametrize(
    ("matrix", "multipliers", "optimal"),
    [
        # The one support vector, the last token, scores as much as the selected one.
        ([[3.0, 1.5], [0.0, 0.5]], np.ones((2, 3)), False),
        # Two support vectors that score less, one of them without a multiplier.
        ([[2.0, 3.0], [1.0, 0.5]], np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), True),
    ],
)
def test_the_offset_needs_a_gain_and_a_multiplier_on_every_support(matrix, multipliers, optimal):
    solved = programmes.MaxMargin(SAMPLE, FIRST, np.array(matrix), multipliers, 0.0)
    assert solved.locally_optimal is optimal
    with pytest.raises(NoPrediction, match="locally optimal"):
        approach.offset_on_supports(solved)
