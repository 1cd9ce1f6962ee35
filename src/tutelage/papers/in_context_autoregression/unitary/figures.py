"""The figures of `in-context-autoregression/unitary`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tutelage.figures import look
from tutelage.papers.in_context_autoregression.setup import predict_level
from tutelage.run import Run
from tutelage.studies.study import Answered

CAPTIONS = {
    "heads": (
        "Left: the share of BᵀA beside its diagonal, one line per seed: heads become orthogonal. "
        "Right: |c| over what the conservation law gives from the start."
    ),
    "law": (
        "Left: what |c| departs from the law by against the step size, one line per seed; dotted, "
        "slope 1. Right: |c| against (R/d)^(1/3) over sizes; black, equality."
    ),
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Every figure for which there are cases."""
    named = {a.case.name: a for a in answered}
    paths = _heads(named["small-rate"], folder) if "small-rate" in named else []
    if "rates" in named and "smaller-start" in named:
        paths += _law(named["rates"], named["smaller-start"], folder)
    return paths


def _heads(a: Answered, folder: Path) -> list[Path]:
    columns: dict[str, np.ndarray] = {}
    with look.figure(look.PAGE, 2.5, ncols=2) as (drawn, (left, right)):
        right.axhline(1.0, color=look.THEORY, lw=0.7)
        for k, run in enumerate(a.runs):
            colour = look.COLOURS[k % len(look.COLOURS)]
            overlap = run.curves["head_overlap"]
            ratio = np.abs(run.curves["level"]) / _predict(run)
            left.plot(run.time, overlap, color=colour, lw=0.9)
            right.plot(run.time, ratio, color=colour, lw=0.9)
            name = f"seed {_seed(run)}"
            columns |= {
                f"{name}: t": run.time,
                f"{name}: share beside the diagonal": overlap,
                f"{name}: |c| over the law": ratio,
            }
        left.set(
            yscale="log",
            xlim=(0, 1.8),
            xlabel=r"$t=\eta\cdot$steps",
            ylabel=r"share of $B^\top A$ beside its diagonal",
        )
        right.set(xlim=(0, 1.8), ylim=(0, 1.1), xlabel=r"$t$", ylabel=r"$|c|$ / law")
        return look.write(drawn, folder, "heads", columns)


def _law(rates: Answered, sizes: Answered, folder: Path) -> list[Path]:
    columns: dict[str, np.ndarray] = {}
    with look.figure(look.PAGE, 2.5, ncols=2) as (drawn, (left, right)):
        for k, seed in enumerate(sorted({_seed(run) for run in rates.runs})):
            runs = [run for run in rates.runs if _seed(run) == seed]
            x = np.array([run.rate for run in runs])
            y = np.array([abs(abs(run.curves["level"][-1]) / _predict(run) - 1) for run in runs])
            left.plot(x, y, color=look.COLOURS[k], marker="o", ms=3, lw=0.9, label=f"seed {seed}")
            columns |= {f"seed {seed}: η": x, f"seed {seed}: departure of |c|": y}
            if k == 0:
                left.plot(x, y[0] * x / x[0], color="0.5", ls=":", lw=0.8)
        left.set(xscale="log", yscale="log", xlabel=r"step size $\eta$")
        left.set_xticks([1e-4, 3e-4, 1e-3], ["0.0001", "0.0003", "0.001"])
        left.minorticks_off()
        left.set_ylabel(r"$\left|\,|c|/\mathrm{law}-1\right|$")
        left.legend()
        settings = [run.setting for run in sizes.runs if run.setting is not None]
        ratio = np.array(
            [(s.teacher.options["tokens"] - 1) / s.teacher.options["dim"] for s in settings]
        )
        level = np.array([abs(run.curves["level"][-1]) for run in sizes.runs])
        order = np.argsort(ratio)
        right.plot(ratio[order], ratio[order] ** (1 / 3), color=look.THEORY, lw=0.8)
        right.plot(ratio, level, ls="", marker="o", ms=3.5, color=look.COLOURS[0])
        right.set(xscale="log", yscale="log", xlabel=r"$R/d$", ylabel=r"$|c|$")
        right.set_xticks([0.25, 1, 4], ["1/4", "1", "4"])
        right.set_yticks([0.7, 1, 1.5, 2], ["0.7", "1", "1.5", "2"])
        right.minorticks_off()
        columns |= {"R/d": ratio, "|c|": level}
        return look.write(drawn, folder, "law", columns)


def _predict(run: Run) -> float:
    assert run.setting is not None
    return predict_level(run.setting)


def _seed(run: Run) -> int:
    return run.setting.seed if run.setting is not None else 0
