"""What the reading of a page says about a run while it goes on, as events for the browser."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Int

from tutelage.claims.verdict import PlainVerdict
from tutelage.explorer.measuring import numbers
from tutelage.explorer.site import Site
from tutelage.run import Outcome, Run
from tutelage.settings import Setting
from tutelage.studies.pages import Line, Phase, Reading, Silent

Json: TypeAlias = bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"] | None
Event: TypeAlias = dict[str, Json]


def read_setting(site: Site, setting: Setting, page: str = "") -> Reading:
    """What the page of a setting says about it, or why there is none. The setting has been built,
    and so is sound.
    """
    placed = site.page_of(setting.teacher.name, page)
    if placed is None or setting.calculation is not None:
        return Silent(f"No claims here: no page is about {_name(setting)}.")
    return placed.page.reading(setting)


def _name(setting: Setting) -> str:
    if setting.calculation is not None:
        return f"the calculation {setting.calculation.name}"
    return f"the teacher {setting.teacher.name}"


def so_far(
    setting: Setting,
    points: Int[np.ndarray, "points"],
    curves: Mapping[str, Float[np.ndarray, "so_far ..."]],
) -> Run:
    """A run as it stands, for claims to look at."""
    have = len(next(iter(curves.values())))
    return Run(
        points[:have], dict(curves), None, Outcome.STOPPED, rate=setting.rate, setting=setting
    )


def events(reading: Reading, run: Run) -> Iterator[Event]:
    """What can be said about a run now. Lines and verdicts replace those that came before."""
    if not len(run.steps) or run.steps[-1] < 1:
        return
    lines = [*reading.predicted(), *reading.fitted(run)]
    yield {"event": "lines", "lines": plain_lines(lines)}
    if phases := reading.phases(run):
        yield {"event": "phases", "phases": plain_phases(phases)}
    yield {
        "event": "verdicts",
        "verdicts": [plain_verdict(verdict.plain()) for verdict in reading.verdicts(run)],
        "sentence": reading.sentence,
    }


def plain_lines(lines: Sequence[Line]) -> list[Json]:
    """JSON-ready."""
    return [
        {
            "curve": line.curve,
            "kind": line.kind,
            "label": line.label,
            "steps": numbers(line.steps),
            "values": numbers(line.values),
            **({} if line.window is None else {"window": list(line.window)}),
        }
        for line in lines
    ]


def plain_phases(phases: Sequence[Phase]) -> list[Json]:
    """JSON-ready."""
    return [
        {
            "name": phase.name,
            "label": phase.sentence,
            "predicted": _finite(phase.predicted),
            "seen": _finite(phase.seen),
        }
        for phase in phases
    ]


def plain_verdict(verdict: PlainVerdict) -> dict[str, Json]:
    """A verdict as JSON has it: no number that is not finite."""
    plain: dict[str, Json] = json.loads(json.dumps(verdict), parse_constant=lambda _: None)
    return plain


def _finite(step: float | None) -> float | None:
    return None if step is None or not math.isfinite(step) else step
