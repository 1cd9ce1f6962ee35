"""The table of `teacher-models/hypotheses`: how each run stands to the theorem's conditions, and
its claims.
"""

from __future__ import annotations

from collections.abc import Sequence

from tutelage.claims.verdict import Verdict
from tutelage.papers.teacher_models.tables import (
    count_statuses,
    format_cell,
    format_head,
    format_row,
    group_by_case,
)

SHOWN = {
    "excess-rate": "slope of the excess",
    "excess-constant": "excess·ηT",
    "value-constant": "‖W_V−V*‖√(ηT)",
    "attention-constant": "‖S−S*‖√(ηT)",
    "cosine": "cosine, worst step",
}


def hypotheses_table(verdicts: Sequence[Verdict]) -> str:
    """One row per case: how η and D stand to the theorem's conditions, and the claims in the order
    of SHOWN.
    """
    rows = format_head(["run", "η · M D^5/2", "D ≥ poly(M, K)", *SHOWN.values()])
    for case, claims in group_by_case(verdicts).items():
        if SHOWN.keys() <= claims.keys():
            details = {h.text: h.detail for h in claims["excess-rate"].hypotheses}
            times = details["η ≤ O(1/(M D^5/2))"].split(" is ")[1].split(" times")[0]
            power = details["D ≥ poly(M, K)"].split(": ")[1]
            cells = [format_cell(claims[name]) for name in SHOWN]
            rows.append(format_row([case, times, power, *cells]))
    return "\n".join([*rows, "", count_statuses(verdicts)])
