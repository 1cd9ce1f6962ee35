"""A third set of families of known truth, of exponents alone, for one blind evaluation.

They were written without sight of the rule and of the families of exponents in the first two sets.
Only the conventions (`tutelage.claims.families.family`), the claim's docstring and the helpers of
the second set were read.

**Decidable** follows the conventions, and this: the seeds' exponents are independent and Gaussian.
Families with heavy tails, outlying seeds or skew are marked as not decidable, even where a rule
that knew their distribution could decide.
"""

from __future__ import annotations

from tutelage.claims.families.family import KINDS, Case, Family
from tutelage.claims.families_3 import exponent

FAMILIES: tuple[Family, ...] = tuple(exponent.families.families)

__all__ = ["FAMILIES", "KINDS", "Case", "Family"]
