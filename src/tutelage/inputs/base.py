"""What every input law is: something that tokens can be drawn from."""

from __future__ import annotations

import equinox as eqx
import jax
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Key

from tutelage.numerics.side_by_side import beside
from tutelage.refuse import Refused


class Inputs(eqx.Module):
    """The law of the tokens X (d×D)."""

    def sample(self, tokens: int, dim: int, *, key: Key[Array, ""]) -> Float[Array, "d D"]:
        """One input X, one column per token."""
        raise Refused(
            f"{type(self).__name__} is a finite set of inputs, and no law to draw fresh ones "
            "from. Choose an objective on a fixed sample."
        )

    def sample_batch(
        self, count: int, tokens: int, dim: int, dtype: DTypeLike, *, key: Key[Array, ""]
    ) -> Float[Array, "d nD"]:
        """`count` inputs side by side, as one step of online training draws them."""
        keys = jax.random.split(key, count)
        drawn = jax.vmap(lambda each: self.sample(tokens, dim, key=each))(keys)
        return beside(drawn.astype(dtype))

    def check_shapes(self, tokens: int, dim: int) -> None:
        """Refuses sizes that the law does not fit. Most fit all."""
