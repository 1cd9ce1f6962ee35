"""The three laws of Theorem 3.1, and the one of its proof: a curve, its exponent and the constant
it tends to over its rate.

The claims, the sweeps, the figures and the web page read them from here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tutelage.papers.teacher_models.theory.printed import (
    printed_attention_error,
    printed_excess,
    printed_gap,
    printed_value_error,
)
from tutelage.papers.teacher_models.theory.sharp_constants import (
    attention_constant,
    counting_law,
    gap_constant,
    value_constant,
)
from tutelage.settings import Setting

# From zero, with supports of one size and orthonormal codes, every curve departs from its law by a
# power series in the weight q off the supports, which falls like t^-½ (docs/derivations.md). So
# slopes and constants settle at least like t^-½. Other starts, codes and supports excite slower
# modes, down to t^(-K/D), and keep the usual exponent of the class.
APPROACH = 0.5


@dataclass(frozen=True, kw_only=True)
class Law:
    """curve · t^-exponent tends to `constant`, t = ηT."""

    name: str
    curve: str
    exponent: float
    constant: Callable[[Setting], float]
    printed: Callable[[Setting], float]  # the theorem's constant, up to a factor
    rate_text: str
    time_text: str  # the power of time, for the label of a line
    scaled_text: str  # curve · t^-exponent
    scaled_label: str  # the same for the axis of a figure
    limit_text: str  # the constant
    printed_text: str  # the theorem's
    mixed_text: str  # `constant_text` where supports have many sizes or weights are unequal

    @property
    def constant_text(self) -> str:
        return f"{self.scaled_text} → {self.limit_text}"


LAWS = (
    Law(
        name="excess",
        curve="excess_risk",
        exponent=-1.0,
        constant=counting_law,
        printed=printed_excess,
        rate_text="excess risk = Θ(1/T)",
        time_text="1/ηT",
        scaled_text="excess·ηT",
        scaled_label=r"excess$\,\cdot\,\eta T$",
        limit_text="Σ_i K_i(D−K_i)/4",
        printed_text="K D⁴",
        mixed_text="excess·ηT → Σ_i K_i(D−K_i)/4",
    ),
    Law(
        name="value",
        curve="value_error",
        exponent=-0.5,
        constant=value_constant,
        printed=printed_value_error,
        rate_text="‖W_V − V*‖ = Θ(1/√T)",
        time_text="1/√(ηT)",
        scaled_text="‖W_V − V*‖√(ηT)",
        scaled_label=r"$\|W_V-V^*\|\sqrt{\eta T}$",
        limit_text="(D−K)√(K/2λ)",
        printed_text="D²√K",
        mixed_text="‖W_V − V*‖√(ηT) → ρ/√(2λ), mixed K_i",
    ),
    Law(
        name="attention",
        curve="attention_error",
        exponent=-0.5,
        constant=attention_constant,
        printed=printed_attention_error,
        rate_text="‖S − S*‖ = Θ(1/√T)",
        time_text="1/√(ηT)",
        scaled_text="‖S − S*‖√(ηT)",
        scaled_label=r"$\|S-S^*\|\sqrt{\eta T}$",
        limit_text="√(QD(D−K)/2λ)/‖V*‖",
        printed_text="D^5/2/‖V*‖",
        mixed_text="‖S − S*‖√(ηT) → its constant for mixed K_i",
    ),
)
LAW = {law.name: law for law in LAWS}

# The law of the proof from which the three follow (step 2). A run has its curve where the measure
# `score_gap` is read (`readings.gap_growth`), and one K.
GAP = Law(
    name="gap",
    curve="gap_growth",
    exponent=1.0,
    constant=gap_constant,
    printed=printed_gap,
    rate_text="e^{2(C₂+C₃)/√D} = Θ(T)",
    time_text="ηT",
    scaled_text="e^{2(C₂+C₃)/√D}/(η‖V*‖²T)",
    scaled_label=r"$e^{2(C_2+C_3)/\sqrt{D}}/(\eta\|V^*\|^2T)$",
    limit_text="2λ/K³",
    printed_text="1/(K³D²)",
    mixed_text="",  # one K only
)
