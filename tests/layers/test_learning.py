"""`learn` on layers whose answer is known, in NumPy and JAX."""

import equinox as eqx
import jax
import jax.numpy as jnp
import networkx
import numpy as np
import pytest

import tutelage as tt
from tutelage.claims import Status

DRAW = np.random.default_rng(0)
V = DRAW.normal(size=(3, 4))
S = np.array(tt.pooling(8, 2))
SMALL = {"steps": 0, "fresh": 200, "probes": 12}


def look(layer, shape=(4, 8), **more):
    return tt.learn(layer, shape=shape, **SMALL | more)


def by_name(found):
    return {fact.name: fact for fact in found.facts}


def same_product(found, value, selection):
    """V and S are known up to a factor: their outer product is what counts."""
    ours = np.einsum("mi,jq->mijq", found.value, found.selection)
    theirs = np.einsum("mi,jq->mijq", value, selection)
    np.testing.assert_allclose(ours, theirs, atol=1e-7)


BENDS = {
    "identity": lambda z: z,
    "relu": jax.nn.relu,
    "leaky_relu(0.2)": lambda z: jnp.where(z > 0, z, 0.2 * z),
    "erf": jax.scipy.special.erf,
    "tanh": jnp.tanh,
    "gelu": lambda z: jax.nn.gelu(z, approximate=False),
    "silu": jax.nn.silu,
    "sigmoid": jax.nn.sigmoid,
    "softplus": jax.nn.softplus,
}


# Further smooth activations are found in the same way as tanh and softplus.
FURTHER = ("erf", "gelu", "silu", "sigmoid", "softplus")


@pytest.mark.brief(4)
@pytest.mark.parametrize(
    ("name", "bias"),
    [
        *((name, 0.4) for name in BENDS if name not in FURTHER),
        *(pytest.param(name, 0.4, marks=pytest.mark.depth) for name in FURTHER),
        ("identity", 0.0),
        ("relu", 0.0),
        pytest.param("tanh", 0.0, marks=pytest.mark.depth),
    ],
)
def test_a_member_is_found_with_its_matrices_and_activation(name, bias):
    bend, shift = BENDS[name], bias * jnp.array([[1.0], [-2.0], [0.5]])
    found = look(lambda X: bend(V @ X @ S + shift))
    assert found.member is Status.HOLDS
    assert found.answer == ("member up to a bias" if bias else "member")
    assert found.activation.name == name
    assert found.kind is tt.Kind.POSITION
    assert max(fact.residual for fact in found.facts) < 1e-24
    assert found.differing == 0
    assert found.mass == pytest.approx(1 - 0.05 ** (1 / 200))
    same_product(found, V, S)
    np.testing.assert_array_equal(np.count_nonzero(found.selection, axis=0), 2)
    if bias:
        np.testing.assert_allclose(found.bias, np.broadcast_to(shift, (3, 8)), atol=1e-7)


def test_the_teacher_is_the_layer():
    found = look(lambda X: jax.nn.relu(V @ X @ S))
    X = DRAW.normal(size=(4, 8))
    np.testing.assert_allclose(
        np.asarray(found.teacher(jnp.asarray(X))), np.maximum(V @ X @ S, 0), atol=1e-12
    )
    assert found.counting_constant == 8 * 2 * (8 - 2) / 4
    assert not found.teacher.outside
    setting = found.setting(steps=50)
    assert setting.teacher.name == "bilinear"
    assert setting.inputs == tt.Part("gaussian")


def test_a_member_is_trained_on_its_exact_risk_and_tends_to_its_constant():
    found = tt.learn(lambda X: V @ X @ S, shape=(4, 8), probes=8, fresh=200, steps=20_000)
    run = found.explained.run
    assert found.explained.exact
    assert found.explained.share > 0.99
    verdict = tt.check(tt.Constant("excess_risk", exponent=-1, value=found.counting_constant), run)
    assert verdict.measured == pytest.approx(found.counting_constant, rel=0.05)
    assert run.setting == found.setting(steps=20_000)


def test_a_function_of_numpy_is_differenced_with_its_error():
    found = look(lambda X: np.maximum(np.asarray(V) @ np.asarray(X) @ S, 0.0))
    assert found.framework == "NumPy"
    assert found.answer == "member"
    assert 0 < found.error < 1e-6
    same_product(found, V, S)
    assert "central differences" in found.sentence


def test_single_precision_widens_the_tolerance_and_still_answers():
    small = V.astype(np.float32)
    found = look(lambda X: np.maximum(small @ np.asarray(X, np.float32) @ S.astype(np.float32), 0))
    assert found.tolerance > 1e-10
    assert found.answer == "member"


