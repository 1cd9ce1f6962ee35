"""Which framework a user's layer is of, and a part of a model by its path."""

from __future__ import annotations

import difflib
import sys
from typing import Any

from tutelage.layers.adapters import Sizes
from tutelage.layers.foreign import Function, Layer
from tutelage.refuse import Refused, one_of

FRAMEWORKS = ("numpy", "jax", "torch")


def wrap(
    function: Function,
    shape: Sizes,
    *,
    framework: str | None,
    batched: bool | None,
    output: int | str | None,
    arguments: tuple[Any, ...],
) -> Layer:
    """A layer of its own framework: a PyTorch module, what JAX can trace, or a NumPy function.

    PyTorch modules and Flax modules take batches; everything else takes one input, unless
    `batched` says so.
    """
    if not callable(function):
        raise Refused(
            "A layer must be something that can be called: a function of an array, or a module of "
            f"JAX or PyTorch. Got {type(function).__name__}."
        )
    if isinstance(function, type):
        raise Refused(
            "A layer must be an object and not its class, since weights belong to the object. Got "
            f"the class {function.__name__}: call it first."
        )
    found = framework or ("torch" if _is_torch(function) else None)
    if found is not None:
        one_of("framework", found, FRAMEWORKS)
    in_batches = found == "torch" or _is_flax(function) if batched is None else batched
    if found == "torch":
        from tutelage.layers.torch_layer import TorchLayer

        return TorchLayer(function, batched=in_batches, output=output, arguments=arguments)
    from tutelage.layers.jax_layer import JaxLayer, is_traceable
    from tutelage.layers.numpy_layer import NumpyLayer

    if found is None:
        traced = is_traceable(
            function, shape, batched=in_batches, output=output, arguments=arguments
        )
        found = "jax" if traced else "numpy"
    made = JaxLayer if found == "jax" else NumpyLayer
    return made(function, batched=in_batches, output=output, arguments=arguments)


def _is_torch(function: Function) -> bool:
    """Whether it is a module of PyTorch, which is then imported already."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(function, torch.nn.Module)


def _is_flax(function: Function) -> bool:
    return any(base.__module__.partition(".")[0] == "flax" for base in type(function).__mro__)


def layer(model: Function, path: str) -> Function:
    """A part of a model by its path, such as `encoder.layer.0.attention`: attributes by name,
    members of a list by number.

    A module of PyTorch, Flax or Equinox; the part is not copied.
    """
    here: Any = model
    for number, name in enumerate(path.split(".")):
        inside = _parts(here)
        if name not in inside:
            known = sorted(inside)
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
            hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
            before = ".".join(path.split(".")[:number]) or "the model"
            listed = ", ".join(known[:20]) or "none"
            raise Refused(
                f"Every word of a path must be a part of what stands before it. Got {name!r} in "
                f"{path!r}, and {before} has no such part.{hint} Parts: {listed}."
            )
        here = inside[name]
    if not callable(here):
        raise Refused(
            "A layer must be something that can be called. Got a path to a "
            f"{type(here).__name__}: {path!r}."
        )
    return here


def _parts(model: Any) -> dict[str, Any]:
    """What a model is made of, by name or by number."""
    if isinstance(model, list | tuple):
        return {str(number): part for number, part in enumerate(model)}
    if isinstance(model, dict):
        return {str(name): part for name, part in model.items()}
    if _is_torch(model):
        return dict(model.named_children())
    own = vars(model) if not isinstance(model, type) and "__dict__" in dir(model) else {}
    return {name: part for name, part in own.items() if not name.startswith("_")}
