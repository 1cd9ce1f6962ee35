"""Attention with a fixed head: loss and gradient in log domain against twins of 50 digits,
automatic differentiation and finite differences.
"""

from __future__ import annotations

import importlib

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from planting import Fault, fresh_package

from tutelage.papers.attention_svm.parts.attention import (
    descent_direction,
    log_excess,
    loss_of_selection,
    weigh,
)
from tutelage.papers.attention_svm.parts.sample import Sample, draw_sample

SAMPLE = draw_sample(3, 3, 4, 5, "sphere")


def some_matrix(length: float, seed: int = 0) -> np.ndarray:
    drawn = np.random.default_rng(seed).standard_normal((5, 5))
    return length * drawn / np.linalg.norm(drawn)


def naive_loss(sample: Sample, matrix: np.ndarray) -> float:
    """The loss as a script has it; of an array of JAX where one is given."""
    numbers = jnp if isinstance(matrix, jax.Array) else np
    powers = numbers.exp(numbers.einsum("ntd,de,ne->nt", sample.tokens, matrix, sample.queries))
    weights = powers / powers.sum(1, keepdims=True)
    pooled = numbers.einsum("nt,ntd,d->n", weights, sample.tokens, sample.head)
    return numbers.mean(numbers.log1p(numbers.exp(-sample.labels * pooled)))


def exact(sample: Sample, matrix: np.ndarray, selected: np.ndarray) -> tuple[list, mpmath.mpf]:
    """−∇L and L − L_α to 200 digits, from the definition alone."""
    count, tokens = sample.scores.shape
    dim = len(sample.head)
    down = [[mpmath.mpf(0)] * dim for _ in range(dim)]
    excess = mpmath.mpf(0)
    for i in range(count):
        x = [[mpmath.mpf(float(v)) for v in token] for token in sample.tokens[i]]
        z = [mpmath.mpf(float(v)) for v in sample.queries[i]]
        image = [
            sum(mpmath.mpf(float(matrix[a, b])) * z[b] for b in range(dim)) for a in range(dim)
        ]
        powers = [mpmath.exp(sum(p * q for p, q in zip(token, image, strict=True))) for token in x]
        weights = [power / sum(powers) for power in powers]
        gains = [
            mpmath.mpf(float(sample.labels[i]))
            * sum(p * mpmath.mpf(float(q)) for p, q in zip(token, sample.head, strict=True))
            for token in x
        ]
        answer = sum(w * g for w, g in zip(weights, gains, strict=True))
        slope = 1 / (1 + mpmath.exp(answer)) / count
        for a in range(dim):
            pulled = sum(weights[t] * (gains[t] - answer) * x[t][a] for t in range(tokens))
            for b in range(dim):
                down[a][b] += slope * pulled * z[b]
        best = gains[int(selected[i])]
        excess += (mpmath.log(1 + mpmath.exp(-answer)) - mpmath.log(1 + mpmath.exp(-best))) / count
    return down, excess


def check_direction(length: float) -> None:
    """Against 200 digits, in units of its largest entry."""
    matrix = some_matrix(length)
    module = importlib.import_module("tutelage.papers.attention_svm.parts.attention")
    selected = SAMPLE.attended(matrix).argmax(1)
    with mpmath.workdps(200):
        down, _ = exact(SAMPLE, matrix, selected)
        log_scale = -float(module.weigh(SAMPLE, matrix).logs.max())
        scale = mpmath.exp(mpmath.mpf(log_scale))
        twin = np.array([[float(entry * scale) for entry in row] for row in down])
    found = module.descent_direction(SAMPLE, matrix, log_scale)
    np.testing.assert_allclose(found, twin, rtol=0, atol=1e-12 * np.abs(twin).max())


def check_excess(length: float) -> None:
    # Along the best tokens, so that the excess is positive at every length.
    matrix = some_matrix(length)
    module = importlib.import_module("tutelage.papers.attention_svm.parts.attention")
    with mpmath.workdps(400):
        _, excess = exact(SAMPLE, matrix, SAMPLE.best)
        twin = float(mpmath.log(excess))
    found = module.log_excess(SAMPLE, matrix, SAMPLE.best)
    assert abs(found - twin) <= 1e-12 * max(1.0, abs(twin))


@pytest.mark.parametrize("length", [0.0, 1.0, 30.0, 300.0])
def test_the_gradient_is_that_of_200_digits_however_saturated(length: float):
    check_direction(length)


def test_scaling_by_the_largest_weight_is_the_default():
    matrix = some_matrix(40.0)
    unit = weigh(SAMPLE, matrix).logs.max()
    np.testing.assert_allclose(
        descent_direction(SAMPLE, matrix, None),
        descent_direction(SAMPLE, matrix, -unit),
        rtol=1e-14,
    )


def test_the_gradient_is_that_of_automatic_differentiation():
    matrix = some_matrix(2.0)
    slope = jax.jit(jax.grad(lambda w: naive_loss(SAMPLE, w)))(jnp.asarray(matrix))
    np.testing.assert_allclose(descent_direction(SAMPLE, matrix, 0.0), -slope, atol=1e-14)


def test_the_gradient_is_that_of_finite_differences():
    matrix, step = some_matrix(2.0), 1e-6
    found = descent_direction(SAMPLE, matrix, 0.0)
    for a, b in ((0, 0), (3, 1), (4, 4)):
        move = np.zeros((5, 5))
        move[a, b] = step
        up, down = (naive_loss(SAMPLE, matrix + s * move) for s in (1, -1))
        assert found[a, b] == pytest.approx((down - up) / (2 * step), abs=1e-9)


@pytest.mark.parametrize("length", [1.0, 10.0])
def test_the_excess_is_that_of_400_digits(length: float):
    check_excess(length)


def test_a_saturated_excess_keeps_its_digits():
    """All weight but e⁻²⁰⁰ is on the best tokens: the loss itself no longer differs from its
    limit.
    """
    from tutelage.papers.attention_svm.theory.programmes import max_margin

    matrix = 400 * max_margin(SAMPLE, SAMPLE.best).matrix
    with mpmath.workdps(600):
        _, excess = exact(SAMPLE, matrix, SAMPLE.best)
        twin = float(mpmath.log(excess))
    assert twin < -390
    assert log_excess(SAMPLE, matrix, SAMPLE.best) == pytest.approx(twin, rel=1e-12)


def test_the_loss_is_that_of_the_selection_and_the_excess():
    matrix = some_matrix(3.0)
    whole = loss_of_selection(SAMPLE, SAMPLE.best) + np.exp(log_excess(SAMPLE, matrix, SAMPLE.best))
    assert whole == pytest.approx(naive_loss(SAMPLE, matrix), rel=1e-14)


MODULE = "papers.attention_svm.parts.attention"
FAULTS = [
    Fault(MODULE, "seen.gaps - gap[:, None]", "seen.gaps", "direction"),
    Fault(MODULE, "np.exp(chosen - gap)", "np.exp(chosen)", "direction"),
    Fault(MODULE, "np.log1p(np.expm1(gap) * share)", "np.expm1(gap) * share", "excess"),
    Fault(MODULE, "SMALL_GAP = 1e-9", "SMALL_GAP = 1.0", "excess"),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.broken)
def test_a_planted_fault_is_seen(fault: Fault):
    check = check_direction if fault.check == "direction" else check_excess
    with fresh_package(fault), pytest.raises(AssertionError):
        check(1.0)
