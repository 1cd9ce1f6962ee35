"""What a user's layer is asked for: its values, and its slopes at some inputs."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from tutelage.refuse import Refused, reason


class Function(Protocol):
    """A layer as its author has it: one input, or a batch of them, and further arguments."""

    def __call__(self, given: Any, /, *arguments: Any) -> Any: ...


Result = Mapping[str, Any] | Sequence[Any] | Shaped[Any, "..."]  # of a call: arrays, or one


@dataclass(frozen=True)
class Slopes:
    """∂f_o/∂x of some outputs o, at n inputs, in the layer's own shapes."""

    values: Float[np.ndarray, "n outputs ..."]
    sound: Bool[np.ndarray, "n outputs"]  # False where finite differences straddle a kink
    error: float  # relative to the largest slope; rounding where a framework differentiates


class Layer(abc.ABC):
    """A function of arrays of its own shapes, with slopes. The first axis counts inputs."""

    framework: str
    differentiates: bool = True  # False where slopes are finite differences

    @abc.abstractmethod
    def values(self, inputs: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "..."]:
        """f(x) of each input."""

    def call_afresh(self, inputs: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "..."]:
        """f(x) by a new call of the user's own function: nothing of an earlier call is reused."""
        return self.values(inputs)

    @abc.abstractmethod
    def slopes(self, inputs: Float[np.ndarray, "n ..."], outputs: Int[np.ndarray, "k"]) -> Slopes:
        """∂f_o/∂x of the outputs with these numbers, counted along the flattened output."""

    def mentions(self) -> tuple[str, ...]:
        """What there is to know about its parts, one sentence each."""
        return ()


def pick_output(given: Result, output: int | str | None) -> Shaped[Any, "..."]:
    """The array among what a layer returns."""
    if isinstance(given, Mapping):
        names = ", ".join(map(repr, given))
        if output is None or output not in given:
            raise Refused(
                "A layer that returns several arrays needs `output`, since only one of them is "
                f"analysed. Got output={output!r} and arrays named {names}."
            )
        return given[str(output)]
    if isinstance(given, tuple | list):
        if not isinstance(output, int) or not -len(given) <= output < len(given):
            raise Refused(
                "A layer that returns several arrays needs `output`, since only one of them is "
                f"analysed. Got output={output!r} and {len(given)} arrays: try output=0."
            )
        return given[output]
    if output is not None:
        raise Refused(f"`output` chooses among several arrays. Got one array, output={output!r}.")
    return given


def explain_failure(error: Exception, inputs: Float[np.ndarray, "n ..."]) -> Refused:
    """Why a layer cannot be called, from what it raised."""
    said = reason(error)
    if any(word in said.lower() for word in ("cuda", "gpu", "mps", "nvidia")):
        return Refused(
            "A layer must run on the CPU, since it is called in double precision on arrays of "
            "NumPy; its parameters are moved there, but its own code asks for another device. "
            f"Got {said}."
        )
    return Refused(
        f"A layer must take an input of shape {inputs.shape[1:]} (called with a batch axis before "
        "it where `batched`), since that is what was asked for. Check `shape`, `tokens` and "
        f"`batched`. Got {said}."
    )


def as_doubles(given: Shaped[Any, "..."]) -> Float[np.ndarray, "..."]:
    """A result as real float64 numbers."""
    try:
        array = np.asarray(given)
    except Exception as error:
        raise Refused(
            "A layer must return an array of numbers, since its values are compared. Got "
            f"{type(given).__name__}: {reason(error)}"
        ) from None
    if array.dtype.kind not in "fiub":
        raise Refused(
            "A layer must return real numbers, since a student is to predict them. Got an array of "
            f"the type {array.dtype}."
        )
    return array.astype(np.float64)
