"""Claims and verdicts: theory on one side, runs on the other, joined by `check`. No paper is named
here.

The package can be called: `tutelage.claims(study, setting)` gives what a study's theorem claims.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from tutelage.claims.above_floor import AboveFloor
from tutelage.claims.check import check
from tutelage.claims.claim import Claim
from tutelage.claims.curve import Curve
from tutelage.claims.exponent import Exponent
from tutelage.claims.measurement import Level, Measured, Slope
from tutelage.claims.number import Number
from tutelage.claims.order import Order
from tutelage.claims.power_laws import Bound, Constant, Rate
from tutelage.claims.ratio import Ratio
from tutelage.claims.recovery import Recovery
from tutelage.claims.verdict import Hypothesis, Status, Verdict

__all__ = [
    "AboveFloor",
    "Bound",
    "Claim",
    "Constant",
    "Curve",
    "Exponent",
    "Hypothesis",
    "Level",
    "Measured",
    "Number",
    "Order",
    "Rate",
    "Ratio",
    "Recovery",
    "Slope",
    "Status",
    "Verdict",
    "check",
]


class _CallablePackage(ModuleType):
    """A package that is a function as well, since `tt.claims(…)` and `tutelage.claims` are both
    names of the library.
    """

    def __call__(self, *asked: object) -> object:
        """What `tutelage.studies.theorems.claims` gives: studies stand above claims, so that they
        are looked up when this is called, and not imported here.
        """
        return vars(importlib.import_module("tutelage.studies.theorems"))["claims"](*asked)


sys.modules[__name__].__class__ = _CallablePackage
