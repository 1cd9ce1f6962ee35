"""The figures of `teacher-models/rates`: Fig. 2a, 2c and 3 of the paper, the six runs on one axis, and the controls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from tutelage.figures import look
from tutelage.papers.teacher_models import theory
from tutelage.registry import teacher_of
from tutelage.run import Run
from tutelage.study import Answered


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Every figure for which there are cases."""
    main = [a for a in answered if not a.case.control and len(a.case.claims) > 1]
    controls = [a for a in answered if a.case.control]
    paths: list[Path] = []
    if main:
        paths += _excess(main, folder)
        paths += _errors(main, folder)
        paths += _one_curve(main, folder)
        paths += _attention(main, folder)
    if controls and main:
        paths += _controls(main[0], controls, folder)
    return paths + [p for a in answered if a.case.name == "small-steps" for p in _small_steps(a, folder)]


def _band(
    runs: Sequence[Run], curve: str
) -> tuple[Float[np.ndarray, "points"], Float[np.ndarray, "points"], Float[np.ndarray, "points"], Float[np.ndarray, "points"]]:
    """Steps, and the geometric mean, minimum and maximum over seeds, as far as every seed went."""
    shortest = min(len(run.steps) for run in runs)
    values = np.stack([run.curves[curve][:shortest] for run in runs])
    # A curve that has reached exact zero cannot be drawn on a log axis: it ends there.
    last = int(np.argmax((values <= 0).any(0))) if (values[:, 1:] <= 0).any() else shortest
    positive = np.maximum(values[:, 1:last], 1e-300)
    return runs[0].steps[1:last], np.exp(np.log(positive).mean(0)), positive.min(0), positive.max(0)


def _line(axis: Any, i: int, label: str, x: Any, band: tuple[Any, ...], columns: dict[str, Any]) -> None:
    colour, style = look.COLOURS[i % 6], look.STYLES[i % 6]
    _, mean, low, high = band
    axis.plot(x, mean, color=colour, ls=style, label=label)
    axis.fill_between(x, low, high, color=colour, alpha=0.2, lw=0)
    columns.update({f"{label}: x": x, f"{label}: mean": mean, f"{label}: min": low, f"{label}: max": high})


def _excess(main: Sequence[Answered], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 2.6, ncols=2) as (drawn, (left, right)):
        for i, a in enumerate(main):
            band = _band(a.runs, "excess_risk")
            _line(left, i, a.case.label, band[0], band, columns)
            setting = a.case.settings[0]
            start = theory.plateau(setting) * 30
            if band[0][-1] > start:
                tail = np.geomspace(start, band[0][-1], 2)
                left.plot(tail, theory.counting_law(setting) / (setting.rate * tail), color=look.THEORY, lw=0.7, zorder=5)
        left.plot([], [], color=look.THEORY, lw=0.7, label=r"theory: $\sum_i K_i(D-K_i)/(4\eta T)$")
        left.set(xscale="log", yscale="log", xlabel="step $T$", ylabel="excess risk", title="Fig. 2a: excess risk")
        left.legend(ncols=1)
        for i, a in enumerate(main):
            steps, cosine = a.runs[0].steps[1:], np.stack([r.curves["cosine"][1:] for r in a.runs]).min(0)
            right.plot(steps, 1 - cosine, color=look.COLOURS[i % 6], ls=look.STYLES[i % 6], label=a.case.label)
            columns |= {f"{a.case.label}: 1 - cosine, step": steps, f"{a.case.label}: 1 - cosine": 1 - cosine}
        right.set_yscale("symlog", linthresh=1e-16)
        right.axhline(1e-9, color=look.THEORY, lw=0.7)
        right.text(0.98, 1.3e-9, "tolerance of the claim", ha="right", va="bottom", fontsize=7, transform=right.get_yaxis_transform())
        right.set(
            xscale="log",
            xlabel="step $T$",
            ylabel=r"$1-\cos(W_V, V^*)$, worst seed",
            ylim=(-2e-16, 1e-6),
            title="Fig. 2c: alignment (0 is exact)",
        )
        right.set_yticks([0, 1e-15, 1e-12, 1e-9, 1e-6])
        return look.write(drawn, folder, "excess-and-alignment", columns)


