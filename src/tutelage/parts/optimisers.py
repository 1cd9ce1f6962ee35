"""Optimisers: each a function from a rate to an optax transformation."""

from __future__ import annotations

import math
from typing import Any

from tutelage.refuse import Refused
from tutelage.registry import register


@register("optimiser", "gradient_descent")
def _gradient_descent() -> Any:
    import optax

    return optax.sgd


@register("optimiser", "momentum")
def _momentum(*, decay: float, nesterov: bool = False) -> Any:
    from functools import partial

    import optax

    if not 0 <= decay < 1:
        raise Refused(f"`decay` must be in [0, 1), since the velocity must die out. Got decay={decay!r}.")
    return partial(optax.sgd, momentum=decay, nesterov=nesterov)


@register("optimiser", "adam")
def _adam(*, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Any:
    from functools import partial

    import optax

    return partial(optax.adam, b1=b1, b2=b2, eps=eps)


@register("optimiser", "averaged")
def _averaged(*, degree: float = 0.0) -> Any:
    """Plain descent; the measure `averaged_excess` reads the mean of its iterates, the s-th with a weight of about s^degree."""
    from functools import partial

    from tutelage.optimisers.averaged import averaged_descent

    if not (isinstance(degree, int | float) and 0 <= degree < math.inf):
        raise Refused(f"`degree` must be a number of at least 0, since later iterates weigh no less than earlier ones. Got degree={degree!r}.")
    return partial(averaged_descent, degree=float(degree))
