"""How sure the answers are: bootstrap over probes, and how much of the input law may differ."""

from __future__ import annotations

import numpy as np
from scipy.stats import beta

from tutelage.layers.facts import Shares
from tutelage.numerics.streams import generator

RESAMPLES = 1000
LEVEL = 0.95


def bootstrap(shares: Shares, seed: int) -> tuple[float, float]:
    """The 95% interval of Σ left / Σ total over probes drawn again with replacement. Directions
    stay those of all probes, so that exact zeros stay zeros.
    """
    n = len(shares.left)
    weights = generator(seed, "bootstrap").multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    totals = weights @ shares.total
    lefts = weights @ shares.left
    ratios = np.divide(lefts, totals, out=np.zeros(RESAMPLES), where=totals > 0)
    low, high = np.quantile(ratios, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(min(low, shares.residual)), float(max(high, shares.residual))


def most_mass(differing: int, inputs: int) -> float:
    """The largest share of the input law that can differ, with confidence 95%, where `differing`
    of so many independent inputs did (Clopper and Pearson 1934). With none it is 1 − 0.05^{1/n},
    about 3/n: the rule of three.
    """
    if differing >= inputs:
        return 1.0
    return float(beta.ppf(LEVEL, differing + 1, inputs - differing))
