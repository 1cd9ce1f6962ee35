"""The figures of the study of the tangent kernel: kernel and network against width, and loss curves
beside those of kernel descent.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from tutelage.figures import look
from tutelage.measures.kernel import probed
from tutelage.papers.shallow_transformers.kernel.readings import limit_heads_of, read_most
from tutelage.papers.shallow_transformers.readings import (
    Reading,
    heads_of,
    read_last,
    read_start,
    setting_of,
)
from tutelage.papers.shallow_transformers.theory import kernel as theory
from tutelage.run import Run
from tutelage.studies.study import Answered

CAPTIONS = {
    "kernel-width": (
        "Against the width m: the kernel at the start against its limit, what training adds, "
        "and the network against kernel descent."
    ),
    "kernel-curves": (
        "Left: training loss of one seed, and of descent in kernels. Middle: validation loss in "
        "long training, and ridgeless regression. Right: shares and eigenvalues at the start."
    ),
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Nothing where the sweep over widths was not run."""
    found = {a.case.name: a for a in answered}
    if "width" not in found:
        return []
    return [*_widths(found["width"], folder), *_curves(found["width"], found.get("long"), folder)]


def _by_width(
    runs: Sequence[Run], read: Reading
) -> tuple[Float[np.ndarray, "widths"], list[list[float]]]:
    widths = sorted({heads_of(run) for run in runs})
    values = [[read(run) for run in runs if heads_of(run) == m] for m in widths]
    return np.array(widths, float), values


def _widths(answered: Answered, folder: Path) -> list[Path]:
    """Left: the kernel at the start against its limit. Middle: what training adds. Right: the
    network against both references.
    """
    runs, heads = answered.runs, limit_heads_of(answered.case)
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 2.5, ncols=3) as (drawn, axes):
        gap, drift = read_start("kernel_gap"), read_last("kernel_drift")
        to_limit, to_own = read_last("limit_gap"), read_most("own_gap")
        shown = (
            (axes[0], 0, "kernel_gap", gap, "measured", theory.kernel_gap),
            (axes[1], 2, "kernel_drift", drift, "measured", None),
            (axes[2], 0, "limit_gap", to_limit, "to descent in $K$", theory.output_gap),
            (axes[2], 2, "own_gap", to_own, "to descent in $K_m$", None),
        )
        for axis, colour, name, read, words, predicted in shown:
            m, values = _by_width(runs, read)
            x = [width for width, column in zip(m, values, strict=True) for _ in column]
            y = [value for column in values for value in column]
            axis.plot(
                x, y, ls="", marker="o", ms=3, mfc="none", color=look.COLOURS[colour], label=words
            )
            columns |= {f"{name}: m": x, f"{name}: measured": y}
            if predicted is not None:
                at = {width: [setting_of(r) for r in runs if heads_of(r) == width] for width in m}
                line = np.array(
                    [
                        np.sqrt(np.mean([predicted(s, heads) ** 2 for s in settings]))
                        for settings in at.values()
                    ]
                )
                axis.plot(m, line, color=look.THEORY, label="predicted, no fit")
                columns |= {f"{name}: theory's m": m, f"{name}: predicted": line}
            else:
                # The constant of 1/m is not predicted: through the widest.
                level = np.exp(np.mean(np.log(values[-1]))) * m[-1] / m
                axis.plot(
                    m, level, color=look.THEORY, ls="--", lw=0.9, label="$1/m$, through the widest"
                )
                columns |= {f"{name}: theory's m": m, f"{name}: 1/m": level}
        axes[0].set(ylabel=r"$\|K_m-K\|_F\,/\,\|K\|_F$", title="start: fluctuation")
        axes[1].set(ylabel=r"$\|K_\tau-K_0\|_F\,/\,\|K_0\|_F$", title="training: drift")
        axes[2].set(
            ylabel=r"distance of outputs $/\,\|y\|$", title="network against kernel descent"
        )
        for axis in axes:
            axis.set(xscale="log", yscale="log", xlabel="$m$")
            axis.set_xticks(m, [f"{v:g}" for v in m])
            axis.minorticks_off()
        for axis, places in ((axes[0], 2), (axes[1], 5)):
            axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.yaxis.set_major_formatter(
                FuncFormatter(lambda value, _, places=places: f"{value:.{places}f}")
            )
            axis.set_ylim(top=1.6 * axis.get_ylim()[1])
            axis.legend(loc="upper right")
        # Between the two clouds of points.
        between = np.sqrt(min(columns["limit_gap: measured"]) * max(columns["own_gap: measured"]))
        _, height = (
            axes[2].transAxes.inverted().transform(axes[2].transData.transform((m[0], between)))
        )
        axes[2].legend(loc="center", bbox_to_anchor=(0.5, height))
        return look.write(drawn, folder, "kernel-width", columns)


