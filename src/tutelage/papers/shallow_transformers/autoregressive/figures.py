"""The figures of the autoregressive study: losses and gradients over the lag, the law of ∂f/∂u,
memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from tutelage.figures import look
from tutelage.papers.shallow_transformers.autoregressive.memory_cases import of_student
from tutelage.papers.shallow_transformers.autoregressive.readings import (
    ALL,
    gradient_in_u,
    lag_of,
    least,
)
from tutelage.papers.shallow_transformers.readings import Reading, setting_of
from tutelage.papers.shallow_transformers.theory.autoregressive import (
    recurrent_limit,
    recurrent_square,
)
from tutelage.run import Run
from tutelage.studies.study import Answered

CAPTIONS = {
    "autoregressive-learning": (
        "Least held-out loss, and the largest gradients of function and loss, over the lag; "
        "the transformer and recurrent networks."
    ),
    "autoregressive-gradients": (
        "The gradient in the recurrent weights over the lag, against its law."
    ),
    "autoregressive-memory": (
        "Memory over the lag: as planned (lines), and the measured peak (marks)."
    ),
}

Columns = dict[str, Any]
INDRNN = {
    0.5: (look.COLOURS[4], "s", look.STYLES[1]),
    0.9: (look.COLOURS[2], "v", look.STYLES[4]),
    1.0: (look.COLOURS[1], "^", look.STYLES[2]),
    1.5: (look.COLOURS[3], "D", look.STYLES[3]),
}
STUDENTS = {
    "indrnn": ("IndRNN", look.COLOURS[4], "s"),
    "shallow_transformer": ("transformer", look.COLOURS[0], "o"),
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Every figure for which there are cases."""
    named = {a.case.name: a for a in answered}
    paths: list[Path] = []
    if "learning" in named:
        paths += _learning(named["learning"], folder)
    if any(name in named for name in UNSATURATED):
        paths += _gradients(named, folder)
    if "memory" in named:
        paths += _memory(named["memory"], folder)
    return paths


def _by_lag(
    runs: Sequence[Run], number: Reading
) -> tuple[list[float], list[float], list[list[float]]]:
    """Lags, geometric means over seeds, and all values."""
    lags = sorted({lag_of(run) for run in runs})
    values = [[number(run) for run in runs if lag_of(run) == lag] for lag in lags]
    return lags, [math.exp(float(np.mean(np.log(v)))) for v in values], values


def _plot(
    axis: Axes,
    runs: Sequence[Run],
    number: Reading,
    columns: Columns,
    name: str,
    **style: Any,
) -> None:
    """The mean over seeds as a line, the range over seeds as bars."""
    lags, mean, values = _by_lag(runs, number)
    low, high = (
        [m - min(v) for m, v in zip(mean, values, strict=True)],
        [max(v) - m for m, v in zip(mean, values, strict=True)],
    )
    axis.errorbar(
        lags,
        mean,
        yerr=[np.maximum(low, 0), np.maximum(high, 0)],
        capsize=1.5,
        elinewidth=0.6,
        ms=3,
        **style,
    )
    columns |= {
        f"{name}: L": lags,
        f"{name}: mean": mean,
        f"{name}: least": [min(v) for v in values],
        f"{name}: most": [max(v) for v in values],
    }


def _lag_axis(axis: Axes, lags: Sequence[float], **given: Any) -> None:
    axis.set(xscale="log", xlabel="lag $L$", **given)
    axis.set_xticks(lags, [f"{lag:g}" for lag in lags])
    axis.minorticks_off()


def _students(runs: Sequence[Run]) -> list[tuple[str, list[Run], dict[str, Any]]]:
    """The transformer and each IndRNN by its |u|, with how it is drawn."""
    first = [run for run in runs if setting_of(run).student.name == "shallow_transformer"]
    found: list[tuple[str, list[Run], dict[str, Any]]] = [
        ("transformer", first, {"color": look.COLOURS[0], "marker": "o", "ls": "-"})
    ]
    for u, (colour, mark, line) in INDRNN.items():
        own = [run for run in runs if setting_of(run).student.options.get("recurrent") == u]
        found.append((f"IndRNN, $|u|={u:g}$", own, {"color": colour, "marker": mark, "ls": line}))
    return [entry for entry in found if entry[1]]


def _learning(a: Answered, folder: Path) -> list[Path]:
    columns: Columns = {}
    panels: tuple[tuple[str, Reading], ...] = (
        ("least held-out loss", least),
        (
            r"largest $\sup_X\,\|\nabla f(X)\|$ (function)",
            lambda run: float(run.curves["function_gradient_sup"][:, ALL].max()),
        ),
        (
            r"largest $\|\nabla L\|$ (loss)",
            lambda run: float(run.curves["loss_gradient"][:, ALL].max()),
        ),
    )
    with look.figure(look.PAGE, 2.5, ncols=3) as (drawn, axes):
        for axis, (title, number) in zip(axes, panels, strict=True):
            for name, runs, style in _students(a.runs):
                _plot(axis, runs, number, columns, f"{title}, {name}", label=name, **style)
            lags = sorted({lag_of(run) for run in a.runs})
            _lag_axis(axis, lags, ylabel=title)
        axes[0].axhline(1.0, color=look.THEORY, lw=0.8, ls=":")
        axes[0].axhline(0.19, color=look.THEORY, lw=0.8, ls=":")
        axes[0].text(lags[0], 1.01, "zero predictor", fontsize=6, va="bottom")
        axes[0].text(lags[-1], 0.18, "floor", fontsize=6, va="top", ha="right")
        axes[0].set_ylim(0.1, 1.15)
        for axis in axes[1:]:
            axis.set_yscale("log")
        drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
        return look.write(drawn, folder, "autoregressive-learning", columns)