def test_a_module_of_equinox_is_taken_in_inference_mode():
    class Block(eqx.Module):
        linear: eqx.nn.Linear
        dropout: eqx.nn.Dropout

        def __call__(self, x):
            return jax.nn.relu(jax.vmap(self.linear)(self.dropout(x)))

    block = Block(
        eqx.nn.Linear(4, 3, key=jax.random.key(0), dtype=jnp.float64), eqx.nn.Dropout(0.5)
    )
    found = look(block, (8, 4), tokens=tt.Sequence())
    assert found.answer == "member up to a bias"
    same_product(found, np.asarray(block.linear.weight), np.eye(8))


@pytest.mark.depth
def test_graph_convolution_is_a_member_by_means_and_outside_by_symmetric_weights():
    graph = networkx.star_graph(5)
    graph.add_edge(1, 2)
    answers = {}
    for normalisation in ("columns", "symmetric"):
        weights = tt.neighbourhoods(graph, normalisation)
        found = look(lambda x, w=weights: jax.nn.relu(w.T @ x @ V.T), (6, 4), tokens=tt.Nodes())
        same_product(found, V, weights)
        answers[normalisation] = found
    assert answers["columns"].answer == "member"
    assert answers["symmetric"].answer == "of the form, with other column sums"
    assert answers["symmetric"].member is Status.FAILS
    assert answers["symmetric"].teacher.outside
    low, high = answers["symmetric"].column_sums
    sums = tt.neighbourhoods(graph, "symmetric").sum(0)
    assert high / low == pytest.approx(sums.max() / sums.min(), rel=1e-9)


def test_a_depthwise_convolution_has_a_head_per_tap():
    taps = DRAW.normal(size=(3, 4))

    def depthwise(X):
        padded = jnp.pad(X, ((0, 0), (1, 1)))
        return sum(taps[k][:, None] * padded[:, k : k + 8] for k in range(3))

    found = look(depthwise)
    assert (found.answer, found.heads, found.kind) == ("3 heads", 3, tt.Kind.HEADS)
    # The Gram matrix of the heads: taps against taps, shifts of the line against themselves.
    shifts = [np.eye(8, k=1), np.eye(8), np.eye(8, k=-1)]
    forms = np.einsum("km,mi,kjq->mqij", taps, np.eye(4), shifts)
    R = forms.transpose(0, 2, 3, 1).reshape(16, 64)
    values = np.linalg.svd(R, compute_uv=False) ** 2
    assert found.left_by_heads[0] == pytest.approx(1 - values[0] / values.sum(), rel=1e-9)


def test_fourier_mixing_is_two_heads_with_negative_weights():
    found = look(lambda x: jnp.fft.fft2(x).real, (6, 4), tokens=tt.Sequence())
    assert (found.heads, by_name(found)["pair"].status) == (2, Status.FAILS)
    assert found.selections.min() < -0.1


def test_max_pooling_switches():
    found = look(lambda X: jax.nn.relu(V @ X).reshape(3, 4, 2).max(-1))
    assert (found.kind, found.answer) == (tt.Kind.SWITCHING, "switching")
    assert by_name(found)["ridge"].residual > 0.2
    assert by_name(found)["pair"].status is None
    assert found.positional < 0.95
    with pytest.raises(tt.Refused, match="Got switching"):
        found.teacher  # noqa: B018


@pytest.mark.depth
def test_attention_by_content_is_told_and_grows_with_its_scores():
    Wq, Wk, Wv = DRAW.normal(size=(3, 4, 4))

    def attention(scale):
        return lambda x: jax.nn.softmax(scale * (x @ Wq) @ (x @ Wk).T, axis=-1) @ (x @ Wv)

    ridges = []
    for scale in (0.03, 1.0):
        found = look(attention(scale), (6, 4), tokens=tt.Sequence())
        assert found.kind is tt.Kind.CONTENT
        ridges.append(by_name(found)["ridge"].residual)
    assert ridges[0] < ridges[1]
    assert look(attention(0.0), (6, 4), tokens=tt.Sequence()).answer == "member"


def test_a_network_on_each_token_reads_fixed_tokens():
    found = look(lambda x: jnp.tanh(x @ V.T) @ V, (5, 4), tokens=tt.Sequence())
    assert found.kind is tt.Kind.NONLINEAR
    assert found.positional == pytest.approx(1.0)


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_residual_connection_is_named(where):
    W, P = DRAW.normal(size=(4, 4)), np.array(tt.pooling(8, 4))

    def block(X):
        inside = W @ X @ P
        return jax.nn.relu(inside + X) if where == "before" else X + jax.nn.relu(inside)

    found = look(block)
    assert "residual connection" in found.residual_connection
    if where == "before":
        assert found.heads == 2
    else:
        assert found.answer == "X plus: member"
        same_product(found, W, P)
    assert found.member is Status.FAILS


