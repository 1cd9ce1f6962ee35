r"""The two programmes: W^mm of least Frobenius norm, and which selections are locally optimal.

For a selection α, $W^{mm}_α = \arg\min \|W\|_F$ with
$(x_{iα} - x_{it})^\top W z_i \ge 1$ for every t ≠ α_i. It is $\sum λ_{it} φ_{it}$ with
$φ_{it} = (x_{iα} - x_{it}) z_i^\top$, λ ≥ 0 and $\sum λ = \|W^{mm}\|^2$.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float

from tutelage.numerics.least_norm import Infeasible, least_norm
from tutelage.papers.attention_svm.parts.sample import Sample, Selection

SUPPORTS = 1e-9  # a margin within this of 1 is a support vector's


@dataclass(frozen=True, eq=False)
class MaxMargin:
    """W^mm of a selection, its multipliers, and how far the programme is from infeasible."""

    sample: Sample
    selected: Selection
    matrix: Float[np.ndarray, "d d"]
    multipliers: Float[np.ndarray, "n T"]  # 0 at the selected tokens
    residual: float

    @cached_property
    def square(self) -> float:
        """‖W^mm‖_F²."""
        return float(np.sum(self.matrix**2))

    @cached_property
    def margins(self) -> Float[np.ndarray, "n T"]:
        """(x_α − x_t)ᵀ W^mm z; infinite at the selected tokens."""
        return margins(self.sample, self.matrix, self.selected)

    @property
    def supports(self) -> Bool[np.ndarray, "n T"]:
        return self.margins < 1 + SUPPORTS

    @property
    def smallest_slack(self) -> float:
        """How far the nearest constraint that does not support is from doing so."""
        others = self.margins[~self.supports]
        return float(np.min(others, initial=np.inf) - 1)

    @property
    def slack_of_better(self) -> float:
        """The smallest slack of a token that scores higher than the selected one; infinite where
        there is none.
        """
        chosen = self.sample.scores[self.sample.rows, self.selected][:, None]
        better = self.margins[self.sample.scores > chosen]
        return float(np.min(better, initial=np.inf) - 1)

    @cached_property
    def locally_optimal(self) -> bool:
        """γ_α > γ_t for every support vector t."""
        gained = self.sample.scores[self.sample.rows, self.selected][:, None] - self.sample.scores
        return bool((gained[self.supports] > 0).all())


def difference_matrices(sample: Sample, selected: Selection) -> Float[np.ndarray, "n T d d"]:
    """φ_it = (x_iα − x_it) z_iᵀ; zero at the selected tokens."""
    apart = sample.tokens[sample.rows, selected][:, None] - sample.tokens
    return apart[..., None] * sample.queries[:, None, None, :]


def unselected(sample: Sample, selected: Selection) -> Bool[np.ndarray, "n T"]:
    """All tokens but the selected ones."""
    return np.arange(sample.tokens.shape[1]) != selected[:, None]


def constraint_rows(sample: Sample, selected: Selection) -> Float[np.ndarray, "m dd"]:
    """The constraints of both programmes, one row φ_it per token that is not selected."""
    rows = difference_matrices(sample, selected)[unselected(sample, selected)]
    return rows.reshape(len(rows), -1)


def margins(
    sample: Sample, matrix: Float[np.ndarray, "d d"], selected: Selection
) -> Float[np.ndarray, "n T"]:
    """By how much W scores the selected token above each other; infinite at itself."""
    scores = sample.attended(matrix)
    above = scores[sample.rows, selected][:, None] - scores
    above[sample.rows, selected] = np.inf
    return above


def max_margin(sample: Sample, selected: Selection) -> MaxMargin:
    """W^mm of a selection; raises `Infeasible` where no matrix makes that selection."""
    rows = constraint_rows(sample, selected)
    solved = least_norm(rows, np.ones(len(rows)))
    multipliers = np.zeros(sample.scores.shape)
    multipliers[unselected(sample, selected)] = solved.multipliers
    dim = sample.tokens.shape[2]
    matrix = solved.w.reshape(dim, dim)
    return MaxMargin(sample, selected, matrix, multipliers, solved.residual)


def is_locally_optimal(sample: Sample, selected: Selection) -> bool:
    """Whether a selection can be made, and gains over each of its support vectors."""
    try:
        return max_margin(sample, selected).locally_optimal
    except Infeasible:
        return False
