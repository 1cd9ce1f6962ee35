"""Layers that are plain functions of NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float, Int, Shaped

from tutelage.layers.differences import difference_slopes
from tutelage.layers.foreign import Function, Layer, Slopes, as_doubles, pick_output

HALF_DIGITS = {"float16": 2.0**-10, "float32": 2.0**-23}  # rounding of results that are not double


class NumpyLayer(Layer):
    """A function of one array (or, `batched`, of a batch) that is called as it is."""

    framework = "NumPy"
    differentiates = False

    def __init__(
        self,
        function: Function,
        *,
        batched: bool,
        output: int | str | None,
        arguments: tuple[Any, ...],
    ) -> None:
        self.function, self.batched = function, batched
        self.output, self.arguments = output, arguments
        self.eps = 2.0**-52

    def values(self, inputs: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "..."]:
        if self.batched:
            return as_doubles(self._call(inputs))
        results = [as_doubles(self._call(one)) for one in inputs]
        shapes = {result.shape for result in results}
        if len(shapes) > 1:  # said in full where inputs are checked
            raise ShapesDiffer(sorted(shapes))
        return np.stack(results)

    def _call(self, given: Float[np.ndarray, "..."]) -> Shaped[Any, "..."]:
        # A copy, so that a layer that writes into its input changes no one else's.
        result = pick_output(self.function(given.copy(), *self.arguments), self.output)
        kind = str(result.dtype) if isinstance(result, np.ndarray | np.generic) else "float64"
        self.eps = max(self.eps, HALF_DIGITS.get(kind, 0.0))
        return result

    def slopes(self, inputs: Float[np.ndarray, "n ..."], outputs: Int[np.ndarray, "k"]) -> Slopes:
        return difference_slopes(self.values, inputs, outputs, eps=self.eps)


class ShapesDiffer(ValueError):
    """A layer that gives arrays of several shapes."""

    def __init__(self, shapes: list[tuple[int, ...]]) -> None:
        super().__init__(f"outputs of shapes {', '.join(map(str, shapes))}")
        self.shapes = shapes
