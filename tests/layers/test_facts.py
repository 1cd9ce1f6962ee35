"""The four facts, each beside a plain formula of its own, and faults that must show."""

import numpy as np
import pytest
from scipy.stats import binom

import tutelage as tt
from tutelage.layers.bounds import bootstrap, most_mass
from tutelage.layers.facts import Probes, Shares, find_pairs, find_ridges
from tutelage.layers.heads import find_heads, rearrange, split_residual
from tutelage.layers.reading import is_piecewise_linear, positional_share

DRAW = np.random.default_rng(0)
N, M, Q, d, D = 9, 3, 4, 5, 6


def probes_of(jacobians, sound=None):
    n, m, q = jacobians.shape[:3]
    return Probes(
        DRAW.normal(size=(n, *jacobians.shape[3:])),
        DRAW.normal(size=(n, m, q)),
        jacobians,
        np.ones((n, m, q), bool) if sound is None else sound,
        1e-13,
    )


def gated(gates, V, S):
    """σ'(·) v_m s_qᵀ."""
    return np.einsum("nmq,mi,jq->nmqij", gates, V, S)


def test_ridge_is_what_the_largest_singular_value_leaves():
    jacobians = DRAW.normal(size=(N, M, Q, d, D))
    left = total = 0.0
    for m, q in np.ndindex(M, Q):
        values = np.linalg.svd(jacobians[:, m, q].reshape(N, -1), compute_uv=False)
        left, total = left + np.sum(values[1:] ** 2), total + np.sum(values**2)
    found = find_ridges(probes_of(jacobians)).shares.residual
    assert found == pytest.approx(left / total, rel=1e-12)


def test_pair_is_what_the_largest_singular_value_of_each_direction_leaves():
    directions = DRAW.normal(size=(M, Q, d, D))
    gates = DRAW.normal(size=(N, M, Q))
    ridge = find_ridges(probes_of(gates[..., None, None] * directions[None]))
    left = total = 0.0
    for m, q in np.ndindex(M, Q):
        values = np.linalg.svd(directions[m, q], compute_uv=False) ** 2
        weight = np.sum(gates[:, m, q] ** 2)
        left, total = left + weight * values[1:].sum(), total + weight * values.sum()
    assert ridge.shares.residual < 1e-28
    assert find_pairs(ridge).shares.residual == pytest.approx(left / total, rel=1e-12)


def test_heads_are_the_kronecker_rank_of_a_sum_of_kronecker_products():
    """R is a rearrangement: a planted sum of three V_h ⊗ S_h has rank three, and its best one-head
    approximation leaves what an exhaustive alternating fit leaves.
    """
    Vs, Ss = DRAW.normal(size=(3, M, d)), DRAW.normal(size=(3, D, Q))
    forms = np.einsum("hmi,hjq->mqij", Vs, Ss)
    heads = find_heads(forms, np.ones((M, Q), bool))
    assert heads.count(1e-12) == 3
    V, S = DRAW.normal(size=(M, d)), None
    for _ in range(2000):
        S = np.einsum("mqij,mi->jq", forms, V) / np.sum(V**2)
        V = np.einsum("mqij,jq->mi", forms, S) / np.sum(S**2)
    left = np.sum((forms - np.einsum("mi,jq->mqij", V, S)) ** 2) / np.sum(forms**2)
    assert heads.left_after(1) == pytest.approx(left, rel=1e-9)
    again = np.einsum("hmi,hjq->mqij", heads.values[:3], heads.selections[:3])
    np.testing.assert_allclose(again, forms, atol=1e-12)


def test_the_rearrangement_is_a_permutation():
    forms = DRAW.normal(size=(M, Q, d, D))
    R = rearrange(forms)
    for m, q, i, j in np.ndindex(M, Q, d, D):
        assert R[m * d + i, j * Q + q] == forms[m, q, i, j]


def test_forms_that_no_probe_saw_are_filled_in():
    V, S = DRAW.normal(size=(M, d)), DRAW.normal(size=(D, Q))
    forms, seen = np.einsum("mi,jq->mqij", V, S), np.ones((M, Q), bool)
    seen[0, 1] = seen[2, 3] = False
    heads = find_heads(np.where(seen[..., None, None], forms, 0.0), seen)
    assert heads.count(1e-12) == 1
    again = np.einsum("mi,jq->mqij", heads.values[0], heads.selections[0])
    np.testing.assert_allclose(again, forms, atol=1e-10)


