"""Families of curves, numbers and noises with a known truth, on which the rule of every kind of
claim is evaluated. They were written without a look at the rule, and `family` says by which
conventions.
"""

from __future__ import annotations

from tutelage.claims.families import (
    bound,
    constant,
    exponent,
    number,
    order,
    rate,
    ratio,
    recovery,
)
from tutelage.claims.families.family import KINDS, Case, Family

_BY_KIND = (rate, bound, order, constant, number, exponent, ratio, recovery)
FAMILIES: tuple[Family, ...] = tuple(
    family for module in _BY_KIND for family in module.families.families
)

__all__ = ["FAMILIES", "KINDS", "Case", "Family"]
