"""What Arda et al. 2026 state, computed from a setting alone: constants, bounds and the hypotheses
they rest on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tutelage.claims.verdict import Hypothesis
from tutelage.settings import Setting

SOURCE = "Arda, Cayci, Eryilmaz 2026"
# δ and δ′: the bounds hold with probability at least 1 − δ − δ′ over heads and pool; the paper
# leaves them open
DELTA = 0.05
# sup|σ|, sup|σ′|, sup|σ″| of tanh; the last is at tanh² = 1/3.
SIGMA = (1.0, 1.0, 4.0 / (3.0 * math.sqrt(3.0)))


@dataclass(frozen=True)
class Sizes:
    """The numbers of a setting by the paper's letters."""

    d: int
    T: int
    n: int
    m: int
    tau: int
    rho: tuple[float, float, float]  # ρ_c, ρ_u, ρ_w
    nu: tuple[float, float, float]  # ν_c, ν_u, ν_w


def sizes(setting: Setting) -> Sizes:
    """Reads them from the options, or from the defaults of the parts where an option is left
    out.
    """
    from tutelage.problem.registry import options_of

    def option(kind: str, name: str) -> float:
        part = getattr(setting, kind)
        known = options_of(kind, part.name)
        return float(part.options[name] if name in part.options else known[name].default)

    return Sizes(
        int(option("teacher", "dim")),
        int(option("teacher", "tokens")),
        int(option("objective", "samples")),
        int(option("student", "heads")),
        setting.steps,
        tuple(option("optimiser", f"rho_{letter}") for letter in "cuw"),  # type: ignore[arg-type]
        tuple(option("teacher", f"nu_{letter}") for letter in "cuw"),  # type: ignore[arg-type]
    )


def reading_bound(s: Sizes) -> float:
    """B_U = √d + √(2 log(m/2δ′)) + ρ_u/√m: no head's U is longer, with probability 1 − δ′, wherever
    in its ball.
    """
    return math.sqrt(s.d) + math.sqrt(2 * math.log(s.m / (2 * DELTA))) + s.rho[1] / math.sqrt(s.m)


def lipschitz(s: Sizes) -> tuple[float, float]:
    """L₁ = σ₁√(1+B_U²) and L₂ = σ₂(1+B_U²) + 8σ₁√(1+B_U²): how fast a head and its gradient change
    with U and W.
    """
    _, first, second = SIGMA
    square = 1 + reading_bound(s) ** 2
    return first * math.sqrt(square), second * square + 8 * first * math.sqrt(square)


def linearisation_bound(s: Sizes) -> float:
    """sup_X |f − f_lin| ≤ m^(−½)·(L₁ρ_c√(ρ_w²+ρ_u²) + L₂(ρ_w²+ρ_u²)) for every point of the
    ball.
    """
    one, two = lipschitz(s)
    rho_c, rho_u, rho_w = s.rho
    return (one * rho_c * math.hypot(rho_w, rho_u) + two * (rho_w**2 + rho_u**2)) / math.sqrt(s.m)


def approximation_bound(s: Sizes) -> float:
    """sup_j |f̃(X_j) − f_lin(X_j; θ̃)| ≤ 2(σ₀ν_c + σ₁ν_u + σ₁ν_w)·√(2 log(2n/δ)/m) at the
    transported parameters θ̃.
    """
    zero, first, _ = SIGMA
    nu_c, nu_u, nu_w = s.nu
    return (
        2
        * (zero * nu_c + first * nu_u + first * nu_w)
        * math.sqrt(2 * math.log(2 * s.n / DELTA) / s.m)
    )


def hypotheses(setting: Setting) -> list[Hypothesis]:
    """The conditions that the paper's theorems share, evaluated at a setting."""
    s = sizes(setting)
    radius = max(
        float(setting.inputs.options.get("radius", 1.0)),
        float(setting.teacher.options.get("token_radius", 1.0)),
    )
    sigma = setting.student.options.get("activation", "tanh")
    teacher = setting.teacher.options
    step = 1 / math.sqrt(s.tau)
    return [
        Hypothesis("token norms ≤ 1", radius <= 1, f"inputs and anchors clipped to {radius:g}"),
        Hypothesis(
            "target in the transported class",
            teacher.get("scores", "full") == "full",
            f"scores: {teacher.get('scores', 'full')}",
        ),
        Hypothesis(
            "radii cover the target, ρ ≥ ν",
            all(r >= n for r, n in zip(s.rho, s.nu, strict=True)),
            f"ρ = {s.rho}, ν = {s.nu}",
        ),
        Hypothesis(
            "step size 1/√τ",
            math.isclose(setting.rate, step, rel_tol=1e-9),
            f"η = {setting.rate:.4g}, 1/√τ = {step:.4g}",
        ),
        Hypothesis("symmetric start, noiseless labels", True, "by construction"),
        Hypothesis("σ, σ′, σ″ bounded by the constants of tanh", sigma == "tanh", f"σ = {sigma}"),
    ]
