"""Bilinear predictors on many inputs at once, all inputs side by side.

σ(W X_i S) for i = 1 … n takes two products, whatever n: X_1 … X_n lie beside one another as one
matrix (d × n·D), and the rows of W X_1 … W X_n, cut at every D columns, are one tall matrix
(M·n × D) without any number being moved. A product for each input would be too small to be fast.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.activations import Activation

COLUMNS = 8  # of a product, that are computed together in either precision


def beside(tokens: Float[Array, "n d D"]) -> Float[Array, "d nD"]:
    """Matrices one after the other, put side by side."""
    n, d, D = tokens.shape
    return tokens.transpose(1, 0, 2).reshape(d, n * D)


def apart(matrices: Float[Array, "d nD"], count: int) -> Float[Array, "n d D"]:
    """The inverse of `beside`."""
    return matrices.reshape(len(matrices), count, -1).transpose(1, 0, 2)


def bilinear_outputs(
    activation: Activation,
    value: Float[Array, "M d"],
    attention: Float[Array, "D Q"],
    tokens: Float[Array, "d nD"],
) -> Float[Array, "M nQ"]:
    """σ(W X_i S) of every input, side by side."""
    outputs, dim = value.shape
    # The product with S costs the most, so it takes the thinner of W X and X.
    if dim < outputs:
        return activation(_read(value, _weigh(tokens, attention)))
    return activation(_weigh(_read(value, tokens), attention))


@jax.custom_vjp
def _read(value: Float[Array, "M d"], columns: Float[Array, "d n"]) -> Float[Array, "M n"]:
    """W X, with a gradient in W that takes the faster of two products."""
    return value @ columns


def _read_forward(
    value: Float[Array, "M d"], columns: Float[Array, "d n"]
) -> tuple[Float[Array, "M n"], tuple[Float[Array, "M d"], Float[Array, "d n"]]]:
    return value @ columns, (value, columns)


def _read_backward(
    given: tuple[Float[Array, "M d"], Float[Array, "d n"]], slope: Float[Array, "M n"]
) -> tuple[Float[Array, "M d"], Float[Array, "d n"]]:
    value, columns = given
    return multiply_long(slope, columns), value.T @ slope


_read.defvjp(_read_forward, _read_backward)


def multiply_long(left: Float[Array, "M n"], right: Float[Array, "d n"]) -> Float[Array, "M d"]:
    """A Bᵀ of few and long rows, or (B Aᵀ)ᵀ: columns of the result are computed eight at a time,
    full or not, so that 8 × 10 takes more than twice as long as 10 × 8.
    """
    high, wide = len(left), len(right)
    if wide * _filled(high) < high * _filled(wide):
        # Behind a barrier, or the compiler would turn it back.
        return jax.lax.optimization_barrier(right @ left.T).T
    return left @ right.T


def _filled(columns: int) -> int:
    return -(-columns // COLUMNS) * COLUMNS


def _weigh(rows: Float[Array, "k nD"], attention: Float[Array, "D Q"]) -> Float[Array, "k nQ"]:
    """Every block of D columns times S."""
    return (rows.reshape(-1, len(attention)) @ attention).reshape(len(rows), -1)


def bilinear_loss(
    activation: Activation,
    value: Float[Array, "M d"],
    attention: Float[Array, "D Q"],
    tokens: Float[Array, "d nD"],
    labels: Float[Array, "M nQ"],
) -> Float[Array, ""]:
    """½ mean_i ‖Y_i − σ(W X_i S)‖_F²."""
    count = tokens.shape[1] // len(attention)
    found = bilinear_outputs(activation, value, attention, tokens)
    return 0.5 / count * jnp.sum((found - labels) ** 2)
