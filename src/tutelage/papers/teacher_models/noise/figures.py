"""The figure of `teacher-models/noise`: the rate before the floor, and what averaging and decaying
steps make of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from tutelage.claims.curve import Theory
from tutelage.figures import look
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.noise.settings import POWERS
from tutelage.papers.teacher_models.theory import noise
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.study import Answered

CAPTIONS = {
    "noise-recovered": (
        "Excess with label noise: the rate before the floor, and what averaging and decaying "
        "steps recover."
    ),
}

Means = Float[np.ndarray, "bins"]
PER_DECADE = 8  # means over these parts of a decade, of all seeds: the excess of one step is a draw


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """The figure, where its cases were run."""
    named = {a.case.name: a for a in answered}
    wanted = ("constant", "decay-0", *(f"decay-{a:g}" for a in POWERS))
    return _recovered(named, folder) if all(name in named for name in wanted) else []


def _means(runs: Sequence[Run], curve: str) -> tuple[Means, Means, Means, Means]:
    """Step, and mean, least and largest over seeds, of the means over parts of a decade."""
    steps = runs[0].steps[runs[0].steps > 0]
    bins = np.floor(PER_DECADE * np.log10(steps)).astype(int)
    seen = np.unique(bins)
    middle = np.array([np.exp(np.log(steps[bins == b]).mean()) for b in seen])
    every = np.array(
        [[run.curves[curve][run.steps > 0][bins == b].mean() for b in seen] for run in runs]
    )
    return middle, every.mean(0), every.min(0), every.max(0)


def _dots(
    axis: Axes,
    runs: Sequence[Run],
    curve: str,
    label: str,
    colour: str,
    marker: str,
    columns: dict[str, Any],
) -> None:
    middle, mean, least, most = _means(runs, curve)
    axis.plot(middle, mean, ls="", ms=3.2, mfc="none", label=label, color=colour, marker=marker)
    axis.fill_between(middle, least, most, color=colour, alpha=0.25, lw=0)
    columns |= {
        f"{label}: step": middle,
        f"{label}: mean": mean,
        f"{label}: least": least,
        f"{label}: most": most,
    }


def _predicted(
    axis: Axes,
    setting: Setting,
    function: Theory,
    colour: str,
    label: str,
    columns: dict[str, Any],
    dashes: str = "-",
) -> None:
    steps = np.unique(np.rint(np.geomspace(2, setting.steps, 160)).astype(np.int64))
    curve = function(setting, steps)
    axis.plot(steps, curve, color=colour, lw=0.9, ls=dashes)
    columns |= {f"{label}: predicted at step": steps, f"{label}: predicted": curve}


def _first(a: Answered) -> Setting:
    setting = a.runs[0].setting
    assert setting is not None
    return setting


def _recovered(named: Mapping[str, Answered], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 3.3, ncols=2) as (drawn, axes):
        for axis, name in zip(axes, ("constant", "decay-0"), strict=True):
            a, setting = named[name], _first(named[name])
            tau = setting.teacher.options["noise"]
            _predicted(
                axis, setting, noise.exact, look.THEORY, f"τ = {tau:g}, exact", columns, dashes="--"
            )
            axis.plot(
                [],
                [],
                color=look.THEORY,
                ls="--",
                lw=0.9,
                label="exact risk, with or without noise",
            )
            floor = theory.noise_floor(setting)
            axis.axhline(floor, color=look.THEORY, lw=0.8, ls=":", label="predicted floor")
            for curve, function, words, i, marker in (
                ("excess_risk", noise.expected, "constant steps", 0, "o"),
                ("averaged_excess", noise.expected_average, "their average, weights $s^3$", 2, "s"),
            ):
                colour = look.COLOURS[i]
                _predicted(axis, setting, function, colour, f"τ = {tau:g}, {words}", columns)
                _dots(axis, a.runs, curve, words, colour, marker, columns)
            axis.set(
                xscale="log",
                yscale="log",
                xlim=(8, None),
                ylim=(3e-3, 300),
                xlabel="step $T$",
                title=rf"label noise $\tau={tau:g}$, batches of 25",
            )
        cross = noise.crossing(_first(named["constant"]))
        axes[0].axvline(cross, color="0.6", lw=0.7)
        axes[0].annotate(
            "crossing",
            (cross, 60),
            (-3, 0),
            "data",
            "offset points",
            ha="right",
            color="0.4",
            fontsize=7,
        )
        for power, i, marker in zip(POWERS, (1, 3, 4), ("^", "D", "v"), strict=True):
            a = named[f"decay-{power:g}"]
            words = rf"steps $\propto(1+s/100)^{{-{power:g}}}$"
            _predicted(axes[1], _first(a), noise.expected, look.COLOURS[i], words, columns)
            _dots(axes[1], a.runs, "excess_risk", words, look.COLOURS[i], marker, columns)
        axes[0].set_ylabel("excess risk")
        axes[1].axhline(
            noise.averaged_bias(_first(named["decay-0"])),
            color=look.COLOURS[2],
            lw=0.8,
            ls=":",
            label="end of the average",
        )
        axes[1].plot([], [], color="0.4", lw=0.9, label="lines: predicted, no fit")
        handles = dict(
            pair[::-1] for pair in zip(*axes[1].get_legend_handles_labels(), strict=True)
        )
        drawn.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=4)
        return look.write(drawn, folder, "noise-recovered", columns)
