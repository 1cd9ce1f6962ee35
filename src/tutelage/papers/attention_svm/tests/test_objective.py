"""The loss that the explorer descends on, beside the same in log domain."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tutelage.papers.attention_svm.parts.attention import (
    descent_direction,
    log_excess,
    loss_of_selection,
)
from tutelage.papers.attention_svm.parts.objective import SequenceLoss, best_weight, margin_miss
from tutelage.papers.attention_svm.parts.sample import Sample, draw_sample
from tutelage.papers.attention_svm.parts.students import FactoredAttention, MatrixAttention
from tutelage.papers.attention_svm.theory.programmes import max_margin
from tutelage.refuse import Refused
from tutelage.students import PositionAttention

SAMPLE = draw_sample(2, 3, 4, 5, "sphere")
LOSS = SequenceLoss(SAMPLE)
TARGET = max_margin(SAMPLE, SAMPLE.best).matrix
HEAD = jnp.asarray(SAMPLE.head)


def student(matrix: np.ndarray) -> MatrixAttention:
    return MatrixAttention(jnp.asarray(matrix), HEAD)


def test_loss_and_gradient_are_those_of_log_domain():
    """At weights of e⁻³⁰, where a loss by itself no longer shows its excess."""
    matrix = 30 * TARGET + np.arange(25.0).reshape(5, 5) / 25
    value, slope = jax.jit(lambda s: (LOSS.excess(s), LOSS.gradient(s)))(student(matrix))
    assert np.log(value) == pytest.approx(log_excess(SAMPLE, matrix, SAMPLE.best), rel=1e-12)
    expected = -descent_direction(SAMPLE, matrix, 0.0)
    np.testing.assert_allclose(slope.matrix, expected, atol=1e-12 * np.abs(expected).max())


def test_the_student_is_that_of_the_loss():
    """The mean logistic loss of the student's own answers."""
    drawn = np.random.default_rng(0).standard_normal((2, 5, 5))
    factored = FactoredAttention(jnp.asarray(drawn[0]), jnp.asarray(drawn[1]), HEAD)
    given = np.concatenate([SAMPLE.tokens.transpose(0, 2, 1), SAMPLE.queries[:, :, None]], axis=2)
    answers = np.array([float(factored(jnp.asarray(one))) for one in given])
    expected = np.mean(np.log1p(np.exp(-SAMPLE.labels * answers)))
    assert float(LOSS(factored)) == pytest.approx(expected, rel=1e-13)
    assert float(LOSS(factored)) > loss_of_selection(SAMPLE, SAMPLE.best)


def test_measures_come_to_their_ends():
    assert float(margin_miss(student(np.zeros((5, 5))), LOSS)) == pytest.approx(0.5)
    assert float(margin_miss(student(7 * TARGET), LOSS)) < 1e-15
    assert float(best_weight(student(np.zeros((5, 5))), LOSS)) == pytest.approx(1 / 4)
    assert float(best_weight(student(100 * TARGET), LOSS)) == pytest.approx(1.0, abs=1e-12)


def test_tokens_that_cannot_be_selected_leave_no_target():
    tokens = np.array([[[1.0], [-1.0]], [[1.0], [-1.0]]])
    sample = Sample(tokens, np.array([[1.0], [1.0]]), np.array([1.0, -1.0]), np.array([1.0]))
    assert not SequenceLoss(sample).target.any()


def test_another_student_is_refused():
    other = PositionAttention.__new__(PositionAttention)
    with pytest.raises(Refused, match="attention with a fixed head"):
        LOSS.check(other)
