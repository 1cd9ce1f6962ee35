r"""How gradient flow on W approaches W^mm: the constant of its excess and the curve of its
direction.

Once the weights concentrate, $L - L_α = \sum w_{it} e^{-\langle φ_{it}, W\rangle}$ with
$w_{it} = (γ_α - γ_t)/(n(1+e^{γ_α}))$: separable exponential regression in W (Soudry et al. 2018).
Hence $W = W^{mm}\log t + \tilde W + o(1)$, with $\langle φ_s, \tilde W\rangle = \log(w_s/λ_s)$
on the support vectors, and

$(L - L_α)\, t \to \sum λ = \|W^{mm}\|_F^2$.

$1 - \mathrm{corr}(W, W^{mm})$ is then $1 - 1/\sqrt{1+r^2}$ with
$r = \|\tilde W_\perp\| / (\|W^{mm}\| (\log t + b))$ and
$b = \langle\tilde W, W^{mm}\rangle/\|W^{mm}\|^2$: it falls like
$1/\log^2 t$. Normalised descent moves by η a step, so that ‖W‖ ≈ ηk and
$L - L_α \propto e^{-ηk/\|W^{mm}\|}$.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from tutelage.claims.claim import NoPrediction
from tutelage.papers.attention_svm.parts.sample import Sample
from tutelage.papers.attention_svm.theory.programmes import MaxMargin, difference_matrices


def exponential_weights(sample: Sample, solved: MaxMargin) -> Float[np.ndarray, "n T"]:
    """w_it = (γ_α − γ_t)/(n(1 + e^γ_α)): the weight of each exponential in the excess."""
    chosen = sample.scores[sample.rows, solved.selected][:, None]
    return (chosen - sample.scores) / (len(chosen) * (1 + np.exp(chosen)))


def offset_on_supports(solved: MaxMargin) -> Float[np.ndarray, "d d"]:
    """The part of W̃ in the span of the support vectors: ⟨φ_s, W̃⟩ = log(w_s/λ_s) there.

    It is all of W̃ where every constraint supports and the start is zero. Elsewhere W̃ has a part
    that the path up to then decides.
    """
    supports = solved.supports
    if not solved.locally_optimal or not (solved.multipliers[supports] > 0).all():
        raise NoPrediction(
            "The law needs a locally optimal selection whose support vectors all have a positive "
            "multiplier. Got one that is not, or a support vector without."
        )
    weights = exponential_weights(solved.sample, solved)[supports]
    rows = difference_matrices(solved.sample, solved.selected)[supports]
    rows = rows.reshape(len(rows), -1)
    heights = np.log(weights / solved.multipliers[supports])
    return np.linalg.lstsq(rows, heights)[0].reshape(solved.matrix.shape)


def predicted_matrix(solved: MaxMargin, log_time: float) -> Float[np.ndarray, "d d"]:
    """W^mm log t + W̃, with the part of W̃ that the support vectors give."""
    return solved.matrix * log_time + offset_on_supports(solved)


def miss_of_direction(
    solved: MaxMargin, log_time: Float[np.ndarray, "points"]
) -> Float[np.ndarray, "points"]:
    """1 − corr(W^mm log t + W̃, W^mm), by the closed form of the module's head."""
    offset = offset_on_supports(solved)
    along = float(np.sum(offset * solved.matrix)) / solved.square
    across = float(np.linalg.norm(offset - along * solved.matrix)) / np.sqrt(solved.square)
    ratio = across / (log_time + along)
    # 1 − 1/√(1+r²) without cancellation
    root = np.sqrt(1 + ratio**2)
    return np.asarray(ratio**2 / (root * (1 + root)))


def orthonormal_square(sequences: int, tokens: int) -> float:
    """‖W^mm‖² = n(T−1)/T of orthonormal tokens and queries, with every multiplier 1/T.

    Each sequence has the Gram matrix I + 11ᵀ of size T−1, and (I + 11ᵀ)·1/T = 1.
    """
    return sequences * (tokens - 1) / tokens


def orthonormal_offset(sample: Sample) -> Float[np.ndarray, "d d"]:
    """W̃ of orthonormal tokens and queries: Σ μ_t φ_t with μ_t = log(T w_t) − (1/T) Σ log(T w)."""
    count, tokens = sample.scores.shape
    found = np.zeros((sample.tokens.shape[2],) * 2)
    for i in range(count):
        best = int(sample.best[i])
        others = [t for t in range(tokens) if t != best]
        gained = sample.scores[i, best] - sample.scores[i, others]
        heights = np.log(tokens * gained / (count * (1 + np.exp(sample.scores[i, best]))))
        pulls = heights - heights.sum() / tokens
        toward = pulls @ (sample.tokens[i, best] - sample.tokens[i, others])
        found += np.outer(toward, sample.queries[i])
    return found


def normalised_rate(solved: MaxMargin, rate: float) -> float:
    """The slope of log(L − L_α) in the number of steps of normalised descent: −η/‖W^mm‖."""
    return -rate / float(np.sqrt(solved.square))
