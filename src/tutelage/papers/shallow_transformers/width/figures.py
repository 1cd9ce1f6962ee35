"""The figures of the study of width: errors at the start, and losses after training, against m."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

from tutelage.claims.claim import NoPrediction, mean_interval
from tutelage.figures import look
from tutelage.measures.linearisation import nested_widths
from tutelage.papers.shallow_transformers.readings import (
    Point,
    Reading,
    heads_of,
    read_start,
    samples_of,
    setting_of,
)
from tutelage.papers.shallow_transformers.theory import infinite_width
from tutelage.papers.shallow_transformers.theory.width import approximation_scale
from tutelage.papers.shallow_transformers.width.readings import (
    averaged_relative,
    by_width,
    least_relative,
    nested,
    points,
    pool_of,
    reach,
    spread_of,
)
from tutelage.run import Run
from tutelage.studies.study import Answered

CAPTIONS = {
    "width-start": "Errors of linearisation and approximation at the start, against the width m.",
    "width-training": (
        "Losses and displacement after training, against the width m; at the right edge, what "
        "infinite width leaves, where there are at most a thousand samples."
    ),
}
# Samples whose kernel at infinite width a figure computes, for every seed. At the 5,000 of the
# paper that takes minutes each.
MOST_IN_A_KERNEL = 1000

Columns = dict[str, Any]
Widths = Float[np.ndarray, "widths"]


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """One figure of the start and one of training, each as far as its cases were run."""
    runs = {a.case.name: a.runs for a in answered}
    return [*_start(runs, folder), *_training(runs, folder)]


def _curve(
    axis: Axes,
    runs: Sequence[Run],
    reading: Reading,
    style: int,
    label: str,
    columns: Columns,
    steps: int | None = None,
) -> tuple[Widths, Widths]:
    """A reading of runs against their widths."""
    return _drawn(axis, points(reading, steps)(runs), style, label, columns)


def _drawn(
    axis: Axes,
    found_points: Sequence[Point],
    style: int,
    label: str,
    columns: Columns,
) -> tuple[Widths, Widths]:
    """Mean over seeds with its 95% interval, median as an open circle."""
    found = by_width(found_points)
    x = np.array(list(found))
    mean, median = (np.array([f(v) for v in found.values()]) for f in (np.mean, np.median))
    low, high = np.array([mean_interval(v) or (v.mean(), v.mean()) for v in found.values()]).T
    colour = look.COLOURS[style % len(look.COLOURS)]
    # An interval that reaches below zero has no place on a logarithmic axis: drawn down to a third
    # of the mean, written as it is.
    bars = np.array([mean - np.maximum(low, mean / 3), high - mean])
    axis.errorbar(
        x,
        mean,
        bars,
        color=colour,
        ls=look.STYLES[style % len(look.STYLES)],
        capsize=2,
        label=label,
    )
    axis.plot(x, median, ls="", marker="o", ms=3, mfc="none", color=colour)
    columns |= {
        f"{label}: m": x,
        f"{label}: mean": mean,
        f"{label}: low": low,
        f"{label}: high": high,
        f"{label}: median": median,
    }
    return x, mean


def _guide(axis: Axes, x: Widths, first: float, exponent: float, label: str) -> None:
    """A line of known slope under a curve, named where it stands."""
    y = first * (x / x[0]) ** exponent
    axis.plot(x, y, color=look.THEORY, lw=0.7, ls=":")
    axis.annotate(
        label,
        (x[-1], y[-1]),
        xytext=(-9, -1),
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=6,
    )


def _finish(axis: Axes, ylabel: str, ticks: Widths, **legend: Any) -> None:
    axis.set(xscale="log", yscale="log", xlabel="width $m$", ylabel=ylabel)
    axis.set_xticks(ticks, [f"{v:g}" for v in ticks])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.legend(fontsize=6, **legend)


def _start(runs: dict[str, tuple[Run, ...]], folder: Path) -> list[Path]:
    teachers = {name: runs[name] for name in ("approximation", "signs", "diagonal") if name in runs}
    shown = [bool(teachers), "linearised" in runs]
    if not any(shown):
        return []
    columns: Columns = {}
    with look.figure(
        look.PAGE if all(shown) else look.COLUMN, 2.7, ncols=sum(shown), squeeze=False
    ) as (drawn, axes):
        rest = list(axes[0])
        if teachers:
            axis = rest.pop(0)
            words = {
                "approximation": "stated teacher",
                "signs": "random signs",
                "diagonal": "diagonal of $W$ (their code)",
            }
            over_spread = {name: _over_spread(found) for name, found in teachers.items()}
            for style, (name, found) in enumerate(over_spread.items()):
                _drawn(axis, found, style, words[name], columns)
            x = np.array(sorted({m for found in over_spread.values() for m, _, _ in found}))
            pool = pool_of(next(iter(teachers.values()))[0])
            theory = np.array([approximation_scale(m, pool) for m in x])
            axis.plot(
                x,
                theory,
                color=look.THEORY,
                lw=0.8,
                ls=":",
                label=r"$\sqrt{2/m+1/\mathrm{pool}}$, no fit",
            )
            columns |= {"theory: m": x, "theory": theory}
            _finish(axis, "rms approximation error\nover the spread of one head's term", x)
        if "linearised" in runs:
            axis = rest.pop(0)
            for style, (curve, entry, label) in enumerate(
                (
                    ("adversarial", 0, "sup, by ascent"),
                    ("adversarial", 1, "mean, by ascent"),
                    ("random", 0, "sup, random"),
                    ("random", 1, "mean, random"),
                )
            ):
                x, mean = _curve(
                    axis,
                    runs["linearised"],
                    read_start(f"{curve}_linearisation", entry),
                    style,
                    label,
                    columns,
                )
                if entry == 1:
                    exponent, said = (
                        (-0.5, "$m^{-1/2}$") if curve == "adversarial" else (-1.0, "$m^{-1}$")
                    )
                    _guide(axis, x, 0.7 * mean[0], exponent, said)
            _finish(axis, r"$|f-f_{\mathrm{lin}}|$ on the boundary, $\nu=3$", x)
        return look.write(drawn, folder, "width-start", columns)


def _over_spread(runs: Sequence[Run]) -> list[Point]:
    """(m, root mean square approximation error over the spread of one head's term, seed) at every
    width that the runs contain.
    """
    widths = nested_widths(heads_of(runs[0]))
    return [
        (m, y / spread_of(run), seed) for run in runs for m, y, seed in nested(2, widths)([run])
    ]


def _training(runs: dict[str, tuple[Run, ...]], folder: Path) -> list[Path]:
    found = runs.get("horizons") or runs.get("trained")
    if not found:
        return []
    columns: Columns = {}
    horizons = sorted({setting_of(run).steps for run in found})
    with look.figure(look.PAGE, 2.7, ncols=3) as (drawn, axes):
        for style, tau in enumerate(horizons):
            x, mean = _curve(
                axes[0], found, least_relative, style, f"least, $\\tau={tau}$", columns, tau
            )
        _guide(axes[0], x, 0.7 * mean[0], -0.5, "$m^{-1/2}$")
        _floors(axes, found, horizons, columns)
        for style, tau in enumerate(horizons):
            _curve(
                axes[1],
                found,
                averaged_relative,
                style,
                f"averaged, $\\tau={tau}$",
                columns,
                tau,
            )
        single = [
            run
            for run in runs.get("single-sample", ())
            if setting_of(run).objective.name == "single_sample"
        ]
        if single:
            _curve(
                axes[1],
                single,
                averaged_relative,
                len(horizons),
                "one sample, averaged",
                columns,
            )
            _curve(
                axes[1],
                single,
                least_relative,
                len(horizons) + 1,
                "one sample, least seen",
                columns,
            )
        for style, tau in enumerate(horizons):
            _curve(axes[2], found, reach, style, rf"$\rho=3$, $\tau={tau}$", columns, tau)
        small = [run for run in runs.get("small-radii", ()) if reach(run) > 0.5]
        if small:
            _curve(
                axes[2],
                small,
                reach,
                4,
                rf"$\rho={setting_of(small[0]).optimiser.options['rho_c']:g}$, "
                rf"$\tau={horizons[-1]}$",
                columns,
            )
        axes[2].axhline(1.0, color=look.THEORY, lw=0.7, ls=":")
        for axis, label in zip(
            axes,
            (
                r"least loss over $\frac{1}{n}\sum y^2$",
                "averaged iterate, the same",
                "farthest head over its radius",
            ),
            strict=True,
        ):
            _finish(axis, label, x, **({"loc": (0.03, 0.6)} if axis is axes[2] else {}))
            axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
            axis.yaxis.set_minor_formatter(
                FuncFormatter(lambda value, _: f"{value:.3g}" if f"{value:e}"[0] in "235" else "")
            )
        return look.write(drawn, folder, "width-training", columns)


def _floors(
    axes: Sequence[Axes], runs: Sequence[Run], horizons: Sequence[int], columns: Columns
) -> None:
    """What descent at infinite width leaves, the mean over seeds, at the right edge of each panel
    of losses; of few samples.
    """
    if max(map(samples_of, runs)) > MOST_IN_A_KERNEL:
        return
    for tau in horizons:
        settings = {
            setting_of(run).seed: setting_of(run) for run in runs if setting_of(run).steps == tau
        }
        try:
            found = np.mean(
                [infinite_width.losses(setting) for setting in settings.values()], axis=0
            )
        except NoPrediction:
            return
        for axis, level in zip(axes[:2], found, strict=True):
            axis.plot(
                [1.0, 1.05],
                [level, level],
                transform=axis.get_yaxis_transform(),
                color=look.THEORY,
                lw=1.2,
                clip_on=False,
            )
            if tau == horizons[0]:
                axis.text(
                    1.06,
                    level,
                    r"$m=\infty$",
                    transform=axis.get_yaxis_transform(),
                    va="center",
                    fontsize=6,
                )
        columns |= {
            f"infinite width, tau={tau}: least": [found[0]],
            f"infinite width, tau={tau}: averaged": [found[1]],
        }
