"""What the tables of this paper's pages share."""

from __future__ import annotations

from collections.abc import Sequence

from tutelage.claims.verdict import Status, Verdict


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
    """How many claims got which answer, and how many controls held, in two sentences."""
    claims = [verdict for verdict in verdicts if not verdict.control]
    controls = [verdict for verdict in verdicts if verdict.control]
    counts = {
        status: sum(verdict.status is status for verdict in claims)
        for status in (Status.HOLDS, Status.FAILS, Status.UNDECIDED)
    }
    total = ", ".join(f"{count} {status.value}" for status, count in counts.items())
    held = sum(verdict.status is Status.HOLDS for verdict in controls)
    return (
        f"All {sum(counts.values())} claims: {total}. "
        f"Of {len(controls)} controls, which must not hold, {held} do."
    )
