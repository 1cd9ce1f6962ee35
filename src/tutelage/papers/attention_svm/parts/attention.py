r"""Attention with a fixed head on a sample, in log domain: nothing is lost to rounding here,
however far the softmax has saturated.

$f_i = v^\top X_i^\top \mathrm{softmax}(X_i W z_i)$ and the loss is
$\frac1n \sum_i \log(1 + e^{-Y_i f_i})$. Let α be any token of each sequence and
δ_t = γ_α − γ_t. Then Y_i f_i = γ_α − g with the gap g = Σ_{t≠α} s_t δ_t, and

$-\nabla L = \frac1n \sum_i \sigma(-Y_i f_i) \sum_{t \ne α} s_t (δ_t - g) (x_α - x_t) z_i^\top$,

a sum without cancellation once s_α is near 1. (By s_α(γ_α − γ̄), as automatic differentiation of a
softmax has it, the largest term is a difference of equal numbers, and is lost below 10⁻¹⁶.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tutelage.papers.attention_svm.parts.sample import Sample, Selection

SMALL_GAP = 1e-9  # below it log1p(expm1(g)·p) is p·g to rounding


@dataclass(frozen=True)
class Weights:
    """Softmax weights in log scale, relative to the token that each sequence attends to most."""

    selected: Selection
    logs: Float[np.ndarray, "n T"]  # log s_t; −∞ for the selected token
    gaps: Float[np.ndarray, "n T"]  # δ_t = γ_α − γ_t

    @property
    def gap(self) -> Float[np.ndarray, "n"]:
        """g = Σ s_t δ_t, which may underflow to zero."""
        return (np.exp(self.logs) * self.gaps).sum(1)


def weigh(
    sample: Sample, matrix: Float[np.ndarray, "d d"], selected: Selection | None = None
) -> Weights:
    """The weights of W, relative to a selection; by default, that of its own largest scores."""
    scores = sample.attended(matrix)
    at = scores.argmax(1) if selected is None else selected
    logs = scores - scores.max(1, keepdims=True)
    logs -= np.log(np.exp(logs).sum(1, keepdims=True))
    logs[sample.rows, at] = -np.inf
    return Weights(at, logs, sample.scores[sample.rows, at][:, None] - sample.scores)


def descent_direction(
    sample: Sample, matrix: Float[np.ndarray, "d d"], log_scale: float | None
) -> Float[np.ndarray, "d d"]:
    """−∇L·e^log_scale; scaled by its largest weight where `log_scale` is None.

    In log time the factor is t, and without it the gradient would underflow.
    """
    seen = weigh(sample, matrix)
    scale = -seen.logs.max() if log_scale is None else log_scale
    gap = seen.gap
    chosen = sample.scores[sample.rows, seen.selected]
    slope = 1 / (1 + np.exp(chosen - gap))  # σ(−Y f)
    pull = np.exp(seen.logs + scale) * (seen.gaps - gap[:, None])
    pull *= slope[:, None] / len(slope)
    # Σ_t pull_t (x_α − x_t), one row per sequence: the selected token takes what the others give
    pull[sample.rows, seen.selected] = -pull.sum(1)
    toward = -(pull[:, None, :] @ sample.tokens)[:, 0]
    return toward.T @ sample.queries


def log_excess(sample: Sample, matrix: Float[np.ndarray, "d d"], selected: Selection) -> float:
    """log(L − L_α), L_α the loss of attending to the selected tokens alone; NaN where L is below.

    L − L_α = (1/n) Σ log1p(expm1(g_i)/(1 + e^γ_α)), in units of its largest weight.
    """
    seen = weigh(sample, matrix, selected)
    unit = seen.logs.max()
    gap, scaled = seen.gap, (np.exp(seen.logs - unit) * seen.gaps).sum(1)
    share = 1 / (1 + np.exp(sample.scores[sample.rows, selected]))
    # The excess of a sequence over its gap: `share` in the limit of a small one.
    large = np.abs(gap) > SMALL_GAP
    with np.errstate(divide="ignore", invalid="ignore"):
        bend = np.where(large, np.log1p(np.expm1(gap) * share) / gap, share)
        return float(unit + np.log(np.mean(scaled * bend)))


def loss_of_selection(sample: Sample, selected: Selection) -> float:
    """L_α = (1/n) Σ log(1 + e^{−γ_α})."""
    return float(np.mean(np.logaddexp(0.0, -sample.scores[sample.rows, selected])))
