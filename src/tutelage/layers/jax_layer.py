"""Layers of JAX: functions, Equinox modules, bound Flax modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PyTree

from tutelage.layers.foreign import Function, Layer, Slopes, as_doubles, pick_output

VALUES_AT_ONCE, SLOPES_AT_ONCE = 64, 8  # inputs: one program for any number of them
ROUNDING = 1e-13  # of slopes in double precision, relative to the largest
ROUNDING_SINGLE = 1e-5


class JaxLayer(Layer):
    """A traceable function of one array (or, `batched`, of a batch).

    The arrays of an Equinox module are taken in double precision, and its dropout and batch
    normalisation in inference mode; what a function closes over stays as it is.
    """

    framework = "JAX"

    def __init__(
        self,
        function: Function,
        *,
        batched: bool,
        output: int | str | None,
        arguments: tuple[Any, ...],
    ) -> None:
        own = isinstance(function, eqx.Module)
        module = _in_double(eqx.nn.inference_mode(function)) if own else function
        given = _in_double(arguments)
        self._said = ("Equinox modules are taken in inference mode.",) if own else ()

        def one(inputs: Float[Array, "..."]) -> Float[Array, "..."]:
            called = module(inputs[None] if batched else inputs, *given)
            result = jnp.asarray(pick_output(called, output))
            return result[0] if batched else result

        self._one = one
        self._values = jax.jit(jax.vmap(one))
        self._slopes = jax.jit(jax.vmap(self._rows, in_axes=(0, None)))

    def _rows(
        self, inputs: Float[Array, "..."], cotangents: Float[Array, "k outputs"]
    ) -> Float[Array, "k ..."]:
        flat, pull = jax.vjp(lambda x: self._one(x).ravel(), inputs)
        rows = cotangents.astype(flat.dtype)
        return jax.vmap(lambda row: pull(row)[0])(rows)

    def values(self, inputs: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "..."]:
        blocks = (self._values(jnp.asarray(part)) for part in in_blocks(inputs, VALUES_AT_ONCE))
        return as_doubles(np.concatenate([np.asarray(block) for block in blocks])[: len(inputs)])

    def call_afresh(self, inputs: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "..."]:
        """Traced anew: a compiled program would repeat the random numbers and the state that it
        was traced with.
        """
        return as_doubles(np.asarray(jax.vmap(self._one)(jnp.asarray(inputs))))

    def slopes(self, inputs: Float[np.ndarray, "n ..."], outputs: Int[np.ndarray, "k"]) -> Slopes:
        result = jax.eval_shape(self._one, jax.ShapeDtypeStruct(inputs.shape[1:], inputs.dtype))
        rows = np.zeros((len(outputs), result.size))
        rows[np.arange(len(outputs)), outputs] = 1.0
        chosen = jnp.asarray(rows)
        parts = [
            np.asarray(self._slopes(jnp.asarray(part), chosen))
            for part in in_blocks(inputs, SLOPES_AT_ONCE)
        ]
        single = result.dtype != jnp.float64
        return Slopes(
            np.concatenate(parts)[: len(inputs)].astype(np.float64),
            np.ones((len(inputs), len(outputs)), bool),
            ROUNDING_SINGLE if single else ROUNDING,
        )

    def mentions(self) -> tuple[str, ...]:
        return self._said


def is_traceable(
    function: Function,
    shape: tuple[int, ...],
    *,
    batched: bool,
    output: int | str | None,
    arguments: tuple[Any, ...],
) -> bool:
    """Whether JAX can follow the function; one that makes NumPy arrays of its input it cannot."""
    given = jax.ShapeDtypeStruct((1, *shape) if batched else shape, jnp.float64)
    module = eqx.nn.inference_mode(function) if isinstance(function, eqx.Module) else function
    try:
        result = eqx.filter_eval_shape(
            lambda x: jnp.asarray(pick_output(module(x, *arguments), output)), given
        )
    except (jax.errors.JAXTypeError, jax.errors.JAXIndexError):
        return False
    except Exception:  # a wrong shape too: then the plain call says what is wrong
        return isinstance(function, eqx.Module)
    return jnp.issubdtype(result.dtype, jnp.floating)


def in_blocks(
    inputs: Float[np.ndarray, "n ..."], size: int
) -> Iterator[Float[np.ndarray, "s ..."]]:
    """Inputs, `size` at a time; the last block is filled up with the last input."""
    for first in range(0, len(inputs), size):
        yield inputs[np.minimum(np.arange(first, first + size), len(inputs) - 1)]


def _in_double(tree: PyTree) -> PyTree:
    return jax.tree.map(
        lambda leaf: leaf.astype(jnp.float64) if eqx.is_inexact_array(leaf) else leaf, tree
    )
