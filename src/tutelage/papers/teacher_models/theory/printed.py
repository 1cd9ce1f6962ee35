"""The constants of Theorem 3.1 and the length of its plateau as printed: up to factors that the
theorem leaves open.
"""

from __future__ import annotations

import math

from tutelage.papers.teacher_models.theory.facts import facts
from tutelage.settings import Setting


def printed_excess(setting: Setting) -> float:
    """excess·ηT ∝ K D⁴."""
    f = facts(setting)
    return float(f.support * f.tokens**4)


def printed_value_error(setting: Setting) -> float:
    """‖W_V − V*‖√(ηT) ∝ D²√K."""
    f = facts(setting)
    return float(f.tokens**2 * math.sqrt(f.support))


def printed_attention_error(setting: Setting) -> float:
    """‖S − S*‖√(ηT) ∝ D^5/2/‖V*‖."""
    f = facts(setting)
    return float(f.tokens**2.5 / f.norm)


def printed_gap(setting: Setting) -> float:
    """e^{2(C₂+C₃)/√D}/(η‖V*‖²T) ∝ 1/(K³D²), from step 2 of the proof: C₂+C₃ =
    (√D/2) log(Θ(η‖V*‖²/(K³D²))T + …).
    """
    f = facts(setting)
    return float(1 / (f.support**3 * f.tokens**2))


def printed_plateau(setting: Setting) -> float:
    """T* ∝ K D²/(η‖V*‖²), in steps."""
    f = facts(setting)
    return float(f.support * f.tokens**2 / (f.rate * f.norm**2))
