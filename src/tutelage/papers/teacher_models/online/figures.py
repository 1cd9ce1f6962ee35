"""The figures of `teacher-models/online`: each run beside its exact twin, the floor in η, N and τ,
and where a run leaves the exact one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tutelage.figures import look
from tutelage.papers.teacher_models.online.study import EXACT, SWEEPS, beside, floor_of, pairs
from tutelage.papers.teacher_models.rates.study import RUNS, predicted
from tutelage.run import Run
from tutelage.studies.study import Answered


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Every figure for which there are cases."""
    named = {a.case.name: a for a in answered}
    paths: list[Path] = []
    if six := [named[name] for name in RUNS if name in named]:
        paths += _six(six, folder)
        paths += _alignment(six, folder)
    if all(f"floor-{axis}" in named for axis in SWEEPS) and "departure" in named:
        paths += _floor(named, folder)
    return paths


def _against_exact(axis: Any, a: Answered, columns: dict[str, Any]) -> None:
    """Online runs as thin lines, their exact twins, the predicted floor."""
    for i, (online, exact) in enumerate(pairs(a.runs)):
        assert online.setting is not None
        late = online.steps > 0
        steps, excess = online.steps[late], online.curves["excess_risk"][late]
        axis.plot(
            steps,
            excess,
            color=look.COLOURS[0],
            lw=0.7,
            alpha=0.8,
            label=None if i else "online, each seed",
        )
        axis.plot(
            steps,
            beside(online, exact)[late],
            color=look.THEORY,
            lw=0.9,
            ls="--",
            label=None if i else "exact",
        )
        name = f"{a.case.label}, seed {online.setting.seed}"
        columns |= {
            f"{name}: step": steps,
            f"{name}: online": excess,
            f"{name}: exact": beside(online, exact)[late],
        }
    floor = predicted("noise_floor")(_first(a).setting)  # type: ignore[arg-type]
    axis.axhline(floor, color=look.COLOURS[4], lw=0.9, ls=":", label="predicted floor")
    axis.set(xscale="log", yscale="log", title=a.case.label)


def _first(a: Answered) -> Run:
    return next(run for run in a.runs if run.setting is not None and run.setting.objective != EXACT)


def _six(six: Sequence[Answered], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    rows = -(-len(six) // 3)
    with look.figure(
        look.PAGE, 0.4 + 1.7 * rows, nrows=rows, ncols=min(3, len(six)), squeeze=False
    ) as (drawn, axes):
        for axis, a in zip(axes.flat, six, strict=False):
            _against_exact(axis, a, columns)
        for axis in axes.flat[len(six) :]:
            axis.set_visible(False)
        for axis in axes[-1]:
            axis.set_xlabel("step $T$")
        for axis in axes[:, 0]:
            axis.set_ylabel("excess risk")
        drawn.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        return look.write(drawn, folder, "online-six-runs", columns)


def _alignment(six: Sequence[Answered], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    with look.figure(look.COLUMN, 2.4) as (drawn, axis):
        for i, a in enumerate(six):
            runs = [online for online, _ in pairs(a.runs)]
            away = np.maximum(1 - np.stack([run.curves["cosine"][1:] for run in runs]), 1e-16)
            middle, _, _ = look.band(
                axis, runs[0].steps[1:], away, i, middle=look.geometric, label=a.case.label
            )
            columns |= {
                f"{a.case.label}: step": runs[0].steps[1:],
                f"{a.case.label}: 1 - cosine": middle,
            }
        axis.set(xscale="log", yscale="log", xlabel="step $T$", ylabel=r"$1-\cos(W_V, V^*)$")
        axis.set_title("Alignment with batches of 100 (exact descent: 0)")
        axis.legend()
        return look.write(drawn, folder, "online-alignment", columns)


def _floor(named: dict[str, Answered], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 2.5, ncols=4, width_ratios=(1, 1, 1, 1.6)) as (drawn, axes):
        for axis, (name, (words, path, points)) in zip(axes[:3], SWEEPS.items(), strict=True):
            x = sorted(points)
            _, _, option = path.partition(".")
            found: dict[float, list[float]] = {value: [] for value in x}
            theory: dict[float, float] = {}
            for online, exact in pairs(named[f"floor-{name}"].runs):
                assert online.setting is not None
                value = (
                    online.setting.rate
                    if not option
                    else getattr(online.setting, path.partition(".")[0]).options[option]
                )
                found[value].append(floor_of(online, exact))
                theory[value] = predicted("noise_floor")(online.setting)
            axis.plot(
                x, [theory[v] for v in x], color=look.THEORY, lw=0.8, label="predicted, no fit"
            )
            for v in x:
                axis.plot(
                    [v] * len(found[v]),
                    found[v],
                    ls="",
                    marker="o",
                    ms=3,
                    mfc="none",
                    color=look.COLOURS[0],
                )
            axis.plot(
                [],
                [],
                ls="",
                marker="o",
                ms=3,
                mfc="none",
                color=look.COLOURS[0],
                label="measured, each seed",
            )
            letter = {"η": r"$\eta$", "N": "$N$", "τ": r"$\tau$"}[words]
            axis.set(xscale="log", yscale="log", xlabel=letter, title=f"floor in {letter}")
            axis.set_xticks(x, [f"{v:g}" for v in x])
            axis.set_yticks([0.2, 0.5, 1.0, 2.0], ["0.2", "0.5", "1", "2"])
            axis.minorticks_off()
            axis.set_ylim(0.12, 4)
            columns |= {
                f"{name}: x": [v for v in x for _ in found[v]],
                f"{name}: measured": [y for v in x for y in found[v]],
                f"{name}: predicted": [theory[v] for v in x for _ in found[v]],
            }
        axes[0].set_ylabel("excess that stays")
        last = named["departure"]
        _against_exact(axes[3], last, columns)
        online, exact = pairs(last.runs)[0]
        total = beside(online, exact) + predicted("noise_floor")(online.setting)  # type: ignore[arg-type]
        axes[3].plot(
            online.steps[1:], total[1:], color=look.COLOURS[1], lw=1.4, label="exact + floor"
        )
        axes[3].set(
            xlabel="step $T$",
            ylabel="excess risk",
            ylim=(float(np.min(beside(online, exact))) / 2, None),
        )
        shown = [
            pair
            for axis in (axes[0], axes[3])
            for pair in zip(*axis.get_legend_handles_labels(), strict=True)
        ]
        drawn.legend(*zip(*shown, strict=True), loc="outside upper center", ncols=6)
        return look.write(drawn, folder, "online-floor", columns)
