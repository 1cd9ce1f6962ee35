"""The figure of `teacher-models/scaling`: measured limits, the sharp constants (no fit) and the
printed powers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator

from tutelage.figures import look
from tutelage.papers.teacher_models.rates.study import predicted
from tutelage.papers.teacher_models.scaling.study import QUANTITIES, SWEEPS, limit
from tutelage.studies.study import Answered

TEX = {
    "excess": r"excess$\,\cdot\,\eta T$",
    "value": r"$\|W_V-V^*\|\sqrt{\eta T}$",
    "attention": r"$\|S-S^*\|\sqrt{\eta T}$",
    "D": "$D$, with $K=4$",
    "D-and-K": "$D$, with $K=D/4$",
    "K": "$K$, with $D=36$",
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """A row a sweep in D and K, a column a quantity; nothing where no such sweep was run."""
    shown = [
        (sweep, a)
        for sweep in SWEEPS
        for a in answered
        if a.case.name == sweep.name and sweep.name in TEX
    ]
    if not shown:
        return []
    columns: dict[str, Any] = {}
    with look.figure(
        look.PAGE, 0.3 + 1.9 * len(shown), nrows=len(shown), ncols=3, squeeze=False
    ) as (drawn, axes):
        for row, (sweep, a) in zip(axes, shown, strict=True):
            settings = {sweep.axis(s): s for s in a.case.settings}
            x = np.array(sorted(settings))
            for axis, quantity in zip(row, QUANTITIES, strict=True):
                points = [
                    (sweep.axis(r.setting), limit(r, quantity))
                    for r in a.runs
                    if r.setting is not None
                ]
                sharp = np.array([predicted(quantity.sharp)(settings[v]) for v in x])
                options = [settings[v].teacher.options for v in x]
                printed = np.array(
                    [quantity.printed(o["tokens"], o["support"], o["norm"]) for o in options]
                )
                printed = printed * (
                    sharp[0] / printed[0]
                )  # the theorem leaves its factor open: through the first point
                axis.plot(x, sharp, color=look.COLOURS[0], label="sharp, no fit")
                axis.plot(
                    x,
                    printed,
                    color=look.COLOURS[4],
                    ls="--",
                    label="printed, through the first point",
                )
                axis.plot(
                    *zip(*points, strict=True),
                    ls="",
                    marker="o",
                    ms=3,
                    mfc="none",
                    color=look.THEORY,
                    label="measured",
                )
                axis.set(
                    xscale="log", yscale="log", xlabel=TEX[sweep.name], ylabel=TEX[quantity.name]
                )
                axis.set_xticks(x, [f"{v:g}" for v in x])
                axis.minorticks_off()
                axis.yaxis.set_major_locator(
                    LogLocator(subs=(1.0, 2.0, 5.0) if printed[-1] / printed[0] < 50 else (1.0,))
                )
                axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
                columns |= {
                    f"{sweep.name}: x": [p[0] for p in points],
                    f"{sweep.name}: {quantity.name}, measured": [p[1] for p in points],
                    f"{sweep.name}: theory's x": x,
                    f"{sweep.name}: {quantity.name}, sharp": sharp,
                    f"{sweep.name}: {quantity.name}, printed": printed,
                }
        drawn.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        return look.write(drawn, folder, "scaling", columns)
