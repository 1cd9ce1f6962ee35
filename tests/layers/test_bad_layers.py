"""Layers and inputs that are refused: the rule, the reason, and what was received."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tutelage as tt
from tutelage.layers.foreign import explain_failure

DRAW = np.random.default_rng(0)
V, S = DRAW.normal(size=(2, 3)), np.array(tt.pooling(4, 2))
SHAPE = (3, 4)


def refusal(layer, inputs=None, **more):
    options = {"shape": SHAPE, "steps": 0, **more}
    with pytest.raises(tt.Refused) as refused:
        tt.learn(layer, inputs, **options)
    return str(refused.value)


def test_a_layer_that_draws_is_refused():
    said = refusal(lambda X: np.asarray(X) + np.random.normal(size=SHAPE))
    assert "must give the same output for the same input, since" in said
    assert "draws random numbers" in said


def test_a_layer_that_draws_while_jax_traces_it_is_refused():
    """JAX can follow it: compiled, it would add the same draw to every input."""
    said = refusal(lambda X: X + np.random.normal(size=SHAPE))
    assert "must give the same output for the same input, since" in said
    assert "draws random numbers" in said


def test_a_layer_with_a_state_that_jax_does_not_see_is_refused():
    count = []

    def counts(X):
        count.append(1)
        return len(count) * X

    assert "keeps a state" in refusal(counts)


def test_a_layer_with_a_state_is_refused():
    count = []

    def counts(X):
        count.append(1)
        return len(count) * np.asarray(X)

    assert "keeps a state" in refusal(counts)


def test_a_layer_that_remembers_earlier_inputs_is_refused():
    memory = [np.zeros(SHAPE)]

    def remembers(X):
        X = np.asarray(X)
        if not np.array_equal(memory[-1], X):
            memory.append(X)
        return X + 0.1 * memory[-2]

    said = refusal(remembers)
    assert "same output for the same input" in said


def test_a_layer_that_changes_its_shape_is_refused():
    def ragged(X):
        X = np.asarray(X)
        return X[:, : 2 + int(X[0, 0] > 0)]

    said = refusal(ragged, seed=1)
    assert "must return outputs of one shape, since" in said
    assert "(3, 2) and (3, 3)" in said


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (lambda X: jnp.log(X), "must return finite numbers"),
        (lambda X: jnp.zeros((2, 4)), "must depend on its input"),
        (lambda X: X[:0], "must return something"),
        (lambda X: np.fft.fft(np.asarray(X)), "must return real numbers"),
        (lambda X: np.array(["word"]), "must return real numbers"),
        (lambda X: (X, X), "needs `output`"),
        (lambda X: {"out": X}, "arrays named 'out'"),
        (lambda X: V.T @ X, "must take an input of shape (3, 4)"),
        (3, "must be something that can be called"),
        (dict, "must be an object and not its class"),
    ],
)
def test_layers_that_are_no_functions_of_their_tokens_are_refused(layer, words):
    assert words in refusal(layer)


def test_one_of_several_outputs_can_be_chosen():
    assert tt.learn(
        lambda X: (X, jax.nn.relu(V @ X @ S)), shape=SHAPE, output=1, steps=0, fresh=64, probes=6
    ).answer == "member"  # fmt: skip
    found = tt.learn(
        lambda X: {"a": V @ X @ S}, shape=SHAPE, output="a", steps=0, fresh=64, probes=6
    )
    assert found.answer == "member"
    assert "Got one array, output=0" in refusal(lambda X: V @ X @ S, output=0)


def test_a_rare_nan_is_found_on_fresh_inputs():
    def rare(X):
        return jnp.where(X[0, 0] > 2.0, jnp.nan, 1.0) * (V @ X @ S)

    said = refusal(rare, fresh=2000, probes=4)
    assert "Got NaN or infinity" in said


def test_another_device_is_named():
    error = RuntimeError("Found no NVIDIA driver on your system.")
    said = str(explain_failure(error, np.zeros((1, 2))))
    assert "must run on the CPU, since" in said
    assert "NVIDIA" in said


def test_a_batch_that_is_mixed_is_refused():
    said = refusal(lambda X: X - np.asarray(X).mean(0, keepdims=True), batched=True)
    assert "must treat the inputs of a batch apart, since" in said


@pytest.mark.parametrize(
    ("inputs", "more", "words"),
    [
        (None, {"shape": None}, "`shape` must be given with an input law, since"),
        (None, {"shape": (3, 0)}, "`shape` must be a whole number of at least 1"),
        (np.zeros((20, 3, 5)), {}, "inputs of shape (3, 5)"),
        (np.zeros((3, 3, 4)), {}, "at least 8 inputs"),
        (np.full((20, 3, 4), np.nan), {}, "`inputs` must be finite"),
        ("gausian", {}, "Did you mean 'gaussian'"),
        ([["a", "b"]], {}, "`inputs` must be an input law"),
        (tt.Gaussian(np.eye(5)), {}, "`covariance` must be 3×3"),
        (None, {"tokens": "patches:3"}, "`tokens` must be Columns()"),
        (None, {"tokens": tt.Patches(3)}, "three axes"),
        (None, {"probes": 1}, "`probes` must be a whole number of at least 2"),
        (None, {"fresh": 3}, "`fresh` must be a whole number of at least 16"),
        (None, {"steps": -1}, "`steps` must be a whole number of at least 0"),
        (None, {"seed": -1}, "`seed` must be a whole number of at least 0"),
        (None, {"seed": "x"}, "`seed` must be a whole number of at least 0"),
        (None, {"seed": [1]}, "`seed` must be a whole number of at least 0"),
        (None, {"tolerance": 0.0}, "`tolerance` must be a positive"),
        (None, {"framework": "tensorflow"}, "There is no framework named 'tensorflow'"),
    ],
)
def test_wrong_questions_are_refused_before_the_layer_is_called(inputs, more, words):
    called = []

    def layer(X):
        called.append(1)
        return V @ X @ S

    assert words in refusal(layer, inputs, **more)
    assert len(called) <= 1  # traced once, to tell which framework it is of


def test_a_path_that_leads_nowhere_is_refused():
    class Part:
        def __init__(self, **parts):
            vars(self).update(parts)

        def __call__(self, X):
            return X

    model = Part(encoder=Part(layers=[Part(attention=Part()), Part()]))
    assert tt.layer(model, "encoder.layers.0.attention") is model.encoder.layers[0].attention
    with pytest.raises(tt.Refused, match="Did you mean 'attention'") as refused:
        tt.layer(model, "encoder.layers.0.atention")
    assert "encoder.layers.0 has no such part" in str(refused.value)
    with pytest.raises(tt.Refused, match="Got a path to a list"):
        tt.layer(model, "encoder.layers")