def test_a_residual_before_the_activation_is_split_off():
    V, S = DRAW.normal(size=(d, d)), DRAW.normal(size=(D, D))
    own = np.einsum("mi,jq->mqij", np.eye(d), np.eye(D))
    forms = 0.7 * own + np.einsum("mi,jq->mqij", V, S)
    factor, rest = split_residual(find_heads(forms, np.ones((d, D), bool)), 1e-12)
    assert factor == pytest.approx(0.7, rel=1e-10)
    again = np.einsum("mi,jq->mqij", rest.values[0], rest.selections[0])
    np.testing.assert_allclose(again, forms - 0.7 * own, atol=1e-10)
    two = np.einsum("hmi,hjq->mqij", *(DRAW.normal(size=(2, n, n)) for n in (d, D)))
    assert split_residual(find_heads(two, np.ones((d, D), bool)), 1e-12) is None


def test_an_entry_across_a_kink_is_left_out():
    V, S = DRAW.normal(size=(M, d)), DRAW.normal(size=(D, Q))
    jacobians = gated(np.ones((N, M, Q)), V, S)
    jacobians[2, 1, 1] += 1.0
    assert find_ridges(probes_of(jacobians)).shares.residual > 1e-3
    sound = np.ones((N, M, Q), bool)
    sound[2, 1, 1] = False
    assert find_ridges(probes_of(jacobians, sound)).shares.residual < 1e-28


@pytest.mark.parametrize("fault", ["turned", "second head", "own token"])
def test_a_planted_fault_of_a_millionth_is_seen(fault):
    """Each breaks one fact, by 10⁻⁶ of the size, 10⁻¹² of the squares."""
    V, S, gates = DRAW.normal(size=(M, d)), DRAW.normal(size=(D, Q)), np.ones((N, M, Q))
    small = 1e-6
    clean = gated(gates, V, S)
    if fault == "turned":  # with the input: no ridge
        jacobians = clean + small * DRAW.normal(size=clean.shape)
        found = find_ridges(probes_of(jacobians)).shares.residual
    elif fault == "second head":  # the same for all inputs: no pair
        jacobians = clean + small * gated(gates, DRAW.normal(size=(M, d)), DRAW.normal(size=(D, Q)))
        found = find_pairs(find_ridges(probes_of(jacobians))).shares.residual
    else:  # a pair of its own for one output: not shared
        forms = clean[0].copy()
        forms[0, 0] = np.outer(V[0], S[:, 0] + small * DRAW.normal(size=D))
        found = find_heads(forms, np.ones((M, Q), bool)).left_after(1)
    assert 1e-15 < found < 1e-11


def test_the_share_of_reading_that_is_positional():
    """A head that reads one of D tokens at random has 1/D of its reading in any fixed pattern."""
    fixed = gated(DRAW.normal(size=(N, M, Q)), DRAW.normal(size=(M, d)), DRAW.normal(size=(D, Q)))
    assert positional_share(probes_of(fixed)) == pytest.approx(1.0, abs=1e-12)
    wandering = np.zeros((D, M, Q, d, D))
    for token in range(D):
        wandering[token, :, :, :, token] = 1.0
    assert positional_share(probes_of(wandering)) == pytest.approx(1 / D, rel=1e-12)


def test_pieces_are_told_from_curves():
    here = DRAW.normal(size=(4, M, Q, d, D))
    assert is_piecewise_linear(here, here.copy(), 1e-14)
    crossed = here.copy()
    crossed[0, 0, 0] += 1.0  # one kink between the two points
    assert is_piecewise_linear(here, crossed, 1e-14)
    assert not is_piecewise_linear(here, here * (1 + 1e-4), 1e-14)


@pytest.mark.parametrize(("differing", "inputs"), [(0, 24), (0, 2000), (3, 100), (40, 41)])
def test_the_mass_that_may_differ_is_the_exact_binomial_bound(differing, inputs):
    """At the bound, so few or fewer are seen with probability 5%."""
    bound = most_mass(differing, inputs)
    assert binom.cdf(differing, inputs, bound) == pytest.approx(0.05, rel=1e-9)
    if differing == 0:
        assert bound == pytest.approx(1 - 0.05 ** (1 / inputs), rel=1e-9)
    assert most_mass(inputs, inputs) == 1.0


def test_the_bootstrap_interval_covers_the_truth_about_as_often_as_it_says():
    """Ratios of means of known laws, a hundred experiments of 40 probes each."""
    covered = 0
    for seed in range(100):
        draw = np.random.default_rng(seed)
        total = draw.exponential(size=40)
        left = 0.3 * total * draw.uniform(0.5, 1.5, 40)
        low, high = bootstrap(Shares(left, total), seed)
        covered += low <= 0.3 <= high
    assert 85 <= covered <= 100


def test_nothing_is_left_of_nothing():
    shares = Shares(np.zeros(5), np.zeros(5))
    assert bootstrap(shares, 0) == (0.0, 0.0)
    assert shares.residual == 0.0
    assert tt.Kind.POSITION.value.startswith("Each output reads fixed tokens")
