"""The table of `teacher-models/scaling`: measured exponents beside those of the two theories."""

from __future__ import annotations

from collections.abc import Sequence

from tutelage.claims.verdict import Verdict
from tutelage.papers.teacher_models.tables import format_head, format_row, group_by_case


def sweep_table(verdicts: Sequence[Verdict]) -> str:
    """One row per sweep and quantity: the measured exponent beside that of each theory."""
    rows = format_head(["sweep", "quantity", "measured exponent", "sharp", "printed"])
    for sweep, claims in group_by_case(verdicts).items():
        for name, sharp in claims.items():
            quantity = name.removesuffix("-sharp")
            if quantity != name:
                theories = (sharp, claims.get(f"{quantity}-printed"))
                cells = [
                    "–" if v is None else f"{v.predicted:.3g} {v.status.value}" for v in theories
                ]
                rows.append(format_row([sweep, quantity, f"{sharp.measured:.4f}", *cells]))
    return "\n".join(rows)
