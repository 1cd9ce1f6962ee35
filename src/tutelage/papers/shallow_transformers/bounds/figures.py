"""The figure of the study of bounds: each bound over its measured value against the width, and the
numbers behind it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.ticker import NullLocator

from tutelage.figures import look
from tutelage.papers.shallow_transformers.bounds.quantities import (
    AT_START,
    FOREVER,
    IN_TRAINING,
    Bounded,
    needed_width,
    over_bound,
)
from tutelage.papers.shallow_transformers.readings import heads_of, setting_of
from tutelage.papers.shallow_transformers.theory.approximation import sizes
from tutelage.run import Run
from tutelage.studies.study import Answered

CAPTIONS = {
    "bounds": (
        "Each bound over what is measured, against the width m, with the zero function's "
        "level, where a bound would begin to bite."
    ),
}

WORDS = {
    "linearisation": r"sup $|f-f_{\mathrm{lin}}|$ (by ascent)",
    "approximation": r"sup $|y-f_{\mathrm{lin}}(\tilde\theta)|$",
    "least": "least loss, constants written out",
    "averaged": "averaged iterate, constants written out",
    "printed": "averaged iterate, paper's form, constant 1",
}


def rows(answered: Sequence[Answered]) -> list[dict[str, Any]]:
    """For each bound and width: measured (geometric mean and range over seeds), bound, the zero
    function's level, what m would do.
    """
    runs = {a.case.name: a.runs for a in answered}
    table = []
    for case, quantities in (("start", AT_START), ("trained", IN_TRAINING)):
        for quantity in quantities if case in runs else ():
            for m in sorted({heads_of(run) for run in runs[case]}):
                here = [run for run in runs[case] if heads_of(run) == m]
                table.append(_row(quantity, m, here))
    return table


def _row(quantity: Bounded, m: int, runs: Sequence[Run]) -> dict[str, Any]:
    seeds = [quantity.measured(run) for run in runs]
    measured, level = (
        math.exp(np.mean(np.log(values)))
        for values in (seeds, [quantity.level(run) for run in runs])
    )
    return {
        "bound": quantity.name,
        "m": m,
        "tau": setting_of(runs[0]).steps,
        "measured": measured,
        "least measured": min(seeds),
        "most measured": max(seeds),
        "right-hand side": quantity.bound(sizes(setting_of(runs[0])), setting_of(runs[0])),
        "over measured": math.exp(np.mean([-math.log(over_bound(quantity, run)) for run in runs])),
        "of the zero function": level,
        "m to say something": needed_width(quantity, runs[0], level),
        "m to equal the measured": needed_width(quantity, runs[0], measured),
        "m to say something, after any time": needed_width(quantity, runs[0], level, FOREVER),
    }


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Bound over measured, all above 1, with the zero function's level where a bound would begin to
    bite.
    """
    table = rows(answered)
    if not table:
        return []
    with look.figure(look.PAGE, 2.8, ncols=2) as (drawn, axes):
        for axis, quantities, ylabel in (
            (axes[0], AT_START, "at the start"),
            (axes[1], IN_TRAINING, "after training, losses"),
        ):
            for style, quantity in enumerate(quantities):
                mine = [row for row in table if row["bound"] == quantity.name]
                x, colour, ls = [row["m"] for row in mine], look.COLOURS[style], look.STYLES[style]
                axis.plot(
                    x,
                    [row["right-hand side"] for row in mine],
                    color=colour,
                    ls=ls,
                    label=f"bound: {WORDS[quantity.name]}",
                )
                if quantity.name != "printed":
                    seeds = np.array(
                        [
                            [row[name] for row in mine]
                            for name in ("least measured", "measured", "most measured")
                        ]
                    )
                    dots: dict[str, Any] = {
                        "ls": "",
                        "marker": "o",
                        "ms": 3,
                        "mfc": "none",
                        "label": "measured, range of seeds",
                    }
                    look.band(
                        axis,
                        np.array(x),
                        seeds,
                        style,
                        middle=lambda rows: np.asarray(rows[1]),
                        **dots,
                    )
            zero = [row for row in table if row["bound"] == quantities[0].name]
            if not zero:
                axis.set_visible(False)
                continue
            x = [row["m"] for row in zero]
            axis.plot(
                x,
                [row["of the zero function"] for row in zero],
                color=look.THEORY,
                lw=0.7,
                ls=":",
                label="the zero function has this",
            )
            axis.set(xscale="log", yscale="log", xlabel="width $m$", ylabel=ylabel)
            axis.set_xticks(x, [f"{v:g}" for v in x])
            axis.xaxis.set_minor_locator(NullLocator())
            low, high = axis.get_ylim()
            axis.set_ylim(low, high * (high / low) ** 0.55)  # room for the legend
            axis.legend(fontsize=6, loc="upper right")
        return look.write(
            drawn, folder, "bounds", {name: [row[name] for row in table] for name in table[0]}
        )
