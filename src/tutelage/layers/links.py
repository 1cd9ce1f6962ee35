r"""Link: which function each output is of its own linear form.

Along its ridge an output is f = a·σ(c·t + b) + e, with t = ⟨u, X⟩ for the unit direction u. The
scale c belongs to the form, A = c·u: it is read where the gate is active, and not from the mean
slope, since how often a gate is active in a few probes is noise. The bias b, the gain a and the
offset e are those of real layers (a normalisation after σ gives the last two).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from tutelage.activations import REGISTERED, Activation, Identity, LeakyReLU
from tutelage.layers.facts import Shares
from tutelage.layers.fitting import Curve, fit_curves
from tutelage.plugins import import_parts

Table = Float[np.ndarray, "n P"]
Line = Float[np.ndarray, "P"]
FEW = 16  # outputs on which activations are told apart


@dataclass(frozen=True)
class Seen:
    """P outputs along their ridges, at n probes."""

    t: Table  # ⟨u, X⟩
    slopes: Table  # df/dt
    values: Table  # f
    sound: Bool[np.ndarray, "n P"]
    error: float

    @property
    def alive(self) -> Bool[np.ndarray, "P"]:
        """Outputs that some probe has seen move."""
        most = np.abs(np.where(self.sound, self.slopes, 0.0)).max(0, initial=0.0)
        return most > 1e-9 * most.max(initial=0.0)

    def choose(self, outputs: np.ndarray) -> Seen:
        return replace(
            self,
            t=self.t[:, outputs],
            slopes=self.slopes[:, outputs],
            values=self.values[:, outputs],
            sound=self.sound[:, outputs],
        )


@dataclass(frozen=True)
class Link:
    """a·σ(c·t + b) + e for each of P outputs; σ is None where no known one fits."""

    activation: Activation | None
    scale: Line  # c
    bias: Line  # b
    gain: Line  # a
    offset: Line  # e
    shares: Shares  # what is left of the values

    def predict(self, forms: Float[np.ndarray, "n P"]) -> Float[np.ndarray, "n P"]:
        """The values, from z = c·t."""
        sigma = Identity() if self.activation is None else self.activation
        inside = jnp.asarray(forms + self.bias[None])
        return self.gain[None] * np.asarray(sigma(inside)) + self.offset[None]


def find_link(seen: Seen, tolerance: float) -> Link:
    """The activation that leaves the least, tried on a few outputs, then fitted to all."""
    alive = np.flatnonzero(seen.alive)
    strength = np.sum(np.where(seen.sound, seen.slopes, 0.0) ** 2, 0)[alive]
    few = seen.choose(alive[np.argsort(-strength)[:FEW]])
    pieces = fit_pieces(seen, tolerance)  # of all, since some may never leave their active side
    if pieces is not None:
        fits = pieces.shares.residual <= tolerance
        return pieces if fits else replace(pieces, activation=None, scale=_largest(seen))
    best: tuple[float, Activation, bool] | None = None
    for activation, free in _candidates():
        left = _fit_smooth(few, activation, free=free).shares.residual
        if best is None or left < best[0]:
            best = (left, activation, free)
        if left <= tolerance:
            break
    assert best is not None
    left, activation, free = best
    found = _fit_smooth(seen, activation, free=free)
    return found if left <= tolerance else replace(found, activation=None, scale=_largest(seen))


def _candidates() -> Iterator[tuple[Activation, bool]]:
    """Smooth activations, first as they are, then with a gain and an offset after them."""
    import_parts()
    curved = [a for a in REGISTERED.values() if not isinstance(a, Identity | LeakyReLU)]
    for free in (False, True):
        for activation in curved:
            yield activation, free


def _largest(seen: Seen) -> Line:
    """The slope of the largest size: the active gate's, of a function that has one."""
    kept = np.where(seen.sound, seen.slopes, 0.0)
    return np.take_along_axis(kept, np.abs(kept).argmax(0)[None], 0)[0]


def _mean(values: Table, where: Bool[np.ndarray, "n P"]) -> Line:
    counts = where.sum(0)
    return np.divide(
        np.where(where, values, 0.0).sum(0), counts, out=np.zeros(values.shape[1]),
        where=counts > 0,
    )  # fmt: skip


