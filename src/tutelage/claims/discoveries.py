"""Which verdicts of a report are kept when all that have chance in them are looked at together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tutelage.claims.chance import e_benjamini_hochberg
from tutelage.claims.verdict import Status, Verdict

LEVEL = 0.05  # the expected share of wrong verdicts among those that are kept
NOT_KEPT = "not kept"


@dataclass(frozen=True)
class Discoveries:
    """The decided claims with an e-value, by id, as e-Benjamini–Hochberg divides them."""

    kept: frozenset[str]
    dropped: frozenset[str]

    @property
    def sentence(self) -> str:
        """What is guaranteed; "" where no verdict has chance in it."""
        total = len(self.kept) + len(self.dropped)
        if not total:
            return ""
        of = "verdict has" if total == 1 else "verdicts have"
        are = "is" if len(self.kept) == 1 else "are"
        said = (
            f"{total} {of} chance in {'it' if total == 1 else 'them'}; {len(self.kept)} {are} kept "
            "by the e-Benjamini–Hochberg procedure, with an expected share of wrong ones among "
            f"them of at most {LEVEL:.0%}, however they depend on each other"
        )
        return (
            f"{said}; not kept: {', '.join(sorted(self.dropped))}." if self.dropped else f"{said}."
        )

    def mark(self, verdict: Verdict) -> str:
        """What the row of a verdict says about it."""
        return NOT_KEPT if verdict.id in self.dropped else ""


def find_discoveries(verdicts: Iterable[Verdict]) -> Discoveries:
    """The division over the claims of one report that hold or fail and have chance in them."""
    found = [
        (verdict.id, verdict.e_value)
        for verdict in verdicts
        if verdict.kind == "claim"
        and verdict.status in (Status.HOLDS, Status.FAILS)
        and verdict.e_value is not None
    ]
    accepted = e_benjamini_hochberg([e for _, e in found], LEVEL)
    return Discoveries(
        frozenset(name for (name, _), yes in zip(found, accepted, strict=True) if yes),
        frozenset(name for (name, _), yes in zip(found, accepted, strict=True) if not yes),
    )
