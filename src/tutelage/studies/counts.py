"""Verdicts, counted: how many claims hold, fail or are undecided, and what the controls did."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tutelage.claims.verdict import Status, Verdict


@dataclass(frozen=True)
class Counts:
    """How many verdicts of which kind and status there are."""

    holds: int  # these three are claims
    fails: int
    undecided: int
    controls: int
    sound: int  # controls that do not hold, as they must not
    measurements: int
    read: int  # measurements that could be read

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> Counts:
        found = [(verdict.kind, verdict.status) for verdict in verdicts]

        def amount(kind: str, *statuses: Status) -> int:
            return sum(k == kind and (not statuses or s in statuses) for k, s in found)

        return cls(
            holds=amount("claim", Status.HOLDS),
            fails=amount("claim", Status.FAILS),
            undecided=amount("claim", Status.UNDECIDED),
            controls=amount("control"),
            sound=amount("control") - amount("control", Status.HOLDS),
            measurements=amount("measurement"),
            read=amount("measurement", Status.MEASURED),
        )

    @property
    def claims(self) -> int:
        return self.holds + self.fails + self.undecided

    @property
    def by_status(self) -> dict[str, int]:
        """The claims by their status."""
        return {"HOLDS": self.holds, "FAILS": self.fails, "UNDECIDED": self.undecided}

    @property
    def sentence(self) -> str:
        said = []
        if self.claims or not self.measurements:
            counted = ", ".join(f"{count} {status}" for status, count in self.by_status.items())
            said.append(f"{self.claims} claims: {counted}.")
        if self.measurements:
            unread = self.measurements - self.read
            more = f", {unread} UNDECIDED." if unread else "."
            said.append(f"{self.measurements} measurements, about which nothing is claimed{more}")
        if self.controls:
            said.append(
                f"{self.sound} of {self.controls} negative controls do not hold, as they must not."
            )
        return " ".join(said)
