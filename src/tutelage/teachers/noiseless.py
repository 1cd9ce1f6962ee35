"""What the teachers outside the bilinear class share: they label without noise."""

from __future__ import annotations

import equinox as eqx
from jaxtyping import Array, Float, Key


class NoiselessTeacher(eqx.Module):
    """Y = f*(X). Each has an `activation`, the last thing that its students do, as in the bilinear
    class.
    """

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "M Q"]:
        raise NotImplementedError

    def label(self, tokens: Float[Array, "d D"], *, key: Key[Array, ""]) -> Float[Array, "M Q"]:
        """f*(X) itself."""
        return self(tokens)
