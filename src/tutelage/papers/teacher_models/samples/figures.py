"""The figures of `teacher-models/samples`: excess against n for every method, and the n that each
needs against D and d.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from tutelage.figures import look
from tutelage.papers.teacher_models.samples import readings
from tutelage.papers.teacher_models.samples.fits import fit_all
from tutelage.papers.teacher_models.samples.methods import (
    BASELINES,
    LEAST_SQUARES,
    METHODS,
    ORACLE,
    RIDGE,
    SHARE,
    STUDENT,
    Baseline,
    expected_need,
)
from tutelage.papers.teacher_models.samples.needs import read_needs
from tutelage.papers.teacher_models.samples.settings import (
    SIZE,
    counts_of,
    noise_of,
    with_samples,
)
from tutelage.papers.teacher_models.theory import linear_baselines
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.study import Answered

CAPTIONS = {
    "finite-samples-curves": (
        "Excess against the number of samples for every method; black, what theory expects."
    ),
    "finite-samples-needs": "The number of samples that each method needs, against D and d.",
}

NETWORK = "network"
WORDS = {method.name: method.words for method in METHODS} | {NETWORK: "narrow network"}
COLOUR = {"student": 0, "oracle": 2, "least_squares": 4, "ridge": 1, "network": 3}
MARK = {"student": "o", "oracle": "s", "least_squares": "^", "ridge": "v", "network": "D"}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Both figures, as far as there are cases for them."""
    by_name = {a.case.name: a for a in answered}
    curves = [name for name in ("identity", "relu") if name in by_name]
    paths = _curves(by_name, curves, folder) if curves else []
    sweeps = [by_name[axis] for axis in ("D", "d") if axis in by_name]
    return paths + (_needs(sweeps, folder) if sweeps else [])


def _curves(by_name: dict[str, Answered], names: Sequence[str], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 3.1, ncols=len(names), squeeze=False, sharey=True) as (
        drawn,
        (axes,),
    ):
        for axis, name in zip(axes, names, strict=True):
            runs = by_name[name].runs
            base = readings.setting_of(runs[0])
            zero = linear_baselines.zero_excess(base)
            shown: dict[str, tuple[Sequence[Run], Callable[[Run], float]]] = {
                STUDENT.name: (runs, readings.last_excess),
                LEAST_SQUARES.name: (runs, _fitted(LEAST_SQUARES)),
                RIDGE.name: (runs, _fitted(RIDGE)),
            }
            if name == "identity":
                shown[ORACLE.name] = (runs, _fitted(ORACLE))
            elif "relu-oracle" in by_name:
                shown[ORACLE.name] = (by_name["relu-oracle"].runs, readings.last_excess)
            if f"{name}-network" in by_name:
                shown[NETWORK] = (by_name[f"{name}-network"].runs, readings.last_excess)
            for method, (evidence, read) in shown.items():
                _band(axis, method, evidence, read, zero, columns, name)
            _expected(axis, base, name, zero)
            axis.axhline(SHARE, color="0.6", lw=0.6)
            axis.set(
                xscale="log",
                yscale="log",
                xlabel="samples $n$",
                title="identity" if name == "identity" else "ReLU",
                ylim=(4e-4, 8),
            )
        axes[0].set_ylabel("excess over that of predicting zero")
        axes[0].legend(loc="lower left")
        return look.write(drawn, folder, "finite-samples-curves", columns)


def _fitted(method: Baseline) -> Callable[[Run], float]:
    """A baseline's excess on the sample of a run."""
    return lambda run: method.excess(fit_all(readings.setting_of(run)))


