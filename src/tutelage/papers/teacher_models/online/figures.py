"""The figures of `teacher-models/online`: each run beside its exact twin, the floor in η, N and τ,
and where a run leaves the exact one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from tutelage.figures import look
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.online.readings import pair_runs, read_beside, read_floor
from tutelage.papers.teacher_models.online.sweeps import SWEEPS, FloorSweep
from tutelage.papers.teacher_models.setup import RUNS
from tutelage.studies.study import Answered

CAPTIONS = {
    "online-six-runs": (
        "Excess of the runs with batches of 100 (thin), of their exact twins, and the "
        "predicted floor."
    ),
    "online-alignment": (
        "How far W_V is from parallel to V* with batches of 100; exact descent has zero."
    ),
    "online-floor": (
        "The excess that label noise keeps up, against η, N and τ, with its formula. Right: a "
        "run that follows the exact one and then leaves it."
    ),
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Every figure for which there are cases."""
    named = {a.case.name: a for a in answered}
    paths: list[Path] = []
    if six := [named[name] for name in RUNS if name in named]:
        paths += _six(six, folder)
        paths += _alignment(six, folder)
    if all(f"floor-{sweep.name}" in named for sweep in SWEEPS) and "departure" in named:
        paths += _floor(named, folder)
    return paths


def _against_exact(axis: Axes, a: Answered, columns: dict[str, look.Column]) -> None:
    """Online runs as thin lines, their exact twins, the predicted floor."""
    for i, (online, exact) in enumerate(pair_runs(a.runs)):
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
            read_beside(online, exact)[late],
            color=look.THEORY,
            lw=0.9,
            ls="--",
            label=None if i else "exact",
        )
        name = f"{a.case.label}, seed {online.setting.seed}"
        columns |= {
            f"{name}: step": steps,
            f"{name}: online": excess,
            f"{name}: exact": read_beside(online, exact)[late],
        }
    # The settings of a case begin with an online one.
    floor = theory.noise_floor(a.case.settings[0])
    axis.axhline(floor, color=look.COLOURS[4], lw=0.9, ls=":", label="predicted floor")
    axis.set(xscale="log", yscale="log", title=a.case.label)


def _six(six: Sequence[Answered], folder: Path) -> list[Path]:
    """The excess of each online run, that of its exact twin, and the predicted floor."""
    columns: dict[str, look.Column] = {}
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
    """How far W_V is from parallel to V* with batches of 100."""
    columns: dict[str, look.Column] = {}
    with look.figure(look.COLUMN, 2.4) as (drawn, axis):
        for i, a in enumerate(six):
            runs = [online for online, _ in pair_runs(a.runs)]
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
    """The excess that label noise keeps up, against η, N and τ, with its formula. On the right, a
    run that follows the exact one and then leaves it.
    """
    columns: dict[str, look.Column] = {}
    with look.figure(look.PAGE, 2.5, ncols=4, width_ratios=(1, 1, 1, 1.6)) as (drawn, axes):
        for axis, sweep in zip(axes[:3], SWEEPS, strict=True):
            columns |= _draw_sweep(axis, sweep, named[f"floor-{sweep.name}"])
        axes[0].set_ylabel("excess that stays")
        last = named["departure"]
        _against_exact(axes[3], last, columns)
        online, exact = pair_runs(last.runs)[0]
        total = read_beside(online, exact) + theory.noise_floor(last.case.settings[0])
        axes[3].plot(
            online.steps[1:], total[1:], color=look.COLOURS[1], lw=1.4, label="exact + floor"
        )
        axes[3].set(
            xlabel="step $T$",
            ylabel="excess risk",
            ylim=(float(np.min(read_beside(online, exact))) / 2, None),
        )
        shown = [
            pair
            for axis in (axes[0], axes[3])
            for pair in zip(*axis.get_legend_handles_labels(), strict=True)
        ]
        drawn.legend(*zip(*shown, strict=True), loc="outside upper center", ncols=6)
        return look.write(drawn, folder, "online-floor", columns)


def _draw_sweep(axis: Axes, sweep: FloorSweep, a: Answered) -> dict[str, look.Column]:
    """The floor of each seed at the points of a sweep, and its formula."""
    x = sorted(sweep.steps)
    found: dict[float, list[float]] = {value: [] for value in x}
    predicted: dict[float, float] = {}
    for online, exact in pair_runs(a.runs):
        assert online.setting is not None
        value = sweep.axis(online.setting)
        found[value].append(read_floor(online, exact))
        predicted[value] = theory.noise_floor(online.setting)
    places = [value for value in x for _ in found[value]]
    floors = [floor for value in x for floor in found[value]]
    axis.plot(
        x, [predicted[value] for value in x], color=look.THEORY, lw=0.8, label="predicted, no fit"
    )
    axis.plot(
        places,
        floors,
        ls="",
        marker="o",
        ms=3,
        mfc="none",
        color=look.COLOURS[0],
        label="measured, each seed",
    )
    axis.set(xscale="log", yscale="log", xlabel=sweep.axis_label)
    axis.set_title(f"floor in {sweep.axis_label}")
    axis.set_xticks(x, [f"{value:g}" for value in x])
    axis.set_yticks([0.2, 0.5, 1.0, 2.0], ["0.2", "0.5", "1", "2"])
    axis.minorticks_off()
    axis.set_ylim(0.12, 4)
    return {
        f"{sweep.name}: x": places,
        f"{sweep.name}: measured": floors,
        f"{sweep.name}: predicted": [predicted[value] for value in places],
    }
