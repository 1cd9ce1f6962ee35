"""The figures of `teacher-models/rates`: Fig. 2a, 2c and 3 of the paper, the six runs on one axis,
and the controls.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from tutelage.claims import Rate
from tutelage.claims.power_laws import window_of
from tutelage.claims.verdict import Verdict
from tutelage.figures import look, windows
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.theory.bilinear import build_bilinear
from tutelage.run import Run
from tutelage.studies.study import Answered

CAPTIONS = {
    "excess-and-alignment": (
        "Left: excess risk of the six runs with measured slopes; black, the counting law. "
        "Right: how far W_V is from parallel to V*."
    ),
    "constants": (
        "Each curve over its law, against the step in plateaus; beyond the right edge, the "
        "extrapolated limits with their intervals."
    ),
    "six-runs-one-axis": (
        "The six runs on one axis: excess·ηT over the counting law, against the step in plateaus."
    ),
    "attention": "Attention of teacher and student at the end of each run, and their difference.",
    "controls": "Excess risk where one hypothesis is broken, beside a run in which all are met.",
    "small-steps": "How far the excess at each step size is from that at the smallest, against ηT.",
}

BAR = {"orientation": "horizontal", "fraction": 0.05, "pad": 0.04}


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
    return paths + [
        p for a in answered if a.case.name == "small-steps" for p in _small_steps(a, folder)
    ]


def _seeds(runs: Sequence[Run], curve: str) -> tuple[look.Line, Float[np.ndarray, "seeds points"]]:
    """Steps and one row per seed, as far as every seed went."""
    shortest = min(len(run.steps) for run in runs)
    values = np.stack([run.curves[curve][:shortest] for run in runs])
    # A curve that has reached exact zero cannot be drawn on a log axis: it ends there.
    last = int(np.argmax((values <= 0).any(0))) if (values[:, 1:] <= 0).any() else shortest
    return runs[0].steps[1:last], np.maximum(values[:, 1:last], 1e-300)


def _line(
    axis: Axes,
    i: int,
    label: str,
    x: look.Line,
    seeds: Float[np.ndarray, "seeds points"],
    columns: dict[str, look.Column],
    name: str = "",
) -> None:
    """`name` is the label without what a legend says beside it."""
    found = look.band(axis, x, seeds, i, middle=look.geometric, label=label)
    columns |= {f"{name or label}: x": x} | dict(
        zip((f"{name or label}: {word}" for word in ("mean", "min", "max")), found, strict=True)
    )


def _excess(main: Sequence[Answered], folder: Path) -> list[Path]:
    """The excess risk of the six runs with its measured slopes and the counting law (Fig. 2a), and
    how far W_V is from parallel to V* (Fig. 2c).
    """
    columns: dict[str, look.Column] = {}
    with look.figure(look.PAGE, 3.1, ncols=2) as (drawn, (left, right)):
        if (read := windows.shared(windows.named(main, "excess-rate"), windows.step)) is not None:
            look.window(left, *read, "slopes are read here")
        for i, a in enumerate(main):
            (steps, seeds), setting = _seeds(a.runs, "excess_risk"), a.case.settings[0]
            claim, verdict = a.find("excess-rate")
            _line(
                left,
                i,
                f"{a.case.label}: {look.said(verdict)}",
                steps,
                seeds,
                columns,
                a.case.label,
            )
            assert isinstance(claim, Rate)
            if (own := window_of(claim, a.runs)) is not None:
                look.rate_line(left, *own, theory.counting_law(setting) / setting.rate, -1.0)
        left.plot(
            [],
            [],
            color=look.THEORY,
            lw=0.7,
            label=r"theory: $\sum_i K_i(D-K_i)/(4\eta T)$, slope −1",
        )
        left.set(
            xscale="log",
            yscale="log",
            xlabel="step $T$",
            ylabel="excess risk",
            title="Fig. 2a: excess risk, measured slopes",
        )
        left.set_ylim(bottom=left.get_ylim()[0] / 1e5)  # room for the legend
        left.legend(loc="lower left", fontsize=6, bbox_to_anchor=(0.0, 0.06))
        for i, a in enumerate(main):
            steps, cosine = (
                a.runs[0].steps[1:],
                np.stack([r.curves["cosine"][1:] for r in a.runs]).min(0),
            )
            right.plot(
                steps,
                1 - cosine,
                color=look.COLOURS[i % 6],
                ls=look.STYLES[i % 6],
                label=a.case.label,
            )
            columns |= {
                f"{a.case.label}: 1 - cosine, step": steps,
                f"{a.case.label}: 1 - cosine": 1 - cosine,
            }
        right.set_yscale("symlog", linthresh=1e-16)
        right.axhline(1e-9, color=look.THEORY, lw=0.7)
        right.text(
            0.98,
            1.3e-9,
            "tolerance of the claim",
            ha="right",
            va="bottom",
            fontsize=7,
            transform=right.get_yaxis_transform(),
        )
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
    """Each curve over its law, against the step in plateaus: all tend to 1. Beyond the right edge,
    the extrapolated limits with their intervals; grey, ±3% and where they are read.
    """
    columns: dict[str, look.Column] = {}
    with look.figure(look.PAGE, 2.4, ncols=3, sharey=True) as (drawn, axes):
        for axis, law in zip(axes, theory.LAWS, strict=True):
            read = windows.shared(
                windows.named(main, f"{law.name}-constant"), windows.plateaus(theory.plateau)
            )
            if read is not None:
                look.window(axis, *read, "read here")
            axis.axhspan(0.97, 1.03, color="0.82", lw=0, zorder=0.5)
            axis.axhline(1.0, color=look.THEORY, lw=0.7)
            for i, a in enumerate(main):
                setting, (steps, seeds) = a.case.settings[0], _seeds(a.runs, law.curve)
                scale = law.constant(setting) * (setting.rate * steps) ** law.exponent
                plateau = theory.plateau(setting)
                late = steps >= plateau
                named: dict[str, look.Column] = {}
                _line(axis, i, a.case.label, steps[late] / plateau, (seeds / scale)[:, late], named)
                columns |= {f"{law.curve} / {key}": value for key, value in named.items()}
                _, verdict = a.find(f"{law.name}-constant")
                if (limit := _limit(axis, i, verdict)) is not None:
                    columns[f"{law.curve} / {a.case.label}: limit, low, high"] = limit
            axis.set(
                xscale="log",
                xlabel="step / plateau",
                title=f"{law.scaled_label} over its constant",
                ylim=(0.8, 1.4),
            )
        axes[0].set_ylabel("measured / predicted")
        drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=6)
        return look.write(drawn, folder, "constants", columns)


def _limit(axis: Axes, i: int, verdict: Verdict) -> list[float] | None:
    """Draws a limit and its interval over what is predicted, beyond the last step."""
    if verdict.interval is None or not verdict.predicted:
        return None
    low, high, at = (
        value / verdict.predicted for value in (*verdict.interval, verdict.measured or np.nan)
    )
    beyond, colour, across = 1.04 + 0.035 * i, look.COLOURS[i % 6], axis.get_yaxis_transform()
    axis.plot([beyond] * 2, [low, high], lw=1.0, color=colour, transform=across, clip_on=False)
    axis.plot([beyond], [at], marker="o", ms=2, color=colour, transform=across, clip_on=False)
    return [at, low, high]


def _one_curve(main: Sequence[Answered], folder: Path) -> list[Path]:
    """The six runs on one axis: excess·ηT over the counting law, against the step in plateaus."""
    columns: dict[str, look.Column] = {}
    with look.figure(look.COLUMN, 2.6) as (drawn, axis):
        for i, a in enumerate(main):
            setting, (steps, seeds) = a.case.settings[0], _seeds(a.runs, "excess_risk")
            scale = setting.rate * steps / theory.counting_law(setting)
            _line(axis, i, a.case.label, steps / theory.plateau(setting), seeds * scale, columns)
        axis.axhline(1.0, color=look.THEORY, lw=0.7)
        axis.set(
            xscale="log",
            yscale="log",
            xlabel="step / plateau",
            ylabel=r"excess$\,\cdot\,\eta T$ / $\sum_i K_i(D-K_i)/4$",
            ylim=(0.05, 100),
        )
        axis.legend(loc="upper right")
        return look.write(drawn, folder, "six-runs-one-axis", columns)


def _attention(main: Sequence[Answered], folder: Path) -> list[Path]:
    """Attention of teacher and student at the end of each run, and their difference (Fig. 3)."""
    columns: dict[str, look.Column] = {}
    with look.figure(look.PAGE, 3.7, nrows=3, ncols=len(main), squeeze=False) as (drawn, axes):
        for column, a in zip(axes.T, main, strict=True):
            run = a.runs[0]
            assert run.setting is not None
            teacher = np.asarray(build_bilinear(run.setting).selection)
            student = np.asarray(run.student.attention())
            for axis, image in zip(
                column, look.beside(drawn, column, teacher, student, **BAR), strict=True
            ):
                ends = image.get_clim()
                image.colorbar.set_ticks(ends, labels=[f"{end:.2g}" for end in ends], fontsize=5)
                image.colorbar.ax.tick_params(length=1.5, pad=1)
                axis.set(xticks=[], yticks=[])
            column[0].set_title(a.case.label.replace(", ", ",\n"), fontsize=7)
            for name, matrix in (("teacher", teacher), ("student", student)):
                columns[
                    f"{a.case.label}: {name}, row by row, {matrix.shape[0]}x{matrix.shape[1]}"
                ] = matrix.ravel()
        for axis, name in zip(
            axes[:, 0], ("teacher $S^*$", "student $S$", "difference"), strict=True
        ):
            axis.set_ylabel(name)
        return look.write(drawn, folder, "attention", columns)


def _controls(passing: Answered, controls: Sequence[Answered], folder: Path) -> list[Path]:
    """The excess risk where one hypothesis is broken, beside a run in which all are met."""
    columns: dict[str, look.Column] = {}
    risky = [a for a in controls if a.case.claims[0].id == "excess-rate"]
    with look.figure(look.COLUMN, 2.9) as (drawn, axis):
        for i, a in enumerate([passing, *risky]):
            _line(
                axis,
                i,
                a.case.label if i else f"{a.case.label} (holds)",
                *_seeds(a.runs, "excess_risk"),
                columns,
            )
        if (
            read := windows.shared(windows.named([passing], "excess-rate"), windows.step)
        ) is not None:
            setting = passing.case.settings[0]
            look.window(axis, *read)
            look.rate_line(
                axis,
                *read,
                theory.counting_law(setting) / setting.rate,
                -1.0,
                label="theory, slope −1",
            )
        axis.set(
            xscale="log",
            yscale="log",
            xlabel="step $T$",
            ylabel="excess risk",
            title="Controls: one hypothesis broken each",
            ylim=(1e-14, None),
        )
        drawn.legend(loc="outside lower center", ncols=2)
        return look.write(drawn, folder, "controls", columns)


def _small_steps(a: Answered, folder: Path) -> list[Path]:
    """How far the excess at a step size is from that at the smallest, against ηT."""
    columns: dict[str, look.Column] = {}
    with look.figure(look.COLUMN, 2.4) as (drawn, axis):
        finest = min(a.runs, key=lambda run: run.rate or 0.0)
        for i, run in enumerate(sorted(a.runs, key=lambda run: -(run.rate or 0.0))):
            if run is finest:
                continue
            x = run.time[(run.time >= 1.0) & (run.time <= finest.time[-1])]
            at = np.exp(
                np.interp(
                    np.log(x), np.log(finest.time[1:]), np.log(finest.curves["excess_risk"][1:])
                )
            )
            ours = np.interp(x, run.time, run.curves["excess_risk"])
            axis.plot(
                x,
                np.abs(ours / at - 1),
                color=look.COLOURS[i % 6],
                ls=look.STYLES[i % 6],
                label=rf"$\eta={run.rate:g}$",
            )
            columns |= {
                f"eta={run.rate:g}: time": x,
                f"eta={run.rate:g}: departure": np.abs(ours / at - 1),
            }
        axis.set(
            xscale="log",
            yscale="log",
            xlabel=r"time $\eta T$",
            ylabel=rf"|excess / excess at $\eta={finest.rate:g}$ − 1|",
            title="Curves against $\\eta T$ meet as $\\eta\\to 0$",
        )
        axis.legend()
        return look.write(drawn, folder, "small-steps", columns)
