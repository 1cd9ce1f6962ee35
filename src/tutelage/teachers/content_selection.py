"""Selection by content: which tokens are read depends on what they hold, and not on where they
stand.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import ArrayLike

from tutelage.activations import Activation, Identity
from tutelage.refuse import Refused, matrix, positive
from tutelage.teachers.base import Shape, Teacher
from tutelage.teachers.bilinear import support_within


class ContentSelection(Teacher):
    r"""f*(X) = V* X a(u·x_1, …, u·x_D) 1ᵀ: every query reads the tokens that score best along u.

    With `support` = K, a is 1/K at the K best scores and 0 elsewhere (top-K); with `sharpness` = β
    it is softmax(β u·x). One of the two is given. u has length 1.
    """

    value: Float[Array, "M d"]
    direction: Float[Array, "d"]
    sharpness: Float[Array, ""] | None
    support: int | None = eqx.field(static=True)
    tokens: int = eqx.field(static=True)
    activation: Activation = eqx.field(static=True)

    def __init__(
        self,
        value: ArrayLike,
        direction: ArrayLike,
        *,
        tokens: int,
        support: int | None = None,
        sharpness: float | None = None,
    ) -> None:
        if (support is None) == (sharpness is None):
            raise Refused(
                "Selection by content takes the best few tokens (`support`) or weighs all "
                "(`sharpness`), one of the two. "
                f"Got support={support!r}, sharpness={sharpness!r}."
            )
        V, u = (
            matrix("value", value, reason="V* maps d features to M outputs"),
            matrix("direction", [direction], reason="tokens are scored along it")[0],
        )
        if V.shape[1] != len(u) or not np.linalg.norm(u) > 0:
            raise Refused(
                f"`direction` must be a vector of {V.shape[1]} features that is not zero, since "
                f"it scores tokens. Got {u}."
            )
        self.tokens, self.support = support_within(tokens, 1 if support is None else support)
        self.support = None if support is None else self.support
        self.value, self.direction, self.activation = (
            jnp.asarray(V),
            jnp.asarray(u / np.linalg.norm(u)),
            Identity(),
        )
        sharp = (
            None
            if sharpness is None
            else positive("sharpness", sharpness, reason="the best score must count the most")
        )
        self.sharpness = None if sharp is None else jnp.asarray(sharp)

    def weights(self, tokens: Float[Array, "d D"]) -> Float[Array, "D"]:
        """a, one weight a token; they sum to 1."""
        scores = self.direction @ tokens
        if self.sharpness is not None:
            return jax.nn.softmax(self.sharpness * scores)
        assert self.support is not None
        best = jax.lax.top_k(scores, self.support)[0][-1]
        return jnp.where(scores >= best, 1.0 / self.support, 0.0)

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "M D"]:
        read = self.value @ (tokens @ self.weights(tokens))
        return jnp.broadcast_to(read[:, None], (len(read), self.tokens))

    @property
    def shape(self) -> Shape:
        """(M, d, D, D)."""
        outputs, dim = self.value.shape[-2:]
        return Shape(outputs, dim, self.tokens, self.tokens)
