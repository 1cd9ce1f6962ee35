"""Least squares of a·σ(c·t + b) + e, for many outputs at once (Levenberg–Marquardt)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from tutelage.activations import Activation

Table = Float[np.ndarray, "n P"]
ROUNDS = 60
STARTS = ((1.0, 0.0), (1.0, 1.0), (1.0, -1.0), (1.6, 0.0), (0.6, 0.0))  # of |c| and b


@dataclass(frozen=True)
class Curve:
    """An activation with two derivatives, of arrays."""

    activation: Activation
    steepest: float  # the largest slope on [−4, 4]
    mirror: float | None  # κ, if σ(x) + σ(−x) = κ for all x

    @classmethod
    @cache
    def of(cls, activation: Activation) -> Curve:
        grid = jnp.linspace(-4.0, 4.0, 801)
        slopes = jax.vmap(jax.grad(lambda x: jnp.sum(activation(x))))(grid)
        sums = np.asarray(activation(grid) + activation(-grid))
        mirror = float(sums[0]) if np.ptp(sums) < 1e-12 else None
        return cls(activation, float(np.abs(np.asarray(slopes)).max()), mirror)

    def __call__(self, x: Table) -> tuple[Table, Table, Table]:
        """σ, σ' and σ''."""
        first, second, third = _compiled(self.activation)(jnp.asarray(x.ravel()))
        shape = x.shape
        return (
            np.asarray(first).reshape(shape),
            np.asarray(second).reshape(shape),
            np.asarray(third).reshape(shape),
        )


Derivatives = Callable[[Float[Array, "k"]], tuple[Float[Array, "k"], ...]]


@cache
def _compiled(activation: Activation) -> Derivatives:
    def one(x: Float[Array, ""]) -> tuple[Float[Array, ""], ...]:
        first = jax.grad(activation)
        return activation(x), first(x), jax.grad(first)(x)

    return jax.jit(jax.vmap(one))


@dataclass(frozen=True)
class Fitted:
    """The best parameters of each output."""

    scale: Float[np.ndarray, "P"]
    bias: Float[np.ndarray, "P"]
    gain: Float[np.ndarray, "P"]
    offset: Float[np.ndarray, "P"]


def fit_curves(
    curve: Curve,
    t: Table,
    values: Table,
    slopes: Table,
    sound: Bool[np.ndarray, "n P"],
    *,
    free: bool,
) -> Fitted:
    """Without `free` the gain is 1 and the offset 0. All starts descend side by side, as if each
    output stood there once per start.
    """
    steep = np.abs(np.where(sound, slopes, 0.0)).max(0)
    spread = np.maximum(values.std(0), 1e-300)
    starts = [
        np.stack(
            [
                sign * factor * steep / curve.steepest,
                np.full_like(steep, bias),
                np.ones_like(steep),
                np.zeros_like(steep),
            ]
        )
        for sign in (1.0, -1.0)
        for factor, bias in STARTS
    ]
    count = len(starts)
    found, cost = _descend(
        curve,
        np.concatenate(starts, axis=1),
        np.tile(t, (1, count)),
        np.tile(values, (1, count)),
        np.tile(slopes, (1, count)),
        np.tile(sound, (1, count)),
        np.tile(spread, count),
        free,
    )
    best = cost.reshape(count, -1).argmin(0)
    kept = found.reshape(4, count, -1)[:, best, np.arange(len(steep))]
    return Fitted(*_with_positive_gain(curve, kept))


def _with_positive_gain(curve: Curve, p: Float[np.ndarray, "4 P"]) -> Float[np.ndarray, "4 P"]:
    """Where σ(−x) = κ − σ(x), as for tanh and the sigmoid, a form and its negative fit alike: the
    one with a positive gain is taken, for all outputs the same.
    """
    if curve.mirror is None:
        return p
    c, b, a, e = p
    turned = np.stack([-c, -b, -a, e + a * curve.mirror])
    return np.where((a < 0)[None], turned, p)


def _residuals(
    curve: Curve,
    p: Float[np.ndarray, "4 P"],
    t: Table,
    values: Table,
    slopes: Table,
    sound: Bool[np.ndarray, "n P"],
    spread: Float[np.ndarray, "P"],
) -> tuple[Float[np.ndarray, "P k"], Float[np.ndarray, "P k 4"]]:
    """Of values and slopes, both relative to the spread of the values, and their derivatives."""
    c, b, a, e = (row[None] for row in p)
    s0, s1, s2 = curve(np.clip(c * t + b, -50.0, 50.0))
    reach = np.maximum(np.abs(t).std(0), 1e-300)[None]  # slopes in units of values
    keep = sound * reach
    first = (a * s0 + e - values) / spread[None]
    second = keep * (a * c * s1 - slopes) / spread[None]
    ones = np.ones_like(s0)
    d_first = np.stack([a * s1 * t, a * s1, s0, ones], -1) / spread[None, :, None]
    d_second = (
        np.stack([a * s1 + a * c * s2 * t, a * c * s2, c * s1, 0 * ones], -1)
        * keep[..., None]
        / spread[None, :, None]
    )
    return (
        np.concatenate([first, second]).T,
        np.concatenate([d_first, d_second]).transpose(1, 0, 2),
    )


def _descend(
    curve: Curve,
    start: Float[np.ndarray, "4 P"],
    t: Table,
    values: Table,
    slopes: Table,
    sound: Bool[np.ndarray, "n P"],
    spread: Float[np.ndarray, "P"],
    free: bool,
) -> tuple[Float[np.ndarray, "4 P"], Float[np.ndarray, "P"]]:
    moving = 4 if free else 2
    p, damping = start, np.full(t.shape[1], 1e-2)
    rest = (t, values, slopes, sound, spread)
    r, J = _residuals(curve, p, *rest)
    cost = np.sum(r**2, 1)
    for _ in range(ROUNDS):
        J = J[..., :moving]
        normal = np.einsum("pki,pkj->pij", J, J)
        right = np.einsum("pki,pk->pi", J, r)
        size = np.einsum("pii->pi", normal) + 1e-300
        normal = normal + np.einsum("pi,ij->pij", damping[:, None] * size, np.eye(moving))
        step = np.zeros_like(p)
        step[:moving] = -np.linalg.solve(normal, right[..., None])[..., 0].T
        tried = p + step
        new_r, new_J = _residuals(curve, tried, *rest)
        new_cost = np.sum(new_r**2, 1)
        better = new_cost < cost
        p = np.where(better[None], tried, p)
        r = np.where(better[:, None], new_r, r)
        J = np.where(better[:, None, None], new_J, _widen(J, new_J))
        settled = np.abs(cost - new_cost) <= 1e-16 * cost
        cost = np.where(better, new_cost, cost)
        damping = np.clip(np.where(better, damping / 5, damping * 4), 1e-12, 1e12)
        if (settled | (cost < 1e-26 * len(t)) | (damping >= 1e12)).all():
            break
    return p, cost


def _widen(
    narrow: Float[np.ndarray, "P k i"], whole: Float[np.ndarray, "P k 4"]
) -> Float[np.ndarray, "P k 4"]:
    """The columns that were cut off do not matter: they belong to parameters that do not move."""
    return np.concatenate([narrow, whole[..., narrow.shape[-1] :]], -1)