UNSATURATED = {"growth": 1.5, "polynomial": 1.0, "bounded": 0.5}
UNIT_SIZE = {"saturated": 1.5, "ceiling": 0.5}


def _in_units_of(scale: float, run: Run) -> float:
    return gradient_in_u(run) / scale


def _gradients(named: dict[str, Answered], folder: Path) -> list[Path]:
    """‖∂f/∂u‖ over the scale of W_in: unsaturated against its law, and with inputs of unit size."""
    columns: Columns = {}
    with look.figure(look.PAGE, 2.6, ncols=2, sharey=True) as (drawn, axes):
        for axis, cases, title in zip(
            axes, (UNSATURATED, UNIT_SIZE), ("unsaturated", "inputs of unit size"), strict=True
        ):
            lags: list[float] = []
            for case, u in cases.items():
                if case not in named:
                    continue
                a = named[case]
                once = {lag_of(run): setting_of(run) for run in a.runs}
                scale = float(a.case.settings[0].student.options["scale"])
                lags = sorted(once)
                style = {
                    "color": INDRNN[u][0],
                    "marker": INDRNN[u][1],
                    "mfc": "none",
                    "ls": "" if axis is axes[0] else "-",
                }
                _plot(
                    axis,
                    a.runs,
                    partial(_in_units_of, scale),
                    columns,
                    f"{title}, |u| = {u:g}",
                    label=f"$|u|={u:g}$",
                    **style,
                )
                fine = np.arange(lags[0], lags[-1] + 1)
                law = [
                    math.sqrt(
                        recurrent_square(a.case.settings[0].change(**{"teacher.lag": int(lag)}))
                    )
                    / scale
                    for lag in fine
                ]
                axis.plot(fine, law, color=look.THEORY, lw=0.9, ls="-" if axis is axes[0] else ":")
                columns |= {
                    f"{title}, |u| = {u:g}: law's L": fine,
                    f"{title}, |u| = {u:g}: law": law,
                }
                if u < 1:
                    axis.axhline(
                        math.sqrt(recurrent_limit(once[lags[-1]])) / scale,
                        color=INDRNN[u][0],
                        lw=0.7,
                        ls="--",
                    )
            if lags:
                _lag_axis(axis, lags, yscale="log", title=title)
                axis.set_xscale("linear")  # powers of |u| are straight lines
                axis.set_xticks(lags)
                axis.plot(
                    [],
                    [],
                    color=look.THEORY,
                    lw=0.9,
                    ls="-" if axis is axes[0] else ":",
                    label="unsaturated law, no fit",
                )
                axis.plot([], [], color=INDRNN[0.5][0], lw=0.7, ls="--", label="its limit")
                axis.legend(loc="upper left")
        axes[0].set_ylabel(r"rms $\|\partial f/\partial u\|$ / std of $W_{in}$")
        return look.write(drawn, folder, "autoregressive-gradients", columns)


PROGRAMS = {
    "training, one gradient over 8 windows": (
        ("indrnn", "backward"),
        ("indrnn", "forward"),
        ("shallow_transformer", "backward"),
    ),
    "inference, tokens one at a time": (
        ("indrnn", "inference"),
        ("shallow_transformer", "inference"),
    ),
}
HOW = {("indrnn", "backward"): ", backpropagation", ("indrnn", "forward"): ", forwards in time"}


def _memory(a: Answered, folder: Path) -> list[Path]:
    """Lines: as planned. Marks: the peak of resident memory, each time it was measured."""
    columns: Columns = {}
    with look.figure(look.PAGE, 2.6, ncols=2) as (drawn, axes):
        for axis, (title, programs) in zip(axes, PROGRAMS.items(), strict=True):
            lags = of_student(a.runs, "indrnn").curves[f"lags_{programs[0][1]}"][0]
            for student, program in programs:
                words, colour, mark = STUDENTS[student]
                name = words + HOW.get((student, program), "")
                run = of_student(a.runs, student)
                planned, seen = (
                    run.curves[f"planned_{program}"][0],
                    run.curves[f"resident_{program}"][0],
                )
                axis.plot(
                    lags,
                    planned,
                    color=colour,
                    ls=":" if program == "forward" else "-",
                    label=f"{name}: planned",
                )
                points = {
                    "ls": "",
                    "marker": mark,
                    "ms": 4,
                    "mfc": colour if program == "forward" else "none",
                    "color": colour,
                }
                axis.plot(
                    np.repeat(lags, seen.shape[1]),
                    seen.ravel(),
                    label=f"{name}: resident",
                    **points,
                )
                columns |= {f"{title}, {name}: L": lags, f"{title}, {name}: planned": planned}
                columns |= {
                    f"{title}, {name}: resident, time {i + 1}": seen[:, i]
                    for i in range(seen.shape[1])
                }
            _lag_axis(
                axis,
                lags,
                yscale="log",
                title=title,
                ylabel="bytes beside parameters and windows" if axis is axes[0] else "bytes",
            )
            axis.set_ylim(top=axis.get_ylim()[1] * 60)
            axis.legend(loc="upper left", fontsize=6)
        return look.write(drawn, folder, "autoregressive-memory", columns)
