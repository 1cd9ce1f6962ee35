"""The hypotheses of Theorem 3.1, evaluated at a setting."""

from __future__ import annotations

import math

from tutelage.claims.verdict import Hypothesis
from tutelage.papers.teacher_models.theory.facts import Facts, facts, scale_square
from tutelage.settings import Setting

MANY_TOKENS = "D ≥ poly(M, K)"


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


def _step_condition(f: Facts) -> Hypothesis:
    """η ≤ O(1/(M D^5/2)), whose constant the paper does not state.

    At one setting some constant always satisfies it, so it is met up to that constant however far
    above 1/(M D^5/2) the step is. Only what we can show decides against it: beyond 2/(λ‖S*‖²) =
    2K/(λQ) descent cannot converge to any teacher (docs/derivations.md, section 3), so that no
    constant under which the theorem is true allows such a step.
    """
    limit = 1 / (f.outputs * f.tokens**2.5)
    detail = (
        f"η = {f.rate:g} is {f.rate / limit:.3g} times 1/(M D^5/2) = {limit:.3g}; the theorem's "
        "constant is not stated"
    )
    largest = None if f.lam is None else 2 / (f.lam * f.selection_square)
    unstable = largest is not None and f.rate > largest
    if unstable:
        detail = f"{detail}; but descent is unstable above 2/(λ‖S*‖²) = {largest:.3g}"
    return Hypothesis("η ≤ O(1/(M D^5/2))", False if unstable else None, detail)


def theorem_3_1(setting: Setting) -> tuple[Hypothesis, ...]:
    """The hypotheses of Theorem 3.1, evaluated at a setting.

    Two of them have unstated constants, which are treated alike whether they speak for the theorem
    or against it. D ≥ poly(M, K) is met up to its polynomial at any single setting: coefficients
    and degrees are not stated. A sweep in which D/K stays fixed is still satisfied by a polynomial
    that is linear in K, and excluded by every other one. So the theorem's claims about such a sweep
    are OUTSIDE, whether they would speak for it or against it (`scaling`).
    """
    f = facts(setting)
    return (
        Hypothesis("tokens iid N(0, I)", f.standard and f.iid_positions),
        Hypothesis(
            "every column of S* has K equal weights",
            f.uniform,
            _describe_supports(int(f.supports.min()), int(f.supports.max())),
        ),
        Hypothesis(
            "zeros in every column of S* (K < D)",
            bool((f.supports < f.tokens).all()),
            f"K = {f.support}, D = {f.tokens}",
        ),
        Hypothesis("σ is identity, ReLU or leaky ReLU", f.lam is not None, f.activation),
        Hypothesis(
            "orthonormal position codes, scale 1/√D",
            f.orthonormal_codes and math.isclose(scale_square(f), 1.0),
        ),
        Hypothesis("W_V(0) = 0, W_KQ(0) = 0", f.zero_start),
        Hypothesis(
            "plain gradient descent on the population risk",
            f.plain_descent and f.exact,
            setting.objective.name,
        ),
        Hypothesis(
            MANY_TOKENS,
            None,
            f"D = {f.tokens}, M = {f.outputs}, K = {f.support}: {_power(f)}",
        ),
        _step_condition(f),
    )


def _describe_supports(least: int, most: int) -> str:
    return f"K = {most}" if least == most else f"K from {least} to {most}"
