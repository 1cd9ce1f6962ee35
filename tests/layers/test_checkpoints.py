"""Weights from files, heads from checkpoints, and state dicts, without PyTorch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.flax import save_file as save_jax
from safetensors.numpy import save_file

import tutelage as tt
from tutelage.layers.state_dicts import arrays_of

DRAW = np.random.default_rng(0)
WIDTH, HEADS, LENGTH = 6, 2, 5
PROJECTIONS = DRAW.normal(size=(3, WIDTH, WIDTH))  # columns of x @ W: queries, keys, values
BIASES = DRAW.normal(size=(3, WIDTH))


def plain_head(x, head, *, causal=False):
    """Self-attention in loops over tokens."""
    cut = slice(head * 3, head * 3 + 3)
    q, k, v = (x @ W[:, cut] + b[cut] for W, b in zip(PROJECTIONS, BIASES, strict=True))
    rows = []
    for i in range(len(x)):
        seen = range(i + 1) if causal else range(len(x))
        scores = np.array([q[i] @ k[j] / np.sqrt(3) for j in seen])
        weights = np.exp(scores - scores.max())
        rows.append(sum(w * v[j] for w, j in zip(weights / weights.sum(), seen, strict=True)))
    return np.array(rows)


def named(style):
    """The same weights as families of models name and lay them out."""
    columns = [W.T for W in PROJECTIONS]
    if style == "bert":
        start = "bert.encoder.layer.0.attention.self."
        pairs = zip(("query", "key", "value"), columns, BIASES, strict=True)
        found = {}
        for name, weight, bias in pairs:
            found |= {f"{start}{name}.weight": weight, f"{start}{name}.bias": bias}
            other = start.replace(".0.", ".1.")
            found |= {f"{other}{name}.weight": 0 * weight, f"{other}{name}.bias": bias}
        return found, "bert.encoder.layer.0.", False
    if style == "gpt2":
        joined = np.concatenate(PROJECTIONS, axis=1)
        return (
            {"h.0.attn.c_attn.weight": joined, "h.0.attn.c_attn.bias": BIASES.ravel()},
            "h.0",
            True,
        )
    if style == "timm":
        joined = np.concatenate(columns)
        return (
            {"blocks.0.attn.qkv.weight": joined, "blocks.0.attn.qkv.bias": BIASES.ravel()},
            "",
            False,
        )
    return {"in_proj_weight": np.concatenate(columns), "in_proj_bias": BIASES.ravel()}, "", False


@pytest.mark.parametrize("style", ["bert", "gpt2", "timm", "torch"])
def test_heads_of_a_saved_checkpoint_are_its_attention(style, tmp_path):
    weights, prefix, causal = named(style)
    save_file({k: np.ascontiguousarray(v) for k, v in weights.items()}, tmp_path / "m.safetensors")
    heads = tt.attention_heads(tmp_path / "m.safetensors", HEADS, prefix=prefix)
    x = DRAW.normal(size=(LENGTH, WIDTH))
    for number, head in enumerate(heads):
        twin = plain_head(x, number, causal=causal)
        np.testing.assert_allclose(np.asarray(head(jnp.asarray(x))), twin, atol=1e-12)
        assert head.causal is causal


def test_how_positional_a_head_is_is_a_number():
    """Scores from strong position codes read fixed tokens; scores from the tokens do not."""
    positions = 6 * np.eye(LENGTH, WIDTH)
    weights, _, _ = named("torch")
    scores = np.zeros((WIDTH, WIDTH))
    scores[:LENGTH, :LENGTH] = np.eye(LENGTH)
    by_place = {
        "in_proj_weight": np.concatenate([scores, scores, PROJECTIONS[2].T]),
        "in_proj_bias": np.zeros(3 * WIDTH),
    }
    numbers = []
    for given in (by_place, weights):
        head = tt.attention_heads(given, 1, positions=positions if given is by_place else None)[0]
        found = tt.learn(
            head, tokens=tt.Sequence(), shape=(LENGTH, WIDTH), steps=0, fresh=64, probes=12
        )
        numbers.append(found.positional)
    assert numbers[0] > 0.99
    assert numbers[1] < 0.9


def test_half_precision_is_read(tmp_path):
    save_jax({"a": jnp.ones(3, jnp.bfloat16), "b": jnp.arange(3)}, tmp_path / "m.safetensors")
    found = tt.load_weights(tmp_path / "m.safetensors")
    assert found["a"].dtype == np.float64
    assert found["b"].dtype.kind == "i"
    np.savez(tmp_path / "m.npz", a=np.ones(2, np.float32))
    assert tt.load_weights(tmp_path / "m.npz")["a"].dtype == np.float64


@pytest.mark.parametrize("kind", ["teacher", "outside", "student", "codes"])
def test_state_dicts_give_the_part_back(kind, tmp_path):
    S = tt.pooling(4, 2)
    teacher = tt.BilinearTeacher(DRAW.normal(size=(2, 3)), S, "leaky_relu(0.3)")
    part = {
        "teacher": teacher,
        "outside": tt.BilinearTeacher(np.eye(3), 2 * S, "relu", outside=True),
        "student": tt.PositionAttention.random(teacher, key=tt.stream(0, "start")),
        "codes": tt.PositionAttention.random(
            teacher, key=tt.stream(0, "start"), key_codes=DRAW.normal(size=(5, 4))
        ),
    }[kind]
    save_file(arrays_of(part), tmp_path / "part.safetensors")
    for given in (arrays_of(part), tmp_path / "part.safetensors"):
        back = tt.from_state_dict(given)
        X = jnp.asarray(DRAW.normal(size=(3, 4)))
        np.testing.assert_array_equal(np.asarray(back(X)), np.asarray(part(X)))
        assert back.activation == part.activation


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: tt.load_weights(p / "none.safetensors"), "must exist"),
        (lambda p: tt.load_weights(__file__), "Weights are read from"),
        (lambda p: tt.attention_heads({}, 2), "must name one attention layer"),
        (lambda p: tt.attention_heads(named("bert")[0], 2), "under which there are 2"),
        (lambda p: tt.attention_heads(named("timm")[0], 4), "`heads` must divide the width"),
        (lambda p: tt.from_state_dict({"value": np.eye(2)}), "must hold value and selection"),
        (
            lambda p: tt.from_state_dict({"value": np.eye(2), "selection": np.eye(2)}),
            "`activation` must be given",
        ),
        (lambda p: arrays_of(tt.activation("relu")), "BilinearTeacher or a PositionAttention"),
        (
            lambda p: arrays_of(tt.BilinearTeacher(np.eye(2), np.eye(2), jax.nn.softplus)),
            "must be one that PyTorch has",
        ),
    ],
)
def test_wrong_files_and_names_are_refused(make, words, tmp_path):
    with pytest.raises(tt.Refused, match=words):
        make(tmp_path)


def test_a_file_that_holds_no_arrays_is_refused(tmp_path):
    (tmp_path / "m.safetensors").write_bytes(b"no header")
    with pytest.raises(tt.Refused, match="must hold arrays by name"):
        tt.load_weights(tmp_path / "m.safetensors")
