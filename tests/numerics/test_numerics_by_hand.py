"""Ends of exponentials, kernels that are nearly symmetric or singular, the pairs on which
quadrature is tried, and how work on heads is split.
"""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tutelage as tt
from tutelage.numerics import heads_gradient, quadrature, tangent_kernel
from tutelage.numerics.closed_forms import ERF, leaky
from tutelage.numerics.geometry import Pairs
from tutelage.numerics.kernel_descent import KernelDescent, ridge
from tutelage.numerics.softmax import exponential

# --- exponentials


@pytest.mark.parametrize(
    ("kind", "least", "below"),
    [
        ("float32", -87.0, [-87.4, -88.0, -100.0, -120.0, -130.0, -500.0]),
        ("float64", -708.0, [-708.4, -709.0, -800.0, -1000.0, -1061.0, -5000.0]),
    ],
)
def test_the_exponential_is_there_at_its_least_and_zero_below(kind, least, below):
    eps = float(np.finfo(kind).eps)
    found = exponential(jnp.asarray([least, least + 0.01], kind))
    right = np.exp(np.asarray([least, least + 0.01], kind).astype(float))
    np.testing.assert_allclose(found, right, rtol=eps)
    np.testing.assert_array_equal(exponential(jnp.asarray(below, kind)), 0.0)


# --- kernels


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_a_kernel_is_symmetric_to_ten_digits_of_its_largest_entry(size):
    def kernel(off):
        return size * np.array([[0.5, 0.25], [0.25 + off, -1.0]])

    labels = np.ones(2)
    KernelDescent(kernel(0.9e-10), labels, 1.0)
    with pytest.raises(tt.Refused, match="must be symmetric"):
        KernelDescent(kernel(1.2e-10), labels, 1.0)


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_ridge_without_penalty_leaves_out_eigenvalues_that_are_rounding(size):
    """Below n·eps = 4.4e-16 of the largest there are no functions."""
    labels, cross = np.array([3.0, 5.0]), size * np.eye(2)
    left_out = ridge(size * np.diag([1.0, 4e-16]), labels, cross)
    np.testing.assert_allclose(left_out, [3.0, 0.0], rtol=1e-12)
    kept = ridge(size * np.diag([1.0, 5e-16]), labels, cross)
    np.testing.assert_allclose(kept, [3.0, 5.0 / 5e-16], rtol=1e-12)
    # K + nρI with n = 2.
    penalised = ridge(size * np.diag([1.0, 0.5]), labels, cross, 0.25 * size)
    np.testing.assert_allclose(penalised, [3.0 / 1.5, 5.0 / 1.0], rtol=1e-12)


def test_descent_along_three_eigenvectors():
    """Shares (1 − 2ηλ/n)^t with 2η/n = ½ and λ = 0, ½, 3, so that z = 1, ¾, −½."""
    kernel = np.diag([0.0, 0.5, 3.0])
    descent = KernelDescent(kernel, np.array([1.0, 2.0, 4.0]), 0.75)
    z, labels, steps = np.array([1.0, 0.75, -0.5]), np.array([1.0, 2.0, 4.0]), np.array([1, 4])
    assert descent.largest_rate == 1.0
    np.testing.assert_allclose(descent.residual(steps), [labels * z, labels * z**4], rtol=1e-14)
    np.testing.assert_allclose(descent.outputs(steps)[1], labels * (1 - z**4), rtol=1e-14)
    np.testing.assert_allclose(descent.loss(steps)[1], np.mean((labels * z**4) ** 2), rtol=1e-14)
    sums = np.array([z**0, z**0 + z + z**2 + z**3])
    averaged = np.mean((labels * sums / [[1], [4]]) ** 2, axis=1)
    np.testing.assert_allclose(descent.averaged_loss(steps), averaged, rtol=1e-14)
    cross = np.array([[1.0, 2.0, 3.0]])
    np.testing.assert_allclose(descent.predict(cross, steps), 0.5 * (sums * labels) @ cross.T)
    # Γ_ij = −½ Σ_s z_i^s z_j^(3−s), and B = Γ ∘ (Uᵀy)_j.
    gaps = [[sum(a**s * b ** (3 - s) for s in range(4)) for b in z] for a in z]
    np.testing.assert_allclose(descent.response(4), -0.5 * np.array(gaps) * labels, rtol=1e-12)


@pytest.mark.parametrize("gap", [0.0, 1e-8, 1e-5])
def test_the_response_of_nearly_equal_eigenvalues(gap):
    """Summed term by term, which cancels nowhere."""
    descent = KernelDescent(np.diag([0.5, 0.5 + gap]), np.array([1.0, 2.0]), 1.0)
    z = 1 - np.array([0.5, 0.5 + gap])
    terms = [[sum(a**s * b ** (5 - s) for s in range(6)) for b in z] for a in z]
    expected = -np.array(terms) * [1.0, 2.0]
    np.testing.assert_allclose(descent.response(6), expected, rtol=1e-10)


# --- expectations of pairs

