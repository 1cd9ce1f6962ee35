"""The table of `teacher-models/phases`: the times of the plateau in its sweeps."""

from __future__ import annotations

from collections.abc import Sequence

from tutelage.claims.verdict import Verdict
from tutelage.papers.teacher_models.tables import (
    count_statuses,
    format_head,
    format_row,
    group_by_case,
)

TIMES = {"halving": "excess halved", "attention": "K p = ½"}


def phases_table(verdicts: Sequence[Verdict]) -> str:
    """The plateau's sweeps: the exponent of each time beside those of the theories, and measured
    over recursion.
    """
    rows = format_head(
        ["sweep", "time", "measured exponent", "formula", "printed", "measured / recursion"]
    )
    for sweep, claims in group_by_case(verdicts).items():
        for name, text in TIMES.items():
            formula = claims.get(f"{name}-formula")
            if formula is None:
                continue
            exact = claims[f"{name}-recursion"]
            assert exact.interval is not None
            low, high = exact.interval
            theories = (formula, claims.get(f"{name}-printed"))
            cells = ["–" if v is None else f"{v.predicted:.4f} {v.status.value}" for v in theories]
            ratio = f"{low:.4f} to {high:.4f} {exact.status.value}"
            rows.append(format_row([sweep, text, f"{formula.measured:.4f}", *cells, ratio]))
    return "\n".join([*rows, "", count_statuses(verdicts)])
