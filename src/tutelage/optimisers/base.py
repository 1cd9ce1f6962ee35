"""What every optimiser is: a step size in, an optax transformation out."""

from __future__ import annotations

from collections.abc import Callable

import optax
from jaxtyping import Array, Float

Rate = float | Float[Array, ""]
# The rate is an argument and traced, so that another rate never recompiles.
Optimiser = Callable[[Rate], optax.GradientTransformation]
