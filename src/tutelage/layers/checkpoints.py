"""Weights from files, and attention heads from the weights of models that people train.

Files are safetensors, or PyTorch's own with `weights_only` (nothing in them is executed).
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Shaped

from tutelage.refuse import Refused, reason, whole

Weights = Mapping[str, Shaped[Any, "..."]]


def load_weights(path: str | Path) -> dict[str, np.ndarray]:
    """The arrays of a file of weights, by name, in the shapes that it has, in double precision
    where they are floats.
    """
    file = Path(path)
    if not os.path.isfile(file):
        raise Refused(f"A file of weights must exist. Got {str(file)!r}.")
    try:
        if file.suffix == ".safetensors":
            found = dict(_read_safetensors(file))
        elif file.suffix == ".npz":
            with np.load(file, allow_pickle=False) as stored:
                found = {name: stored[name] for name in stored.files}
        elif file.suffix in (".pt", ".pth", ".bin"):
            found = _read_torch(file)
        else:
            raise Refused(
                "Weights are read from .safetensors, .npz, .pt, .pth or .bin files, since these "
                f"hold arrays by name. Got {file.name!r}."
            )
    except Refused:
        raise
    except Exception as error:
        raise Refused(
            "A file of weights must hold arrays by name, and nothing that would be executed. Got "
            f"{file.name!r}: {reason(error)}."
        ) from None
    return {
        name: array.astype(np.float64) if array.dtype.kind == "f" else array
        for name, array in found.items()
    }


def _read_safetensors(file: Path) -> Iterator[tuple[str, np.ndarray]]:
    from safetensors import safe_open

    # bfloat16 is no type of NumPy's: JAX knows it.
    with safe_open(file, framework="flax") as stored:
        for name in stored.keys():  # noqa: SIM118  it is no mapping
            tensor = stored.get_tensor(name)
            floats = jnp.issubdtype(tensor.dtype, jnp.floating)
            yield name, np.asarray(tensor.astype(jnp.float64) if floats else tensor)


def _read_torch(file: Path) -> dict[str, np.ndarray]:
    try:
        import torch
    except ModuleNotFoundError:
        raise Refused(
            "PyTorch must be installed to read its own files; a .safetensors file needs nothing. "
            f"Got {file.name!r}."
        ) from None
    stored = torch.load(file, map_location="cpu", weights_only=True)
    if "state_dict" in stored:  # as checkpoints of training loops have it
        stored = stored["state_dict"]
    return {
        name: (tensor.double() if tensor.is_floating_point() else tensor).numpy()
        for name, tensor in stored.items()
        if isinstance(tensor, torch.Tensor)
    }


class AttentionHead(eqx.Module):
    r"""One head of self-attention, T×d ↦ T×d_h: softmax(QKᵀ/√d_h) V, without the output projection.

    With `causal` a token reads itself and those before it.
    """

    query: Float[Array, "d h"]
    key: Float[Array, "d h"]
    value: Float[Array, "d h"]
    query_bias: Float[Array, "h"]
    key_bias: Float[Array, "h"]
    value_bias: Float[Array, "h"]
    positions: Float[Array, "T d"] | None = None  # added to the tokens, as models do
    causal: bool = eqx.field(static=True, default=False)

    def weights(self, tokens: Float[Array, "T d"]) -> Float[Array, "T T"]:
        """Row i is how much token i reads each token."""
        given = tokens if self.positions is None else tokens + self.positions
        queries = given @ self.query + self.query_bias[None]
        keys = given @ self.key + self.key_bias[None]
        scores = queries @ keys.T / math.sqrt(self.key.shape[1])
        if self.causal:
            scores = jnp.where(jnp.tril(jnp.ones(scores.shape, bool)), scores, -jnp.inf)
        return jax.nn.softmax(scores, axis=-1)

    def __call__(self, tokens: Float[Array, "T d"]) -> Float[Array, "T h"]:
        given = tokens if self.positions is None else tokens + self.positions
        return self.weights(tokens) @ (given @ self.value + self.value_bias[None])


# How families of models name the three projections of a layer: joined or apart, and whether a
# matrix maps rows (x @ W) instead of columns (W @ x).
JOINED = {"in_proj_weight": False, "qkv.weight": False, "c_attn.weight": True}
APART = (
    ("query.weight", "key.weight", "value.weight"),
    ("q_proj.weight", "k_proj.weight", "v_proj.weight"),
    ("q_lin.weight", "k_lin.weight", "v_lin.weight"),
)


def attention_heads(
    weights: Weights | str | Path,
    heads: int,
    *,
    prefix: str = "",
    positions: Float[np.ndarray, "T d"] | None = None,
    causal: bool | None = None,
) -> list[AttentionHead]:
    """The heads of one attention layer of a checkpoint, each a layer to `learn` with
    `tokens=Sequence()`.

    `weights` is a state dict or the path of a file; `prefix` names the layer
    (`encoder.layer.0.attention`). Known are BERT, ViT, DistilBERT and others with three
    projections, GPT-2's `c_attn` (causal unless said otherwise), and PyTorch's own
    MultiheadAttention. `positions` are added to the tokens first, as the model does.
    """
    known = load_weights(weights) if isinstance(weights, str | Path) else weights
    whole("heads", heads, least=1, reason="a layer of attention has at least one")
    inside = {name: known[name] for name in known if name.startswith(prefix)}
    matrices, biases, transposed = _projections(inside, prefix)
    width = matrices[0].shape[1]
    if any(m.shape != matrices[0].shape for m in matrices) or width % heads:
        raise Refused(
            "`heads` must divide the width of the three projections, since each head has as many "
            f"rows of each. Got heads={heads}, projections of shapes "
            f"{', '.join(str(m.shape) for m in matrices)}."
        )
    each = width // heads
    codes = None if positions is None else jnp.asarray(positions, jnp.float64)
    cuts = [slice(h * each, (h + 1) * each) for h in range(heads)]
    return [
        AttentionHead(
            query=jnp.asarray(matrices[0][:, cut]),
            key=jnp.asarray(matrices[1][:, cut]),
            value=jnp.asarray(matrices[2][:, cut]),
            query_bias=jnp.asarray(biases[0][cut]),
            key_bias=jnp.asarray(biases[1][cut]),
            value_bias=jnp.asarray(biases[2][cut]),
            positions=codes,
            causal=transposed if causal is None else causal,
        )
        for cut in cuts
    ]


def _projections(inside: Weights, prefix: str) -> tuple[list[np.ndarray], list[np.ndarray], bool]:
    """Matrices d×width and biases of queries, keys and values."""
    for ending, transposed in JOINED.items():
        if name := _one(inside, ending, prefix):
            joined = np.asarray(inside[name], np.float64)
            joined = joined if transposed else joined.T
            matrices = np.split(joined, 3, axis=1)
            bias_name = re.sub(r"weight$", "bias", name)
            bias = np.asarray(inside.get(bias_name, np.zeros(joined.shape[1])), np.float64)
            return matrices, np.split(bias, 3), transposed
    for endings in APART:
        names = [_one(inside, ending, prefix) for ending in endings]
        if all(names):
            found = [np.asarray(inside[name], np.float64).T for name in names]
            biases = [
                np.asarray(inside.get(re.sub(r"weight$", "bias", n), np.zeros(m.shape[1])), float)
                for n, m in zip(names, found, strict=True)
            ]
            return found, biases, False
    listed = ", ".join(list(inside)[:8]) or "none"
    raise Refused(
        "`prefix` must name one attention layer, with projections named query/key/value, "
        "q_proj/k_proj/v_proj, q_lin/k_lin/v_lin, qkv, c_attn or in_proj_weight. "
        f"Got prefix={prefix!r}, under which there are: {listed}."
    )


def _one(inside: Weights, ending: str, prefix: str) -> str:
    """The one name with that ending; "" where there is none."""
    found = [name for name in inside if re.search(rf"(^|[._]){re.escape(ending)}$", name)]
    if len(found) > 1:
        raise Refused(
            "`prefix` must name one attention layer, since its heads are analysed. Got "
            f"prefix={prefix!r}, under which there are {len(found)}: {', '.join(found[:4])}, …"
        )
    return found[0] if found else ""
