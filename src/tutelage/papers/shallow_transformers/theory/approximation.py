"""What Arda et al. 2026 state, computed from a setting alone: constants, bounds and the hypotheses
they rest on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tutelage.claims.verdict import Hypothesis
from tutelage.papers.shallow_transformers.theory.options import read_number, read_three
from tutelage.settings import Setting

SOURCE = "Arda, Cayci, Eryilmaz 2026"
# δ and δ′: the bounds hold with probability at least 1 − δ − δ′ over heads and pool. The paper
# leaves them open.
DELTA = 0.05
# sup|σ|, sup|σ′|, sup|σ″| of tanh; the last is at tanh² = 1/3.
SIGMA = (1.0, 1.0, 4.0 / (3.0 * math.sqrt(3.0)))
# Hypotheses that a study looks up by their text, where its inputs, labels or method are others.
SHORT_TOKENS = "token norms ≤ 1"
IN_CLASS = "target in the transported class"
COVERED = "radii cover the target, ρ ≥ ν"
STEP = "step size 1/√τ"


@dataclass(frozen=True)
class Sizes:
    """The numbers of a setting by the paper's letters.

    Where a bound is asked at which width or time it would bite, m and τ are no whole numbers.
    """

    d: int
    T: int
    n: int
    m: float
    tau: float
    rho: tuple[float, float, float]  # ρ_c, ρ_u, ρ_w
    nu: tuple[float, float, float]  # ν_c, ν_u, ν_w


def sizes(setting: Setting) -> Sizes:
    """Reads them from the options, or from the defaults of the parts where an option is left
    out.
    """
    return Sizes(
        d=int(read_number(setting, "teacher", "dim")),
        T=int(read_number(setting, "teacher", "tokens")),
        n=int(read_number(setting, "objective", "samples")),
        m=int(read_number(setting, "student", "heads")),
        tau=setting.steps,
        rho=read_three(setting, "optimiser", "rho"),
        nu=read_three(setting, "teacher", "nu"),
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
    step = 1 / math.sqrt(setting.steps)
    met = math.isclose(setting.rate, step, rel_tol=1e-9)
    said = Hypothesis(STEP, met, f"η = {setting.rate:.4g}, 1/√τ = {step:.4g}")
    tokens, target, radii, *others = start_hypotheses(setting)
    return [tokens, target, radii, said, *others]


def start_hypotheses(setting: Setting) -> list[Hypothesis]:
    """Those that a statement about the start rests on: all but the step size."""
    s, teacher = sizes(setting), setting.teacher.options
    radius = max(
        float(setting.inputs.options.get("radius", 1.0)),
        float(teacher.get("token_radius", 1.0)),
    )
    scores = teacher.get("scores", "full")
    sigma = setting.student.options.get("activation", "tanh")
    covered = all(r >= n for r, n in zip(s.rho, s.nu, strict=True))
    return [
        Hypothesis(SHORT_TOKENS, radius <= 1, f"inputs and anchors clipped to {radius:g}"),
        Hypothesis(IN_CLASS, scores == "full", f"scores: {scores}"),
        Hypothesis(COVERED, covered, f"ρ = {s.rho}, ν = {s.nu}"),
        Hypothesis("symmetric start, noiseless labels", True, "by construction"),
        Hypothesis("σ, σ′, σ″ bounded by the constants of tanh", sigma == "tanh", f"σ = {sigma}"),
    ]
