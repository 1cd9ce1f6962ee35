r"""Augmented tokens $(0, s_t, s_{t-1})$: what scalar blocks can do, and the best step.

The layer is $\sum_t s_{t-e}\langle s_{t-k}, s_{n-q}\rangle$, e, k, q ∈ {0, 1}, times a coefficient
each. Turning all angles by φ multiplies such a term by $e^{i\varphi(n-e-q+k)}$ and the target by
$e^{i\varphi(n+1)}$, so that only e = q = 0, k = 1 can correlate with the target: one step of
gradient descent on $\sum_t\|s_t - Ws_{t-1}\|^2$ from W = 0. Since W is unitary $\langle s_{t-1},
s_{n-1}\rangle = \langle s_t, s_n\rangle$: terms with the same e and k − q are the same function, of
which only the sum of coefficients counts. Per coordinate and prefix of n its loss at the size x is
$(nx-1)^2 + n(d-1)x^2$.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

TERMS = tuple((e, k, q) for e in (0, 1) for k in (0, 1) for q in (0, 1))
# Which terms are the same function, by (e, k − q): one row each.
SAME = np.array(
    [
        [float((e, k - q) == kind) for e, k, q in TERMS]
        for kind in sorted({(e, k - q) for e, k, q in TERMS})
    ]
)
STEP_KIND = sorted({(e, k - q) for e, k, q in TERMS}).index((0, 1))
STEP = TERMS.index((0, 1, 0))  # value s_t, key s_{t−1}, query s_n


def best_size(dim: int, prefixes: int) -> float:
    """x* = 3/(2N + 3d − 2), over prefixes 1, …, N."""
    return 3 / (2 * prefixes + 3 * dim - 2)


def least_loss(dim: int, prefixes: int) -> float:
    """1 − 3(N + 1)/(2(2N + 3d − 2)), a mean over prefixes and coordinates; ¼ as N grows."""
    return 1 - 3 * (prefixes + 1) / (2 * (2 * prefixes + 3 * dim - 2))


def gram(dim: int, prefixes: int) -> Float[np.ndarray, "8 8"]:
    """E⟨term, term′⟩ of one coordinate, summed over prefixes, by counting monomials that agree."""
    n = np.arange(1, prefixes + 1)
    found = np.zeros((len(TERMS), len(TERMS)))
    for row, first in enumerate(TERMS):
        for column, second in enumerate(TERMS):
            found[row, column] = np.sum(_agreeing(dim, n, first, second))
    return found


def pull(prefixes: int) -> Float[np.ndarray, "8"]:
    """E⟨term, target⟩ of one coordinate, summed over prefixes."""
    found = np.zeros(len(TERMS))
    found[STEP] = prefixes * (prefixes + 1) / 2
    return found


def _agreeing(
    dim: int, n: np.ndarray, first: tuple[int, int, int], second: tuple[int, int, int]
) -> np.ndarray:
    r"""Pairs of monomials $\lambda_i^{t-e}\lambda_j^{n-q-t+k}$ that agree, for each n: those with j
    = j′ = i; j = j′ ≠ i; one of them i and the other exponent zero; and both others, both zero.
    """
    (e, k, q), (e2, k2, q2) = first, second
    if k - e - q != k2 - e2 - q2:  # of another degree
        return np.zeros(len(n))
    idle = ((n - q + k >= 1) & (n - q + k <= n)).astype(float)
    idle2 = ((n - q2 + k2 >= 1) & (n - q2 + k2 <= n)).astype(float)
    same = np.maximum(n - abs(e - e2), 0)
    others = dim - 1
    return n**2 + others * (same + n * (idle + idle2)) + others * (dim - 2) * idle * idle2
