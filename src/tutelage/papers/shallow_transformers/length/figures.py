"""The figure of the study of length: every quantity against T, seeds and their mean."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator

from tutelage.figures import look
from tutelage.papers.shallow_transformers.length.readings import QUANTITIES, Quantity, points
from tutelage.studies.study import Answered

CAPTIONS = {
    "length": (
        "Every quantity against the number of tokens T; a control is drawn over its own value "
        "at the smallest T."
    ),
}

WORDS = {
    "loss": r"min loss / $E[y^2]$",
    "gradient": r"$\sup\,\|\nabla f\|$",
    "linearisation": r"$\sup\,|f-f_{\rm lin}|$",
}
LABELS = {
    "attention": "attention",
    "growing-tokens": "control: tokens grow",
    "indrnn": "control: IndRNN, $|u|>1$",
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """A panel a quantity; a control is drawn where the quantity was measured for it, over its own
    value at the smallest T.
    """
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 2.5, ncols=len(QUANTITIES), squeeze=False) as (drawn, axes):
        handles: dict[str, Any] = {}
        for axis, quantity in zip(axes[0], QUANTITIES, strict=True):
            for a in answered:
                if any(claim.id == f"{quantity.name}-no-growth" for claim in a.case.claims):
                    _one(axis, a, quantity, list(LABELS).index(a.case.name), columns)
            axis.axhline(1.0, color=look.THEORY, lw=0.5)
            axis.set(xscale="log", yscale="log", xlabel="$T$", title=WORDS[quantity.name])
            axis.set_xticks([4, 16, 64, 256], ["4", "16", "64", "256"])
            axis.minorticks_off()
            low, high = axis.get_ylim()
            axis.yaxis.set_major_locator(
                LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 30 else (1.0,))
            )
            axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            handles |= dict(zip(*reversed(axis.get_legend_handles_labels()), strict=True))
        axes[0][0].set_ylabel("over its mean at the smallest $T$")
        drawn.legend(handles.values(), handles, loc="outside upper center", ncols=4)
        return look.write(drawn, folder, "length", columns)


def _one(axis: Axes, a: Answered, quantity: Quantity, number: int, columns: dict[str, Any]) -> None:
    found = points(a.runs, quantity)
    lengths = sorted({T for T, _, _ in found})
    seeds = np.array(
        [
            [y for T in lengths for x, y, s in found if (x, s) == (T, seed)]
            for seed in sorted({s for _, _, s in found})
        ]
    )
    mean = np.exp(np.log(seeds).mean(0))
    axis.plot(lengths, (seeds / mean[0]).T, color=look.COLOURS[number], lw=0.4, alpha=0.5)
    axis.plot(
        lengths,
        mean / mean[0],
        color=look.COLOURS[number],
        ls=look.STYLES[number],
        marker="o",
        ms=2.5,
        label=LABELS[a.case.name],
    )
    columns |= {f"{a.case.name}: T": lengths, f"{a.case.name}: {quantity.name}, mean": mean}
    columns |= {f"{a.case.name}: {quantity.name}, seed {i}": line for i, line in enumerate(seeds)}
