"""Guided tours of a page: stops with one sentence, one thing to try, and what must be true."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tutelage.claims.verdict import Verdict
from tutelage.refuse import Refused, one_of
from tutelage.run import Run

AXES = ("step", "time", "plateau")  # step, ηT, step over the plateau
VIEWS = ("curve", "ratio")  # the curve itself, or measured over predicted
FEWEST, MOST = 5, 8  # stops of a tour


@dataclass(frozen=True)
class Stop:
    """A state of the page with one sentence about it, and one thing to try.

    What the sentence says can be checked: `verdicts` maps the id of a claim to the status that it
    gets, `last` a curve to the ends between which its last value lies.
    """

    name: str
    sentence: str
    task: str
    query: str
    verdicts: Mapping[str, str] = field(default_factory=dict)
    last: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    also: tuple[str, ...] = ()  # queries of runs that are laid over it
    show: str = ""  # the curve to look at, where it is not the page's first
    axis: str = "step"
    view: str = "curve"

    def __post_init__(self) -> None:
        one_of("axis", self.axis, AXES)
        one_of("view", self.view, VIEWS)
        if not self.verdicts and not self.last:
            raise Refused(
                "A stop of a tour names a verdict or a last value, since its sentence is checked "
                f"by them. Got neither for {self.name!r}."
            )

    def find_untrue(self, run: Run, verdicts: Sequence[Verdict]) -> Iterator[str]:
        """What the stop says and its run does not show."""
        found = {verdict.id.rpartition("/")[2]: verdict.status.value for verdict in verdicts}
        for claim, status in self.verdicts.items():
            if found.get(claim) != status:
                yield f"{self.name}: {claim} is {found.get(claim)}, not {status}"
        for curve, (least, most) in self.last.items():
            value = float(run.curves[curve][-1].mean())
            if not least <= value <= most:
                yield f"{self.name}: {curve} ends at {value:.6g}, not in [{least:g}, {most:g}]"


def check_tour(page: str, tour: Sequence[Stop]) -> None:
    """Refuses a tour that is too short or too long, or that names a stop twice."""
    names = [stop.name for stop in tour]
    if tour and not FEWEST <= len(tour) <= MOST:
        raise Refused(
            f"A tour has {FEWEST} to {MOST} stops, so that it can be taken in one sitting. Got "
            f"{len(tour)} for the page {page!r}."
        )
    if len(set(names)) < len(names):
        raise Refused(f"Each stop of a tour has a name of its own. Got {names}.")
