"""Where the claims of a figure's cases are read, for its grey window: the very windows of their
verdicts, on the figure's own axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tutelage.claims import Bound, Claim, Constant, Rate
from tutelage.claims.power_laws import windows_of
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.study import Answered

Read = tuple[Claim, Sequence[Run]]


def named(cases: Sequence[Answered], name: str) -> list[Read]:
    """The claim of that name of every case that has one, with the runs that it is read from."""
    return [(claim, a.runs) for a in cases for claim in a.case.claims if claim.id == name]


def shared(read: Sequence[Read], at: Callable[[float, Run], float]) -> tuple[float, float] | None:
    """From the first to the last place in which some claim is read; `at` says where a run's step
    stands on the axis.
    """
    ends = [
        (at(first, run), at(last, run))
        for claim, runs in read
        if isinstance(claim, Rate | Bound | Constant)
        for (first, last), run in zip(
            windows_of(claim, runs), runs, strict=False
        )  # no windows where it cannot be read yet
    ]
    return (min(first for first, _ in ends), max(last for _, last in ends)) if ends else None


def step(steps: float, run: Run) -> float:
    return steps


def plateaus(plateau: Callable[[Setting], float]) -> Callable[[float, Run], float]:
    """In plateaus, of which every run has its own."""

    def at(steps: float, run: Run) -> float:
        assert run.setting is not None
        return steps / plateau(run.setting)

    return at


def time(steps: float, run: Run) -> float:
    """ηT."""
    assert run.rate is not None
    return steps * run.rate
