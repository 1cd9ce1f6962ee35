"""The table of the page on `teacher-models/limits`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tutelage.claims import Verdict
from tutelage.papers.teacher_models.tables import (
    count_statuses,
    format_head,
    format_row,
    group_by_case,
)

HEAD = (
    "teacher",
    "student",
    "best of restarts",
    "second",
    "median",
    "worst",
    "near the best",
    "Monte Carlo error",
    "over the training sample",
    "best / bound",
    "verdicts",
)


def limits_table(verdicts: Sequence[Verdict]) -> str:
    """One row per cell of the map: what was measured, and what theory says about it; then the
    controls.
    """
    cases = group_by_case(verdicts)
    rows = format_head(HEAD)
    rows += [_row(case, claims) for case, claims in cases.items() if "best" in claims]
    controls = [
        f"`{case}` {verdict.status.value}"
        for case, claims in cases.items()
        for verdict in claims.values()
        if verdict.control
    ]
    said = f"{count_statuses(verdicts)} Controls: {', '.join(controls)}."
    return "\n".join([*rows, "", said])


def _row(case: str, claims: Mapping[str, Verdict]) -> str:
    mark = " †" if claims["alone"].measured else ""
    best = f"{claims['best'].measured:.3g}{mark}<br>{_interval(claims['best'], '.3g')}"
    middle = [f"{claims[name].measured:.3g}" for name in ("second", "median", "worst", "near")]
    small = [f"{claims[name].measured:.1g}" for name in ("error", "gap")]
    over = "–"
    if "floor" in claims:
        over = f"{claims['floor'].measured:.4f}<br>{_interval(claims['floor'], '.4f')}"
    said = [
        f"{name} {claims[name].status.value}"
        for name in ("floor", "reached", "learned")
        if name in claims
    ]
    return format_row(
        [*case.split("+"), best, *middle, *small, over, "<br>".join(said) or "measured"]
    )


def _interval(verdict: Verdict, form: str) -> str:
    assert verdict.interval is not None
    low, high = verdict.interval
    return f"[{low:{form}}, {high:{form}}]"
