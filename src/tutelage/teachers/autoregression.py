"""A lagged series as a teacher: the next value is a fraction of the one L steps back, plus noise
that nobody can foresee.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.refuse import Refused, one_of, whole
from tutelage.teachers.base import Shape, Teacher

NORMS = ("free", "unit")
BASE = 10_000.0  # the slowest angular frequency of the position channels is BASE^(2/P − 1)


class Autoregression(Teacher):
    r"""f*(X) = φ·X_{T+1−L}: the best prediction of X_{T+1} for X_t = φX_{t−L} + ε_t, with Var X = 1
    and so Var ε = 1 − φ².

    A token is [X_t; p_t], with position channels p_t = (sin ω_k t, cos ω_k t)_k, ω_k =
    10000^(−2k/P): ‖p_t‖² = P/2 for every t. With `norms` = "unit" every token is divided by its
    length. Its value is then found again from the ratio to the position channels, so that nothing
    is lost.
    """

    lag: int = eqx.field(static=True)
    tokens: int = eqx.field(static=True)
    channels: int = eqx.field(static=True)
    norms: str = eqx.field(static=True)
    coefficient: float = eqx.field(static=True)

    def __init__(
        self,
        lag: int,
        *,
        tokens: int | None = None,
        channels: int = 8,
        coefficient: float = 0.9,
        norms: str = "free",
    ) -> None:
        self.lag = whole(
            "lag", lag, least=1, reason="the next value depends on the one that many steps back"
        )
        self.tokens = whole(
            "tokens",
            lag + 1 if tokens is None else tokens,
            least=self.lag,
            reason="the value that matters must be in the window",
        )
        self.channels = whole(
            "channels", channels, least=2, reason="a position is told by a sine and a cosine"
        )
        if self.channels % 2:
            raise Refused(
                "`channels` must be even, since each frequency has a sine and a cosine. Got "
                f"channels={channels}."
            )
        if (
            isinstance(coefficient, bool)
            or not isinstance(coefficient, int | float)
            or not abs(coefficient) < 1
        ):
            raise Refused(
                "`coefficient` must be within (−1, 1), since the series is stationary only there. "
                f"Got {coefficient!r}."
            )
        self.coefficient = float(coefficient)
        self.norms = one_of("kind of norms", norms, NORMS)

    @property
    def shape(self) -> Shape:
        """(1, d, T, 1)."""
        return Shape(1, 1 + self.channels, self.tokens, 1)

    @property
    def floor(self) -> float:
        """Var ε = 1 − φ²: the risk of the best predictor, where the zero predictor has 1."""
        return 1 - self.coefficient**2

    def positions(self) -> Float[np.ndarray, "P T"]:
        """p_t for t = 1 … T, a column each."""
        omega = BASE ** (-np.arange(0, self.channels, 2) / self.channels)
        angle = omega[:, None] * np.arange(1, self.tokens + 1)
        return np.concatenate([np.sin(angle), np.cos(angle)])

    def dress(self, values: Float[Array, "n T"]) -> Float[Array, "n d T"]:
        """Values as tokens."""
        codes = jnp.broadcast_to(
            jnp.asarray(self.positions()), (len(values), self.channels, self.tokens)
        )
        tokens = jnp.concatenate([values[:, None], codes], axis=1)
        return (
            tokens
            if self.norms == "free"
            else tokens / jnp.linalg.norm(tokens, axis=1, keepdims=True)
        )

    def __call__(self, tokens: Float[Array, "d T"]) -> Float[Array, ""]:
        """φ·X_{T+1−L}; the value of a token is √(P/2) times its first entry over the length of the
        others.
        """
        token = tokens[:, self.tokens - self.lag]
        return (
            self.coefficient * jnp.sqrt(self.channels / 2) * token[0] / jnp.linalg.norm(token[1:])
        )
