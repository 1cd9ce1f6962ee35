r"""Where random sign codes stop the loss.

The codes of the subset overlap by chance, $\rho_{ij}$ of variance 1/m. A token of the subset has
the score $C(1+\delta_i)$, $\delta_i=\sum_{j\in y\setminus i}\rho_{ij}$, another $C\sigma_i$ with
$\sigma_i$ of variance q/m. To leading order in $C^2/m$ the tokens of the subset then differ in
weight by $E\sum(s_i-1/q)^2 = C^2(q-1)(q-2)/(mq^2)$ and the others get
$\frac{T-q}{q^2}e^{-2C+2C^2q/m}$. A larger C raises the one and lowers the other:

$$L_{floor} \approx \frac{d}{2q^2}\min_C\Bigl[(T-q)e^{-2C+2C^2q/m} + C^2\frac{(q-1)(q-2)}m\Bigr].$$

For q ≤ 2 the first term is zero, exactly and not on average: the two codes of a subset have the
same overlap with each other, and no other token scores higher. Then C → ∞ costs nothing but ties.
Another token ties with the one chosen if their codes are equal, with probability $2^{-m}$; with two
chosen, if its code agrees with them wherever they agree, with probability $2^{-B}$, B of the
binomial law of m fair coins, and so $(3/4)^m$ on average.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, xlog1py, xlogy

from tutelage.refuse import Refused

MOST_GAP = 200.0  # C, beyond which no floor is looked for


def floor_at(tokens: int, support: int, dim: int, width: int, gap: float) -> float:
    """What is minimised over C."""
    others = (tokens - support) * np.exp(-2 * gap + 2 * gap**2 * support / width)
    apart = gap**2 * (support - 1) * (support - 2) / width
    return float(dim / (2 * support**2) * (others + apart))


def sign_floor(tokens: int, support: int, dim: int, width: int) -> float:
    """The floor of the loss, to leading order in 1/m.

    The least is to the left of C = m/(2q), where the exponent is at its least.
    """
    most = min(MOST_GAP, width / (2 * support))
    found = minimize_scalar(
        lambda gap: floor_at(tokens, support, dim, width, gap),
        bounds=(0.0, most),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return float(found.fun)


def tie_loss(tokens: int, support: int, dim: int, width: int) -> float:
    """The loss at C = ∞ and the best α, for q ≤ 2: exactly.

    With k tokens that tie, all q + k weigh 1/(q + k).
    """
    if support > 2:
        raise Refused(
            "The law of ties needs at most two tokens in a subset, since three or more get unequal "
            f"scores. Got support={support}."
        )
    many = np.arange(tokens - support + 1)
    if support == 1:
        chances = _binomial(many, tokens - 1, 0.5**width)
    else:
        agreeing = np.arange(width + 1)
        given = _binomial(many[:, None], tokens - 2, 0.5 ** agreeing[None])
        chances = given @ _binomial(agreeing, width, 0.5)
    weight = 1.0 / (support + many)
    # E Σ s u = E 1/(q + k), and E Σ s² is the same: the best α is 1.
    missed = support * (weight - 1 / support) ** 2 + many * weight**2
    return float(0.5 * dim * (chances @ missed))


def _binomial(
    found: Int[np.ndarray, "..."], trials: int, chance: float | Float[np.ndarray, "..."]
) -> Float[np.ndarray, "..."]:
    """The probability of so many successes, for chances as small as 2^(−m) and any number of
    trials.
    """
    ways = gammaln(trials + 1) - gammaln(found + 1) - gammaln(trials - found + 1)
    return np.exp(ways + xlogy(found, chance) + xlog1py(trials - found, -np.asarray(chance)))
