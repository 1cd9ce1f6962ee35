"""What the tables of this paper's pages share."""

from __future__ import annotations

from collections.abc import Sequence

from tutelage.claims.verdict import Verdict
from tutelage.studies.counts import Counts


def group_by_case(verdicts: Sequence[Verdict]) -> dict[str, dict[str, Verdict]]:
    """The verdicts of each case, by the short ids of their claims."""
    cases: dict[str, dict[str, Verdict]] = {}
    for verdict in verdicts:
        *_, case, claim = verdict.id.split("/")
        cases.setdefault(case, {})[claim] = verdict
    return cases


def format_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def format_head(names: Sequence[str]) -> list[str]:
    return [format_row(names), format_row(["---"] * len(names))]


def format_cell(verdict: Verdict) -> str:
    """Measured of predicted, the interval below, and the status."""
    assert verdict.interval is not None
    low, high = verdict.interval
    return (
        f"{verdict.measured:.5g} of {verdict.predicted:.5g}<br>[{low:.5g}, {high:.5g}] "
        f"{verdict.status.value}"
    )


def count_statuses(verdicts: Sequence[Verdict]) -> str:
    """How many claims got which answer, and how many controls FAIL, in two sentences."""
    return Counts.of(verdicts).sentence