@pytest.mark.depth
def test_a_normalisation_after_the_activation_is_a_gain_and_an_offset():
    gain, offset = jnp.array([[2.0], [-0.5], [1.0]]), jnp.array([[0.3], [0.0], [-1.0]])
    for bend in (jax.nn.relu, jnp.tanh):
        found = look(lambda X, bend=bend: gain * bend(V @ X @ S) + offset)
        assert found.answer == "member up to a bias"
        np.testing.assert_allclose(found.offset, np.broadcast_to(offset, (3, 8)), atol=1e-6)


@pytest.mark.depth
def test_negative_weights_and_unknown_functions_are_said():
    differences = np.eye(8) - np.roll(np.eye(8), 1, axis=0)
    found = look(lambda X: V @ X @ differences)
    assert found.answer == "of the form, with negative weights"
    with pytest.raises(tt.Refused, match="a weight of"):
        found.teacher  # noqa: B018
    clipped = look(lambda X: jnp.clip(V @ X @ S, -1.0, 1.0))
    assert by_name(clipped)["shared"].status is Status.HOLDS
    assert by_name(clipped)["link"].status is not Status.HOLDS
    assert clipped.activation is None
    assert clipped.member is not Status.HOLDS


@pytest.mark.depth
def test_a_registered_activation_is_known():
    @tt.register("activation", "cubed-sine")
    def bend(z):
        return jnp.sin(z) + 1.5 * z

    found = look(lambda X: bend(V @ X @ S))
    assert found.activation.name == "cubed-sine"
    assert found.answer == "member"


def test_outputs_that_no_probe_switches_on_are_found_on_fresh_inputs():
    """A bias that closes a gate for all but a few inputs in a hundred."""
    shift = jnp.array([[0.0], [-4.0], [0.0]])
    found = tt.learn(
        lambda X: jax.nn.relu(V @ X @ S + shift), shape=(4, 8), probes=4, fresh=400, steps=0
    )
    assert found.answer == "member up to a bias"
    assert found.probes > 4
    same_product(found, V, S)


def test_a_form_that_fails_on_few_inputs_is_bounded_in_mass():
    """Linear but where one entry exceeds 2.2: no probe may show it, fresh inputs do."""
    W = jnp.asarray(V)

    def rare(X):
        return W @ X @ S + jnp.where(X[0, 0] > 2.2, 1.0, 0.0)

    found = tt.learn(rare, shape=(4, 8), probes=6, fresh=2000, steps=0)
    assert found.member is not Status.HOLDS


def test_an_array_of_inputs_is_used_in_place_of_a_law():
    data = DRAW.normal(size=(200, 4, 8)) ** 3
    found = tt.learn(lambda X: jax.nn.relu(V @ X @ S), data, steps=0)
    assert found.answer == "member"
    assert found.gap.linear is None
    with pytest.raises(tt.Refused, match="an array of inputs"):
        found.setting()


@pytest.mark.depth
def test_a_law_is_known_by_its_registered_name():
    found = look(lambda X: V @ X @ S, inputs=tt.Part("independent", law="exponential"))
    assert found.answer == "member"
    assert found.law == "Independent tokens"
    assert look(lambda X: V @ X @ S, inputs="gaussian").law == "Gaussian tokens"


def test_correlated_gaussian_tokens_pass_through_to_the_setting():
    covariance = np.diag([1.0, 2.0, 3.0, 4.0])
    found = look(lambda X: V @ X @ S, inputs=tt.Gaussian(covariance))
    assert found.answer == "member"
    np.testing.assert_allclose(found.setting().inputs.options["covariance"], covariance)
    assert found.gap.one_head == pytest.approx(0.0, abs=1e-12)


def test_large_layers_are_looked_at_in_part(monkeypatch):
    from tutelage.layers import learning

    monkeypatch.setattr(learning, "MOST_SLOPES", 12 * 4 * 8 * 6)
    found = look(lambda X: jax.nn.relu(V @ X @ S))
    assert found.looked_at == (3, 2)
    assert found.answer == "member"
    assert "drawn at random" in found.sentence


def test_the_answer_is_plain_data_and_a_card():
    import json

    found = look(lambda X: jax.nn.relu(V @ X @ S))
    read = json.loads(json.dumps(found.plain()))
    assert read["answer"] == "member"
    assert [fact["name"] for fact in read["facts"]] == ["ridge", "pair", "shared", "link"]
    assert "HOLDS" in found._repr_html_()
    assert "member" in repr(found)
    assert set(found.arrays()) == {"values", "selections", "bias", "gain", "offset"}
