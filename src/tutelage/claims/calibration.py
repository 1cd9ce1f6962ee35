"""How often the verdict rule is right: it judges families of runs whose truth is known.

A wrong HOLDS is a HOLDS where the truth is anything else, and so for FAILS. UNDECIDED is never
wrong; where the class decides in principle it is a loss, and it is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tutelage.claims.check import check
from tutelage.claims.claim import Claim
from tutelage.claims.verdict import Ends, Status
from tutelage.run import Run

ROOM = 1e-9  # by which rounding may move the end of an interval, relative


@dataclass(frozen=True)
class Family:
    """Runs of known truth: `make(seed)` draws them, with the claim to judge."""

    name: str
    kind: str  # rate, order, bound, constant, number, exponent, ratio, recovery or floor
    make: Callable[[int], tuple[Claim, Sequence[Run]]]
    truth: Status
    # The true value of what the interval is about, or a function from the seed to it.
    limit: float | Callable[[int], float | None] | None = None
    decidable: bool = True  # whether the class decides it in principle, with data like these
    draws: int | None = None  # how many seeds differ; None where all do


@dataclass(frozen=True)
class Row:
    """The answers on one family, or on several taken together."""

    name: str
    kind: str
    truth: Status | None  # None for several families
    answers: int
    wrong_holds: int
    wrong_fails: int
    undecided: int
    decidable: int  # answers of families that the class decides
    undecided_decidable: int
    intervals: int  # that are about a known value
    covering: int

    @property
    def right(self) -> int:
        return self.answers - self.wrong - self.undecided

    @property
    def wrong(self) -> int:
        return self.wrong_holds + self.wrong_fails


def judge_family(family: Family, repetitions: int, seed: int = 0) -> Row:
    """The answers on one family over as many draws as are asked for, or as there are."""
    times = repetitions if family.draws is None else min(repetitions, family.draws)
    seeds = range(seed, seed + times)
    found = [check(*family.make(k)) for k in seeds]
    statuses = [verdict.status for verdict in found]
    undecided = (
        0
        if family.truth is Status.UNDECIDED
        else sum(status is Status.UNDECIDED for status in statuses)
    )
    limits = [family.limit(k) if callable(family.limit) else family.limit for k in seeds]
    covers = [
        _covers(verdict.interval, limit)
        for verdict, limit in zip(found, limits, strict=True)
        if verdict.interval is not None and limit is not None
    ]
    return Row(
        name=family.name,
        kind=family.kind,
        truth=family.truth,
        answers=times,
        wrong_holds=_count_wrong(statuses, Status.HOLDS, family.truth),
        wrong_fails=_count_wrong(statuses, Status.FAILS, family.truth),
        undecided=undecided,
        decidable=times if family.decidable else 0,
        undecided_decidable=undecided if family.decidable else 0,
        intervals=len(covers),
        covering=sum(covers),
    )


def _covers(interval: Ends, limit: float) -> bool:
    room = ROOM * max(1.0, abs(limit))
    return interval[0] - room <= limit <= interval[1] + room


def _count_wrong(statuses: Iterable[Status], status: Status, truth: Status) -> int:
    return 0 if truth is status else sum(found is status for found in statuses)


def calibrate(families: Sequence[Family], repetitions: int = 20, seed: int = 0) -> list[Row]:
    """One row per family."""
    return [judge_family(family, repetitions, seed) for family in families]


def summarise(rows: Sequence[Row]) -> list[Row]:
    """One row per kind, in the order in which the kinds first come."""
    kinds = list(dict.fromkeys(row.kind for row in rows))
    found = []
    for kind in kinds:
        of = [row for row in rows if row.kind == kind]
        found.append(
            Row(
                name=f"{len(of)} families",
                kind=kind,
                truth=None,
                answers=sum(row.answers for row in of),
                wrong_holds=sum(row.wrong_holds for row in of),
                wrong_fails=sum(row.wrong_fails for row in of),
                undecided=sum(row.undecided for row in of),
                decidable=sum(row.decidable for row in of),
                undecided_decidable=sum(row.undecided_decidable for row in of),
                intervals=sum(row.intervals for row in of),
                covering=sum(row.covering for row in of),
            )
        )
    return found
