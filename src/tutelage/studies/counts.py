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
    undecided_controls: tuple[str, ...]  # case and claim
    other_controls: tuple[str, ...]  # that HOLD, or have another status
    measurements: int
    read: int  # measurements that could be read

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> Counts:
        given = list(verdicts)
        found = [(verdict.kind, verdict.status) for verdict in given]
        controls = [verdict for verdict in given if verdict.control]

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
            undecided_controls=tuple(_short(v) for v in controls if v.status is Status.UNDECIDED),
            other_controls=tuple(
                f"{_short(v)} {v.status.value}"
                for v in controls
                if v.status not in (Status.FAILS, Status.UNDECIDED)
            ),
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
        if not self.claims and self.controls:
            said.append("No claim was checked.")
        elif self.claims or not self.measurements:
            counted = ", ".join(
                f"{count} {status}"
                for status, count in self.by_status.items()
                if count or status in ALWAYS_SAID
            )
            said.append(f"{self.claims} {'claim' if self.claims == 1 else 'claims'}: {counted}.")
        if self.measurements:
            unread = self.measurements - self.read
            more = f", {unread} UNDECIDED." if unread else "."
            of = "measurement" if self.measurements == 1 else "measurements"
            said.append(f"{self.measurements} {of}, about which nothing is claimed{more}")
        if self.controls:
            said.append(self.controls_sentence)
        return " ".join(said)

    @property
    def controls_sentence(self) -> str:
        """How many negative controls fail, and which do not: an undecided one has not passed."""
        if not self.controls:
            return "There is no negative control."
        if self.sound == self.controls:
            if self.controls == 1:
                return "The negative control fails, as expected."
            return f"All {self.controls} negative controls fail, as expected."
        of = "negative control fails" if self.controls == 1 else "negative controls fail"
        parts = [f"{self.sound} of {self.controls} {of}, as expected"]
        if self.undecided_controls:
            amount = len(self.undecided_controls)
            are = "is" if amount == 1 else "are"
            parts.append(f"{amount} {are} undecided: {', '.join(self.undecided_controls)}")
        if self.other_controls:
            amount = len(self.other_controls)
            do = "does" if amount == 1 else "do"
            parts.append(f"{amount} {do} not fail: {', '.join(self.other_controls)}")
        return f"{'; '.join(parts)}."


def _short(verdict: Verdict) -> str:
    """The case and the claim."""
    return "/".join(verdict.id.split("/")[-2:])
