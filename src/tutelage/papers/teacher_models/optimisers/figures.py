"""The figure of `teacher-models/optimisers`: laws in their own time, all optimisers by steps, and
the edges of stability.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage.figures import look
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.optimisers.readings import setting_of
from tutelage.papers.teacher_models.optimisers.runs import ABOVE, BELOW
from tutelage.papers.teacher_models.theory import optimisers as predictions
from tutelage.studies.study import Answered

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CAPTIONS = {
    "optimisers": (
        "Left: laws in the optimisers' own time. Middle: all optimisers by steps. Right: both "
        "sides of the edge of stability."
    ),
}

PREDICTED = ("plain", "heavy-ball", "nesterov", "decaying-quarter", "decaying-one")
# Those that set their own steps; in one colour with constant and, dashed, with decaying steps.
OWN = {
    "normalised": (0, "-"),
    "normalised-decaying": (0, "--"),
    "sign": (1, "-"),
    "sign-decaying": (1, "--"),
    "adam": (2, "-"),
    "adam-decaying": (2, "--"),
    "lion": (3, "-"),
    "adagrad": (4, "-"),
}
LEGEND: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.45, -0.24), "fontsize": 6.5}
EDGES = ("plain", "heavy-ball", "nesterov")


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """The one figure, as far as there are cases for it."""
    by_name = {a.case.name: a for a in answered}
    if not any(name in by_name for name in (*PREDICTED, *OWN)):
        return []
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 4.0, ncols=3) as (drawn, (left, middle, right)):
        _laws(left, by_name, columns)
        _own(middle, by_name, columns)
        _edges(right, by_name, columns)
        for axis in (left, middle, right):
            if axis.get_lines():
                axis.legend(
                    handles=[
                        line for line in axis.get_lines() if not line.get_label().startswith("_")
                    ],
                    **LEGEND,
                )
        return look.write(drawn, folder, "optimisers", columns)


def _laws(axis: Axes, by_name: Mapping[str, Answered], columns: dict[str, Any]) -> None:
    for i, a in enumerate(by_name[name] for name in PREDICTED if name in by_name):
        first = a.runs[0]
        runs = [
            run
            for run in a.runs
            if setting_of(run).rate == setting_of(first).rate and len(run.steps) == len(first.steps)
        ]
        late = first.steps >= 10
        time = predictions.time(setting_of(first), first.steps[late])
        ratios = np.stack(
            [
                run.curves["excess_risk"][late] * time / theory.counting_law(setting_of(run))
                for run in runs
            ]
        )
        middle, _, _ = look.band(axis, time, ratios, i, label=a.case.label)
        columns |= {f"{a.case.label}: time": time, f"{a.case.label}: excess·time over law": middle}
    axis.axhline(1.0, color=look.THEORY, lw=0.7)
    axis.set(
        xscale="log",
        yscale="log",
        ylim=(0.4, 6),
        xlabel=r"time $\Sigma\,\eta_t/(1-\beta)$",
        title="predicted: one law, other clocks",
    )
    axis.set_ylabel(r"excess$\,\cdot\,$time$\;/\;\Sigma_i K_i(D-K_i)/4$")
    axis.set_yticks([0.5, 1, 2, 4], ["½", "1", "2", "4"])
    axis.minorticks_off()


def _own(axis: Axes, by_name: Mapping[str, Answered], columns: dict[str, Any]) -> None:
    """The first seed at the middle one of the step sizes; plain descent for comparison."""
    shown = [(name, *style) for name, style in OWN.items() if name in by_name]
    for name, colour, style in shown:
        runs = by_name[name].runs
        rates = sorted({setting_of(run).rate for run in runs})
        run = next(run for run in runs if setting_of(run).rate == rates[len(rates) // 2])
        label = f"{by_name[name].case.label}, η = {setting_of(run).rate:g}"
        axis.plot(
            run.steps[1:],
            run.curves["excess_risk"][1:],
            color=look.COLOURS[colour],
            ls=style,
            lw=1.0,
            label=label,
        )
        columns |= {f"{label}: step": run.steps, f"{label}: excess": run.curves["excess_risk"]}
    if "plain" in by_name:
        run = by_name["plain"].runs[0]
        axis.plot(
            run.steps[1:],
            run.curves["excess_risk"][1:],
            color=look.THEORY,
            lw=0.8,
            label="plain, η = 0.2",
        )
    axis.set(
        xscale="log",
        yscale="log",
        xlabel="step $T$",
        ylabel="excess risk",
        title="steps of their own",
    )


def _edges(axis: Axes, by_name: Mapping[str, Answered], columns: dict[str, Any]) -> None:
    for i, name in enumerate(EDGES):
        for word, factor, style in (("below", BELOW, "-"), ("above", ABOVE, "--")):
            if (a := by_name.get(f"{name}-{word}")) is not None:
                run = a.runs[0]
                time = predictions.time(setting_of(run), run.steps[1:])
                whose = by_name[name].case.label if name in by_name else name
                label = rf"{whose}, {factor:g} $\times$ edge"
                axis.plot(
                    time,
                    run.curves["excess_risk"][1:],
                    color=look.COLOURS[i],
                    ls=style,
                    lw=1.0,
                    label=label,
                )
                columns |= {
                    f"{label}: time": time,
                    f"{label}: excess": run.curves["excess_risk"][1:],
                }
    axis.set(
        xscale="log",
        yscale="log",
        xlabel=r"time $\eta T/(1-\beta)$",
        ylabel="excess risk",
        title="edge of stability",
    )
