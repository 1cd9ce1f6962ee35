"""The hypotheses of Theorem 3.1, evaluated at a setting."""

from __future__ import annotations

import math

from tutelage.claims.verdict import Hypothesis
from tutelage.papers.teacher_models.theory.facts import Facts, facts, scale_square
from tutelage.settings import Setting


def theorem_rate(setting: Setting) -> float:
    """1/(M D^5/2): the largest step size of Theorem 3.1 but for its unstated constant."""
    f = facts(setting)
    return float(1 / (f.outputs * f.tokens**2.5))


def _power(f: Facts) -> str:
    """D as a power of MK, which is how far D ≥ poly(M, K) can be evaluated without its
    polynomial.
    """
    product = f.outputs * f.support
    return (
        "D ≥ (MK)^a for every a"
        if product == 1
        else f"D = (MK)^{math.log(f.tokens) / math.log(product):.3g}"
    )


def theorem_3_1(setting: Setting) -> tuple[Hypothesis, ...]:
    """The hypotheses of Theorem 3.1, evaluated at a setting."""
    f = facts(setting)
    limit = theorem_rate(setting)
    least, most = f.supports.min(), f.supports.max()
    codes = f.orthonormal_codes and math.isclose(scale_square(f), 1.0)
    sizes = f"D = {f.tokens}, M = {f.outputs}, K = {f.support}: {_power(f)}"
    return (
        Hypothesis("tokens iid N(0, I)", f.standard and f.iid_positions),
        Hypothesis(
            "every column of S* has K equal weights", f.uniform, f"K from {least} to {most}"
        ),
        Hypothesis(
            "zeros in every column of S* (K < D)",
            bool((f.supports < f.tokens).all()),
            f"K = {f.support}, D = {f.tokens}",
        ),
        Hypothesis("σ is identity, ReLU or leaky ReLU", f.lam is not None, f.activation),
        Hypothesis("orthonormal position codes, scale 1/√D", codes),
        Hypothesis("W_V(0) = 0, W_KQ(0) = 0", f.zero_start),
        Hypothesis(
            "plain gradient descent on the population risk",
            f.plain_descent and f.exact,
            setting.objective.name,
        ),
        Hypothesis("D ≥ poly(M, K)", None, sizes),
        Hypothesis(
            "η ≤ O(1/(M D^5/2))",
            None if f.rate <= limit else False,
            f"η = {f.rate:g} is {f.rate / limit:.3g} times 1/(M D^5/2) = {limit:.3g}; the "
            "theorem's constant is not stated",
        ),
    )
