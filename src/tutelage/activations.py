"""Activations: frozen, hashable values, so that a compiled program is keyed by the activation it
was made for.

The teacher and the student share one. Identity, leaky ReLU (of which ReLU is slope 0) and erf have
closed-form Gaussian expectations; any other smooth function goes through quadrature
(`numerics/quadrature.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.plugins import import_parts
from tutelage.refuse import Refused, one_of

Bend = Callable[[Float[Array, "..."]], Float[Array, "..."]]  # a function of one array


@dataclass(frozen=True)
class Identity:
    """σ(x) = x."""

    name: str = "identity"

    def __call__(self, x: Float[Array, "..."]) -> Float[Array, "..."]:
        return x


@dataclass(frozen=True)
class LeakyReLU:
    """σ(x) = x for x > 0 and k·x for x < 0; its derivative at 0 is (1+k)/2, the average of the two
    sides.

    The choice at 0 matters: from W_V = 0 every pre-activation is 0, a derivative of 0 there never
    moves, and libraries disagree (relu 0, maximum ½, leaky_relu k or 1). The average is the one
    limit that prefers no direction.
    """

    slope: float = 0.1

    def __post_init__(self) -> None:
        if not (isinstance(self.slope, int | float) and 0.0 <= self.slope < 1.0):
            raise Refused(
                "The leaky slope must be a number in [0, 1), since slope 1 is the identity and a "
                "slope outside "
                f"that range bends the other way. Got slope={self.slope!r}."
            )

    @property
    def name(self) -> str:
        return "relu" if self.slope == 0 else f"leaky_relu({self.slope:g})"

    def __call__(self, x: Float[Array, "..."]) -> Float[Array, "..."]:
        return _leaky(self.slope, x)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _leaky(slope: float, x: Float[Array, "..."]) -> Float[Array, "..."]:
    return jnp.where(x > 0, x, slope * x)


@_leaky.defjvp
def _leaky_jvp(
    slope: float, primals: tuple[Float[Array, "..."]], tangents: tuple[Float[Array, "..."]]
) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
    (x,), (dx,) = primals, tangents
    derivative = jnp.where(x > 0, 1.0, jnp.where(x < 0, slope, 0.5 * (1.0 + slope)))
    return _leaky(slope, x), derivative * dx


@dataclass(frozen=True)
class Erf:
    """σ(x) = erf(x)."""

    name: str = "erf"

    def __call__(self, x: Float[Array, "..."]) -> Float[Array, "..."]:
        return jax.scipy.special.erf(x)


@dataclass(frozen=True)
class Smooth:
    """σ(x) = φ(x): any twice differentiable `function` φ of one number, written with jax.numpy; its
    risk comes by quadrature.
    """

    function: Bend
    name: str

    def __call__(self, x: Float[Array, "..."]) -> Float[Array, "..."]:
        return self.function(x)


Activation = Identity | LeakyReLU | Erf | Smooth


def _gelu(x: Float[Array, "..."]) -> Float[Array, "..."]:
    return jax.nn.gelu(x, approximate=False)


def _gelu_by_tanh(x: Float[Array, "..."]) -> Float[Array, "..."]:
    return jax.nn.gelu(x, approximate=True)


REGISTERED: dict[str, Activation] = {
    "identity": Identity(),
    "relu": LeakyReLU(0.0),
    "leaky_relu": LeakyReLU(),
    "erf": Erf(),
    "tanh": Smooth(jnp.tanh, "tanh"),
    "gelu": Smooth(_gelu, "gelu"),
    "silu": Smooth(jax.nn.silu, "silu"),
    "sigmoid": Smooth(jax.nn.sigmoid, "sigmoid"),
    "gelu_tanh": Smooth(_gelu_by_tanh, "gelu_tanh"),  # what networks often use for gelu
    "softplus": Smooth(jax.nn.softplus, "softplus"),
    "elu": Smooth(jax.nn.elu, "elu"),
}


def activation(given: str | Activation | Bend) -> Activation:
    """The activation behind a registered name ("leaky_relu(0.3)" sets the slope), or around a
    callable.
    """
    if isinstance(given, Identity | LeakyReLU | Erf):
        return given
    if isinstance(given, Smooth):
        _check_traceable(given)
        return given
    if isinstance(given, str):
        if match := re.fullmatch(r"leaky_relu\(\s*([-+.\deE]+)\s*\)", given):
            try:
                return LeakyReLU(float(match[1]))
            except ValueError as error:
                raise (
                    error
                    if isinstance(error, Refused)
                    else Refused(f"A leaky slope must be a number in [0, 1). Got {match[1]!r}.")
                ) from None
        if given not in REGISTERED:
            import_parts()
        return REGISTERED[one_of("activation", given, REGISTERED)]
    if callable(given):
        found = Smooth(given, getattr(given, "__name__", "callable"))
        _check_traceable(found)
        return found
    raise Refused(f"An activation is a registered name or a callable of one array. Got {given!r}.")


@lru_cache(maxsize=64)
def _check_traceable(given: Smooth) -> None:
    """Refuses a function that JAX cannot look into, as those of NumPy and `math` are."""
    try:
        # Through `__call__`: JAX keeps weak references to what it traces, and a ufunc has none.
        jax.eval_shape(given.__call__, jax.ShapeDtypeStruct((2,), jnp.float64))
    except (jax.errors.JAXTypeError, TypeError, AttributeError) as error:
        raise Refused(
            "An activation must be a function of one array written with jax.numpy, since it is "
            f"differentiated and compiled: jax.numpy.tanh, not numpy.tanh. Got {given.function!r}, "
            f"which raises {type(error).__name__} when JAX calls it."
        ) from None
