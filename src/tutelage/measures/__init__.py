"""Measures: functions of (student, objective), taken inside the training loop at log-spaced steps;
one family a file.

A measure is a plain function; its name is the name of its curve. It returns a scalar or a vector
(one number a query).
"""

from __future__ import annotations

from collections.abc import Callable

from jaxtyping import Array, Float

from tutelage.measures.bilinear import FURTHER, STANDARD, excess_risk
from tutelage.measures.heads import HEADS
from tutelage.measures.iterates import ITERATES
from tutelage.measures.kernel import KERNEL
from tutelage.measures.linearisation import LINEARISATION
from tutelage.measures.recurrent import RECURRENT
from tutelage.measures.samples import SAMPLES

Measure = Callable[..., Float[Array, "..."]]
EVERY: tuple[Measure, ...] = (
    *STANDARD,
    *FURTHER,
    *ITERATES,
    *HEADS,
    *KERNEL,
    *LINEARISATION,
    *RECURRENT,
    *SAMPLES,
)
REGISTERED: dict[str, Measure] = {measure.__name__: measure for measure in EVERY}
if len(REGISTERED) < len(EVERY):
    raise ValueError("Two measures share a name, which names their curve.")

__all__ = ["REGISTERED", "STANDARD", "Measure", "excess_risk"]