# Variances A of the student and B of the teacher, and their covariance C: turned away, far from
# the teacher, nearly on it, uncorrelated, and one or both of them zero.
VARIANCES = np.array(
    [
        (1.0, 1.0, 0.3),
        (2.0, 0.5, -0.7),
        (0.25, 9.0, 1.2),
        (4.0, 1.0, 1.5),
        (0.3, 0.2, 0.0),
        (1.1, 1.0, 1.04),
        (0.0, 1.0, 0.0),
        (0.5, 0.0, 0.0),
        (0.0, 0.0, 0.0),
    ]
)


def pairs_with(variances):
    """One row per pair, and a column of norm 1 that both share."""
    A, B, C = variances.T[..., None]
    along = C / np.where(B > 0, B, 1.0)
    alpha = np.where(B > 0, along - 1, 0.0)
    parts = alpha, along, A - along * C, B, *np.array([[[0.0]], [[0.0]], [[1.0]]])
    return Pairs(*map(jnp.asarray, parts))


def test_excess_and_slopes_of_erf_are_the_arcsine_formula():
    A, B, C = VARIANCES.T
    p, q, r = 1 + 2 * A, 1 + 2 * B, 2 * C
    sines = np.arcsin(2 * A / p) + np.arcsin(2 * B / q) - 2 * np.arcsin(r / np.sqrt(p * q))
    pairs = pairs_with(VARIANCES)
    np.testing.assert_allclose(ERF.excess(pairs)[:, 0], sines / np.pi, rtol=1e-11, atol=1e-14)
    root = np.sqrt(p * q - r**2)
    mu = 4 / np.pi * (1 / np.sqrt(1 + 4 * A) + r / root) / p
    found = ERF.slopes(pairs)
    np.testing.assert_allclose(found.mu[:, 0], mu, rtol=1e-12)
    np.testing.assert_array_equal(found.kappa_student, 0.0)
    expected = mu - 4 / np.pi / root
    np.testing.assert_allclose(found.kappa_teacher[:, 0], expected, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("slope", [0.0, 0.5])
def test_excess_and_slopes_of_leaky_relu_are_those_of_its_angle(slope):
    A, B, C = VARIANCES.T
    area = np.sqrt(A * B - C**2)
    theta = np.where(A > 0, np.arctan2(area, C), np.pi / 2)
    lam, c = 0.5 * (1 + slope**2), (1 - slope) ** 2 / (2 * np.pi)
    cross = slope * C + c * (area + (np.pi - theta) * C)
    pairs = pairs_with(VARIANCES)
    form = leaky(slope)
    expected = 0.5 * lam * (A + B) - cross
    np.testing.assert_allclose(form.excess(pairs)[:, 0], expected, rtol=1e-11, atol=1e-14)
    found = form.slopes(pairs)
    np.testing.assert_allclose(found.mu[:, 0], np.full(9, lam), rtol=1e-14)
    ratio = area / np.where(A > 0, A, 1.0)
    np.testing.assert_allclose(found.kappa_student[:, 0], c * ratio, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.kappa_teacher[:, 0], c * theta, rtol=1e-12)


def test_quadrature_of_a_square_is_its_fourth_moments():
    """E a⁴ = 3A² and E a²b² = AB + 2C²; σ′ = 2x and σ″ = 2."""
    A, B, C = VARIANCES.T
    square = quadrature.form(jnp.square, 81)
    pairs = pairs_with(VARIANCES)
    expected = 0.5 * (3 * A**2 + 3 * B**2 - 2 * (A * B + 2 * C**2))
    np.testing.assert_allclose(square.excess(pairs)[:, 0], expected, rtol=1e-9, atol=1e-12)
    found = square.slopes(pairs)
    mu = 4 * A + 2 * (A - B)
    np.testing.assert_allclose(found.mu[:, 0], mu, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.kappa_teacher[:, 0], mu - 4 * C, rtol=1e-10, atol=1e-9)


def test_the_gap_of_steins_form_is_what_the_slopes_lack():
    """For the identity E[(a − b)b]/B is C/B − 1 = ε, and the slopes say 2ε + 3."""
    given = VARIANCES[:6]
    slopes = quadrature.Slopes(*(jnp.full((6, 1), x) for x in (2.0, 0.0, 3.0)))
    found = quadrature._stein_gap(lambda x: x, pairs_with(given), slopes, 81)
    epsilon = given[:, 2] / given[:, 1] - 1
    np.testing.assert_allclose(found[:, 0], epsilon - (2 * epsilon + 3), rtol=1e-10)


def test_the_pairs_of_quadrature_are_at_its_reach_and_at_a_third():
    """Rows as (⟨w,v⟩/‖v‖², ‖w⊥‖²/‖v‖², part of the reach); student or teacher is as large as
    that. Columns are S* itself and one that is 0.95 of it and a little beside.
    """
    rows = np.array(
        [
            (0.1, 0.4, 1.0),
            (0.5, 0.05, 1.0),
            (0.99, 0.0, 1.0),
            (-1.0, 0.0, 1.0),
            (0.9, 0.3, 0.3),
            (0.99, 0.0, 0.3),
            (1.2, 0.1, 0.3),
        ]
    )
    along, off, part = rows.T
    found = quadrature._probes(4.0)
    larger = np.maximum(found.student, found.teacher)[:, 0]
    np.testing.assert_allclose(larger, (4 * part) ** 2, rtol=1e-14)
    np.testing.assert_allclose(found.row_along[:, 0], along)
    np.testing.assert_allclose(found.alpha[:, 0], along - 1, rtol=1e-14)
    np.testing.assert_allclose(found.row_off / found.row, off[:, None], rtol=1e-14)
    np.testing.assert_array_equal(found.delta, [[0.0, 0.0]])
    np.testing.assert_array_equal(found.column_off, [[0.0, 0.05]])
    np.testing.assert_array_equal(found.column, [[1.0, 0.95]])


# --- heads


@pytest.fixture
def shared(monkeypatch):
    """Whether threads were asked to share, for so many heads of three inputs on so many cores."""
    asked = []

    def share(compute, parts):
        asked.append(len(parts))
        return list(map(compute, parts))

    monkeypatch.setattr(tangent_kernel, "HEADS", 2)
    monkeypatch.setattr(tangent_kernel, "in_threads", share)
    ones = np.ones((12, 2, 4))

    def ask(heads, cores, most, others=None):
        asked.clear()
        monkeypatch.setattr(tangent_kernel.os, "cpu_count", lambda: cores)
        monkeypatch.setattr(tangent_kernel, "SHARED", most)
        found = jnp.asarray(np.zeros((3, others or 3)))
        monkeypatch.setattr(tangent_kernel, "_compiled", lambda _: lambda *given, **more: (found,))
        more = () if others is None else (ones[:others], ones[:others, :, 0])
        given = ones[:heads, :, :2], ones[:heads, :, 0], ones[:3], ones[:3, :, 0], *more
        tangent_kernel.gram(*map(jnp.asarray, given), activation=jnp.tanh)
        return asked == [cores or 1]

    return ask


def test_cores_share_the_heads_where_matrices_are_small_and_heads_many(shared):
    """Two times two heads per core at least, and a matrix of so many entries at most."""
    assert shared(12, 3, 9)
    assert not shared(11, 3, 9)
    assert not shared(12, 3, 8)
    assert shared(12, 3, 6, others=2)
    assert not shared(12, 3, 5, others=2)
    assert shared(4, None, 9)
    assert not shared(3, None, 9)


def test_a_group_of_heads_has_features_that_fit_the_cache(monkeypatch):
    """Of n + n′ samples (2d + 1) numbers of 8 bytes per head, and 32 heads at least."""
    asked = []

    def size(heads, most):
        asked.append((heads, most))
        return heads

    monkeypatch.setattr(tangent_kernel, "_group_size", size)
    monkeypatch.setattr(tangent_kernel, "GROUP", 40 * (3 + 2) * 5 * 8 + 7)
    heads, tokens = jnp.ones((4, 2, 2)), jnp.ones((3, 2, 4))
    given = heads, heads[:, 0], heads[:, 0, 0], (tokens, tokens[:, :, 0])
    how = {"activation": jnp.tanh, "parts": False}
    for others in (None, (tokens[:2], tokens[:2, :, 0])):
        jax.eval_shape(partial(tangent_kernel._gram, **how), *given, others)
    assert asked == [(4, (40 * 5 * 5 * 8 + 7) // (3 * 5 * 8)), (4, 40)]
    monkeypatch.setattr(tangent_kernel, "GROUP", 100)
    jax.eval_shape(partial(tangent_kernel._gram, **how), *given, None)
    assert asked[-1] == (4, tangent_kernel.HEADS)


def test_tiles_cover_a_matrix_once_or_its_lower_half(monkeypatch):
    monkeypatch.setattr(tangent_kernel, "TILE", 4)
    whole = tangent_kernel._tiles(5, 9, symmetric=False)
    assert whole.tolist() == [[i, j] for i in range(2) for j in range(3)]
    half = tangent_kernel._tiles(9, 9, symmetric=True)
    assert half.tolist() == [[i, j] for i in range(3) for j in range(i + 1)]


@pytest.mark.parametrize(("whole", "most"), [(17, 4), (16, 4), (3, 5), (5, 0), (7, 1)])
def test_equal_parts_are_the_fewest_that_cover(whole, most):
    parts = math.ceil(whole / max(1, most))
    assert heads_gradient.even(whole, most) == math.ceil(whole / parts)


def test_a_block_of_samples_has_scores_within_the_block(monkeypatch):
    """Of 2 tokens and 3 heads 48 bytes per sample."""
    monkeypatch.setattr(heads_gradient, "BLOCK", 4 * 48 + 47)
    assert heads_gradient.block_size(jnp.ones((9, 5, 2)), 3) == 3  # three blocks of three
    assert [int(heads_gradient.block_start(jnp.asarray(k), 4, 9)) for k in range(3)] == [0, 4, 5]