def _errors(main: Sequence[Answered], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    shown = (
        ("excess_risk", -1.0, theory.counting_law, r"excess$\,\cdot\,\eta T$"),
        ("value_error", -0.5, theory.value_constant, r"$\|W_V-V^*\|\sqrt{\eta T}$"),
        ("attention_error", -0.5, theory.attention_constant, r"$\|S-S^*\|\sqrt{\eta T}$"),
    )
    with look.figure(look.PAGE, 2.4, ncols=3, sharey=True) as (drawn, axes):
        for axis, (curve, exponent, constant, name) in zip(axes, shown, strict=True):
            axis.axhspan(0.97, 1.03, color="0.9", lw=0)
            axis.axhline(1.0, color=look.THEORY, lw=0.7)
            for i, a in enumerate(main):
                setting, band = a.case.settings[0], _band(a.runs, curve)
                scale = constant(setting) * (setting.rate * band[0]) ** exponent
                late = band[0] >= theory.plateau(setting)
                ratio = tuple(part[late] if k == 0 else (part / scale)[late] for k, part in enumerate(band))
                named: dict[str, Any] = {}
                _line(axis, i, a.case.label, ratio[0] / theory.plateau(setting), ratio, named)
                columns |= {f"{curve} / {key}": value for key, value in named.items()}
            axis.set(xscale="log", xlabel="step / plateau", title=f"{name} over its constant", ylim=(0.8, 1.4))
        axes[0].set_ylabel("measured / predicted")
        axes[0].legend()
        return look.write(drawn, folder, "constants", columns)


def _one_curve(main: Sequence[Answered], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    with look.figure(look.COLUMN, 2.6) as (drawn, axis):
        for i, a in enumerate(main):
            setting = a.case.settings[0]
            band = _band(a.runs, "excess_risk")
            scale = setting.rate * band[0] / theory.counting_law(setting)
            _line(axis, i, a.case.label, band[0] / theory.plateau(setting), (band[0], *(part * scale for part in band[1:])), columns)
        axis.axhline(1.0, color=look.THEORY, lw=0.7)
        axis.set(
            xscale="log", yscale="log", xlabel="step / plateau", ylabel=r"excess$\,\cdot\,\eta T$ / $\sum_i K_i(D-K_i)/4$", ylim=(0.05, 100)
        )
        axis.legend(loc="upper right")
        return look.write(drawn, folder, "six-runs-one-axis", columns)


def _attention(main: Sequence[Answered], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 3.7, nrows=3, ncols=len(main), squeeze=False) as (drawn, axes):
        for column, a in zip(axes.T, main, strict=True):
            run = a.runs[0]
            assert run.setting is not None
            teacher = np.asarray(teacher_of(run.setting).selection)
            student = np.asarray(run.student.attention())
            top = float(teacher.max())
            difference = student - teacher
            reach = float(np.abs(difference).max()) or 1e-12
            plain, signed = {"vmin": 0.0, "vmax": top}, {"vmin": -reach, "vmax": reach}
            for axis, matrix, style in zip(column, (teacher, student, difference), (plain, plain, signed), strict=True):
                image = axis.imshow(matrix, cmap=look.DIFFERENCE if matrix is difference else look.HEAT, interpolation="nearest", **style)
                bar = drawn.colorbar(
                    image, ax=axis, orientation="horizontal", fraction=0.05, pad=0.04, ticks=[style["vmin"], style["vmax"]]
                )
                bar.ax.set_xticklabels([f"{style['vmin']:.2g}", f"{style['vmax']:.2g}"], fontsize=5)
                bar.ax.tick_params(length=1.5, pad=1)
                axis.set(xticks=[], yticks=[])
            column[0].set_title(a.case.label.replace(", ", ",\n"), fontsize=7)
            for name, matrix in (("teacher", teacher), ("student", student)):
                columns[f"{a.case.label}: {name}, row by row, {matrix.shape[0]}x{matrix.shape[1]}"] = matrix.ravel()
        for axis, name in zip(axes[:, 0], ("teacher $S^*$", "student $S$", "difference"), strict=True):
            axis.set_ylabel(name)
        return look.write(drawn, folder, "attention", columns)


def _controls(passing: Answered, controls: Sequence[Answered], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    risky = [a for a in controls if a.case.claims[0].id.endswith("excess-rate")]
    with look.figure(look.COLUMN, 2.6) as (drawn, axis):
        for i, a in enumerate([passing, *risky]):
            band = _band(a.runs, "excess_risk")
            _line(axis, i, a.case.label if i else f"{a.case.label} (holds)", band[0], band, columns)
        axis.set(
            xscale="log",
            yscale="log",
            xlabel="step $T$",
            ylabel="excess risk",
            title="Controls: one hypothesis broken each",
            ylim=(1e-14, None),
        )
        axis.legend(loc="lower right")
        return look.write(drawn, folder, "controls", columns)


def _small_steps(a: Answered, folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    with look.figure(look.COLUMN, 2.4) as (drawn, axis):
        finest = min(a.runs, key=lambda run: run.rate or 0.0)
        for i, run in enumerate(sorted(a.runs, key=lambda run: -(run.rate or 0.0))):
            if run is finest:
                continue
            x = run.time[(run.time >= 1.0) & (run.time <= finest.time[-1])]
            at = np.exp(np.interp(np.log(x), np.log(finest.time[1:]), np.log(finest.curves["excess_risk"][1:])))
            ours = np.interp(x, run.time, run.curves["excess_risk"])
            axis.plot(x, np.abs(ours / at - 1), color=look.COLOURS[i % 6], ls=look.STYLES[i % 6], label=rf"$\eta={run.rate:g}$")
            columns |= {f"eta={run.rate:g}: time": x, f"eta={run.rate:g}: departure": np.abs(ours / at - 1)}
        axis.set(
            xscale="log",
            yscale="log",
            xlabel=r"time $\eta T$",
            ylabel=rf"|excess / excess at $\eta={finest.rate:g}$ − 1|",
            title="Curves against $\\eta T$ meet as $\\eta\\to 0$",
        )
        axis.legend()
        return look.write(drawn, folder, "small-steps", columns)
