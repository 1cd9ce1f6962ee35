"""A sample: its loss by hand, its draws, and what it refuses before it is drawn."""

import heads_twin
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import TypeCheckError

import tutelage as tt
from tutelage.objectives import squared_loss
from tutelage.objectives.population import PopulationRisk
from tutelage.objectives.sample import BLOCK, Sample, draw_sample, fixed_sample, judge
from tutelage.objectives.squared_loss import SingleSampleLoss, SquaredLoss
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


def test_the_excess_is_judged_by_the_closed_form_or_by_inputs_that_are_held_out():
    teacher, key = tt.BilinearTeacher(np.eye(2), np.eye(2), noise=0.5), jax.random.key(1)
    assert isinstance(judge(teacher, tt.Gaussian(), 0, key=key), PopulationRisk)
    found = judge(teacher, tt.Gaussian(), 1, key=key)
    assert found.tokens.shape == found.labels.shape == (1, 2, 2)
    np.testing.assert_allclose(found.labels, found.tokens, rtol=1e-15)  # without noise
    with pytest.raises(tt.Refused, match="held_out"):
        judge(teacher, tt.Gaussian(), -1, key=key)


@pytest.mark.parametrize(
    ("shape", "labels"), [((2, 3), 2), ((2, 3, 4, 1), 2), ((2, 3, 4), 3), ((0, 3, 4), 0)]
)
def test_inputs_and_labels_of_unlike_shapes_are_refused(shape, labels):
    """By the types already, where the tests look at shapes."""
    refused = tt.Refused, TypeCheckError
    with pytest.raises(refused):
        SquaredLoss(None, jnp.zeros(shape), jnp.zeros(labels), jnp.zeros(labels))
    matrices = np.zeros((labels, 1, 1))
    with pytest.raises(refused):
        Sample(np.zeros(shape), matrices)
    with pytest.raises(refused):
        Sample(np.zeros((labels, 3, 4)), np.zeros((labels, 1)))


def test_the_squared_loss_of_heads_is_that_of_their_outputs():
    """Its value alone, and with its gradient: they are two programs."""
    heads, tokens = heads_twin.some_heads(3, 1), np.stack(heads_twin.some_inputs(4, 2))
    query, labels = np.array([0.5, -1.0, 2.0]), np.array([0.3, -0.2, 0.1, 0.5])
    student = ShallowTransformer(heads, heads, jnp.asarray(query), tt.activation("tanh"))
    loss = SquaredLoss(None, jnp.asarray(tokens), jnp.asarray(labels), jnp.zeros(4))
    missed = np.array([heads_twin.value(heads, X, query) for X in tokens]) - labels
    slopes = [heads_twin.gradient(heads, X, query) for X in tokens]
    assert float(loss(student)) == pytest.approx(np.mean(missed**2), rel=1e-12)
    value, found = jax.value_and_grad(
        lambda heads: (
            3.0
            * squared_loss.mean_square(
                ShallowTransformer(heads, heads, jnp.asarray(query), tt.activation("tanh")),
                loss.tokens,
                loss.labels,
            )
        )
    )(heads)
    assert float(value) == pytest.approx(3 * np.mean(missed**2), rel=1e-12)
    for part, name in enumerate(("attention", "reading", "output")):
        expected = 3 * np.mean([2 * m * s[part] for m, s in zip(missed, slopes, strict=True)], 0)
        np.testing.assert_allclose(getattr(found, name), expected, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize(
    ("theirs", "ours", "alike"),
    [
        (None, None, True),
        ((1.0, 2.0), (1.0, 2.0), True),
        ((1.0, 2.0), (1.0, 3.0), False),
        (None, (1.0, 2.0), False),
        ((1.0, 2.0), None, False),
    ],
)
def test_teacher_and_student_ask_with_the_same_query(theirs, ours, alike):
    heads = heads_twin.some_heads(2, 0, dim=2)
    queries = [None if query is None else jnp.asarray(query) for query in (theirs, ours)]
    teacher = object.__new__(TransportedTeacher)
    object.__setattr__(teacher, "query", queries[0])
    student = ShallowTransformer(heads, heads, queries[1], tt.activation("tanh"))
    loss = SquaredLoss(teacher, jnp.zeros((1, 2, 3)), jnp.zeros(1), jnp.zeros(1))
    if alike:
        loss.check(student)
    else:
        with pytest.raises(tt.Refused, match="the same `query`"):
            loss.check(student)


def test_a_validation_sample_has_inputs_and_labels():
    tokens, labels = jnp.zeros((1, 2, 3)), jnp.zeros(1)
    for given in ((None, None), (tokens, None), (None, labels)):
        loss = SquaredLoss(None, tokens, labels, labels, *given)
        with pytest.raises(tt.Refused, match="no validation sample"):
            loss.validation(jnp.sum)
