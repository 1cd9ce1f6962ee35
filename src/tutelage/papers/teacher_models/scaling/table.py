"""The table of `teacher-models/scaling`: measured exponents beside those of the two theories."""

from __future__ import annotations

from collections.abc import Sequence

from tutelage.claims.verdict import Verdict


def sweep_table(verdicts: Sequence[Verdict]) -> str:
    """One row per sweep and quantity: the measured exponent beside that of each theory."""
    rows = [
        "| sweep | quantity | measured exponent | sharp | printed |",
        "| --- | --- | --- | --- | --- |",
    ]
    by_name = {tuple(verdict.id.split("/")[-2:]): verdict for verdict in verdicts}
    for (sweep, name), sharp in by_name.items():
        quantity = name.removesuffix("-sharp")
        if quantity != name:
            printed = by_name[sweep, f"{quantity}-printed"]
            cells = " | ".join(f"{v.predicted:.3g} {v.status.value}" for v in (sharp, printed))
            rows.append(f"| {sweep} | {quantity} | {sharp.measured:.4f} | {cells} |")
    return "\n".join(rows)
