"""The shortest vector that satisfies linear inequalities: the programme behind every max-margin
law.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.linalg import null_space
from scipy.optimize import nnls

from tutelage.claims.claim import NoPrediction

EXACT = 1e-10  # what a solution may miss its optimality conditions by, relatively
NONE = 1e-8  # a residual below this, where the longest constraint is 1, is none


class Infeasible(NoPrediction):
    """No vector satisfies the constraints."""


@dataclass(frozen=True)
class LeastNorm:
    """min ‖w‖ with Gw ≥ h and Aw = 0: the minimiser, and the multipliers μ ≥ 0 of its inequalities,
    w = (GN)ᵀμ within Aw = 0.

    `residual` is that of the least-squares problem which found it, 1/√(1 + ‖w‖²) in units in which
    the longest constraint is 1: how far the programme is from infeasible.
    """

    w: Float[np.ndarray, "n"]
    multipliers: Float[np.ndarray, "m"]
    residual: float


def least_norm(
    G: Float[np.ndarray, "m n"],
    h: Float[np.ndarray, "m"],
    A: Float[np.ndarray, "k n"] | None = None,
) -> LeastNorm:
    """Least-distance programming by non-negative least squares (Lawson & Hanson 1974, ch. 23),
    checked by its optimality conditions.

    With the equalities eliminated, w = Nz, the residual r of min ‖[(GN)ᵀ; hᵀ]u − e‖ over u ≥ 0 (e
    the last unit vector) has ‖r‖² = 1/(1 + ‖z‖²); it is zero exactly where there is no solution.
    The active set that it finds is then solved afresh.
    """
    # In units in which the longest constraint is 1, so that short ones are no worse than long ones.
    unit = np.linalg.norm(G, axis=1).max() or 1.0
    N = None if A is None or not len(A) else null_space(A)
    H = (G if N is None else G @ N) / unit
    target = np.append(np.zeros(H.shape[1]), 1.0)
    found, residual = nnls(np.vstack([H.T, h]), target, maxiter=100 * len(h))
    if residual < NONE:
        raise Infeasible(
            "The constraints cannot be satisfied: no vector, however long, meets them all. The "
            f"residual of the least-squares problem is {residual:.1g}, against {NONE:g}."
        )
    active = found > 0
    z = np.linalg.lstsq(H[active], h[active])[0]
    multipliers = np.zeros(len(h))
    multipliers[active] = np.linalg.lstsq(H[active].T, z)[0]
    scale = np.linalg.norm(z)
    missed = max(
        np.max(h - H @ z) / np.max(h),  # the margins
        np.linalg.norm(H.T @ multipliers - z) / scale,  # stationarity
        -multipliers.min() / multipliers.max(),  # no constraint pulls the wrong way
    )
    if missed > EXACT:
        raise NoPrediction(
            f"The quadratic programme was solved to {missed:.1g} only, against {EXACT:g}: its "
            "constraints are too ill-conditioned."
        )
    return LeastNorm((z if N is None else N @ z) / unit, multipliers / unit**2, float(residual))
