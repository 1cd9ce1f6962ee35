"""The table of `teacher-models/rates`: one row per run, with the claims of Theorem 3.1."""

from __future__ import annotations

from collections.abc import Sequence

from tutelage.claims.verdict import Verdict
from tutelage.studies.counts import Counts

SHOWN = {  # claims, and what their column is called
    "excess-rate": "slope of the excess",
    "excess-constant": "excess·ηT",
    "value-constant": "‖W_V−V*‖√(ηT)",
    "attention-constant": "‖S−S*‖√(ηT)",
    "cosine": "cosine, worst step",
}


def write_table(verdicts: Sequence[Verdict]) -> str:
    """One row per case with all of these claims: measured of predicted, interval and status."""
    cases: dict[str, dict[str, Verdict]] = {}
    for verdict in verdicts:
        *_, case, claim = verdict.id.split("/")
        cases.setdefault(case, {})[claim] = verdict
    rows = [["run", *SHOWN.values()], ["---"] * (1 + len(SHOWN))]
    for case, claims in cases.items():
        if SHOWN.keys() <= claims.keys():
            rows.append([case, *(_write_cell(claims[name]) for name in SHOWN)])
    controls = ", ".join(
        f"`{case}` {verdict.status.value}"
        for case, claims in cases.items()
        for verdict in claims.values()
        if verdict.control
    )
    lines = [f"| {' | '.join(row)} |" for row in rows]
    said = f"Of the study: {Counts.of(verdicts).sentence} Controls, which must FAIL: {controls}."
    return "\n".join([*lines, "", said])


def _write_cell(verdict: Verdict) -> str:
    assert verdict.interval is not None
    low, high = verdict.interval
    return (
        f"{verdict.measured:.5g} of {verdict.predicted:.5g}<br>[{low:.5g}, {high:.5g}] "
        f"{verdict.status.value}"
    )
