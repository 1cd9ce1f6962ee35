"""A second set of families of known truth, for one blind evaluation of the rule.

They were written without sight of the rule, and without sight of the first set but for its
conventions (`tutelage.claims.families.family`) and its rates. Where those conventions and a claim's
docstring differ, the docstring decides; each module says how it reads its claim.

**Decidable** follows the conventions, and this: replicates are independent and Gaussian, on the
scale that the claim names. Families with heavy tails, outlying seeds or skewed numbers are
therefore marked as not decidable, even where a rule that knew their distribution could decide.
"""

from __future__ import annotations

from tutelage.claims.families.family import KINDS, Case, Family
from tutelage.claims.families_2 import (
    bound,
    constant,
    exponent,
    number,
    order,
    rate,
    ratio,
    recovery,
)

_BY_KIND = (rate, bound, order, constant, number, exponent, ratio, recovery)
FAMILIES: tuple[Family, ...] = tuple(
    family for module in _BY_KIND for family in module.families.families
)

__all__ = ["FAMILIES", "KINDS", "Case", "Family"]
