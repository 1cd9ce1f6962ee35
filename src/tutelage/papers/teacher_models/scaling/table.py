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
                bound = claims.get(f"{quantity}-bound")
                printed = (
                    _write_theory(claims.get(f"{quantity}-printed"))
                    if bound is None
                    else f"as a bound {bound.status.value}"
                )
                cells = [_write_theory(sharp), printed]
                measured = "–" if sharp.measured is None else f"{sharp.measured:.4f}"
                rows.append(format_row([sweep, quantity, measured, *cells]))
    return "\n".join(rows)


def _write_theory(verdict: Verdict | None) -> str:
    """The exponent that a theory predicts, and its verdict; no exponent where limits are not yet
    read.
    """
    if verdict is None:
        return "–"
    predicted = "–" if verdict.predicted is None else f"{verdict.predicted:.3g}"
    return f"{predicted} {verdict.status.value}"
