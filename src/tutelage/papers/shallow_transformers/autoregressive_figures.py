"""The figures of `shallow-transformers/autoregressive`: losses and gradients over the lag, the law of ∂f/∂u, memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tutelage.figures import look
from tutelage.papers.shallow_transformers.autoregressive_memory_cases import of_student
from tutelage.papers.shallow_transformers.autoregressive_settings import ALL, RECURRENT, gradient_in_u, lag_of, least
from tutelage.papers.shallow_transformers.autoregressive_theory import recurrent_limit, recurrent_square
from tutelage.run import Run
from tutelage.study import Answered

Columns = dict[str, Any]
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
    if memory := [named[name] for name in ("memory-training", "memory-inference") if name in named]:
        paths += _memory(memory, folder)
    return paths


def _by_lag(runs: Sequence[Run], number: Callable[[Run], float]) -> tuple[list[float], list[float], list[list[float]]]:
    """Lags, geometric means over seeds, and all values."""
    lags = sorted({lag_of(run.setting) for run in runs if run.setting is not None})
    values = [[number(run) for run in runs if run.setting is not None and lag_of(run.setting) == lag] for lag in lags]
    return lags, [math.exp(float(np.mean(np.log(v)))) for v in values], values


def _plot(axis: Any, runs: Sequence[Run], number: Callable[[Run], float], columns: Columns, name: str, **style: Any) -> None:
    """The mean over seeds as a line, the range over seeds as bars."""
    lags, mean, values = _by_lag(runs, number)
    low, high = [m - min(v) for m, v in zip(mean, values, strict=True)], [max(v) - m for m, v in zip(mean, values, strict=True)]
    axis.errorbar(lags, mean, yerr=[np.maximum(low, 0), np.maximum(high, 0)], capsize=1.5, elinewidth=0.6, ms=3, **style)
    columns |= {
        f"{name}: L": lags,
        f"{name}: mean": mean,
        f"{name}: least": [min(v) for v in values],
        f"{name}: most": [max(v) for v in values],
    }


def _lag_axis(axis: Any, lags: Sequence[float], **given: Any) -> None:
    axis.set(xscale="log", xlabel="lag $L$", **given)
    axis.set_xticks(lags, [f"{lag:g}" for lag in lags])
    axis.minorticks_off()


def _students(runs: Sequence[Run]) -> list[tuple[str, list[Run], dict[str, Any]]]:
    """The transformer and each IndRNN by its |u|, with how it is drawn."""
    of = [run for run in runs if run.setting is not None]
    first = [run for run in of if run.setting.student.name == "shallow_transformer"]  # type: ignore[union-attr]
    found: list[tuple[str, list[Run], dict[str, Any]]] = [("transformer", first, {"color": look.COLOURS[0], "marker": "o", "ls": "-"})]
    for i, u in enumerate(RECURRENT):
        own = [run for run in of if run.setting.student.options.get("recurrent") == u]  # type: ignore[union-attr]
        found.append((f"IndRNN, $|u|={u:g}$", own, {"color": look.COLOURS[(4, 1, 3)[i]], "marker": "s^D"[i], "ls": look.STYLES[1 + i]}))
    return [entry for entry in found if entry[1]]


def _learning(a: Answered, folder: Path) -> list[Path]:
    columns: Columns = {}
    panels: tuple[tuple[str, Callable[[Run], float]], ...] = (
        ("least held-out loss", least),
        (r"function gradient $\sup_X\|\nabla f\|$", lambda run: float(run.curves["function_gradient_sup"][:, ALL].max())),
        (r"loss gradient $\|\nabla L\|$", lambda run: float(run.curves["loss_gradient"][:, ALL].max())),
    )
    with look.figure(look.PAGE, 2.5, ncols=3) as (drawn, axes):
        for axis, (title, number) in zip(axes, panels, strict=True):
            for name, runs, style in _students(a.runs):
                _plot(axis, runs, number, columns, f"{title}, {name}", label=name, **style)
            lags = sorted({lag_of(s) for s in a.case.settings})
            _lag_axis(axis, lags, ylabel=title if axis is axes[0] else f"largest {title} in training")
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
        colours = {1.5: look.COLOURS[3], 1.0: look.COLOURS[1], 0.5: look.COLOURS[4]}
        marks = {1.5: "D", 1.0: "^", 0.5: "s"}
        for axis, cases, title in zip(axes, (UNSATURATED, UNIT_SIZE), ("unsaturated", "inputs of unit size"), strict=True):
            lags: list[float] = []
            for case, u in cases.items():
                if case not in named:
                    continue
                a = named[case]
                once = {lag_of(s): s for s in a.case.settings}
                scale = float(a.case.settings[0].student.options["scale"])
                lags = sorted(once)
                style = {"color": colours[u], "marker": marks[u], "mfc": "none", "ls": "" if axis is axes[0] else "-"}
                _plot(axis, a.runs, partial(_in_units_of, scale), columns, f"{title}, |u| = {u:g}", label=f"$|u|={u:g}$", **style)
                law = [math.sqrt(recurrent_square(once[lag])) / scale for lag in lags]
                axis.plot(lags, law, color=look.THEORY, lw=0.9, ls="-" if axis is axes[0] else ":")
                columns |= {f"{title}, |u| = {u:g}: law": law}
                if u < 1:
                    axis.axhline(math.sqrt(recurrent_limit(once[lags[-1]])) / scale, color=colours[u], lw=0.7, ls="--")
            if lags:
                _lag_axis(axis, lags, yscale="log", title=title)
                axis.plot([], [], color=look.THEORY, lw=0.9, ls="-" if axis is axes[0] else ":", label="unsaturated law, no fit")
                axis.plot([], [], color=colours[0.5], lw=0.7, ls="--", label="its limit")
                axis.legend(loc="upper left")
        axes[0].set_ylabel(r"rms $\|\partial f/\partial u\|$ / std of $W_{in}$")
        return look.write(drawn, folder, "autoregressive-gradients", columns)


PROGRAMS = {"backward": ("backpropagation", "-"), "forward": ("forwards in time", ":"), "inference": ("", "-")}


def _memory(cases: Sequence[Answered], folder: Path) -> list[Path]:
    """Lines: as planned. Marks: the peak of resident memory, each time it was measured."""
    columns: Columns = {}
    with look.figure(look.PAGE, 2.6, ncols=len(cases), squeeze=False) as (drawn, axes):
        for axis, a in zip(axes[0], cases, strict=True):
            for student, (words, colour, mark) in STUDENTS.items():
                own = of_student(a.runs, student)
                lags = [lag_of(run.setting) for run in own if run.setting is not None]
                for program, (how, style) in PROGRAMS.items():
                    if f"planned_{program}" not in own[0].curves:
                        continue
                    planned = [float(r.curves[f"planned_{program}"][0]) for r in own]
                    seen = np.array([r.curves[f"resident_{program}"][0] for r in own])
                    name = f"{words}, {how}" if how and student == "indrnn" else words
                    filled = colour if program == "forward" else "none"
                    axis.plot(lags, planned, color=colour, ls=style, label=f"{name}: planned")
                    axis.plot(
                        np.repeat(lags, seen.shape[1]),
                        seen.ravel(),
                        ls="",
                        marker=mark,
                        ms=4,
                        mfc=filled,
                        color=colour,
                        label=f"{name}: resident",
                    )
                    columns |= {f"{a.case.name}, {name}: L": lags, f"{a.case.name}, {name}: planned": planned}
                    columns |= {f"{a.case.name}, {name}: resident, time {i + 1}": seen[:, i] for i in range(seen.shape[1])}
            _lag_axis(axis, lags, yscale="log", title=a.case.label, ylabel="bytes")
            axis.set_ylim(top=axis.get_ylim()[1] * 60)
            axis.legend(loc="upper left", fontsize=6)
        return look.write(drawn, folder, "autoregressive-memory", columns)
