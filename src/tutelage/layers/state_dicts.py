"""Teachers and students as PyTorch modules, and back from their state dicts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Shaped

from tutelage.activations import Erf, Identity, LeakyReLU
from tutelage.activations import activation as find_activation
from tutelage.layers.checkpoints import load_weights
from tutelage.refuse import Refused, one_of
from tutelage.students.position_attention import PositionAttention
from tutelage.teachers.bilinear import BilinearTeacher

if TYPE_CHECKING:
    import torch

TEACHER, STUDENT = ("value", "selection"), ("value", "key_query", "attention_scale")
CODES = ("key_codes", "query_codes")
SIGMA = "activation"  # its name, as bytes: a state dict holds tensors alone
NAMED = ("erf", "tanh", "gelu", "silu")  # functions that PyTorch has too


def arrays_of(part: BilinearTeacher | PositionAttention) -> dict[str, np.ndarray]:
    """What a state dict holds: every matrix by its name here, and the activation's name."""
    if isinstance(part, BilinearTeacher):
        names: tuple[str, ...] = TEACHER
    elif isinstance(part, PositionAttention):
        names = (*STUDENT, *(name for name in CODES if vars(part)[name] is not None))
    else:
        raise Refused(
            "A PyTorch module is made of a BilinearTeacher or a PositionAttention, since these "
            f"are σ(V X S). Got {type(part).__name__}."
        )
    known = isinstance(part.activation, Identity | LeakyReLU | Erf)
    if not known and part.activation.name not in NAMED:
        raise Refused(
            "An activation must be one that PyTorch has, since the module computes it: identity, "
            f"relu, leaky_relu, {', '.join(NAMED)}. Got {part.activation.name!r}."
        )
    found = {name: np.asarray(vars(part)[name]) for name in names}
    found[SIGMA] = np.frombuffer(part.activation.name.encode(), dtype=np.uint8).copy()
    return found


def to_torch(part: BilinearTeacher | PositionAttention) -> torch.nn.Module:
    """A module in double precision that computes what a teacher or student does, of one input d×D
    or of a batch; its state dict gives the part back (`from_state_dict`).
    """
    arrays = arrays_of(part)
    try:
        from tutelage.layers.torch_modules import Bilinear
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise Refused(
            "PyTorch must be installed for this (pip install torch), since a module is one of its "
            "objects. Got none."
        ) from None
    return Bilinear(arrays)


def from_state_dict(
    state: Mapping[str, Shaped[Any, "..."]] | str | Path, *, activation: str | None = None
) -> BilinearTeacher | PositionAttention:
    """The teacher or student whose matrices a state dict holds; also from the path of a
    .safetensors, .npz or .pt file. `activation` is needed where the dict does not say it.
    """
    given: Mapping[str, Any] = load_weights(state) if isinstance(state, str | Path) else state
    arrays = {name: np.asarray(value) for name, value in given.items()}
    names = set(arrays) - {SIGMA, *CODES}
    if names not in ({*TEACHER}, {*STUDENT}):
        raise Refused(
            f"A state dict must hold {' and '.join(TEACHER)} (a teacher) or "
            f"{', '.join(STUDENT)} (a student), since these are its matrices. "
            f"Got {', '.join(sorted(arrays)) or 'nothing'}."
        )
    if activation is None:
        if SIGMA not in arrays:
            raise Refused(
                "`activation` must be given where the state dict does not say it, since "
                "σ is part of the function. Got neither."
            )
        activation = arrays[SIGMA].astype(np.uint8).tobytes().decode()
    sigma = find_activation(activation)
    if names == {*TEACHER}:
        sums = arrays["selection"].sum(0)
        outside = bool(np.abs(sums - 1).max() > 1e-12)
        return BilinearTeacher(arrays["value"], arrays["selection"], sigma, outside=outside)
    one_of("shape of the scale", str(arrays["attention_scale"].ndim), ("0",))
    codes = {name: jnp.asarray(arrays[name]) if name in arrays else None for name in CODES}
    return PositionAttention(
        value=jnp.asarray(arrays["value"], jnp.float64),
        key_query=jnp.asarray(arrays["key_query"], jnp.float64),
        key_codes=codes["key_codes"],
        query_codes=codes["query_codes"],
        attention_scale=jnp.asarray(arrays["attention_scale"], jnp.float64),
        activation=sigma,
    )
