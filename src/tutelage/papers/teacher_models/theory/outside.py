r"""The best student of a teacher outside the class: the irreducible gap, what is learned instead,
and how fast. Predictions only.

S* has non-negative columns with sums r_i other than 1; the student's sum to 1. For given norms the
risk falls with ⟨w, v⟩, so the best rows of W_V are multiples of those of V*, and the same multiple
c of each, since all share one S. With x = c s the gap is

    ‖V*‖² min_c Σ_i min {h(x, s*_i) : x ≥ 0, Σx = c},
    h(x, s) = ½λ‖x − s‖² − b‖x‖‖s‖(sin θ − θ cos θ),   b = (1−k)²/2π,

θ the angle of x and s, k the leaky slope (1 for the identity). Since ∇h = (λ − b sin θ‖s‖/‖x‖) x −
(λ − bθ) s, a best x is, by Karush–Kuhn–Tucker, (βs + τ)₊ with one β: the projection of βs on the
simplex of sum c. So one number per column is left to be found, and c. For the identity β = 1 and
the whole problem is convex (docs/derivations.md, section 11).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import brentq

from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models.theory import facts
from tutelage.settings import Setting


@dataclass(frozen=True)
class Best:
    """The best student of a teacher: its attention, W_V = `scale`·V*, and the excess risk that no
    training can pass.
    """

    gap: float
    scale: float
    attention: Float[np.ndarray, "D Q"]

    @property
    def read(self) -> Bool[np.ndarray, "D Q"]:
        """The tokens that each query still reads; a softmax reaches the zeros of the others only in
        the limit.
        """
        return self.attention > 0


def projection(point: Float[np.ndarray, "D"], total: float) -> Float[np.ndarray, "D"]:
    """The nearest x ≥ 0 with Σx = total: (point + τ)₊."""
    falling = np.sort(point)[::-1]
    shifts = (total - np.cumsum(falling)) / np.arange(1, len(point) + 1)
    kept = int(np.flatnonzero(falling + shifts > 0)[-1])
    return np.maximum(point + shifts[kept], 0.0)


def mismatch(x: Float[np.ndarray, "D"], s: Float[np.ndarray, "D"], slope: float) -> float:
    """h(x, s): half the mean square of σ(g·x) − σ(g·s) for g ~ N(0, I)."""
    theta, size = _angle(x, s), float(np.linalg.norm(x) * np.linalg.norm(s))
    bend = (1 - slope) ** 2 / (2 * math.pi)
    plain = 0.25 * (1 + slope**2) * float(np.sum((x - s) ** 2))
    return plain - bend * size * (math.sin(theta) - theta * math.cos(theta))


def gradient(
    x: Float[np.ndarray, "D"], s: Float[np.ndarray, "D"], slope: float
) -> Float[np.ndarray, "D"]:
    """∇h in x: (λ − b sin θ‖s‖/‖x‖) x − (λ − bθ) s."""
    theta, ratio = _angle(x, s), float(np.linalg.norm(s) / np.linalg.norm(x))
    lam, bend = 0.5 * (1 + slope**2), (1 - slope) ** 2 / (2 * math.pi)
    return (lam - bend * math.sin(theta) * ratio) * x - (lam - bend * theta) * s


def _angle(x: Float[np.ndarray, "D"], s: Float[np.ndarray, "D"]) -> float:
    """θ by the half angle of two unit vectors, exact when it is small too."""
    one, other = x / np.linalg.norm(x), s / np.linalg.norm(s)
    return 2 * math.atan2(float(np.linalg.norm(one - other)), float(np.linalg.norm(one + other)))


def best_column(s: Float[np.ndarray, "D"], total: float, slope: float) -> Float[np.ndarray, "D"]:
    """The x ≥ 0 with Σx = total that is nearest to s in the eyes of the activation."""
    if slope == 1.0:
        return projection(s, total)
    # β = (λ − bθ)/(λ − b sin θ‖s‖/‖x‖), found from itself: near 1 it contracts, since θ and sin θ
    # are small beside λ/b = π/2 and more.
    lam, bend, beta = 0.5 * (1 + slope**2), (1 - slope) ** 2 / (2 * math.pi), 1.0
    for _ in range(200):
        x = projection(beta * s, total)
        theta = _angle(x, s)
        new = (lam - bend * theta) / (
            lam - bend * math.sin(theta) * float(np.linalg.norm(s) / np.linalg.norm(x))
        )
        if abs(new - beta) <= 1e-15 * beta:
            break
        beta = new
    return projection(beta * s, total)


@lru_cache(maxsize=64)
def best(setting: Setting) -> Best:
    """The best column-stochastic student of the setting's teacher."""
    f = facts(setting)
    if f.slope is None or not (f.standard and f.iid_positions):
        raise NoPrediction(
            "The best student is known for tokens N(0, I) and for identity, ReLU and leaky ReLU."
        )
    return _best(f.weights, f.slope, f.value_square)


def _best(weights: Float[np.ndarray, "D Q"], slope: float, square: float) -> Best:
    sums = weights.sum(0)

    def columns(c: float) -> Float[np.ndarray, "D Q"]:
        return np.stack([best_column(s, c, slope) for s in weights.T], axis=1)

    def pull(c: float) -> float:
        """d/dc of the sum over columns: for each the common slope of h along the weights that are
        not zero.
        """
        return sum(
            float(gradient(x, s, slope)[x > 0].mean())
            for x, s in zip(columns(c).T, weights.T, strict=True)
        )

    c = float(sums[0])
    if sums.max() - sums.min() > 1e-12 * sums.max():
        c = brentq(pull, float(sums.min()), float(sums.max()), xtol=1e-15, rtol=1e-14)
    found = columns(c)
    return Best(
        square * sum(mismatch(x, s, slope) for x, s in zip(found.T, weights.T, strict=True)),
        c,
        found / c,
    )


def gap(setting: Setting) -> float:
    """The excess risk of the best student of the class: 0 for a teacher of the class."""
    return best(setting).gap


def scale(setting: Setting) -> float:
    """c with W_V → c V*."""
    return best(setting).scale


def rate_constant(setting: Setting) -> float:
    r"""(excess − gap)·t → Σ_i A_i(D − A_i) over the columns in which the best student does not read
    all D tokens, A_i those it reads.

    Four times the counting law of A_i: at the teacher the gradient vanishes with the error, here
    each weight that must vanish keeps a positive multiplier. Needs orthonormal codes; a scale c of
    the scores other than 1/√D divides by c²D.
    """
    f = facts(setting)
    if not f.orthonormal_codes:
        raise NoPrediction("The rate at which the gap is reached is known for orthonormal codes.")
    reads = best(setting).read.sum(0)
    return float(np.sum(reads * (f.tokens - reads)) / (f.attention_scale**2 * f.tokens))


def quarter_constant(setting: Setting) -> float:
    """A quarter of `rate_constant`: the counting law of A_i, as if the teacher were of the class.
    For a control.
    """
    return 0.25 * rate_constant(setting)
