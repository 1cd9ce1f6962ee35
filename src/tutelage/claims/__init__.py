"""Claims and verdicts: theory on one side, runs on the other, joined by `check`. No paper is named
here.
"""

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