def _shares(seen: Seen, predicted: Table) -> Shares:
    """What is left of the variation of the values, and of outputs that never move nothing."""
    spread = (seen.values - seen.values.mean(0)[None]) ** 2
    return Shares(np.sum((seen.values - predicted) ** 2, 1), np.sum(spread, 1))


def fit_pieces(seen: Seen, tolerance: float) -> Link | None:
    """Identity, ReLU or leaky ReLU, where slopes take one or two values; None where they do not.

    Active slopes are c, inactive ones k·c. The intercepts of the two lines, b + e and k·b + e, give
    both. A concave kink is −σ: the gain is then −1.
    """
    level = max(1e-7, 1e3 * seen.error, tolerance**0.5)
    scale = _largest(seen)
    size = np.abs(scale)
    alive = seen.alive
    safe = np.where(size > 0, scale, 1.0)
    ratio = seen.slopes / safe[None]
    usable = seen.sound & alive[None]
    active = usable & (np.abs(ratio - 1.0) <= level)
    inactive = usable & ~active
    low = ratio[inactive]
    slope = float(np.median(low)) if len(low) else 1.0  # one line each is the identity
    if len(low) and (np.abs(low - slope) > level).any():
        return None
    if slope != 1.0 and not -level <= slope < 1.0 - level:
        return None
    slope = 0.0 if abs(slope) <= level else slope
    intercept = seen.values - scale[None] * seen.t
    upper = _mean(intercept, active)  # b + e
    if slope == 1.0:
        ones, zeros = np.ones_like(scale), np.zeros_like(scale)
        dead = _mean(seen.values, np.ones_like(active))
        link = Link(
            Identity(), np.where(alive, scale, 0.0), np.where(alive, upper, dead), ones, zeros,
            Shares(zeros[:0], zeros[:0]),
        )  # fmt: skip
        return replace(link, shares=_shares(seen, link.predict(link.scale[None] * seen.t)))
    return _fit_kinks(seen, scale, slope, active, inactive)


def _fit_kinks(
    seen: Seen,
    scale: Line,
    slope: float,
    active: Bool[np.ndarray, "n P"],
    inactive: Bool[np.ndarray, "n P"],
) -> Link:
    alive, both = seen.alive, active.any(0) & inactive.any(0)
    upper = _mean(seen.values - scale[None] * seen.t, active)
    lower = _mean(seen.values - slope * scale[None] * seen.t, inactive)
    kink = (upper - lower) / (1.0 - slope)  # b, where both sides were seen
    forms = scale[None] * seen.t + kink[None]
    concave = both & (_mean(forms, active) < 0)
    offset = np.where(both, upper - kink, 0.0)
    # One side alone: the offset is that of outputs that were seen on both sides.
    common = float(np.median(offset[both])) if both.any() else 0.0
    one_sided = alive & ~both
    offset = np.where(one_sided, common, offset)
    bias = np.where(both, kink, upper - offset)
    # A leaky output that was seen below its kink alone has the slope k·c throughout.
    below = one_sided & (slope > 0) & (_mean(seen.values, active) - offset < 0)
    scale = np.where(below, scale / (slope or 1.0), scale)
    bias = np.where(below, bias / (slope or 1.0), bias)
    gain = np.where(concave, -1.0, 1.0)
    still = _mean(seen.values, np.ones_like(active))
    link = Link(
        LeakyReLU(slope),
        np.where(alive, np.where(concave, -scale, scale), 0.0),
        np.where(alive, np.where(concave, -bias, bias), -1.0 if slope == 0 else 0.0),
        gain,
        np.where(alive, offset, still),
        Shares(bias[:0], bias[:0]),
    )
    return replace(link, shares=_shares(seen, link.predict(link.scale[None] * seen.t)))


def _fit_smooth(seen: Seen, activation: Activation, *, free: bool) -> Link:
    """By least squares on values and slopes together, from several starts."""
    curve = Curve.of(activation)
    fitted = fit_curves(curve, seen.t, seen.values, seen.slopes, seen.sound, free=free)
    alive = seen.alive
    still = _mean(seen.values, np.ones_like(seen.sound))
    link = Link(
        activation,
        np.where(alive, fitted.scale, 0.0),
        np.where(alive, fitted.bias, 0.0),
        fitted.gain,
        np.where(alive, fitted.offset, still - fitted.gain * float(activation(jnp.zeros(())))),
        Shares(still[:0], still[:0]),
    )
    return replace(link, shares=_shares(seen, link.predict(link.scale[None] * seen.t)))
