"""The figure of `token-selection/networks`: the error that a first layer leaves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tutelage.figures import look
from tutelage.papers.token_selection.setup import Task, task_of
from tutelage.papers.token_selection.theory.networks import least_error, random_error
from tutelage.run import Run
from tutelage.studies.study import Answered

CAPTIONS = {
    "networks": (
        "The error that networks with m units in their first layer cannot go below, over that of "
        "answering zero: lines, the formula, one per size; dots, the best first layer from all "
        "subsets; crosses, random first layers and, dashed, their mean; squares, an explicit "
        "network on drawn inputs."
    ),
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """The one figure, where there is a best first layer."""
    named = {a.case.name: a for a in answered}
    return _networks(named, folder) if "best" in named else []


def _networks(named: dict[str, Answered], folder: Path) -> list[Path]:
    columns: dict[str, np.ndarray] = {}
    with look.figure(look.COLUMN * 1.3, 2.7) as (drawn, axis):
        points = _points(named["best"].runs, "error")
        for number, (task, (x, y)) in enumerate(points.items()):
            m = np.arange(0, task.tokens * task.dim + 1)
            whole = task.dim / task.support
            line = np.array([least_error(*task, int(one)) for one in m]) / whole
            style = {"color": look.COLOURS[number]}
            share = m / (task.tokens * task.dim)
            axis.plot(share, line, ls=look.STYLES[number], lw=0.9, label=task.label, **style)
            axis.plot(x / m[-1], y / whole, "o", ms=3, **style)
            columns |= {f"{task.name}: m": x, f"{task.name}: error": y}
        first = next(iter(points))
        whole, most = first.dim / first.support, first.tokens * first.dim
        for name, curve, mark in (
            ("random", "error", "x"),
            ("explicit", "sampled_error", "s"),
        ):
            if name in named:
                x, y = _points(named[name].runs, curve)[first]
                axis.plot(x / most, y / whole, mark, ms=3.5, mew=0.8, mfc="none", color="0.3")
                columns |= {f"{name}: m": x, f"{name}: {curve}": y}
        ends = np.array([0, most])
        mean = [random_error(*first, int(one)) / whole for one in ends]
        axis.plot(ends / most, mean, color="0.3", ls="--", lw=0.7)
        axis.set(
            xlabel="units of the first layer over $Td$",
            ylabel=r"least error over $d/q$",
            xlim=(0, 1.02),
            ylim=(0, 1.02),
        )
        axis.legend(loc="upper right")
        return look.write(drawn, folder, "networks", columns)


def _points(runs: Sequence[Run], curve: str) -> dict[Task, tuple[np.ndarray, np.ndarray]]:
    """Units and errors of each size."""
    found: dict[Task, list[tuple[int, float]]] = {}
    for run in runs:
        assert run.setting is not None
        units = int(run.setting.part("calculation").options["units"])
        found.setdefault(task_of(run.setting), []).append((units, float(run.curves[curve][0])))
    return {task: (np.array(p).T[0], np.array(p).T[1]) for task, p in found.items()}
