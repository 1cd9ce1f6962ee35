"""Random numbers by counting: known answers, a twin in double precision, and their law."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import tutelage as tt
from tutelage.numerics import draws

MANY = 1 << 18
# As programs, which is how they are used: by themselves, each of their operations is one.
words = jax.jit(draws.words, static_argnums=1)
box_muller = jax.jit(draws.box_muller)
normals = jax.jit(draws.normals, static_argnums=(1, 2))

# Counter and key, and the two words that Salmon et al. publish for ten rounds (Random123's file of
# known answers).
KNOWN = [
    ((0x00000000, 0x00000000, 0x00000000), (0xFF1DAE59, 0x6CD10DF2)),
    ((0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF), (0x2C3F628B, 0xAB4FD7AD)),
    ((0x243F6A88, 0x85A308D3, 0x13198A2E), (0xDD7CE038, 0xF62A4C12)),
]


def block(low, high, key):
    words = draws.philox(*(jnp.asarray(word, jnp.uint32) for word in (key, low, high)))
    return tuple(int(word) for word in words)


@pytest.mark.parametrize(("given", "known"), KNOWN)
def test_blocks_are_the_published_ones(given, known):
    assert block(*given) == known


def test_a_round_too_few_is_noticed(monkeypatch):
    monkeypatch.setattr(draws, "_ROUNDS", 9)
    assert block(*KNOWN[0][0]) != KNOWN[0][1]


def by_hand(first, second):
    """Box and Muller by NumPy's functions."""
    radius = np.sqrt(-2 * np.log((np.asarray(first, float) + 0.5) / 2.0**32))
    angle = 2 * np.pi * np.asarray(second, float) / 2.0**32
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def test_normals_are_those_of_box_and_muller_rounded_to_single_precision():
    """Polynomials are right to 1e-10 of r, which carries one in some thousand over the middle of
    two neighbours.
    """
    first, second = words(tt.stream(0, "z"), MANY)
    ours, right = np.asarray(box_muller(first, second)), by_hand(first, second)
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, right, rtol=2.0**-24 + 1e-9, atol=1e-9)
    assert np.mean(ours != right.astype(np.float32)) < 1e-3


def test_polynomials_are_right_far_below_that_rounding():
    first, second = (word.astype(jnp.uint64) for word in words(tt.stream(3, "z"), MANY))
    u, angle = (
        (np.asarray(first, float) + 0.5) / 2.0**32,
        2 * np.pi * np.asarray(second) / 2.0**32,
    )
    np.testing.assert_allclose(jax.jit(draws._logarithm)(first), np.log(u), rtol=1e-10)
    turned = jax.jit(draws._turned)(second)
    for ours, right in zip(turned, (np.cos(angle), np.sin(angle)), strict=True):
        np.testing.assert_allclose(ours, right, rtol=0, atol=1e-11)


def test_words_at_every_edge_give_finite_normals():
    """Both ends, the middle, and the edges of quarter turns, by which signs and sides change."""
    edges = np.asarray(
        [(k << 29) + i for k in range(8) for i in (-1, 0, 1)] + [0, 1, 2**32 - 1], np.int64
    )
    given = np.asarray(edges % 2**32, np.uint32)
    first, second = (side.ravel() for side in np.meshgrid(given, given))
    ours = np.asarray(box_muller(jnp.asarray(first), jnp.asarray(second)), float)
    assert np.isfinite(ours).all()
    assert np.abs(ours - by_hand(first, second)).max() < 3e-7


@pytest.mark.depth
def test_a_wrong_sign_of_one_quarter_is_noticed(monkeypatch):
    monkeypatch.setattr(draws, "_signed", lambda x, flip: jnp.abs(x))
    first, second = draws.words(tt.stream(0, "z"), 100)
    ours = np.asarray(draws.box_muller(first, second), float)
    assert np.abs(ours - by_hand(first, second)).max() > 0.1


def test_the_law_is_normal():
    """Moments by z-score, the distribution function by Kolmogorov and Smirnov, 64 equally likely
    cells by χ²; each would fail once in some 10,000 seeds.
    """
    z = np.asarray(normals(tt.stream(1, "z"), (MANY,), jnp.float64))
    for power, mean, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96), (6, 15, 10170)):
        assert abs((z**power).mean() - mean) < 4 * np.sqrt(variance / MANY)
    assert scipy.stats.kstest(z, "norm").pvalue > 1e-4
    edges = scipy.stats.norm.ppf(np.linspace(0, 1, 65))
    cells = np.histogram(z, edges)[0]
    assert scipy.stats.chisquare(cells).pvalue > 1e-4


@pytest.mark.depth
def test_bits_are_fair_and_pairs_of_bits_independent():
    """32 × 32 products of signs of both words: the largest of 1,024 normal scores is below 5."""
    first, second = (np.asarray(w) for w in draws.words(tt.stream(2, "z"), MANY))
    signs = [
        1.0 - 2.0 * ((word[:, None] >> np.arange(32, dtype=np.uint32)) & 1)
        for word in (first, second)
    ]
    scores = [side.sum(0) / np.sqrt(MANY) for side in signs] + [
        signs[0].T @ signs[1] / np.sqrt(MANY)
    ]
    assert max(np.abs(score).max() for score in scores) < 5
    serial = signs[0][1:].T @ signs[0][:-1] / np.sqrt(MANY)  # of one counter and the next
    assert np.abs(serial).max() < 5


@pytest.mark.depth
def test_streams_of_seeds_steps_and_parts_are_uncorrelated():
    """Neighbouring seeds and steps, and the two parts of one key: 48 streams, 1,128 correlations,
    and as many of their squares.
    """
    rows = [
        draws.normals(
            jax.random.fold_in(tt.stream(seed, "batches"), step), (4096,), jnp.float64, part=part
        )
        for seed in range(4)
        for step in range(6)
        for part in (0, 1)
    ]
    z = np.asarray(jnp.stack(rows))
    above = np.triu_indices(len(z), 1)
    for these in (z, z**2):
        scores = np.corrcoef(these)[above] * np.sqrt(z.shape[1])
        assert np.abs(scores).max() < 5
        assert 0.8 < scores.std() < 1.2  # as of independent rows, and not of equal ones


def test_numbers_do_not_depend_on_what_else_is_drawn_or_how():
    keys = jax.random.split(tt.stream(0, "z"), 3)
    lone = [np.asarray(draws.normals(key, (5, 7), jnp.float32)) for key in keys]
    together = jax.jit(jax.vmap(lambda key: draws.normals(key, (5, 7), jnp.float32)))(keys)
    np.testing.assert_array_equal(together, lone)
    longer = np.asarray(normals(keys[0], (100,), jnp.float32))
    np.testing.assert_array_equal(longer[:35], lone[0].ravel())


def test_double_precision_has_the_single_draws_cast_up():
    key = tt.stream(0, "z")
    single, double = (normals(key, (33,), kind) for kind in (jnp.float32, jnp.float64))
    assert double.dtype == jnp.float64
    np.testing.assert_array_equal(np.asarray(single, float), double)
