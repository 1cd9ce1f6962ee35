"""Optimisers: each a function from a rate to an optax transformation.

All take `power` and `onset`: step sizes η/(1 + t/onset)^power, constant by default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from tutelage.problem.options import Option, Value
from tutelage.problem.parts.vocabulary import ONSET, POWER
from tutelage.problem.registry import register
from tutelage.problem.sizes import size_without_state
from tutelage.refuse import positive, share

if TYPE_CHECKING:
    from tutelage.optimisers.base import Optimiser


@register(
    "optimiser",
    "gradient_descent",
    label="gradient descent",
    sentence="Plain steps, constant or falling.",
    estimate=size_without_state,
)
def _gradient_descent(
    *, power: Annotated[float, POWER] = 0.0, onset: Annotated[float, ONSET] = 100.0
) -> Optimiser:
    import optax

    from tutelage.optimisers.named import decaying

    return decaying(optax.sgd, power, onset)


@register(
    "optimiser", "momentum", label="momentum", sentence="With a velocity.", begin={"decay": 0.9}
)
def _momentum(
    *,
    decay: Annotated[float, Option("momentum", "β", 0, 0.999, shape=True)],
    nesterov: Annotated[bool, Option("Nesterov's form", shape=True)] = False,
    power: Annotated[float, POWER] = 0.0,
    onset: Annotated[float, ONSET] = 100.0,
) -> Optimiser:
    from functools import partial

    import optax

    from tutelage.optimisers.named import decaying

    share("decay", decay, reason="the velocity must die out")
    return decaying(partial(optax.sgd, momentum=decay, nesterov=nesterov), power, onset)


@register("optimiser", "adam", label="Adam", sentence="Steps rescaled entry by entry.")
def _adam(
    *,
    b1: Annotated[float, Option("decay of the mean", "β₁", 0, 0.999, shape=True)] = 0.9,
    b2: Annotated[float, Option("decay of the square", "β₂", 0, 0.9999, shape=True)] = 0.999,
    eps: Annotated[float, Option("ε", "ε", 1e-16, 1, log=True, shape=True)] = 1e-8,
    power: Annotated[float, POWER] = 0.0,
    onset: Annotated[float, ONSET] = 100.0,
) -> Optimiser:
    from functools import partial

    import optax

    from tutelage.optimisers.named import decaying

    for name, kept in (("b1", b1), ("b2", b2)):
        share(name, kept, reason="it is what an average of past gradients keeps in a step")
    positive("eps", eps, reason="it is added to a divisor that may be zero")
    return decaying(partial(optax.adam, b1=b1, b2=b2, eps=eps), power, onset)


@register(
    "optimiser",
    "normalised",
    label="normalised descent",
    sentence="Steps of constant length.",
    estimate=size_without_state,
)
def _normalised(
    *, power: Annotated[float, POWER] = 0.0, onset: Annotated[float, ONSET] = 100.0
) -> Optimiser:
    from tutelage.optimisers.named import decaying, normalised_descent

    return decaying(normalised_descent, power, onset)


@register(
    "optimiser",
    "sign",
    label="sign descent",
    sentence="Every entry moves by the same amount.",
    estimate=size_without_state,
)
def _sign(
    *, power: Annotated[float, POWER] = 0.0, onset: Annotated[float, ONSET] = 100.0
) -> Optimiser:
    import optax

    from tutelage.optimisers.named import decaying

    return decaying(optax.sign_sgd, power, onset)


def _numbers_of(options: Mapping[str, Any]) -> tuple[str, ...]:
    from tutelage.optimisers.named import numbers_of

    return numbers_of(options["transformation"]) if "transformation" in options else ()


@register(
    "optimiser",
    "optax",
    label="any optimiser of optax",
    sentence="By its name there.",
    begin={"transformation": "rmsprop"},
    further=_numbers_of,
)
def _optax(
    *,
    transformation: Annotated[str, Option("name in optax", shape=True)],
    power: Annotated[float, POWER] = 0.0,
    onset: Annotated[float, ONSET] = 100.0,
    **options: Value,
) -> Optimiser:
    """Any transformation of optax by its name there, with its own options as far as they are
    numbers.
    """
    from tutelage.optimisers.named import decaying
    from tutelage.optimisers.named import transformation as named

    return decaying(named(transformation, options), power, onset)