def _band(
    axis: Axes,
    method: str,
    runs: Sequence[Run],
    read: Callable[[Run], float],
    zero: float,
    columns: dict[str, Any],
    name: str,
) -> None:
    """The mean over samples with its 95% interval, which is that of the raw excess: nothing is
    steadied here.
    """
    counts = counts_of([readings.setting_of(run) for run in runs])
    found = [np.array([read(run) / zero for run in readings.with_count(runs, n)]) for n in counts]
    means = np.array([values.mean() for values in found])
    half = np.array(
        [
            1.96 * values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else 0.0
            for values in found
        ]
    )
    colour = look.COLOURS[COLOUR[method]]
    # A line through the linear fits of the identity would hide their peak at n = Dd.
    joined = method in (STUDENT.name, ORACLE.name, NETWORK) or name == "relu"
    axis.plot(
        counts,
        means,
        lw=0.8,
        ls="-" if joined else "none",
        label=WORDS[method],
        color=colour,
        marker=MARK[method],
        ms=3,
    )
    if not joined:
        axis.errorbar(counts, means, half, ls="none", capsize=2, color=colour)
    else:
        axis.fill_between(
            counts,
            np.maximum(means - half, 1e-6),
            means + half,
            color=colour,
            alpha=0.2,
            lw=0,
        )
    columns |= {
        f"{name}, {method}: n": counts,
        f"{name}, {method}: mean": means,
        f"{name}, {method}: half interval": half,
    }


def _expected(axis: Axes, base: Setting, name: str, zero: float) -> None:
    """Black lines: what theory expects, dotted to leading order."""
    n = np.unique(np.geomspace(12, 4000, 160).astype(int))
    unit = noise_of(base) ** 2 / (2 * n * zero)
    axis.plot(n, unit * STUDENT.dimension(base), color=look.THEORY, lw=0.7, ls=":")
    if name == "relu":
        axis.plot(n, unit * ORACLE.dimension(base), color=look.THEORY, lw=0.7, ls=":")
        gap = linear_baselines.linear_gap(base) / zero
        axis.axhline(gap, color=look.THEORY, lw=0.7, ls="--")
        return
    for method in BASELINES:
        values = np.array([method.expected(with_samples(base, int(m))) for m in n]) / zero
        axis.plot(
            n,
            np.where(np.isfinite(values), values, np.nan),
            color=look.THEORY,
            lw=0.7,
            ls="--" if method is RIDGE else "-",
        )


def _needs(sweeps: Sequence[Answered], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 2.9, ncols=len(sweeps), squeeze=False, sharey=True) as (
        drawn,
        (axes,),
    ):
        for axis, a in zip(axes, sweeps, strict=True):
            name = a.case.name
            for method in METHODS:
                found = read_needs(name, method, a.runs)
                xs = sorted({x for x, _, _ in found})
                each = [np.array([n for at, n, _ in found if at == x]) for x in xs]
                means = [float(values.mean()) for values in each]
                half = [
                    1.96 * float(values.std(ddof=1)) / math.sqrt(len(values))
                    if len(values) > 1
                    else 0.0
                    for values in each
                ]
                axis.errorbar(
                    xs,
                    means,
                    half,
                    ls="none",
                    capsize=2,
                    label=method.words,
                    color=look.COLOURS[COLOUR[method.name]],
                    marker=MARK[method.name],
                    ms=4,
                )
                settings = {SIZE[name](setting): setting for setting in a.case.settings}
                expected = [expected_need(method, settings[x]) for x in xs]
                dashes = "--" if method is RIDGE else "-"
                axis.plot(xs, expected, color=look.THEORY, lw=0.7, ls=dashes)
                columns |= {
                    f"{name}: {method.name}, at": xs,
                    f"{name}: {method.name}, n": means,
                    f"{name}: {method.name}, expected": expected,
                }
            axis.set(
                xscale="log",
                yscale="log",
                xlabel=f"${name}$",
                title="$d = 8$" if name == "D" else "$D = 16$",
            )
            axis.set_xticks(xs, [f"{x:g}" for x in xs])
            axis.minorticks_off()
        axes[0].set_ylabel(f"$n$ for {SHARE:.0%} of the excess of predicting zero")
        axes[0].set_ylim(40, 3e4)
        axes[0].legend(loc="upper left", ncols=2)
        return look.write(drawn, folder, "finite-samples-needs", columns)
