"""The figure of `teacher-models/scaling`: measured limits, the sharp constants (no fit) and the
printed powers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator

from tutelage.figures import look
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.readings import read_limit
from tutelage.papers.teacher_models.scaling.sweeps import SWEEPS
from tutelage.papers.teacher_models.sweeps import Sweep, read_along
from tutelage.studies.study import Answered

LAWS = (*theory.LAWS, theory.GAP)
CAPTIONS = {
    "scaling": (
        "Limits of the scaled curves of Theorem 3.1, and of C₂+C₃ in its proof, against D and K: "
        "measured (circles), the sharp constants without a fit, and the printed powers through "
        "the first point."
    ),
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Limits of the four scaled curves against D and K: measured (circles), the sharp constants
    without a fit, and the printed powers through the first point. One row per sweep.
    """
    cases = {a.case.name: a for a in answered}
    shown = [
        (sweep, cases[sweep.name]) for sweep in SWEEPS if sweep.axis_label and sweep.name in cases
    ]
    if not shown:
        return []
    columns: dict[str, look.Column] = {}
    height = 0.3 + 1.9 * len(shown)
    with look.figure(look.PAGE, height, nrows=len(shown), ncols=4, squeeze=False) as (drawn, axes):
        for row, (sweep, a) in zip(axes, shown, strict=True):
            for axis, law in zip(row, LAWS, strict=True):
                columns |= _draw_limits(axis, sweep, a, law)
        drawn.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        return look.write(drawn, folder, "scaling", columns)


def _draw_limits(axis: Axes, sweep: Sweep, a: Answered, law: theory.Law) -> dict[str, look.Column]:
    settings = {sweep.axis(setting): setting for setting in a.case.settings}
    x = np.array(sorted(settings))
    points = read_along(sweep.axis, lambda run: read_limit(run, law))(a.runs)
    places, limits = [point[0] for point in points], [point[1] for point in points]
    sharp = np.array([law.constant(settings[place]) for place in x])
    printed = np.array([law.printed(settings[place]) for place in x])
    # The theorem leaves its factor open: through the first point.
    printed = printed * (sharp[0] / printed[0])
    axis.plot(x, sharp, color=look.COLOURS[0], label="sharp, no fit")
    axis.plot(x, printed, color=look.COLOURS[4], ls="--", label="printed, through the first point")
    axis.plot(
        places, limits, ls="", marker="o", ms=3, mfc="none", color=look.THEORY, label="measured"
    )
    axis.set(xscale="log", yscale="log", xlabel=sweep.axis_label, ylabel=law.scaled_label)
    every = 1 if x[-1] < 1000 else 2  # long numbers need the room of two
    axis.set_xticks(x, [f"{place:g}" if i % every == 0 else "" for i, place in enumerate(x)])
    axis.minorticks_off()
    range_shown = max(*printed, *sharp) / min(*printed, *sharp)
    ticks = (1.0, 2.0, 5.0) if range_shown < 50 else (1.0,)
    axis.yaxis.set_major_locator(LogLocator(subs=ticks))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    return {
        f"{sweep.name}: x": places,
        f"{sweep.name}: {law.name}, measured": limits,
        f"{sweep.name}: theory's x": x,
        f"{sweep.name}: {law.name}, sharp": sharp,
        f"{sweep.name}: {law.name}, printed": printed,
    }
