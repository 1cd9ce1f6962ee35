"""What changed between two runs of the same studies, verdict by verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tutelage.claims.verdict import Verdict
from tutelage.report.gather import FinishedStudy, gather_studies
from tutelage.report.wording import format_number, say_outcome, say_status
from tutelage.studies.counts import Counts


@dataclass(frozen=True)
class Changes:
    """Two runs beside each other: verdicts by id."""

    old: dict[str, Verdict]
    new: dict[str, Verdict]

    @property
    def decided(self) -> list[tuple[Verdict, Verdict]]:
        """Those whose status is another one now."""
        return [(a, b) for a, b in self._both if a.status is not b.status]

    @property
    def moved(self) -> list[tuple[Verdict, Verdict]]:
        """Those of the same status whose number left the interval that it had."""
        return [(a, b) for a, b in self._both if a.status is b.status and _has_moved(a, b)]

    @property
    def asked_otherwise(self) -> list[tuple[Verdict, Verdict]]:
        """Those whose statement, prediction or tolerance is another one now."""
        return [
            (a, b)
            for a, b in self._both
            if (a.statement, a.predicted, a.tolerance) != (b.statement, b.predicted, b.tolerance)
        ]

    @property
    def gone(self) -> list[Verdict]:
        return [verdict for name, verdict in self.old.items() if name not in self.new]

    @property
    def added(self) -> list[Verdict]:
        return [verdict for name, verdict in self.new.items() if name not in self.old]

    @property
    def _both(self) -> list[tuple[Verdict, Verdict]]:
        return [(verdict, self.new[name]) for name, verdict in self.old.items() if name in self.new]

    @property
    def anything(self) -> bool:
        return bool(self.decided or self.moved or self.asked_otherwise or self.gone or self.added)


def compare(old: Path, new: Path) -> Changes:
    """What changed from the studies under one folder to those under another."""
    return Changes(_by_id(gather_studies([old])), _by_id(gather_studies([new])))


def render_changes(changes: Changes, old: Path, new: Path) -> str:
    """The changes as Markdown, which a terminal shows as well."""
    lines = [
        f"# What changed from {old} to {new}",
        "",
        f"- before: {Counts.of(changes.old.values()).sentence}",
        f"- now: {Counts.of(changes.new.values()).sentence}",
        "",
    ]
    if not changes.anything:
        return "\n".join([*lines, "No verdict changed.", ""])
    parts = {
        "Another verdict": [
            f"{b.id}: {say_status(a)} → {say_status(b)} ({say_outcome(b)})"
            for a, b in changes.decided
        ],
        "The same verdict, another number": [
            f"{b.id}: measured {format_number(a.measured)} → {format_number(b.measured)}, outside "
            "of the interval it had"
            for a, b in changes.moved
        ],
        "Asked otherwise": [_describe_question(a, b) for a, b in changes.asked_otherwise],
        "New": [f"{v.id}: {say_status(v)}, {say_outcome(v)}" for v in changes.added],
        "Gone": [f"{v.id}: was {say_status(v)}" for v in changes.gone],
    }
    for heading, rows in parts.items():
        if rows:
            lines += [f"## {heading} ({len(rows)})", "", *(f"- {row}" for row in rows), ""]
    return "\n".join(lines)


def _describe_question(a: Verdict, b: Verdict) -> str:
    said = []
    if a.statement != b.statement:
        said.append(f"“{a.statement}” → “{b.statement}”")
    for word, before, now in (
        ("predicted", a.predicted, b.predicted),
        ("tolerance", a.tolerance, b.tolerance),
    ):
        if before != now:
            said.append(f"{word} {format_number(before)} → {format_number(now)}")
    return f"{b.id}: {'; '.join(said)}"


def _has_moved(a: Verdict, b: Verdict) -> bool:
    if a.measured is None or b.measured is None:
        return a.measured is not b.measured
    if a.interval is None:
        return a.measured != b.measured
    return not a.interval[0] <= b.measured <= a.interval[1]


def _by_id(studies: Sequence[FinishedStudy]) -> dict[str, Verdict]:
    return {verdict.id: verdict for finished in studies for verdict in finished.verdicts}
