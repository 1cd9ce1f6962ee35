"""Sizes of nested samples, a few a decade."""

from __future__ import annotations

import numpy as np

PER_DECADE = 4


def prefixes(samples: int) -> tuple[int, ...]:
    """10, 18, 32, 56, 100, …: the whole numbers nearest to 10^(k/4) from 10 to `samples`, and `samples` itself."""
    last = int(np.floor(PER_DECADE * np.log10(samples) + 1e-9)) if samples >= 10 else 0
    return tuple(sorted({*(round(10 ** (k / PER_DECADE)) for k in range(PER_DECADE, last + 1)), samples}))
