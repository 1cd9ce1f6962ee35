"""What a paper may show on the web page: pages, prepared states, and a reading of its runs.

Plain data and interfaces, so that a paper can describe itself without the web server. A paper's
`explore.py` holds `pages`, a tuple of `Page`. It is imported when the server starts, so that it
imports JAX only inside of the functions that need it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

import numpy as np
from jaxtyping import Float, Int

from tutelage.claims.verdict import Hypothesis, Verdict
from tutelage.numerics.grids import NOISY, PER_DECADE
from tutelage.problem.registry import options_of, registered
from tutelage.refuse import Refused, is_finite
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.machine import DrawMachine, draw_nothing
from tutelage.studies.tours import Stop, check_tour

ATTENTION_BYTES = 2**25  # of all the attention matrices of a run; dozens of runs are kept
RESERVED = ("api", "page", "saved")  # addresses that no page may have
FEWEST_FITTED = 3  # points of a fitted line
LARGEST_BEND = 0.1  # difference of the slopes of both halves, relative to the slope
LARGEST_SCATTER = 0.05  # of the points about the line, relative to how far it falls
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
# Objectives whose steps are not random, which are measured at fewer steps.
_EXACT_STEPS = ("population", "empirical", "squared_loss")


@dataclass(frozen=True)
class Line:
    """A straight piece on the log-log chart of a curve: predicted by theory, or fitted."""

    curve: str
    kind: str  # "predicted" or "fitted"
    label: str
    steps: Sequence[float]
    values: Sequence[float]
    window: tuple[float, float] | None = None  # of a fit: the steps that it was read from


@dataclass(frozen=True)
class Phase:
    """The end of a stretch of training that theory tells apart; a step is None where unknown."""

    name: str  # short, beside its mark on the chart
    sentence: str
    predicted: float | None
    seen: float | None


class Reading:
    """What can be said about a setting, and about its run while it goes on; by default, nothing."""

    sentence: str = ""  # why there are no claims; "" where there are some

    def hypotheses(self) -> Sequence[Hypothesis]:
        return ()

    def predicted(self) -> Sequence[Line]:
        return ()

    def fitted(self, run: Run) -> Sequence[Line]:
        return ()

    def verdicts(self, run: Run) -> Sequence[Verdict]:
        """Those that the run allows now; a run that goes on has the outcome STOPPED."""
        return ()

    def plateau(self) -> float | None:
        """The steps that learning takes to begin, by theory; None where none is predicted."""
        return None

    def phases(self, run: Run | None) -> Sequence[Phase]:
        """Of a setting, or of its run where there is one."""
        return ()


@final
class Silent(Reading):
    """Of a setting that no theorem is about; the sentence says why."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence


@dataclass(frozen=True)
class Prepared:
    """A state of the page, and what it shows."""

    name: str
    sentence: str
    query: str
    also: tuple[str, ...] = ()  # queries of runs that are laid over it
    show: str = ""  # the curve to look at, where it is not the page's first


def say_nothing(setting: Setting) -> Reading:
    """The reading of a page that has none."""
    return Silent(
        "No claims here: no theorem in this library covers this teacher "
        f"({registered('teacher', setting.teacher.name).label or setting.teacher.name})."
    )


def fit_slope(
    steps: Int[np.ndarray, "points"], values: Float[np.ndarray, "points"]
) -> tuple[float, float] | None:
    """Slope and level of a straight line in log-log; None where the points do not lie on one.

    They do where both halves have the same slope, up to a tenth, and where the line falls or rises
    by far more than the points scatter about it. An exponential has no slope by the first rule, a
    noise floor none by the second. The slope of an exponential is proportional to the step, so that
    its halves differ by half of the width in log steps: over a narrow window less than a quarter of
    the width is asked.
    """
    if len(steps) < FEWEST_FITTED or not (values > 0).all() or not (steps > 0).all():
        return None
    logs, heights = np.log(steps), np.log(values)
    slope, level = np.polyfit(logs, heights, 1)
    middle = len(logs) // 2
    halves = [
        np.polyfit(logs[part], heights[part], 1)[0]
        for part in (slice(middle + 1), slice(middle, None))
    ]
    width = logs[-1] - logs[0]
    bent = abs(halves[1] - halves[0]) > min(LARGEST_BEND, width / 4) * abs(slope)
    scatter = np.std(heights - (level + slope * logs))
    lost = scatter > LARGEST_SCATTER * abs(slope) * width
    return None if bent or lost else (float(slope), float(level))


