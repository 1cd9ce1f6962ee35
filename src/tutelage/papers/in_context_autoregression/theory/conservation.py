r"""What gradient flow conserves, and the level that it ends at because of that.

The loss depends on A and B through $C = B^\top A$ alone, and is unchanged by $A \to aA$, $P \to
P/a$. So $AA^\top - BB^\top$ and $\tfrac12(\|A\|^2 + \|B\|^2) - \|P\|^2$ stay as they are at the
start. At a minimiser $C = \kappa\,\Pi$ with a projector $\Pi$ of rank H the eigenvalues of
$AA^\top$ are $\tfrac12(\delta_k + \sqrt{\delta_k^2 + 4\kappa^2})$, with $\delta_k$ those of
$AA^\top - BB^\top$, and those of $BB^\top$ have the other sign of $\delta_k$.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq

LEAST_LEVEL, LARGEST_LEVEL = 1e-9, 1e9


class Conserved(NamedTuple):
    """What a start fixes for all times."""

    differences: Float[np.ndarray, "H"]  # δ_k, the eigenvalues of AAᵀ − BBᵀ
    balance: float  # ½(‖A‖² + ‖B‖²) − ‖P‖², over the entries of P that are used


def read_conserved(
    scores: Float[np.ndarray, "H d"],
    values: Float[np.ndarray, "H d"],
    used_positions: Float[np.ndarray, "n"],
) -> Conserved:
    """The conserved quantities of A, B and the entries of P that are used."""
    differences = np.linalg.eigvalsh(scores @ scores.T - values @ values.T)
    squares = 0.5 * (np.sum(scores**2) + np.sum(values**2))
    return Conserved(differences, float(squares - np.sum(used_positions**2)))


def unitary_level(start: Conserved, rows: int) -> float:
    r"""|c| of $B^\top A = cI$, H = d, with one weight 1/c in each of R rows:
    $\tfrac12\sum_k\sqrt{\delta_k^2 + 4c^2} - R/c^2$ is the balance of the start.
    """
    return _solve(start, rows, size=1.0, square=1.0)


def paired_level(start: Conserved, rows: int) -> float:
    r"""|c| of blocks $c\,[[1,1],[1,1]]$, H = d/2, with weights 1/c and −1/(2c) in each of R rows:
    singular values are 2c, and $\|P\|^2 = 5R/(4c^2)$.
    """
    return _solve(start, rows, size=2.0, square=1.25)


def _solve(start: Conserved, rows: int, size: float, square: float) -> float:
    def excess(level: float) -> float:
        singular = size * level
        factors = 0.5 * np.sum(np.sqrt(start.differences**2 + 4 * singular**2))
        return float(factors - square * rows / level**2 - start.balance)

    return float(brentq(excess, LEAST_LEVEL, LARGEST_LEVEL, xtol=1e-15, rtol=1e-14))


def unitary_level_from_zero(dim: int, rows: int) -> float:
    """(R/d)^(1/3), the level of a vanishing start."""
    return (rows / dim) ** (1 / 3)


def paired_level_from_zero(dim: int, rows: int) -> float:
    """(5R/4d)^(1/3), the level of a vanishing start with d/2 ≤ H < d."""
    return (1.25 * rows / dim) ** (1 / 3)
