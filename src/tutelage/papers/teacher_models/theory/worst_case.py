r"""The worst inputs and labels for a trained student, and the time T_ε after which its loss exceeds
the teacher's by ε at most, whatever they are (Zhang et al. 2026, Theorem 3.2).

One output (M = 1); columns of X̃ and of Ỹ have second moments of at most ξ. With
Δ = TF(X̃) − f*(X̃) the excess is ½E‖Δ‖² + E⟨f*−Ỹ, Δ⟩. For equal K,
Δ → c t^-½ σ′⊙V*X̃N, c = 1/√(2λ‖V*‖²), where column i of N is √K off the support and 0 on it
(`limit_error`). By Cauchy and Schwarz |E f*_iΔ_i| ≤ c t^-½√K(D−K)‖V*‖²ξ and
|E ỹ_iΔ_i| ≤ c t^-½√K(D−K)‖V*‖ξ. Equal tokens x̃_j = √ξ V*ᵀ/‖V*‖ with labels −√ξ attain both. So

    sup excess·√t → ξ Q(D−K)√(K/2λ)(1+‖V*‖),     T_ε ηε²/ξ² → K Q²(D−K)²(1+‖V*‖)²/(2λ).
"""

from __future__ import annotations

from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models.theory.facts import Facts, facts
from tutelage.papers.teacher_models.theory.sharp_constants import value_constant
from tutelage.settings import Setting


def worst_excess(setting: Setting) -> float:
    """sup excess·√t/ξ → Q(D−K)√(K/2λ)(1+‖V*‖): the constant of ‖W_V − V*‖ times Q(1+‖V*‖)."""
    f = of_one_output(setting)
    return float(f.queries * value_constant(setting) * (1 + f.norm))


def tolerance_time(setting: Setting) -> float:
    """ηT_ε ε²/ξ² → K Q²(D−K)²(1+‖V*‖)²/(2λ) as ε → 0."""
    return worst_excess(setting) ** 2


def printed_tolerance_time(setting: Setting) -> float:
    """ηT_ε ε²/ξ² = O(K D⁶‖V*‖²), whose factor is not stated."""
    f = facts(setting)
    return float(f.support * f.tokens**6 * f.norm**2)


def of_one_output(setting: Setting) -> Facts:
    """The facts of a setting with one output and one K < D, where the worst is known in closed
    form.
    """
    f = facts(setting)
    if f.outputs != 1 or not f.uniform or f.support == f.tokens:
        raise NoPrediction(
            "The worst inputs and labels are known for one output and one K < D. Got "
            f"{f.outputs} outputs and supports from {f.supports.min()} to {f.supports.max()} of "
            f"{f.tokens} tokens."
        )
    return f
