"""What a paper may show on the web page: pages, prepared states, and a reading of its runs.

Plain data and interfaces, so that a paper can describe itself without the web server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tutelage.claims.verdict import Hypothesis, Verdict
from tutelage.run import Run
from tutelage.settings import Setting


@dataclass(frozen=True)
class Line:
    """A straight piece on the log-log chart of a curve: what theory predicts, or what was fitted."""

    curve: str
    kind: str  # "predicted" or "fitted"
    label: str
    steps: Sequence[float]
    values: Sequence[float]
    window: tuple[float, float] | None = None  # of a fit: the steps that it was read from


@dataclass(frozen=True)
class Phase:
    """A stretch of training that theory tells apart."""

    name: str
    sentence: str
    first: float
    last: float | None = None


class Reading:
    """What can be said of a setting, and of its run while it goes on; by default, nothing."""

    sentence: str = ""  # why there are no claims; "" where there are some

    def hypotheses(self) -> Sequence[Hypothesis]:
        return ()

    def predicted(self) -> Sequence[Line]:
        return ()

    def fitted(self, run: Run) -> Sequence[Line]:
        return ()

    def verdicts(self, run: Run) -> Sequence[Verdict]:
        return ()

    def phases(self, run: Run | None) -> Sequence[Phase]:
        return ()


@dataclass(frozen=True)
class Prepared:
    """A state of the page, and what it shows."""

    name: str
    sentence: str
    query: str
    also: tuple[str, ...] = ()  # queries of runs that are laid over it
    show: str = ""  # the curve to look at, where it is not the page's first


@dataclass(frozen=True)
class Page:
    """One page of the explorer."""

    name: str  # its address
    title: str
    teachers: tuple[str, ...]  # the first is the one to begin with
    reading: Callable[[Setting], Reading]  # what can be said of a run
    measures: Callable[[Setting], tuple[str, ...]]  # which curves to take
    begin: Mapping[str, float]  # rate, steps and seed to begin with
    begin_with: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # of a teacher
    letters: Mapping[str, str] = field(default_factory=dict)  # the paper's letter -> path
    prepared: tuple[Prepared, ...] = ()
