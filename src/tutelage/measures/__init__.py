"""Measures: named curves, read off (student, objective) at log-spaced steps; one family per file.

A measure returns a number, or an array such as one number per query.
"""

from __future__ import annotations

from tutelage.measures.base import Measure, as_measure
from tutelage.measures.bilinear import FURTHER, STANDARD, excess_risk
from tutelage.measures.heads import HEADS
from tutelage.measures.iterates import ITERATES
from tutelage.measures.kernel import KERNEL
from tutelage.measures.linearisation import LINEARISATION
from tutelage.measures.recurrent import RECURRENT
from tutelage.measures.samples import SAMPLES

_EVERY = (*STANDARD, *FURTHER, *ITERATES, *HEADS, *KERNEL, *LINEARISATION, *RECURRENT, *SAMPLES)
MEASURES: dict[str, Measure] = {
    measure.name: measure for measure in (as_measure(one) for one in _EVERY)
}
if len(MEASURES) < len(_EVERY):
    raise ValueError("Two measures share a name, which names their curve.")

__all__ = ["MEASURES", "STANDARD", "Measure", "as_measure", "excess_risk"]
