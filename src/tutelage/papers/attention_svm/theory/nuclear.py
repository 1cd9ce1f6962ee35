r"""The programme of least nuclear norm, $W_\star = \arg\min \|W\|_*$ with the constraints of W^mm.

By splitting: shrinkage of singular values alternates with the projection onto the constraints,
which is a problem of non-negative least squares. Every iterate gives a feasible W and, scaled to
$\|\sum y φ\|_{op} = 1$, a feasible y of the dual $\max \sum y$; their distance is the duality gap,
which bounds the error of both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from tutelage.claims.claim import NoPrediction
from tutelage.papers.attention_svm.parts.sample import Sample, Selection
from tutelage.papers.attention_svm.theory.programmes import constraint_rows, max_margin

GAP = 4e-7  # relative, at which the splitting stops
MOST_ITERATIONS = 20_000
LOOK_EVERY = 10  # iterations between two looks at the gap
STIFFNESS = 3.0  # of the splitting, in units of 1/‖W^mm‖: any value converges, this one soon


@dataclass(frozen=True, eq=False)
class LeastNuclear:
    """W_⋆, feasible, with its norm and the relative duality gap."""

    matrix: Float[np.ndarray, "d d"]
    norm: float
    gap: float
    iterations: int

    @property
    def rank(self) -> int:
        """Singular values above a thousandth of the largest."""
        values = np.linalg.svd(self.matrix, compute_uv=False)
        return int((values > 1e-3 * values[0]).sum())


def least_nuclear(sample: Sample, selected: Selection) -> LeastNuclear:
    """W_⋆ of a selection; raises `Infeasible` where no matrix makes it."""
    rows = constraint_rows(sample, selected)
    shape = (sample.tokens.shape[2],) * 2
    start = max_margin(sample, selected).matrix.ravel()
    stiffness = STIFFNESS / float(np.linalg.norm(start))
    # A zero row of the Gram matrix's root stands for a constraint that others imply.
    values, vectors = np.linalg.eigh(rows @ rows.T)
    root = (vectors * np.sqrt(np.maximum(values, 1e-14 * values[-1]))).T
    factor = np.linalg.qr(root, mode="r")
    feasible, dual = start, np.zeros_like(start)
    gap = np.inf
    for iteration in range(1, MOST_ITERATIONS + 1):
        left, values, right = np.linalg.svd((feasible - dual).reshape(shape))
        shrunk = ((left * np.maximum(values - 1 / stiffness, 0)) @ right).ravel()
        # The projection q + Σ μφ, μ ≥ 0, minimises ½μᵀKμ − μᵀ(1 − φq), K the Gram matrix.
        aim = shrunk + dual
        target = solve_triangular(factor, 1 - rows @ aim, trans="T")
        pulls, _ = nnls(factor, target, maxiter=100 * len(rows))
        feasible = aim + rows.T @ pulls
        dual = dual + shrunk - feasible
        if iteration % LOOK_EVERY:
            continue
        lower = pulls.sum() / np.linalg.norm((rows.T @ pulls).reshape(shape), 2)
        reached = feasible / min(1.0, float((rows @ feasible).min()))  # feasible to the last bit
        norm = float(np.linalg.norm(reached.reshape(shape), "nuc"))
        gap = 1 - lower / norm
        if gap < GAP:
            return LeastNuclear(reached.reshape(shape), norm, float(gap), iteration)
    raise NoPrediction(
        f"The nuclear-norm programme must close its duality gap to {GAP:g} to be used. Got "
        f"{gap:.1g} after {MOST_ITERATIONS:,} iterations."
    )


def factored_excess(margin: Float[np.ndarray, "..."] | float) -> Float[np.ndarray, "..."] | float:
    r"""(L − L_α)·2tτ/‖W_⋆‖_nuc = 1 + 1/τ + 2/τ² + O(τ⁻³) for flow on W = KQᵀ, τ the margin.

    ½(‖K‖² + ‖Q‖²) grows like 2⟨−∇L, W⟩ = 2τ(L − L_α) and is τ‖W_⋆‖_nuc once the direction is
    reached; L − L_α ∝ e^{−τ} then gives ∫ e^τ dτ/τ ∝ t.
    """
    return 1 + 1 / margin + 2 / margin**2
