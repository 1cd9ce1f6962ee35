r"""What the exact risk says about gradient flow from zero, with attention by position.

By symmetry $v = αv^*$, and every query has the same softmax with one gap C: the weight of the right
group is $s = 1/(1+(D-1)e^{-C})$. Then $A = Dαs$, $B = ρA$ with $ρ = \sqrt{D-1}\,e^{-C}$, and with
orthogonal codes of square length $β^2$

$\dot α = -∂L/∂α, \qquad \dot C = -\frac{β^4}{D-1}\,∂L/∂C.$

*Late.* $L ≈ c_0/A + κAρ^2$, $c_0 = π^2/(6\sqrt{2π})$, $κ = 1/(2\sqrt{2π})$. So
$A = a\,t^{1/3}$ with $a = D^{2/3}(3c_0)^{1/3}$, and $q = e^C$ obeys
$\dot q = β^4(c_0/A + 2κA/q)$, which $q = b\,t^{2/3}$ solves for
$\frac23 b^2 = β^4\frac{c_0}{a} b + 2κβ^4 a$. What is left out is smaller by $t^{-2/3}$.

*Early.* While ρ is large A follows $2\sqrt{2/π}/(1+ρ^2)$, and $\dot C = \frac{2β^4}{π(D-1)}
ρ^2/(1+ρ^2)^2$, which blows up at $t = \fracπ4 (D-1)^2/β^4$.

*By steps of size η.* $α_1 = η/\sqrt{2π}$, and $C_2 = η^2β^4/(2πD)$: with long codes two steps of a
fixed size make the gap as large as one likes.
"""

from __future__ import annotations

import math

from tutelage.settings import Setting

LEVEL = math.pi**2 / (6 * math.sqrt(2 * math.pi))  # c₀: A·L of a score with no noise
CURVATURE = 1 / (2 * math.sqrt(2 * math.pi))  # κ
CODES = ("unit", "sine")
DEFAULTS = {"groups": 10, "dim": 4, "codes": "unit"}


def code_square(codes: str, groups: int) -> float:
    r"""$β^2 = \|p_j\|^2$: 1, or (D+1)/2 of $p_j = (\sin\frac{kjπ}{D+1})_k$."""
    return 1.0 if codes == "unit" else (groups + 1) / 2


def read_groups(setting: Setting) -> int:
    """D."""
    return int(setting.teacher.options.get("groups", DEFAULTS["groups"]))


def read_push(setting: Setting) -> float:
    """β⁴, the factor by which codes speed attention up."""
    codes = str(setting.teacher.options.get("codes", DEFAULTS["codes"]))
    return code_square(codes, read_groups(setting)) ** 2


def signal_constant(groups: int) -> float:
    """a: A = a·t^(1/3)."""
    return float(groups ** (2 / 3) * (3 * LEVEL) ** (1 / 3))


def gap_constant(groups: int, push: float) -> float:
    """b: e^C = b·t^(2/3)."""
    a = signal_constant(groups)
    pull = push * LEVEL / a
    return 0.75 * (pull + math.sqrt(pull**2 + 16 / 3 * CURVATURE * push * a))


def risk_constant(setting: Setting) -> float:
    """L·t^(1/3) → c₀/a."""
    return LEVEL / signal_constant(read_groups(setting))


def miss_constant(setting: Setting) -> float:
    """(1 − s)·t^(2/3) → (D−1)/b."""
    groups = read_groups(setting)
    return (groups - 1) / gap_constant(groups, read_push(setting))


def plateau(setting: Setting) -> float:
    """The time until attention has moved, (π/4)(D−1)²/β⁴; at least 1."""
    return max(1.0, math.pi / 4 * (read_groups(setting) - 1) ** 2 / read_push(setting))


def time_to_risk(groups: int, target: float) -> float:
    """c₀²/(3D²ε³)."""
    return LEVEL**2 / (3 * groups**2 * target**3)


def second_gap(groups: int, push: float, rate: float) -> float:
    """C after two steps from zero: η²β⁴/(2πD)."""
    return rate**2 * push / (2 * math.pi * groups)


def missed_at(time: float, groups: int, push: float) -> float:
    """1 − s by its law at a time: (D−1)/(b·t^(2/3))."""
    return (groups - 1) / (gap_constant(groups, push) * time ** (2 / 3))


def log_missed_by_steps(groups: int, push: float, rate: float) -> float:
    """log(1 − s) where two large steps decide: log(D−1) − C₂ for a large gap."""
    return math.log(groups - 1) - second_gap(groups, push, rate)


def feature_pull(groups: int, length: float) -> float:
    r"""How fast $v^{*\top}W_{11}v^*$ moves at W = 0 and v = αv*, to second order in α.

    $\frac α2\sqrt{2/π}\,(D-1)^2/D^2 - \frac{α^2}4(D-1)$: the mean of $y/2 - f/4$ times
    $α(\sum g_i^2\,\bar g - D\bar g^3)$, with $g_i = \langle v^*, x_i\rangle$ and $f = α\sum g_i$.
    """
    first = math.sqrt(2 / math.pi) * (groups - 1) ** 2 / groups**2
    return length / 2 * first - length**2 / 4 * (groups - 1)
