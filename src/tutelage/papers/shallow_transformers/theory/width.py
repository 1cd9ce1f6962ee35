"""What is derived here about width: the constant of the approximation error, and the exponents that
leading order gives.

At the symmetric start with c = ±1 the transported parameters give f_lin(X; θ̃) = (1/m)Σ_i [φ_c v_c
+ ⟨φ_u, v_u⟩ + ⟨φ_w, v_w⟩]: the teacher's own mean, over the student's heads instead of its pool.
Heads come in pairs that agree, so m/2 of them are independent, and the error at an input X has mean
zero and variance Var(X)·(2/m + 1/pool), Var(X) that of one head's term.

For |f − f_lin| the leading term is of second order: m^(−½) Σ_i (δc_i⟨∇h_i, δ_i⟩ + ½c_i δ_iᵀH_iδ_i),
each δ of size 1/√m. At a point that does not know the heads the m terms of size 1/m have
independent signs, since a pair has opposite c: the sum is m^(−½)·√m/m = 1/m. At a point chosen for
them they add up: m^(−½)·m/m = m^(−½). The next order is smaller by 1/√m, and is not small at m = 8.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tutelage.claims.exponent import fitted_exponent

RANDOM_POINT = -1.0
ADVERSARIAL_POINT = -0.5


def approximation_scale(heads: float, pool: float) -> float:
    """√(2/m + 1/pool): the root mean square error in units of the spread of one head's term."""
    return math.sqrt(2 / heads + 1 / pool)


def approximation_exponent(pool: float) -> Callable[[Sequence[float]], float]:
    """The exponent through √(2/m + 1/pool) at the widths of a sweep: −½ but for the labels' own
    error.
    """
    return lambda widths: fitted_exponent([(m, approximation_scale(m, pool)) for m in widths])
