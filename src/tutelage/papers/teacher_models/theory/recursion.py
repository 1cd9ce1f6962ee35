r"""Gradient descent from zero as a recursion of two scalars, W_V = C·V* and one score gap z: exact,
not an approximation.

With equal K, iid tokens, orthonormal codes and a zero start, every gradient keeps W_V a multiple of
V* and every column of the scores at two values, C₂ on the support and −C₃ off it (Zhang et al.
2026, proof of Theorem 3.1); z = C₂ + C₃. Then S has two values too,

    p = 1/(K + n e^{−cz}) on the support,   q = p e^{−cz} off it,   n = D − K,  c the score scale
    (1/√D),

every (row, column) pair has the same angle θ, tan θ = √(n/K) q/p, and the excess risk is a function
of C and z alone (docs/derivations.md, section 4). Plain Python in double precision; nothing of the
training code is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models.theory import Facts, facts, plateau
from tutelage.settings import Setting

LARGEST = 1e150  # a number whose square is one
LONGEST = 10_000_000  # steps, of a second for every million


class State(NamedTuple):
    """The student after some steps: C₁, the gap C₂ + C₃, the attention Kp on the support, and the
    excess risk there.
    """

    value_scale: float
    score_gap: float
    support_mass: float
    excess_risk: float
    best_scale: float  # the C₁ that would minimise the risk at this p


def reducible(setting: Setting) -> Facts:
    """The facts of a setting for which the recursion has a meaning: one K < D, equal weights, a
    positively homogeneous activation.
    """
    f = facts(setting)
    if f.slope is None:
        raise NoPrediction(
            f"The recursion is for identity, ReLU and leaky ReLU. Got activation {f.activation}."
        )
    if not f.uniform or f.support == f.tokens:
        supports = f"supports from {f.supports.min()} to {f.supports.max()} of {f.tokens} tokens"
        raise NoPrediction(
            "The recursion needs one support size K < D and equal weights, since it has one "
            f"gap. Got {supports}."
        )
    return f


def states(setting: Setting) -> Iterator[State]:
    """The state after 0, 1, 2, … steps, for ever; refused at the step at which it diverges."""
    f = reducible(setting)
    assert f.lam is not None
    assert f.slope is not None
    D, K, Q, lam, k, c = f.tokens, f.support, f.queries, f.lam, f.slope, f.attention_scale
    n = D - K
    ratio = math.sqrt(n / K)
    bend = (1 - k) ** 2 / (2 * math.pi)  # weight of the angle's part; 0 for the identity
    value_rate, score_rate = (
        f.rate * Q * f.value_square / f.norm**2,
        f.rate * c * f.value_square * D / K,
    )
    C = z = 0.0
    while True:
        if not (abs(C) < LARGEST and -c * z < math.log(LARGEST)):
            raise NoPrediction(
                f"By the recursion descent diverges at this learning rate. Got rate={f.rate:g}."
            )
        u = math.exp(-c * z)
        p = 1 / (K + n * u)
        q = u * p
        theta = math.atan(ratio * u)
        square = K * p * p + n * q * q  # ‖s‖²
        lift = bend * (
            ratio * q - theta * p
        )  # σ_aσ_b(sin θ − θ cos θ) of the angle's part, per unit of C
        miss = (C - 1) * (1 - n * q) - n * q  # C·Kp − 1
        excess = Q * f.value_square * (0.5 * lam * (miss * miss / K + n * (C * q) ** 2) - C * lift)
        yield State(C, z, K * p, excess, (p + lift / lam) / square)
        if C == 0:  # the kink: σ′(0) = (1+k)/2, and no force on the scores yet
            C = value_rate * p * ((1 + k) / 2) ** 2
            continue
        # Both slopes are written so that they are small near the teacher because their terms are: p
        # − ‖s‖² = nq(p−q), K(p−q) = 1 − Dq.
        slope_C = lam * (p * (C - 1) - C * n * q * (p - q)) - lift
        slope_z = (
            p
            * q
            * C
            * (lam * (C - 1 - C * D * q) - bend * (ratio * K * q * (p - q) / square - theta))
        )
        C, z = C - value_rate * slope_C, z - score_rate * slope_z


def along(
    setting: Setting, steps: Int[np.ndarray, "points"]
) -> dict[str, Float[np.ndarray, "points"]]:
    """The curves of the recursion at some steps, in rising order."""
    if steps[-1] > LONGEST:
        raise NoPrediction(
            f"The recursion is taken step by step, and so to {LONGEST:,} steps at most. Got "
            f"{steps[-1]:,}."
        )
    return _along(setting, tuple(int(step) for step in steps))


@lru_cache(maxsize=256)
def _along(setting: Setting, steps: tuple[int, ...]) -> dict[str, Float[np.ndarray, "points"]]:
    wanted = iter(steps)
    upcoming: int | None = next(wanted)
    found: list[State] = []
    for step, state in enumerate(states(setting)):
        if step == upcoming:
            found.append(state)
            upcoming = next(wanted, None)
            if upcoming is None:
                break
    return dict(zip(State._fields, np.array(found, float).T, strict=True))


class Times(NamedTuple):
    """When, in steps and to a fraction of one: C₁ first within 1% of its best at the present p; the
    excess halved; Kp = ½.
    """

    settled: float
    halving: float
    attention: float


@lru_cache(maxsize=4096)
def times(setting: Setting) -> Times:
    """The times of the plateau, from the recursion itself."""
    settled = halving = attention = math.nan
    first = before = next(states(setting))
    longest = 100 + 20 * plateau(setting)
    for step, state in enumerate(states(setting)):
        if math.isnan(settled) and abs(state.value_scale / state.best_scale - 1) <= 0.01:
            settled = float(step)
        if math.isnan(halving) and state.excess_risk <= 0.5 * first.excess_risk:
            halving = step - (state.excess_risk - 0.5 * first.excess_risk) / (
                state.excess_risk - before.excess_risk
            )
        if math.isnan(attention) and state.support_mass >= 0.5:
            # With K ≥ D/2 it is so from the start.
            attention = (
                0.0
                if step == 0
                else step - (state.support_mass - 0.5) / (state.support_mass - before.support_mass)
            )
        if not math.isnan(settled + halving + attention):
            return Times(settled, halving, attention)
        if step > longest:
            raise NoPrediction(
                f"By the recursion this setting does not leave its plateau within {longest:,.0f} "
                "steps."
            )
        before = state
    raise AssertionError("the recursion never ends")
