"""Numbers of the theory that studies use and no other test asks for alone, worked out by hand."""

import itertools
import math

import numpy as np
import pytest

from tutelage.papers.token_selection.theory import collapse, floors, lengths, networks, polytopes


@pytest.mark.parametrize(
    ("points", "width", "support", "faces"),
    [(6, 4, 4, 9), (7, 4, 4, 14), (6, 4, 2, 15), (6, 3, 3, 8), (6, 3, 2, 12), (5, 2, 2, 5)],
)
def test_faces_of_cyclic_polytopes(points, width, support, faces):
    """n(n−3)/2 facets in dimension 4, all pairs as edges; 2n − 4 and 3n − 6 in dimension 3."""
    assert polytopes.count_cyclic_faces(points, width, support) == faces


def test_facets_of_a_pentagon_are_neighbours():
    pairs = [p for p in itertools.combinations(range(5), 2) if polytopes.is_cyclic_facet(p, 5)]
    assert pairs == [(0, 1), (0, 4), (1, 2), (2, 3), (3, 4)]


def test_the_least_error_drops_the_smallest_eigenvalues():
    """All subsets of two of four tokens: E[uuᵀ] ⊗ I_3, less its m largest eigenvalues."""
    subsets = [*itertools.combinations(range(4), 2)]
    moments = np.zeros((4, 4))
    for subset in subsets:
        u = np.isin(np.arange(4), subset) / 2
        moments += np.outer(u, u) / len(subsets)
    values = np.sort(np.repeat(np.linalg.eigvalsh(moments), 3))
    assert networks.smallest_eigenvalue(4, 2) == pytest.approx(values[0], rel=1e-12)
    for units in range(14):
        left = values[: max(0, 12 - units)].sum()
        assert networks.least_error(4, 2, 3, units) == pytest.approx(left, rel=1e-12, abs=1e-15)
    assert networks.random_error(4, 2, 3, 6) == pytest.approx(0.75, rel=1e-12)


def test_what_is_minimised_for_the_floor_of_sign_codes():
    """d/(2q²)[(T−q)e^(−2C+2C²q/m) + C²(q−1)(q−2)/m] at T = 10, q = 3, d = 4, m = 24 and C = 3."""
    by_hand = 4 / 18 * (7 * math.exp(-3.75) + 9 * 2 / 24)
    assert floors.floor_at(10, 3, 4, 24, 3.0) == pytest.approx(by_hand, rel=1e-12)
    gaps = np.linspace(0, 24 / 6, 4001)
    least = min(floors.floor_at(10, 3, 4, 24, gap) for gap in gaps)
    assert floors.sign_floor(10, 3, 4, 24) == pytest.approx(least, rel=1e-6)
    # Without the second term the end of the range is the least: e^(−m/2q).
    assert floors.sign_floor(10, 2, 4, 8) == pytest.approx(8 / 2 * math.exp(-2.0), rel=1e-8)


@pytest.mark.parametrize("support", [1, 2])
def test_the_loss_of_ties_by_enumeration(support):
    """Every choice of signs of three tokens with codes of three signs, at infinite scores."""
    tokens, width, losses = 3, 3, []
    for signs in itertools.product((-1, 1), repeat=tokens * width):
        codes = np.array(signs).reshape(tokens, width)
        scores = codes @ codes[:support].sum(0)
        best = scores >= scores[:support].max()
        weights = best / best.sum()
        wanted = (np.arange(tokens) < support) / support
        losses.append(0.5 * 4 * np.sum((weights - wanted) ** 2))
    assert floors.tie_loss(tokens, support, 4, width) == pytest.approx(np.mean(losses), rel=1e-12)


def test_losses_on_another_number_of_tokens():
    """T = 10, q = 2: (T′−T)²/(q(T−q)) + (T′−q)/(T−q)."""
    assert lengths.refitted_ratio(10, 2, 6) == pytest.approx(0.5, rel=1e-12)
    assert lengths.length_ratio(10, 2, 6) == pytest.approx(1.5, rel=1e-12)
    assert lengths.length_ratio(10, 2, 14) == pytest.approx(2.5, rel=1e-12)
    # r = 4e^(−2C) is 1 at C = log 2, and L is (d/2q)/2.
    found = lengths.refitted_loss(10, 2, 6, np.array([math.log(2.0)]))
    assert found == pytest.approx([0.75], rel=1e-12)


