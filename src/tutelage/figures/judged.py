"""A curve from elsewhere beside what was claimed of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tutelage.claims import Claim, Verdict
from tutelage.evidence.comparing import Comparison
from tutelage.figures import look, windows
from tutelage.run import Run

MOST_LABELS = 6  # runs that the legend names


@dataclass(frozen=True)
class Judged:
    """A curve of some runs with its verdicts."""

    runs: Sequence[Run]
    labels: Sequence[str]
    x: str
    y: str
    claims: Sequence[Claim]
    verdicts: Sequence[Verdict]
    exponent: float | None  # that was claimed
    floor: float | None  # likewise
    forms: Comparison | None = None
    unit: float = 1.0  # of x, per step of the runs


def draw_judged(judged: Judged, path: Path) -> Path:
    """Every run on log-log axes, the claimed power through the middle of the last value, the window
    in which it was read, and the forms that are not excluded.
    """
    with look.figure(look.COLUMN * 1.4, 3.0) as (drawn, axis):
        for number, run in enumerate(judged.runs):
            label = judged.labels[number] or judged.y
            shown = run.steps > 0
            x, y = judged.unit * run.steps[shown], run.curves[judged.y][shown]
            style = {"color": look.COLOURS[number % 6], "lw": 1.6}
            named = label if number < MOST_LABELS else "_nolegend_"
            marker = "." if len(x) < 40 else ""
            axis.plot(x, y, label=named, marker=marker, ms=3, **style)
        read = [(claim, judged.runs) for claim in judged.claims]
        if (span := windows.shared(read, windows.step)) is not None:
            look.window(axis, judged.unit * span[0], judged.unit * span[1], "read here")
        if judged.exponent is not None:
            _draw_claimed(axis, judged, None if span is None else judged.unit * span[0])
        if judged.floor is not None:
            label = f"claimed, {judged.floor:g}"
            axis.axhline(judged.floor, color=look.THEORY, lw=0.7, ls="--", label=label)
        if judged.forms is not None:
            _draw_forms(axis, judged.forms)
        axis.set(xscale="log", yscale="log", xlabel=judged.x, ylabel=judged.y)
        axis.set_title(_title(judged.verdicts), loc="left")
        axis.legend()
        return look.save(drawn, path)


def _draw_claimed(axis: Any, judged: Judged, begin: float | None) -> None:
    """Over the window in which the slope was read; where there is none, over the last half decade,
    since nothing is claimed of what comes before.
    """
    assert judged.exponent is not None
    last = judged.unit * max(float(run.steps[-1]) for run in judged.runs)
    ends = [float(run.curves[judged.y][-1]) for run in judged.runs]
    constant = float(np.exp(np.mean(np.log(ends)))) / last**judged.exponent
    label = f"claimed, $t^{{{judged.exponent:g}}}$"
    begin = last / 10**0.5 if begin is None else begin
    look.rate_line(axis, begin, last, constant, judged.exponent, label=label, ls="--")


def _draw_forms(axis: Any, forms: Comparison) -> None:
    """As far as ten times the last x, where they may part."""
    x = np.geomspace(forms.begin, 10 * forms.end, 200)
    for number, answer in enumerate(forms.answers):
        if not answer.excluded:
            y = np.exp(answer.fits[0].log_value(x))
            style = look.STYLES[(number + 1) % len(look.STYLES)]
            axis.plot(x, y, color="0.3", lw=0.8, ls=style, label=answer.form.name)


def _title(verdicts: Sequence[Verdict]) -> str:
    return "\n".join(
        f"{verdict.status.value}: {verdict.statement}"
        + (
            ""
            if verdict.measured is None or verdict.interval is None
            else f"\nmeasured {look.said(verdict)}"
        )
        for verdict in verdicts
    )
