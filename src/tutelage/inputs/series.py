"""Windows of one long lagged series, with a gap between those to train on and those held out."""

from __future__ import annotations

import math
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from tutelage.inputs.base import Inputs
from tutelage.numerics.streams import generator
from tutelage.refuse import Refused, whole
from tutelage.teachers.autoregression import Autoregression
from tutelage.teachers.base import Teacher

# The correlation that may be left between the last training window and the first one held out
FADED = 0.01


class Series(Inputs):
    """One stationary run of X_t = φX_{t−L} + ε_t of unit variance, cut into windows of T values
    with the next one as label.

    The first L values are drawn from the stationary law itself, N(0, 1) each: they belong to L
    chains that never meet, so no burn-in is needed. Windows begin `stride` values apart; by default
    T + 1, so that no value is in two of them. The held-out windows come after the others, past a
    gap over which φ^k has faded to 0.01: no value is on both sides.
    """

    teacher: Autoregression
    stride: int = eqx.field(static=True)

    def __init__(self, teacher: Teacher, *, stride: int | None = None) -> None:
        if not isinstance(teacher, Autoregression):
            raise Refused(
                "The inputs 'series' are windows of a lagged series, and need the teacher "
                "'autoregression'. Got another."
            )
        self.teacher = teacher
        own = teacher.tokens + 1
        self.stride = (
            own
            if stride is None
            else whole("stride", stride, least=1, reason="windows begin that many values apart")
        )

    @property
    def gap(self) -> int:
        """How many values are left out between the two parts: as many lags as it takes φ^k to fade,
        at least one window.
        """
        phi = abs(self.teacher.coefficient)
        lags = math.ceil(math.log(FADED) / math.log(phi)) if phi > 0 else 0
        return max(lags * self.teacher.lag, self.teacher.tokens + 1)

    def starts(
        self, samples: int, validation: int
    ) -> tuple[Int[np.ndarray, "n"], Int[np.ndarray, "k"]]:
        """Where the windows of the two parts begin."""
        trained = self.stride * np.arange(samples)
        end = int(trained[-1]) + self.teacher.tokens + 1  # past the last label
        return trained, end + self.gap + self.stride * np.arange(validation)

    def values(self, length: int, seed: int) -> Float[np.ndarray, "length"]:
        """The series itself; a longer one begins with the shorter one."""
        lag, phi = self.teacher.lag, self.teacher.coefficient
        noise = generator(seed, "series").standard_normal(length)
        rows = -(-length // lag)
        chains = np.zeros((rows, lag))
        chains.ravel()[:length] = noise
        for row in range(1, rows):  # every row is one lag of all chains
            chains[row] = phi * chains[row - 1] + math.sqrt(1 - phi**2) * chains[row]
        return chains.ravel()[:length]

    def windows(self, samples: int, validation: int, seed: int) -> tuple[Any, ...]:
        """Tokens, labels, their errors (none) and, held out, tokens and labels; None where nothing
        is held out.
        """
        trained, held = self.starts(samples, validation)
        last = int(held[-1]) if validation else int(trained[-1])
        series = self.values(last + self.teacher.tokens + 1, seed)

        def cut(starts: Int[np.ndarray, "n"]) -> tuple[Any, Any]:
            seen = series[starts[:, None] + np.arange(self.teacher.tokens + 1)]
            return self.teacher.dress(jnp.asarray(seen[:, :-1])), jnp.asarray(seen[:, -1])

        tokens, labels = cut(trained)
        return tokens, labels, jnp.zeros_like(labels), *(cut(held) if validation else (None, None))

    def check_shapes(self, tokens: int, dim: int) -> None:
        """The teacher itself says how many tokens and channels there are."""
