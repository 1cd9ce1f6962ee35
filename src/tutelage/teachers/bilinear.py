"""The teacher class of Zhang et al. 2026: f*(X) = σ(V* X S*) with column-stochastic S*."""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key
from numpy.typing import ArrayLike

from tutelage.activations import Activation, activation
from tutelage.numerics.draws import normals
from tutelage.numerics.side_by_side import bilinear_outputs
from tutelage.refuse import Refused, matrix, positive, whole
from tutelage.teachers.base import BilinearClass, Shape

ActivationLike = str | Activation | Callable[[Array], Array]


class BilinearTeacher(BilinearClass):
    r"""f*(X) = σ(V* X S*), labels Y = f*(X) + E with E iid N(0, noise²).

    `value` is V* (M×d); `selection` is S* (D×Q): column i is the weighting of the D tokens from
    which output i is made. Each column is non-negative and sums to 1, since a softmax can be no
    other. Zhang et al. 2026, Section 2. A teacher whose columns have other sums is made with
    `outside=True`: no student of the class equals it, and its excess risk does not tend to 0.
    """

    value: Float[Array, "M d"]
    selection: Float[Array, "D Q"]
    noise: Float[Array, ""]
    activation: Activation = eqx.field(static=True)

    def __init__(
        self,
        value: ArrayLike,
        selection: ArrayLike,
        activation: ActivationLike = "identity",
        noise: float = 0.0,
        *,
        outside: bool = False,
    ) -> None:
        self.value = jnp.asarray(matrix("value", value, reason="V* maps d features to M outputs"))
        self.selection = jnp.asarray(
            (non_negative if outside else column_stochastic)("selection", selection)
        )
        self.noise = jnp.asarray(
            positive("noise", noise, reason="it is a standard deviation", zero=True)
        )
        self.activation = _activation(activation)

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "M Q"]:
        return self.activation(self.value @ tokens @ self.selection)

    def label(self, tokens: Float[Array, "d D"], *, key: Key[Array, ""]) -> Float[Array, "M Q"]:
        """f*(X) with the label noise."""
        clean = self(tokens)
        return clean + self.noise * jax.random.normal(key, clean.shape).astype(clean.dtype)

    def label_batch(
        self, tokens: Float[Array, "d nD"], count: int, *, key: Key[Array, ""]
    ) -> Float[Array, "M nQ"]:
        """Two products for all inputs, and noise from the draws of `numerics/draws.py`."""
        clean = bilinear_outputs(self.activation, self.value, self.selection, tokens)
        return clean + jax.lax.cond(
            self.noise > 0,
            lambda: self.noise * normals(key, clean.shape, clean.dtype, part=1),
            lambda: jnp.zeros_like(clean),  # noise of size 0 need not be drawn
        )

    @property
    def shape(self) -> Shape:
        """(M, d, D, Q): outputs, features, tokens, queries."""
        return Shape(*self.value.shape[-2:], *self.selection.shape[-2:])

    @property
    def noisy(self) -> bool:
        return float(self.noise) > 0

    @property
    def outside(self) -> bool:
        """Whether S* has a column that does not sum to 1, so that no attention is S*. Found from
        S*, whatever was declared.
        """
        return bool(
            _off_one(np.asarray(self.selection)).max() > _rounding(np.asarray(self.selection))
        )


_activation = activation


def non_negative(name: str, given: ArrayLike) -> np.ndarray:
    """A matrix of weights, or a sentence that says why it is not one."""
    weights = matrix(name, given, reason="each column of S* weighs the D tokens for one query")
    if (weights < 0).any():
        where = tuple(int(i) for i in np.argwhere(weights < 0)[0])
        raise Refused(
            f"`{name}` must not have negative weights, since a column of a softmax has none. "
            f"Got {weights[where]:.6g} at (token, query) = {where}."
        )
    return weights


def column_stochastic(name: str, given: ArrayLike) -> np.ndarray:
    """A matrix whose columns are probability vectors, or a sentence that says why it is not one."""
    weights = non_negative(name, given)
    wrong = int(np.argmax(_off_one(weights)))
    if _off_one(weights)[wrong] > _rounding(weights):
        hint = (
            " (the rows do sum to 1: transpose it?)"
            if np.allclose(weights.sum(1), 1.0, rtol=0, atol=1e-12)
            else ""
        )
        raise Refused(
            f"Columns of `{name}` must sum to 1, since the student's attention is a softmax by "
            "columns. "
            f"Got a sum of {weights.sum(0)[wrong]:.12g} in column {wrong}{hint}."
        )
    return weights


def _off_one(weights: np.ndarray) -> np.ndarray:
    return np.abs(weights.sum(0) - 1.0)


def _rounding(weights: np.ndarray) -> float:
    """A sum of D rounded weights is off by at most D·eps; a column written with six digits is not
    meant to be exact.
    """
    return 4 * weights.shape[0] * float(np.finfo(weights.dtype).eps)


def support_within(tokens: float, support: float) -> tuple[int, int]:
    """D and K as whole numbers with 1 ≤ K ≤ D."""
    tokens = whole("tokens", tokens, least=1, reason="there must be a token to attend to")
    support = whole("support", support, least=1, reason="a column of S* reads at least one token")
    if support > tokens:
        raise Refused(
            "`support` must be between 1 and `tokens`, since a column of S* averages that many "
            "tokens. "
            f"Got support={support}, tokens={tokens}."
        )
    return tokens, support
