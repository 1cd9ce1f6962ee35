"""Calculations that any paper may use."""

from __future__ import annotations

from typing import Annotated

from tutelage.problem.options import Option
from tutelage.problem.registry import register
from tutelage.refuse import Refused


@register(
    "calculation",
    "measures_at_start",
    label="measures at the start",
    sentence="Properties of a student before the first step.",
    begin={"measures": "excess_risk"},
)
def _measures_at_start(
    *, measures: Annotated[str, Option("names of measures, with commas between them")]
) -> object:
    """`measures` names registered measures: `"loss,label_power"`."""
    from tutelage.calculations.measures_at_start import MeasuresAtStart
    from tutelage.problem.build import build_measure

    names = [name.strip() for name in measures.split(",")]
    if not all(names) or len(set(names)) < len(names):
        raise Refused(
            "`measures` must name one measure or more, each once, with commas between them, since "
            f"each is a curve of its own name. Got measures={measures!r}."
        )
    return MeasuresAtStart([build_measure(name) for name in names])