def _curves(answered: Answered, long: Answered | None, folder: Path) -> list[Path]:
    """Left: training loss of one seed. Middle: validation loss, long training and ridgeless
    regression. Right: shares and eigenvalues.
    """
    seed = min(setting_of(run).seed for run in answered.runs)
    runs = [run for run in answered.runs if setting_of(run).seed == seed]
    narrow, wide = min(runs, key=heads_of), max(runs, key=heads_of)
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 2.5, ncols=3) as (drawn, axes):
        for run, colour in ((narrow, 1), (wide, 0)):
            words, late = f"$m={heads_of(run):g}$", run.steps > 0
            power = run.curves["label_power"][0]
            axes[0].plot(
                run.steps[late],
                run.curves["own_loss"][late] / power,
                color=look.COLOURS[colour],
                label=f"descent in $K_{{{heads_of(run):g}}}$",
            )
            points = np.flatnonzero(late)[::3]
            axes[0].plot(
                run.steps[points],
                run.curves["loss"][points] / power,
                ls="",
                marker="o",
                ms=3,
                mfc="none",
                color=look.COLOURS[colour],
            )
            columns |= {
                f"{words}: step": run.steps[late],
                f"{words}: loss": run.curves["loss"][late] / power,
                f"{words}: descent in K_m": run.curves["own_loss"][late] / power,
            }
        power, late = wide.curves["label_power"][0], wide.steps > 0
        axes[0].plot(
            wide.steps[late],
            wide.curves["limit_loss"][late] / power,
            color=look.THEORY,
            ls="--",
            lw=0.9,
            label="descent in $K$",
        )
        columns["descent in K"] = wide.curves["limit_loss"][late] / power
        axes[0].plot([], [], ls="", marker="o", ms=3, mfc="none", color="0.4", label="network")
        axes[0].set(
            xscale="log",
            ylim=(0, 1.05),
            xlabel="step",
            ylabel=r"training loss $/\,\overline{y^2}$",
            title="step $1/\\sqrt{\\tau}$",
        )
        axes[0].legend(loc="lower left")
        if long is not None:
            _long(axes[1], long.runs[0], columns)
        else:
            axes[1].set_axis_off()
        _start(axes[2], answered, columns)
        return look.write(drawn, folder, "kernel-curves", columns)


def _long(axis: Axes, run: Run, columns: dict[str, Any]) -> None:
    late, power = run.steps > 0, run.curves["label_power"][0]
    points = np.flatnonzero(late)[::3]
    axis.plot(
        run.steps[late],
        run.curves["own_validation"][late] / power,
        color=look.COLOURS[0],
        label="descent in $K_m$",
    )
    axis.plot(
        run.steps[points],
        run.curves["validation_loss"][points] / power,
        ls="",
        marker="o",
        ms=3,
        mfc="none",
        color=look.COLOURS[0],
    )
    axis.axhline(
        run.curves["own_ridgeless"][0] / power,
        color=look.THEORY,
        ls=":",
        label="ridgeless in $K_m$",
    )
    axis.set(
        xscale="log", yscale="log", xlabel="step", ylabel=r"validation loss $/\,\overline{y^2}$"
    )
    axis.set_title(f"$m={heads_of(run):g}$, step {run.rate:g}")
    axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.2f}"))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.plot([], [], ls="", marker="o", ms=3, mfc="none", color=look.COLOURS[0], label="network")
    axis.set_ylim(top=2 * axis.get_ylim()[1])
    axis.legend(loc="upper right")
    columns |= {
        "long: step": run.steps[late],
        "long: validation": run.curves["validation_loss"][late] / power,
        "long: descent in K_m": run.curves["own_validation"][late] / power,
        "long: ridgeless": np.full(int(late.sum()), run.curves["own_ridgeless"][0] / power),
    }


def _start(axis: Axes, answered: Answered, columns: dict[str, Any]) -> None:
    """Plain measurements at the start, about which nothing is claimed but that λ_min stays below
    its limit.
    """

    def share(part: int) -> Reading:
        def read(run: Run) -> float:
            traces = np.trace(probed(run.curves["probe_kernel"][:1])[0], axis1=1, axis2=2)
            return float(traces[part] / traces.sum())

        return read

    for part, (words, mark) in enumerate((("$K_c$", "o"), ("$K_u$", "s"), ("$K_w$", "^"))):
        m, values = _by_width(answered.runs, share(part))
        means = [float(np.mean(column)) for column in values]
        axis.plot(
            m,
            means,
            marker=mark,
            ms=3,
            mfc="none",
            lw=0.8,
            color=look.COLOURS[part + 1],
            label=f"share of {words} in the trace",
        )
        columns[f"share of {words}"] = means
    m, values = _by_width(answered.runs, read_start("smallest"))
    means = [float(np.mean(column)) for column in values]
    axis.plot(
        m,
        means,
        marker="d",
        ms=3,
        color=look.COLOURS[0],
        label=r"$\lambda_{\min}(K_m)/\lambda_{\min}(K)$",
    )
    columns |= {"start: m": m, "smallest eigenvalue": means}
    axis.set(xscale="log", xlabel="$m$", ylim=(0, 1.65), title="at the start")
    axis.set_xticks(m, [f"{v:g}" for v in m])
    axis.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0])
    axis.minorticks_off()
    axis.legend(loc="upper left")