def test_constants_of_the_flow():
    sizes = collapse.Sizes(tokens=10, support=2, dim=4, modes=6.0)
    assert collapse.constant(sizes) == 1.5
    assert collapse.plateau(sizes) == pytest.approx(6.0, rel=1e-12)
    assert collapse.fixed_subset_constant(10, 2) == pytest.approx(0.4, rel=1e-12)
    assert collapse.missed_weight(10, 2, math.log(4.0)) == pytest.approx(0.5, rel=1e-12)
    # From r = 4 to 1: 4 − 1 + 2 log 4 + 1 − ¼, times qN/(2d) = 1.5.
    by_hand = 1.5 * (3.75 + 2 * math.log(4.0))
    assert collapse.followed_time(sizes, 1.0) == pytest.approx(by_hand, rel=1e-12)
    assert collapse.followed_time(sizes, 4.0) == pytest.approx(0.0, abs=1e-15)


def test_the_loss_and_its_slopes_from_softmax_weights():
    """½d‖αs − u‖² of one subset, and its differences; with all tokens chosen nothing is missed."""

    def by_hand(value, gap, tokens=5, support=2):
        lifted = np.exp(gap * (np.arange(tokens) < support))
        wanted = (np.arange(tokens) < support) / support
        return 0.5 * 4 * np.sum((value * lifted / lifted.sum() - wanted) ** 2)

    assert collapse.loss(5, 2, 4, 0.7, 1.3) == pytest.approx(by_hand(0.7, 1.3), rel=1e-12)
    assert collapse.loss(2, 2, 4, 0.7, 1.3) == pytest.approx(by_hand(0.7, 1.3, 2), rel=1e-12)
    found, h = collapse.find_slopes(5, 2, 4, 0.7, 1.3), 1e-6
    value = (by_hand(0.7 + h, 1.3) - by_hand(0.7 - h, 1.3)) / (2 * h)
    gap = (by_hand(0.7, 1.3 + h) - by_hand(0.7, 1.3 - h)) / (2 * h)
    assert found == pytest.approx((value, gap), rel=1e-8)


def test_two_steps_of_descent():
    """From zero ∂L/∂α = −d/T, so that α = η/T; the second step starts there."""
    sizes = collapse.Sizes(tokens=5, support=2, dim=4, modes=6.0)
    path = collapse.descend(sizes, 0.5, np.array([0, 1, 2]))
    second = collapse.find_slopes(5, 2, 4, 0.1, 0.0)
    np.testing.assert_allclose(path.value, [0.0, 0.1, 0.1 - 0.5 * second.value / 4], rtol=1e-12)
    np.testing.assert_allclose(path.gap, [0.0, 0.0, -0.5 * second.gap / 6], rtol=1e-12)


@pytest.mark.parametrize("sizes", [(10, 2, 4, 6.0), (30, 3, 1, 0.5)])
def test_the_followed_loss_is_that_at_its_time(sizes):
    sizes = collapse.Sizes(*sizes)
    ratios = np.array([0.5, 1e-3, 1e-6])
    times = np.array([collapse.followed_time(sizes, ratio) for ratio in ratios])
    by_hand = sizes.dim / (2 * sizes.support) * ratios / (1 + ratios)
    np.testing.assert_allclose(collapse.followed_loss(sizes, times), by_hand, rtol=1e-9)


@pytest.mark.parametrize(("tokens", "support", "other"), [(3, 2, 5), (2, 3, 4), (4, 3, 5)])
def test_the_loss_with_unseen_tokens_by_enumeration(tokens, support, other):
    """All subsets of T′ tokens, of which W knows the first T."""
    value, gap, losses = np.array([0.8, 1.1]), np.array([0.7, 2.0]), []
    for subset in itertools.combinations(range(other), support):
        chosen = np.isin(np.arange(other), subset)
        known = np.arange(other) < tokens
        scores = np.outer(gap, known * (chosen - (chosen & known).sum() / tokens))
        lifted = np.exp(scores)
        weights = value[:, None] * lifted / lifted.sum(1, keepdims=True)
        losses.append(0.5 * 6 * np.sum((weights - chosen / support) ** 2, axis=1))
    found = lengths.unseen_loss(tokens, support, 6, other, value, gap)
    np.testing.assert_allclose(found, np.mean(losses, axis=0), rtol=1e-12)


def test_scores_beyond_what_an_exponential_holds_give_the_limit():
    """Ten tokens known, one of a pair chosen among them: at C = 2000 all weight is on it."""
    one = np.ones(1)
    near, far = (lengths.unseen_loss(10, 2, 6, 12, one, C * one) for C in (300.0, 2000.0))
    assert np.isfinite(far).all()
    np.testing.assert_allclose(far, near, rtol=1e-12)
