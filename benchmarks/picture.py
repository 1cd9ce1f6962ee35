"""bench.png: how much slower each rival is, how near the limit we are, and how cost grows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table import quickest
from tutelage.figures import look


def draw(bench: Mapping[str, Any], folder: Path) -> None:
    shown = [w for w in bench["workloads"] if w["rivals"] and not w["name"].startswith("horizon")]
    with look.figure(look.PAGE, 6.2, nrows=2, ncols=2) as (drawn, axes):
        _ratios(axes[0, 0], shown)
        _nearness(axes[0, 1], [w for w in bench["workloads"] if w["limit"]])
        _growth(axes[1, 0], bench["growth"], ("D", "M·d", "steps", "seeds"))
        _growth(axes[1, 1], bench["growth"], ("n", "m", "T"))
        axes[1, 0].set_title("exact step (steps: a whole run; seeds: a step of all)")
        axes[1, 1].set_title("step of heads")
        _, *others = look.write(drawn, folder, "bench", {})
        for other in others:
            other.unlink()


def _bars(axis: Any, names: list[str]) -> np.ndarray:
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.set_xscale("log")
    axis.tick_params(axis="y", length=0)
    return np.arange(len(names))


def _ratios(axis: Any, shown: list[Mapping[str, Any]]) -> None:
    at = _bars(axis, [w["name"] for w in shown])
    for i, library in enumerate(("PyTorch", "JAX")):
        found = [quickest(w["rivals"], library) for w in shown]
        x = [np.nan if rival is None else rival[1]["ratio"] for rival in found]
        axis.barh(at + 0.2 * (2 * i - 1), x, 0.38, color=look.COLOURS[i], label=library)
    axis.axvline(1.0, color=look.THEORY, lw=0.7)
    axis.set(xlabel="their time over ours")
    axis.legend(loc="lower right")


def _nearness(axis: Any, shown: list[Mapping[str, Any]]) -> None:
    at = _bars(axis, [w["name"] for w in shown])
    axis.barh(at, [w["limit"]["seconds"] / w["ours"]["wall"] for w in shown], 0.6, color=look.COLOURS[2])
    axis.axvline(1.0, color=look.THEORY, lw=0.7)
    axis.set(xlabel="limit of the machine over our time", xlim=(None, 1.3))


def _growth(axis: Any, growth: Mapping[str, Any], names: tuple[str, ...]) -> None:
    lines = [(who, name, curve) for who, curves in growth.items() for name, curve in curves.items() if name in names]
    for who, name, curve in lines:
        i = names.index(name)
        ours = who == "tutelage"
        label = f"{name}{'' if ours else f', {who}'}: exponent {curve['exponent']:.2f}"
        axis.plot(
            curve["size"], curve["seconds"], color=look.COLOURS[i], ls="-" if ours else ":", marker="o" if ours else "x", ms=3, label=label
        )
    axis.set(xscale="log", yscale="log", xlabel=", ".join(names), ylabel="seconds")
    axis.legend(loc="best", fontsize=6)
