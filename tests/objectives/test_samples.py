"""A sample: its loss by hand, its draws, and what it refuses before it is drawn."""

import heads_twin
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tutelage as tt
from tutelage.objectives import squared_loss
from tutelage.objectives.sample import BLOCK, Sample, draw_sample, fixed_sample
from tutelage.objectives.squared_loss import SingleSampleLoss
from tutelage.problem.build import build
from tutelage.students.shallow_transformer import ShallowTransformer
from tutelage.teachers.transported import TransportedTeacher


def test_labels_that_are_no_matrices_are_refused_before_any_is_computed(monkeypatch):
    calls = []
    label = TransportedTeacher.__call__

    def count(self, tokens):
        calls.append(tokens)
        return label(self, tokens)

    monkeypatch.setattr(TransportedTeacher, "__call__", count)
    setting = tt.Setting(
        tt.Part("transported", pool=1024),
        rate=0.01,
        steps=5,
        objective=tt.Part("minibatch", samples=2000, held_out=1000),
        measures=("excess_risk",),
    )
    with pytest.raises(tt.Refused, match=r"Got a teacher with labels of shape \(\)"):
        build(setting)
    assert len(calls) == 1  # for its shape alone, which takes no numbers


def test_the_loss_is_half_the_mean_square_of_what_is_missed():
    """A student that doubles its inputs misses by 1 and 5, and on the second input by nothing."""
    tokens = np.array([[[1.0, 2.0]], [[0.0, 1.0]]])
    sample = Sample(tokens, np.array([[[3.0, -1.0]], [[0.0, 2.0]]]))

    def double(tokens):
        return 2 * tokens

    sample.check(double)
    with pytest.raises(tt.Refused, match=r"predictions of shape \(2, 1\)"):
        sample.check(jnp.transpose)
    np.testing.assert_allclose(sample.losses(double), [0.5 * (1 + 25), 0.0], rtol=1e-15)
    assert float(sample(double)) == float(sample.excess(double)) == 6.5


@pytest.mark.parametrize("count", [1, 3, BLOCK, BLOCK + 1])
def test_a_fixed_sample_is_the_one_that_is_drawn_whole(count):
    """In blocks, with the stream of a draw in one piece; noise is added where it is asked for."""
    setting = tt.Setting(
        tt.Part("convolution", tokens=4, support=2, outputs=2, dim=3, noise=0.5), rate=0.1, steps=1
    )
    problem, key = build(setting), jax.random.key(3)
    whole = draw_sample(problem.teacher, problem.inputs, count, key=key)
    fixed = fixed_sample(problem.teacher, problem.inputs, count, key=key)
    np.testing.assert_allclose(fixed.tokens, whole.tokens, rtol=1e-12)
    np.testing.assert_allclose(fixed.labels, whole.labels, rtol=1e-12)
    plain = fixed_sample(problem.teacher, problem.inputs, count, key=key, noisy=False)
    expected = jax.vmap(problem.teacher)(fixed.tokens)
    np.testing.assert_allclose(plain.labels, expected, rtol=1e-12, atol=1e-14)
    assert np.abs(fixed.labels - plain.labels).min() > 0


def test_the_squared_loss_is_a_mean_without_the_half():
    """A student that sums its tokens says 3 and 1 where 5 and −1 are asked for."""
    tokens = jnp.asarray([[[1.0, 2.0]], [[0.0, 1.0]]])
    labels, held = jnp.asarray([5.0, -1.0]), jnp.asarray([2.0, 4.0])
    loss = SingleSampleLoss(None, tokens, labels, jnp.zeros(2), tokens, held)
    assert float(loss(jnp.sum)) == float(loss.excess(jnp.sum)) == (4 + 4) / 2
    assert float(loss.validation(jnp.sum)) == (1 + 9) / 2
    assert float(loss.power()) == (25 + 1) / 2
    seen = {float(loss.draw(jnp.max, key=jax.random.key(seed))) for seed in range(8)}
    assert seen == {(2.0 - 5.0) ** 2, (1.0 + 1.0) ** 2}


def test_a_brief_run_is_compiled_briefly(monkeypatch):
    """Samples × tokens × heads × steps against 60, with two samples of three tokens."""
    monkeypatch.setattr(squared_loss, "LITTLE", 60)
    loss = SingleSampleLoss(None, jnp.zeros((2, 1, 3)), jnp.zeros(2), jnp.zeros(2))
    heads = heads_twin.some_heads(2, 0, dim=1)
    student = ShallowTransformer(heads, heads, None, tt.activation("tanh"))
    for given, steps, found in (
        (jnp.sum, 9, squared_loss.BRIEF),
        (jnp.sum, 10, squared_loss.COMPILER),
        (student, 4, squared_loss.BRIEF),
        (student, 5, squared_loss.COMPILER),
    ):
        assert loss.compiler_options(given, steps, "cpu") == found["cpu"]
        assert loss.compiler_options(given, steps, "tpu") == {}
