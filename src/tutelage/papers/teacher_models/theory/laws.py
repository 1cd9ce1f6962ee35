"""The three laws of Theorem 3.1: a curve, its exponent and the constant it tends to over its rate.

The claims, the sweeps, the figures and the web page read them from here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tutelage.papers.teacher_models.theory.sharp_constants import (
    attention_constant,
    counting_law,
    value_constant,
)
from tutelage.settings import Setting


@dataclass(frozen=True)
class Law:
    """curve · t^-exponent tends to `constant`, t = ηT."""

    name: str
    curve: str
    exponent: float
    constant: Callable[[Setting], float]
    rate_text: str
    constant_text: str
    time_text: str  # the power of time, for the label of a line
    mixed_text: str  # `constant_text` where supports have many sizes or weights are unequal


LAWS = (
    Law(
        "excess",
        "excess_risk",
        -1.0,
        counting_law,
        "excess risk = Θ(1/T)",
        "excess·ηT → Σ_i K_i(D−K_i)/4",
        "1/ηT",
        "excess·ηT → Σ_i K_i(D−K_i)/4",
    ),
    Law(
        "value",
        "value_error",
        -0.5,
        value_constant,
        "‖W_V − V*‖ = Θ(1/√T)",
        "‖W_V − V*‖√(ηT) → (D−K)√(K/2λ)",
        "1/√(ηT)",
        "‖W_V − V*‖√(ηT) → ρ/√(2λ), mixed K_i",
    ),
    Law(
        "attention",
        "attention_error",
        -0.5,
        attention_constant,
        "‖S − S*‖ = Θ(1/√T)",
        "‖S − S*‖√(ηT) → √(QD(D−K)/2λ)/‖V*‖",
        "1/√(ηT)",
        "‖S − S*‖√(ηT) → its constant for mixed K_i",
    ),
)
LAW = {law.name: law for law in LAWS}
