"""Tokens with iid entries of a named law, shifted and rescaled: inputs that are not Gaussian."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from tutelage.inputs.base import Inputs
from tutelage.refuse import Refused, one_of, positive


class Law(NamedTuple):
    """A distribution on the line: how it is drawn, its mean and its variance."""

    draw: Callable[[Key[Array, ""], tuple[int, ...]], Float[Array, "..."]]
    mean: float
    variance: float


def _student_t(freedom: float) -> Law:
    return Law(lambda key, shape: jax.random.t(key, freedom, shape), 0.0, freedom / (freedom - 2))


LAWS: dict[str, Law] = {
    "normal": Law(jax.random.normal, 0.0, 1.0),
    "exponential": Law(jax.random.exponential, 1.0, 1.0),
    "gumbel": Law(jax.random.gumbel, float(np.euler_gamma), math.pi**2 / 6),
    "rademacher": Law(
        lambda key, shape: jax.random.rademacher(key, shape, dtype=jnp.float64), 0.0, 1.0
    ),
    "student_t": _student_t(5.0),  # replaced by the freedom that is asked for
}


SYMMETRIC = ("normal", "rademacher", "student_t")  # about 0, unless they are shifted


class Independent(Inputs):
    """X = shift + scale·Z, the entries of Z iid of one law: normal, exponential, gumbel, rademacher
    or student_t.

    Student's t has `freedom` degrees of it, more than 2, since the theorems need second moments.
    """

    law: str = eqx.field(static=True)
    shift: Float[Array, ""]
    scale: Float[Array, ""]
    freedom: float = eqx.field(static=True)

    def __init__(
        self, law: str = "normal", *, shift: float = 0.0, scale: float = 1.0, freedom: float = 5.0
    ) -> None:
        self.law = one_of("law", law, LAWS)
        self.scale = jnp.asarray(positive("scale", scale, reason="entries are multiplied by it"))
        if isinstance(shift, bool) or not (isinstance(shift, int | float) and math.isfinite(shift)):
            raise Refused(
                "`shift` must be a finite number, since it is added to every entry. Got "
                f"shift={shift!r}."
            )
        self.shift = jnp.asarray(float(shift))
        if not (isinstance(freedom, int | float) and 2 < freedom < math.inf):
            raise Refused(
                "`freedom` must be a number more than 2, since the theorems need second "
                f"moments. Got freedom={freedom!r}."
            )
        self.freedom = float(freedom)

    @property
    def _law(self) -> Law:
        return _student_t(self.freedom) if self.law == "student_t" else LAWS[self.law]

    @property
    def symmetric(self) -> bool:
        """Whether every entry is as likely as its negative."""
        return self.law in SYMMETRIC and float(self.shift) == 0.0

    @property
    def mean(self) -> Float[Array, ""]:
        """Of every entry."""
        return self.shift + self.scale * self._law.mean

    @property
    def variance(self) -> Float[Array, ""]:
        """Of every entry."""
        return self.scale**2 * self._law.variance

    def whiten_rows(self, rows: Float[Array, "M d"]) -> Float[Array, "M d"]:
        """Rows w as they act on entries of variance 1."""
        return jnp.sqrt(self.variance) * rows

    def whiten_columns(self, columns: Float[Array, "D Q"]) -> Float[Array, "D Q"]:
        """Columns s, since positions are independent and the scale is with the rows."""
        return columns

    def sample(self, tokens: int, dim: int, *, key: Key[Array, ""]) -> Float[Array, "d D"]:
        """One input X, a column a token."""
        return self.shift + self.scale * self._law.draw(key, (dim, tokens)).astype(self.scale.dtype)

    def check_shapes(self, tokens: int, dim: int) -> None:
        """Entries are iid, so any shape will do."""
