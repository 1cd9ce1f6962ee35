"""bench.png: how much slower each rival is, how near the limit we are, and how cost grows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table import quickest
from tutelage.figures import look


def draw(bench: Mapping[str, Any], folder: Path) -> None:
    shown = [
        w for w in bench["workloads"] if not w["name"].startswith("horizon")
    ]  # of years over seconds
    with look.figure(look.PAGE, 6.8, nrows=2, ncols=2, sharey="row", height_ratios=(1, 1)) as (
        drawn,
        axes,
    ):
        _ratios(axes[0, 0], shown)
        _nearness(axes[0, 1], shown)
        _growth(axes[1, 0], bench["growth"], ("D", "M·d", "steps", "seeds", "cores"))
        _growth(axes[1, 1], bench["growth"], ("n", "m", "T"))
        axes[1, 0].set(
            ylabel="seconds", title="exact step (steps: a whole run; seeds: a step of all)"
        )
        axes[1, 1].set_title("step of heads")
        _, *others = look.write(drawn, folder, "bench", {})
        for other in others:
            other.unlink()


def _ratios(axis: Any, shown: list[Mapping[str, Any]]) -> None:
    at = np.arange(len(shown))
    for i, library in enumerate(("PyTorch", "JAX")):
        found = [quickest(w["rivals"], library) for w in shown]
        over = np.array([np.nan if rival is None else rival[1]["ratio"] for rival in found])
        axis.barh(
            at + 0.2 * (2 * i - 1), over - 1, 0.38, left=1.0, color=look.COLOURS[i], label=library
        )
    axis.axvline(1.0, color=look.THEORY, lw=0.7)
    axis.set_yticks(at, [w["name"] for w in shown])
    axis.invert_yaxis()
    axis.tick_params(axis="y", length=0)
    axis.set(xscale="log", xlabel="their time over ours")
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)


def _nearness(axis: Any, shown: list[Mapping[str, Any]]) -> None:
    near = [
        100 * w["limit"]["seconds"] / w["ours"]["wall"] if w["limit"] else np.nan for w in shown
    ]
    axis.barh(np.arange(len(shown)), near, 0.6, color=look.COLOURS[2])
    axis.tick_params(axis="y", length=0)
    axis.set(xlabel="limit of the machine over our time, %", xlim=(0, 100))


MARKS = {
    "tutelage": {"ls": "-", "marker": "o"},
    "JAX": {"ls": ":", "marker": "x"},
    "PyTorch": {"ls": ":", "marker": "+"},
}


def _growth(axis: Any, growth: Mapping[str, Any], names: tuple[str, ...]) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for colour, name in zip(look.COLOURS, names, strict=False):
        slopes = {}
        for who, curves in growth.items():
            if name in curves:
                curve = curves[name]
                axis.plot(curve["size"], curve["seconds"], color=colour, ms=4, **MARKS[who])
                slopes[who] = "–" if curve["exponent"] is None else f"{curve['exponent']:.2f}"
        label = f"{name}: {', '.join(slopes.values())}"
        handles.append(Line2D([], [], color=colour, label=label))
    axis.set(xscale="log", yscale="log", xlabel=", ".join(names))
    if growth:  # which the quick bench leaves out
        handles += [Line2D([], [], color="0.4", ms=4, label=who, **MARKS[who]) for who in growth]
        axis.legend(
            handles=handles,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.2),
            ncols=2,
            fontsize=6.5,
            title=f"exponents: {', '.join(growth)}",
        )
