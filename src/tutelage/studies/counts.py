"""Verdicts, counted: how many claims hold, fail or are undecided, and what the controls did."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tutelage.claims.labels import ClaimedBy
from tutelage.claims.verdict import Status, Verdict

ALWAYS_SAID = ("HOLDS", "FAILS", "UNDECIDED")  # also where there is none


@dataclass(frozen=True)
class Counts:
    """How many verdicts of which kind and status there are."""

    holds: int  # these five are claims
    fails: int
    undecided: int
    outside: int
    vacuous: int
    controls: int
    sound: int  # controls that FAIL, as they must
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
            outside=amount("claim", Status.OUTSIDE),
            vacuous=amount("claim", Status.VACUOUS),
            controls=amount("control"),
            sound=amount("control", Status.FAILS),
            measurements=amount("measurement"),
            read=amount("measurement", Status.MEASURED),
        )

    @classmethod
    def by_group(cls, verdicts: Iterable[Verdict]) -> dict[ClaimedBy, Counts]:
        """The paper's claims, sharper ones and those beyond it, each with their controls."""
        given = list(verdicts)
        return {
            group: cls.of(verdict for verdict in given if verdict.claimed_by is group)
            for group in ClaimedBy
        }

    @property
    def claims(self) -> int:
        return sum(self.by_status.values())

    @property
    def by_status(self) -> dict[str, int]:
        """The claims by their status."""
        return {
            "HOLDS": self.holds,
            "FAILS": self.fails,
            "UNDECIDED": self.undecided,
            "OUTSIDE": self.outside,
            "VACUOUS": self.vacuous,
        }

    @property
    def sentence(self) -> str:
        said = []
        if self.claims or not self.measurements:
            counted = ", ".join(
                f"{count} {status}"
                for status, count in self.by_status.items()
                if count or status in ALWAYS_SAID
            )
            said.append(f"{self.claims} claims: {counted}.")
        if self.measurements:
            unread = self.measurements - self.read
            more = f", {unread} UNDECIDED." if unread else "."
            said.append(f"{self.measurements} measurements, about which nothing is claimed{more}")
        if self.controls:
            said.append(f"{self.sound} of {self.controls} controls FAIL, as they must.")
        return " ".join(said)
