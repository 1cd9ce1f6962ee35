"""Layers of PyTorch. Nothing here is imported unless the user's layer is one."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int

from tutelage.layers.differences import difference_slopes
from tutelage.layers.foreign import Function, Layer, Slopes, as_doubles, pick_output
from tutelage.layers.numpy_layer import ShapesDiffer
from tutelage.refuse import Refused, reason

ROUNDING = 1e-13
NORMS = (torch.nn.modules.batchnorm._BatchNorm, torch.nn.modules.instancenorm._InstanceNorm)
DROPOUTS = (torch.nn.modules.dropout._DropoutNd,)


class TorchLayer(Layer):
    """A copy of a module on the CPU, in eval mode and in double precision; or a function of
    tensors, as it is.
    """

    framework = "PyTorch"

    def __init__(
        self,
        function: Function,
        *,
        batched: bool,
        output: int | str | None,
        arguments: tuple[Any, ...],
    ) -> None:
        self.batched, self.output = batched, output
        self.function: Function = function
        if isinstance(function, torch.nn.Module):
            self.function = _copied(function)
        self.arguments = tuple(map(_in_double, arguments))

    def _run(self, inputs: torch.Tensor) -> torch.Tensor:
        """The outputs of a batch, flattened."""
        if self.batched:
            return _tensor(pick_output(self.function(inputs, *self.arguments), self.output))
        results = [
            _tensor(pick_output(self.function(one, *self.arguments), self.output)) for one in inputs
        ]
        shapes = {tuple(result.shape) for result in results}
        if len(shapes) > 1:
            raise ShapesDiffer(sorted(shapes))
        return torch.stack(results)

    def values(self, inputs: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "..."]:
        with _double_by_default(), torch.no_grad():
            return as_doubles(self._run(torch.tensor(inputs)).numpy())

    def slopes(self, inputs: Float[np.ndarray, "n ..."], outputs: Int[np.ndarray, "k"]) -> Slopes:
        """One backward pass per output, for all inputs at once: f of one input does not depend on
        the others, which was checked.
        """
        given = torch.tensor(inputs, requires_grad=True)
        with _double_by_default(), torch.enable_grad():
            found = self._run(given)
            if not found.requires_grad:  # it leaves PyTorch on its way, or says no_grad
                return difference_slopes(self.values, inputs, outputs, eps=2.0**-52)
            flat = found.reshape(len(inputs), -1)
            rows = []
            for number in outputs.tolist():
                (row,) = torch.autograd.grad(
                    flat[:, number].sum(), given, retain_graph=True, allow_unused=True
                )
                rows.append(np.zeros(inputs.shape) if row is None else row.numpy())
        return Slopes(np.stack(rows, 1), np.ones((len(inputs), len(outputs)), bool), ROUNDING)

    def mentions(self) -> tuple[str, ...]:
        if not isinstance(self.function, torch.nn.Module):
            return ()
        modules = list(self.function.modules())
        said = []
        norms = [type(m).__name__ for m in modules if isinstance(m, NORMS)]
        if norms:
            kinds = ", ".join(sorted(set(norms)))
            said.append(f"{kinds} in eval mode is an affine map, and is folded into V, b and σ.")
        if any(isinstance(m, DROPOUTS) for m in modules):
            said.append("Dropout is off, as in eval mode.")
        return tuple(said)


def _copied(module: torch.nn.Module) -> torch.nn.Module:
    try:
        own = copy.deepcopy(module)
        own = own.to(device="cpu", dtype=torch.float64).eval()
        for parameter in own.parameters():
            parameter.requires_grad_(False)
    except Exception as error:
        raise Refused(
            "A PyTorch module must be one that can be copied, since the copy is put in eval mode "
            "and double precision; call a lazy module once first. "
            f"Got {reason(error)}."
        ) from None
    return own


def _in_double(given: Any) -> Any:
    """Tensors and arrays of floats in double precision; edge lists and the like as they are."""
    if isinstance(given, np.ndarray):
        given = torch.from_numpy(given)
    if isinstance(given, torch.Tensor) and given.is_floating_point():
        return given.detach().to("cpu", torch.float64)
    return given


def _tensor(given: Any) -> torch.Tensor:
    if isinstance(given, torch.Tensor):
        if given.is_complex():
            raise Refused(
                "A layer must return real numbers, since a student is to predict them. Got a "
                f"tensor of the type {given.dtype}."
            )
        return given
    return torch.as_tensor(np.asarray(given))


@contextmanager
def _double_by_default() -> Iterator[None]:
    """Tensors that a module makes on its way are of its precision."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
