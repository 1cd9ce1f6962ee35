"""The table of the page on `teacher-models/codes`."""

from __future__ import annotations

from collections.abc import Sequence

from tutelage.claims import Verdict


def write_table(verdicts: Sequence[Verdict]) -> str:
    """One row per kind of codes: the slope, the constant and the increment. Kinds that have no
    number yet say so.
    """
    rows = [
        "| codes | slope of the excess | excess·ηT | distance of ΔW_KQ/Δlog t from W_svm |",
        "| --- | --- | --- | --- |",
    ]
    named: dict[str, dict[str, Verdict]] = {}
    for verdict in verdicts:
        *_, case, claim = verdict.id.split("/")
        named.setdefault(case, {})[claim] = verdict
    for case, claims in named.items():
        if "increment" in claims:
            rows.append(f"| {case} | {' | '.join(_cell(v) for v in claims.values())} |")
    return "\n".join(rows)


def _cell(verdict: Verdict) -> str:
    """Measured of predicted, the interval below, and the status."""
    status = verdict.status.value
    if verdict.interval is None:
        return f"– of {verdict.predicted:.5g} {status}"
    low, high = verdict.interval
    return f"{verdict.measured:.5g} of {verdict.predicted:.5g}<br>[{low:.5g}, {high:.5g}] {status}"
