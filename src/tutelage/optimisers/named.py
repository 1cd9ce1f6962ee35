"""Optimisers of optax by name, normalised descent, and step sizes that decay: each a function from
a rate to a transformation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache

import jax
import jax.numpy as jnp
import optax
from jaxtyping import PyTree

from tutelage.optimisers.base import Optimiser, Rate
from tutelage.refuse import Refused, is_finite, one_of, positive, share, show, yes_or_no
from tutelage.settings import Value

# They look along a line for a step, and so must evaluate the objective themselves; one step here is
# one gradient.
SEARCHING = (
    "lbfgs",
    "scale_by_lbfgs",
    "scale_by_backtracking_linesearch",
    "scale_by_zoom_linesearch",
)
DRAWING = (
    "noisy_sgd",
)  # its noise has a seed of its own, which would be the same in every run of a batch
SHARES = ("b1", "b2", "b3", "decay", "decay_rate", "momentum")  # options that are in [0, 1)
RENAMED = ("optimistic_adam",)  # optax has optimistic_adam_v2 in its place


def normalised_descent(rate: Rate) -> optax.GradientTransformation:
    """θ ← θ − η g/‖g‖, the norm over all parameters together; no step where the gradient is
    zero.
    """

    def direction(gradient: PyTree, _: PyTree) -> PyTree:
        length = jnp.linalg.norm(
            jnp.stack([jnp.linalg.norm(leaf) for leaf in jax.tree.leaves(gradient)])
        )
        safe = jnp.where(length > 0, length, jnp.ones_like(length))
        return jax.tree.map(lambda g: g / safe, gradient)

    return optax.chain(optax.stateless(direction), optax.scale_by_learning_rate(rate))


def decaying(make: Optimiser, power: float, onset: float) -> Optimiser:
    """The same with step sizes η_t = η/(1 + t/t₀)^a, t = 0, 1, …; t₀ is `onset`, a is `power`. With
    a = 0 it is `make` itself.

    The factor multiplies the finished update, so that momentum and averages of gradients are those
    of the optimiser itself.
    """
    positive(
        "onset",
        onset,
        reason="it is the number of steps t₀ after which η_t = η/(1 + t/t₀)^a begins to fall",
    )
    if positive("power", power, reason="step sizes η/(1 + t/t₀)^a fall or stay", zero=True) == 0:
        return make

    def scheduled(rate: Rate) -> optax.GradientTransformation:
        return optax.chain(
            make(rate),
            optax.scale_by_schedule(lambda t: (1 + jnp.asarray(t, jnp.float64) / onset) ** -power),
        )

    return scheduled


@cache
def transformations() -> dict[str, Callable[..., optax.GradientTransformation]]:
    """The optimisers of optax that take a learning rate, and those steps of one (`scale_by_…`) that
    take numbers alone.
    """
    found: dict[str, Callable[..., optax.GradientTransformation]] = {}
    for name in dir(optax):
        function = getattr(optax, name)
        if not inspect.isfunction(function) or name in (*SEARCHING, *DRAWING, *RENAMED):
            continue
        parameters = list(inspect.signature(function).parameters.values())
        rated = bool(parameters) and parameters[0].name == "learning_rate"
        if (rated or name.startswith("scale_by_")) and all(
            p.default is not p.empty for p in parameters[int(rated) :]
        ):
            found[name] = function
    return found


def numbers_of(name: str) -> tuple[str, ...]:
    """The options of a transformation that are numbers, or yes and no."""
    given = inspect.signature(
        transformations()[one_of("transformation of optax", name, transformations())]
    ).parameters.values()
    return tuple(
        p.name
        for p in given
        if p.name != "learning_rate" and (_number(p.default) or "float" in str(p.annotation))
    )


def transformation(name: str, options: Mapping[str, Value]) -> Optimiser:
    """A function from a rate to the transformation of optax of that name; a `scale_by_…` is
    followed by a step of −rate.
    """
    names = numbers_of(name)
    function = transformations()[name]
    parameters = inspect.signature(function).parameters
    for key, value in options.items():
        default = parameters[one_of(f"option of optax.{name}", key, names)].default
        if isinstance(default, bool):
            yes_or_no(key, value, reason=f"optax.{name} declares it so")
        elif isinstance(value, bool) or not _number(value):
            raise Refused(
                f"`{key}` of optax.{name} must be a number, since optax declares it so. Got "
                f"{key}={value!r}."
            )
        elif key in SHARES and value != default:  # sums of optax keep everything
            share(key, value, reason="it is what an average of past gradients keeps in a step")
        elif isinstance(value, int | float) and not is_finite(value):
            raise Refused(
                f"`{key}` of optax.{name} must be finite, since it enters every step. Got "
                f"{key}={show(value)}."
            )
    if "learning_rate" in parameters:
        return lambda rate: function(rate, **options)
    return lambda rate: optax.chain(function(**options), optax.scale_by_learning_rate(rate))


def _number(value: Value) -> bool:
    return isinstance(value, bool | int | float)
