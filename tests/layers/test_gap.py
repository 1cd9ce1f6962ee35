"""The gap of position-only students: closed forms, and students that are really fitted."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tutelage as tt
from tutelage.layers.gap import gaussian_gap, sampled_gap
from tutelage.layers.training import train_on_samples, with_constant

pytestmark = pytest.mark.usefixtures("adam_allowed")
DRAW = np.random.default_rng(0)
V, S = DRAW.normal(size=(2, 3)), np.array(tt.pooling(4, 2))


def test_two_linear_heads_leave_the_second_singular_value():
    """Y = V₁XS₁ + V₂XS₂ on N(0, 1): C is known, and what its best Kronecker product leaves."""
    Vs, Ss = DRAW.normal(size=(2, 2, 3)), DRAW.normal(size=(2, 4, 4))
    forms = np.einsum("hmi,hjq->mqij", Vs, Ss)
    X = DRAW.normal(size=(400, 3, 4))
    Y = np.einsum("mqij,nij->nmq", forms, X)
    found = gaussian_gap(tt.Gaussian(), X, Y, forms)
    values = np.linalg.svd(forms.transpose(0, 2, 3, 1).reshape(6, 16), compute_uv=False) ** 2
    assert found.one_head == pytest.approx(1 - values[0] / values.sum(), rel=1e-12)
    assert found.left[1] == pytest.approx(0.0, abs=1e-12)
    assert found.linear == pytest.approx(0.0, abs=1e-12)


def test_a_relu_leaves_what_its_first_hermite_coefficient_does_not_have():
    """relu(z), z ~ N(0, s²): variance (½ − 1/2π)s², of which ¼s² is linear."""
    found = tt.learn(
        lambda X: jax.nn.relu(V @ X @ S), shape=(3, 4), steps=0, fresh=20_000, probes=64
    )
    truth = 1 - 0.25 / (0.5 - 1 / (2 * np.pi))
    assert found.gap.low - 0.01 <= truth <= found.gap.high + 0.01
    assert found.gap.one_head == pytest.approx(truth, abs=0.02)


def test_whitening_makes_no_difference_to_a_linear_layer():
    covariance = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 0.7]])
    correlation = 0.5 * np.eye(4) + 0.5
    law = tt.Gaussian(covariance, correlation)
    root, column = np.asarray(law.feature_root), np.asarray(law.position_root)
    X = root @ DRAW.normal(size=(300, 3, 4)) @ column
    forms = np.einsum("mi,jq->mqij", V, S)
    found = gaussian_gap(law, X, V @ X @ S, forms)
    assert found.high == pytest.approx(0.0, abs=1e-10)


def test_any_inputs_are_fitted_on_one_half_and_judged_on_the_other():
    X = DRAW.exponential(size=(200, 3, 4)) * np.array([1.0, 2.0, 0.5])[:, None]
    exact = sampled_gap(X, V @ X @ S + 3.0)
    assert exact.high < 1e-20
    noise = DRAW.normal(size=(200, 2, 4))
    alone = sampled_gap(X, noise)
    assert alone.low < 0.999  # a fit to noise looks better on its own inputs
    assert alone.one_head > 0.95
    assert alone.low <= alone.one_head <= alone.high


@pytest.mark.depth
def test_a_student_trained_on_labels_alone_explains_a_member_with_a_bias():
    shift = np.array([[0.5], [-0.7]])
    X = DRAW.normal(size=(300, 3, 4))
    Y = np.maximum(V @ X @ S + shift, 0.0)
    found = train_on_samples(X, Y, tt.activation("relu"), steps=600, size=1.0, constant=True)
    assert found.share > 0.98
    assert not found.exact
    learned = np.asarray(found.run.student.value)
    np.testing.assert_allclose(learned[:, -1], shift[:, 0], atol=0.15)
    plain = train_on_samples(X, Y, tt.activation("relu"), steps=600, size=1.0, constant=False)
    assert plain.share < found.share - 0.02


def test_the_constant_feature_carries_the_bias_exactly():
    X = DRAW.normal(size=(5, 3, 4))
    bias = np.array([[1.0], [2.0]])
    wide = np.concatenate([V, bias], axis=1)
    np.testing.assert_allclose(wide @ with_constant(X) @ S, V @ X @ S + bias, atol=1e-12)


def test_a_recorded_teacher_refuses_other_inputs():
    from tutelage.teachers.recorded import Recorded

    teacher = Recorded(jnp.zeros((5, 3, 4)), jnp.zeros((5, 2, 4)), tt.activation("relu"))
    assert teacher.shape == (2, 3, 4, 4)
    with pytest.raises(tt.Refused, match="knows the labels of its own inputs only"):
        teacher(jnp.zeros((3, 4)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"labels": np.zeros((4, 2, 1))}, r"Got inputs of shape \(5, 3, 4\), labels of shape"),
        ({"labels": np.zeros((5, 2))}, "since every input has one label"),
        ({"held_out": 5}, "Got held_out=5, 5 inputs"),
        ({"held_out": 0}, "`held_out` must be"),
    ],
)
def test_recorded_labels_that_cannot_be_trained_on_are_refused(options, said):
    given = {"inputs": np.ones((5, 3, 4)), "labels": np.ones((5, 2, 1)), "held_out": 1, **options}
    objective = tt.Part("recorded", held_out=given.pop("held_out"))
    setting = tt.Setting(tt.Part("recorded", **given), rate=0.1, steps=1, objective=objective)
    with pytest.raises(tt.Refused, match=said):
        list(tt.execute([setting]))


@pytest.mark.depth
def test_the_student_of_a_layer_outside_the_class_is_stored(tmp_path, monkeypatch):
    """Found again when the same layer is asked about, and read from the store without it."""
    W = DRAW.normal(size=(3, 4, 4))

    def attention(x):
        return jax.nn.softmax((x @ W[0]) @ (x @ W[1]).T, axis=-1) @ (x @ W[2])

    store = tt.Store(tmp_path)
    how = {"tokens": tt.Sequence(), "shape": (5, 4), "steps": 40, "fresh": 100, "probes": 8}
    first = tt.learn(attention, **how, store=store)
    assert first.member is tt.Status.FAILS
    (entry,) = store.entries()
    run = store.find(store.setting(entry))
    assert run.curves["excess_risk"].tolist() == first.explained.run.curves["excess_risk"].tolist()
    np.testing.assert_array_equal(run.student.value, first.explained.run.student.value)
    monkeypatch.setattr("tutelage.running.execute.checked", None)  # nothing can be trained now
    assert tt.learn(attention, **how, store=store).explained.share == first.explained.share


@pytest.mark.depth
def test_content_is_not_explained_and_says_so():
    W = DRAW.normal(size=(3, 4, 4))

    def attention(x):
        return jax.nn.softmax((x @ W[0]) @ (x @ W[1]).T, axis=-1) @ (x @ W[2])

    found = tt.learn(attention, tokens=tt.Sequence(), shape=(5, 4), steps=150, fresh=400, probes=8)
    assert found.explained.share < 0.9
    assert found.explained.interval[0] <= found.explained.share <= found.explained.interval[1]
    assert "trained on samples for 150 steps" in found.sentence
