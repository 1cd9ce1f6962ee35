r"""Position weights alone: one feature that turns slowly, by θ/μ with θ uniform on (0, 2π).

A prefix of m tokens has the output $\sum_t p_t\lambda^{2t-m+2}$ and the target $\lambda^m$, the
term of the newest token itself. So the loss is $(p-e)^\top G(p-e)$ with $G_{tt'} =
\mathrm{sinc}(4\pi(t-t')/\mu)$, Slepian's matrix of bandwidth 2/μ, and descent from zero is a
spectral filter, $p = (I - (I - 2\eta G/R)^k)e$: it learns the few modes of G that are not tiny.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float


def slepian_matrix(tokens: int, slowness: float) -> Float[np.ndarray, "T T"]:
    """E Re λ^{2(t−t′)}."""
    apart = np.subtract.outer(np.arange(tokens), np.arange(tokens))
    return np.sinc(4 * apart / slowness)  # NumPy's sinc has the π in it


class Filter:
    """Descent of all prefixes of 2, …, T tokens from zero, by the modes of each."""

    def __init__(self, tokens: int, slowness: float, rate: float) -> None:
        self.tokens, self.rows = tokens, tokens - 1
        matrix = slepian_matrix(tokens, slowness)
        self.modes = [np.linalg.eigh(matrix[:m, :m]) for m in range(2, tokens + 1)]
        self.pace = 2 * rate / self.rows

    def weights(self, steps: int) -> Float[np.ndarray, "R T"]:
        """P after some steps."""
        found = np.zeros((self.rows, self.tokens))
        for row, (size, mode) in enumerate(self.modes):
            found[row, : row + 2] = mode @ (self._learned(size, steps) * mode[-1])
        return found

    def loss(self, steps: int) -> float:
        """The mean over prefixes of (p − e)ᵀG(p − e)."""
        left = [
            np.sum(size * (1 - self.pace * size) ** (2 * steps) * mode[-1] ** 2)
            for size, mode in self.modes
        ]
        return float(np.mean(left))

    def steps_until(self, loss: float) -> int:
        """The first step after which the loss is below a value."""
        low, high = 0, 1
        while self.loss(high) >= loss:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.loss(middle) < loss else (middle, high)
        return high

    def learned_modes(self, steps: int) -> float:
        """How many modes of the longest prefix are learned: the trace of its filter."""
        size, _ = self.modes[-1]
        return float(np.sum(self._learned(size, steps)))

    def _learned(self, size: Float[np.ndarray, "n"], steps: int) -> Float[np.ndarray, "n"]:
        """1 − (1 − 2ηg/R)^k of each mode, which keeps its digits where g is tiny."""
        step = self.pace * np.maximum(size, 0.0)
        slow = np.minimum(step, 0.5)
        return np.where(
            step <= 0.5, -np.expm1(steps * np.log1p(-slow)), 1 - (1 - step) ** float(steps)
        )


def expected_modes(tokens: int, slowness: float) -> float:
    """1 + 4T/μ: how many modes of G are not tiny, T numbers of bandwidth 2/μ and the constant."""
    return 1 + 4 * tokens / slowness
