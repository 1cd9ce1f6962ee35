r"""What a head that was trained on T tokens loses on T′ of them.

With codes that are drawn anew the head knows no positions, and C serves any number of tokens:
on T′ tokens its loss is `collapse.loss` there, at the same α and C. Late α ≈ 1/a, so that
$\alpha a'-1 \approx (T-T')e^{-C}/q$ and

$$\frac{L_{T'}}{L_T} \to \frac{(T'-T)^2}{q(T-q)} + \frac{T'-q}{T-q}.$$

The first term is that of α, which is tuned to T. With α fitted anew the second alone remains.
With fixed codes W knows the first T positions alone (`unseen_loss`).
"""

from __future__ import annotations

from math import comb

import numpy as np
from jaxtyping import Float

Curve = Float[np.ndarray, "points"]


def length_ratio(tokens: int, support: int, other: int) -> float:
    """The limit of L_{T′}/L_T."""
    return (other - tokens) ** 2 / (support * (tokens - support)) + refitted_ratio(
        tokens, support, other
    )


def refitted_ratio(tokens: int, support: int, other: int) -> float:
    """The same with α fitted anew on T′ tokens."""
    return (other - support) / (tokens - support)


def refitted_loss(tokens: int, support: int, dim: int, gap: Curve) -> Curve:
    """L at C and the best α: (d/2q)·r/(1 + r), r = ((T − q)/q)e^(−2C)."""
    ratio = (tokens - support) / support * np.exp(-2 * gap)
    return dim / (2 * support) * ratio / (1 + ratio)


def unseen_loss(tokens: int, support: int, dim: int, other: int, value: Curve, gap: Curve) -> Curve:
    """L on T′ ≥ T tokens with fixed codes, of which W knows the first T.

    Of a subset with k of its tokens among those, a known token has the score C(1[chosen] − k/T) and
    an unknown one 0, chosen or not; k has a hypergeometric law.
    """
    total = np.zeros_like(gap)
    for known in range(max(0, support - (other - tokens)), min(support, tokens) + 1):
        chance = comb(tokens, known) * comb(other - tokens, support - known) / comb(other, support)
        shift = known / tokens
        # chosen and known, known, chosen, neither: how many, their scores, their targets
        counts = np.array(
            [known, tokens - known, support - known, other - tokens - support + known], float
        )
        scores = np.multiply.outer(gap, [1 - shift, -shift, 0.0, 0.0])
        scores = np.where(counts > 0, scores, -np.inf)  # of what there is none of, none is read
        targets = np.array([1.0, 0.0, 1.0, 0.0]) / support
        lifted = np.exp(scores - scores.max(1, keepdims=True))
        weights = lifted / (lifted @ counts)[:, None]
        total += chance * (((value[:, None] * weights - targets) ** 2) @ counts)
    return 0.5 * dim * total
