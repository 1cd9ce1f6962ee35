"""The figure of `token-selection/codes`: floors of random signs, and subsets that are selected."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from tutelage.figures import look
from tutelage.papers.token_selection.setup import task_of
from tutelage.papers.token_selection.theory.floors import sign_floor, tie_loss
from tutelage.run import Run
from tutelage.studies.study import Answered

CAPTIONS = {
    "codes": (
        "Left: the floor of the loss with random signs of width m; lines, theory (for q = 2 that "
        "of ties), points, seeds. Right: the share of subsets of q that some query selects, by "
        "the width of the codes: lines, the moment curve; points, Gaussian codes."
    ),
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """The one figure, where there are floors and programmes to show."""
    floors = [run for run in _distinct(answered, "hard_loss") if _floor(run) is not None]
    faces = _distinct(answered, "selected")
    return _codes(floors, faces, folder) if floors and faces else []


def _floor(run: Run) -> float | None:
    """The floor of a run; for q ≤ 2 it is at C = ∞. None where C was not looked for."""
    assert run.setting is not None
    if task_of(run.setting).support <= 2:
        return float(run.curves["hard_loss"][0])
    return float(run.curves["floor"][0]) if "floor" in run.curves else None


def _distinct(answered: Sequence[Answered], curve: str) -> list[Run]:
    """The runs that have a curve, each once."""
    found = {run.setting: run for a in answered for run in a.runs if curve in run.curves}
    return list(found.values())


def _codes(floors: Sequence[Run], faces: Sequence[Run], folder: Path) -> list[Path]:
    columns: dict[str, np.ndarray] = {}
    with look.figure(look.PAGE, 2.7, ncols=2) as (drawn, (left, right)):
        _draw_floors(left, floors, columns)
        _draw_faces(right, faces, columns)
        return look.write(drawn, folder, "codes", columns)


def _draw_floors(axis: Any, runs: Sequence[Run], columns: dict[str, np.ndarray]) -> None:
    points: dict[int, list[tuple[int, float]]] = {}
    for run in runs:
        assert run.setting is not None
        width = int(run.setting.part("calculation").options["width"])
        floor = _floor(run)
        assert floor is not None
        points.setdefault(task_of(run.setting).support, []).append((width, floor))
    task = task_of(runs[0].setting) if runs[0].setting is not None else None
    assert task is not None
    widths = np.unique(np.rint(np.logspace(0.7, 3.4, 60)).astype(int))
    shown = sorted(q for q in points if q > 1)
    for number, q in enumerate(shown):
        law = tie_loss if q == 2 else sign_floor
        line = np.array([law(task.tokens, q, task.dim, int(m)) for m in widths])
        style = {"color": look.COLOURS[number % 6]}
        axis.plot(widths, line, ls=look.STYLES[number % 6], lw=0.9, label=f"$q={q}$", **style)
        x, y = np.array([p for p in points[q] if p[1] > 1e-5]).T
        axis.plot(x, y, ".", ms=3, **style)
        columns |= {f"q{q}: m": x, f"q{q}: floor": y}
    axis.set(
        xscale="log",
        yscale="log",
        ylim=(2e-3, 1),
        xlabel="width of the codes $m$",
        ylabel="floor of the loss",
    )
    axis.legend(loc="lower left")


def _draw_faces(axis: Any, runs: Sequence[Run], columns: dict[str, np.ndarray]) -> None:
    shares: dict[tuple[int, str], list[tuple[int, float]]] = {}
    for run in runs:
        assert run.setting is not None
        options = run.setting.part("calculation").options
        q = int(options["support"])
        every = comb(int(options["tokens"]), q)
        point = int(options["width"]), float(run.curves["selected"][0]) / every
        shares.setdefault((q, str(options["points"])), []).append(point)
    for (q, kind), found in sorted(shares.items()):
        x, y = np.array(sorted(found)).T
        style = {"color": look.COLOURS[(q - 1) % 6]}
        if kind == "moment":
            axis.plot(
                x, y, ls=look.STYLES[(q - 1) % 6], marker="o", ms=3, label=f"$q={q}$", **style
            )
        else:
            axis.plot(x + 0.06 * (q - 2), y, "x", ms=3.5, mew=0.8, **style)
        columns |= {f"q{q} {kind}: width": x, f"q{q} {kind}: share": y}
    axis.set(xlabel="width of the codes", ylabel="share of subsets selected", ylim=(0, 1.05))
    axis.legend(loc="lower right")