def usual_measures(setting: Setting) -> tuple[str, ...]:
    """The excess risk, and the student's matrices where they are not too large."""
    return ("excess_risk", *measured_matrices(setting))


def measured_matrices(setting: Setting) -> tuple[str, ...]:
    """The measures of W_V and of the attention, where the student's attention is of positions alone
    and all its matrices together are small enough to keep; else nothing.
    """
    if setting.student.name != "position_attention":
        return ()
    size = 8 * _count_points(setting) * _count_entries(setting)
    return ("value_matrix", "attention_matrix") if size <= ATTENTION_BYTES else ()


def _count_entries(setting: Setting) -> float:
    """D·Q as the options say it; infinity where they are not numbers, which is refused later."""
    declared, given = options_of("teacher", setting.teacher.name), setting.teacher.options
    selection = given.get("selection")
    if isinstance(selection, np.ndarray):
        return float(selection.size)

    def read(name: str) -> float | None:
        value = given.get(name, declared[name].default if name in declared else None)
        if value is None:
            return None
        return float(value) if isinstance(value, int | float) and is_finite(value) else math.inf

    tokens = read("tokens") or 0.0
    return tokens * (read("queries") or tokens)


def _count_points(setting: Setting) -> float:
    """About how many steps are measured."""
    if not isinstance(setting.steps, int) or setting.steps <= 0:
        return math.inf
    each = PER_DECADE if setting.objective.name in _EXACT_STEPS else NOISY
    return each * (1 + math.log10(setting.steps))


@dataclass(frozen=True)
class Page:
    """One page of the explorer, at the address `/<name>`."""

    name: str
    title: str
    teachers: tuple[str, ...]  # the first is the one to begin with
    reading: Callable[[Setting], Reading] = say_nothing  # what can be said about a run
    measures: Callable[[Setting], tuple[str, ...]] = usual_measures  # which curves to take
    # Step size, steps and seed to begin with, and others for some teachers.
    begin: Mapping[str, float] = field(default_factory=lambda: {"rate": 0.01, "steps": 2000})
    begin_with: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    letters: Mapping[str, str] = field(default_factory=dict)  # the paper's letter -> path
    # How a field is written, where not as usual: {"steps": "τ", "teacher.tokens": "T"}.
    symbols: Mapping[str, str] = field(default_factory=dict)
    theorem: str = ""  # one line of mathematics, as `report.mathematics` reads it
    statement: str = ""  # the same in one plain sentence
    machine: DrawMachine = draw_nothing  # the blocks from input to output
    tour: tuple[Stop, ...] = ()  # the first stop is what a visitor sees first
    prepared: tuple[Prepared, ...] = ()  # further states
    start: bool = False  # True for the page that a visitor sees first; the first such page is it
    # A JavaScript module whose `read(setting, problem)` says in an exported page what `reading`
    # says about a setting before it runs; None where such a page leaves that to Python.
    script: Path | None = None

    def __post_init__(self) -> None:
        if _NAME.fullmatch(self.name) is None or self.name in RESERVED:
            raise Refused(
                "The name of a page is its address: small letters, digits and hyphens, and none "
                f"of {', '.join(RESERVED)}. Got {self.name!r}."
            )
        if not self.teachers:
            raise Refused(f"A page shows at least one teacher. Got none for {self.name!r}.")
        check_tour(self.name, self.tour)
