"""Optimisers: each a function from a rate to an optax transformation.

All take `power` and `onset`: step sizes η/(1 + t/onset)^power, constant by default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tutelage.problem.registry import register
from tutelage.refuse import Refused

ONSET = 100.0  # steps


@register("optimiser", "gradient_descent")
def _gradient_descent(*, power: float = 0.0, onset: float = ONSET) -> Any:
    import optax

    from tutelage.optimisers.named import decaying

    return decaying(optax.sgd, power, onset)


@register("optimiser", "momentum")
def _momentum(
    *, decay: float, nesterov: bool = False, power: float = 0.0, onset: float = ONSET
) -> Any:
    from functools import partial

    import optax

    from tutelage.optimisers.named import decaying

    if not 0 <= decay < 1:
        raise Refused(
            f"`decay` must be in [0, 1), since the velocity must die out. Got decay={decay!r}."
        )
    return decaying(partial(optax.sgd, momentum=decay, nesterov=nesterov), power, onset)


@register("optimiser", "adam")
def _adam(
    *,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    power: float = 0.0,
    onset: float = ONSET,
) -> Any:
    from functools import partial

    import optax

    from tutelage.optimisers.named import decaying

    return decaying(partial(optax.adam, b1=b1, b2=b2, eps=eps), power, onset)


@register("optimiser", "normalised")
def _normalised(*, power: float = 0.0, onset: float = ONSET) -> Any:
    from tutelage.optimisers.named import decaying, normalised_descent

    return decaying(normalised_descent, power, onset)


@register("optimiser", "sign")
def _sign(*, power: float = 0.0, onset: float = ONSET) -> Any:
    import optax

    from tutelage.optimisers.named import decaying

    return decaying(optax.sign_sgd, power, onset)


def _numbers_of(options: Mapping[str, Any]) -> tuple[str, ...]:
    from tutelage.optimisers.named import numbers_of

    return numbers_of(options["transformation"]) if "transformation" in options else ()


@register("optimiser", "optax", further=_numbers_of)
def _optax(*, transformation: str, power: float = 0.0, onset: float = ONSET, **options: Any) -> Any:
    """Any transformation of optax by its name there, with its own options as far as they are
    numbers.
    """
    from tutelage.optimisers.named import decaying
    from tutelage.optimisers.named import transformation as named

    return decaying(named(transformation, options), power, onset)
