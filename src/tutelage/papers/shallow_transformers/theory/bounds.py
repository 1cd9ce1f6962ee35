"""Bounds of Arda et al. 2026 with their constants, an averaged-iterate bound whose constants are
all written out, and where they bite.

The paper states its bound on training up to a constant. The one here follows the same path with
nothing hidden (docs/bounds.md): with θ̃ the transported point, β how far f at θ̃ and its tangent at
an iterate miss the labels, Γ ≥ ‖∇f‖ and D ≥ ‖θ̃ − θ₀‖, mean_t L(θ_t) = A obeys A ≤ D²/(4ητ) + β√A +
ηΓ²·min(A, L_max), and √L(mean θ_t) ≤ √A + 2·sup|f − f_lin|.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from tutelage.papers.shallow_transformers.theory.approximation import (
    DELTA,
    SIGMA,
    Sizes,
    approximation_bound,
    linearisation_bound,
    lipschitz,
    reading_bound,
)

WIDEST = 1e40  # beyond it nothing is looked for


def pool_bound(s: Sizes, pool: float) -> float:
    """What the labels' own pool of heads may miss: the approximation bound with `pool` independent
    heads instead of m/2.
    """
    return approximation_bound(replace(s, m=1)) / math.sqrt(2 * pool)


def tangent_bound(s: Sizes) -> float:
    """|f(θ̃) − f(θ) − ⟨∇f(θ), θ̃−θ⟩| for two points of the ball: m^(−½)(4ρ_cL₁R + 2(1+ρ_c/√m)L₂R²),
    R² = ρ_u² + ρ_w².

    Each head moves by at most 2ρ/√m in every block, and contributes Δc·Δh and c times the
    second-order remainder of h.
    """
    one, two = lipschitz(s)
    rho_c, rho_u, rho_w = s.rho
    far, root_m = math.hypot(rho_u, rho_w), math.sqrt(s.m)
    return (4 * rho_c * one * far + 2 * (1 + rho_c / root_m) * two * far**2) / root_m


def gradient_bound(s: Sizes) -> float:
    """Γ: ‖∇f(X; θ)‖ ≤ √(σ₀² + (1+ρ_c/√m)²L₁²) everywhere in the ball."""
    return math.hypot(SIGMA[0], (1 + s.rho[0] / math.sqrt(s.m)) * lipschitz(s)[0])


def largest_loss(s: Sizes) -> float:
    """L_max: (sup|f| + sup|y|)² in the ball, |f| ≤ ρ_c + ρ_u + ρ_wB_U + sup|f − f_lin| and |y| ≤
    ν_c + ν_u + ν_w√d.
    """
    rho_c, rho_u, rho_w = s.rho
    nu_c, nu_u, nu_w = s.nu
    student = rho_c + rho_u + rho_w * reading_bound(s) + linearisation_bound(s)
    return (student + nu_c + nu_u + nu_w * math.sqrt(s.d)) ** 2


def mean_loss_bound(s: Sizes, rate: float, pool: float = math.inf) -> float:
    """A bound on mean_t L(θ_t), and so on the least: the smaller of the two that the descent
    inequality gives.

    (1 − ηΓ²)A ≤ D²/(4ητ) + β√A where ηΓ² < 1, and A ≤ D²/(4ητ) + ηΓ²L_max + β√A always; each is a
    quadratic in √A.
    """
    beta = linearisation_bound(s) + approximation_bound(s) + pool_bound(s, pool) + tangent_bound(s)
    first = sum(nu**2 for nu in s.nu) / (4 * rate * s.tau)
    steep = rate * gradient_bound(s) ** 2
    bounds = [_root(1.0, beta, first + steep * largest_loss(s))]
    if steep < 1:
        bounds.append(_root(1 - steep, beta, first))
    return min(bounds) ** 2


def averaged_bound(s: Sizes, rate: float, pool: float = math.inf) -> float:
    """The loss of the averaged iterate: the linearised loss is convex, and differs from the loss by
    sup|f − f_lin|, twice.
    """
    return (math.sqrt(mean_loss_bound(s, rate, pool)) + 2 * linearisation_bound(s)) ** 2


def printed_form(s: Sizes) -> float:
    """(d + log(m/δ′))²/√τ + √(log(n/δ)/m) + (d + log(m/δ′))/√m: the paper's bound with its unstated
    constant set to 1.
    """
    size = s.d + math.log(s.m / DELTA)
    samples = math.sqrt(math.log(s.n / DELTA) / s.m)
    return size**2 / math.sqrt(s.tau) + samples + size / math.sqrt(s.m)


def width_for(bound: Callable[[Sizes], float], s: Sizes, level: float) -> float:
    """The least m at which a bound falls to a level; infinity where no width does."""

    def at(log_m: float) -> float:
        return bound(replace(s, m=math.exp(log_m)))

    low, high = math.log(2.0), math.log(WIDEST)
    if at(high) > level:
        return math.inf
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle) > level else (low, middle)
    return math.exp(high)


def _root(a: float, b: float, c: float) -> float:
    """The largest x with a·x² ≤ b·x + c."""
    return (b + math.sqrt(b**2 + 4 * a * c)) / (2 * a)
