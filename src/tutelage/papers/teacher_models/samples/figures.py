"""The figures of `teacher-models/samples`: excess against n for every method, and the n that each
needs against D and d.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tutelage.figures import look
from tutelage.papers.teacher_models.samples import readings as reading
from tutelage.papers.teacher_models.samples.claims import METHODS, SHARE, WORDS, needs
from tutelage.papers.teacher_models.theory import linear_baselines as linear
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.study import Answered

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
            base = runs[0].setting
            assert base is not None
            zero = linear.zero_excess(base)
            shown: dict[str, tuple[Sequence[Run], Callable[[Run], float]]] = {
                "student": (runs, reading.last)
            }
            for method in ("least_squares", "ridge"):
                shown[method] = (runs, _fit(method))
            if name == "identity":
                shown["oracle"] = (runs, _fit("oracle"))
            elif "relu-oracle" in by_name:
                shown["oracle"] = (by_name["relu-oracle"].runs, reading.last)
            if f"{name}-network" in by_name:
                shown["network"] = (by_name[f"{name}-network"].runs, reading.last)
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
        axes[0].set_ylabel("excess over that of saying 0")
        axes[0].legend(loc="lower left")
        return look.write(drawn, folder, "finite-samples-curves", columns)


def _fit(method: str) -> Callable[[Run], float]:
    return lambda run: float(getattr(reading.fits(run.setting), method))


def _band(
    axis: Any,
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
    counts = sorted({linear.samples_of(run.setting) for run in runs if run.setting is not None})
    found = [np.array([read(run) / zero for run in reading.of(runs, n)]) for n in counts]
    means = np.array([values.mean() for values in found])
    half = np.array(
        [
            1.96 * values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else 0.0
            for values in found
        ]
    )
    style = {"color": look.COLOURS[COLOUR[method]], "marker": MARK[method], "ms": 3}
    joined = (
        method in ("student", "oracle", "network") or name == "relu"
    )  # a line would hide the peak at n = Dd
    axis.plot(
        counts,
        means,
        lw=0.8,
        ls="-" if joined else "none",
        label=WORDS.get(method, "narrow network"),
        **style,
    )
    if not joined:
        axis.errorbar(counts, means, half, ls="none", capsize=2, color=style["color"])
    else:
        axis.fill_between(
            counts,
            np.maximum(means - half, 1e-6),
            means + half,
            color=style["color"],
            alpha=0.2,
            lw=0,
        )
    columns |= {
        f"{name}, {method}: n": counts,
        f"{name}, {method}: mean": means,
        f"{name}, {method}: half interval": half,
    }


def _expected(axis: Any, base: Setting, name: str, zero: float) -> None:
    """Black lines: what theory expects, dotted to leading order."""
    n = np.unique(np.geomspace(12, 4000, 160).astype(int))
    leading = {method: reading.METHODS[method].dimension(base) for method in ("student", "oracle")}
    noise = float(base.teacher.options["noise"])
    axis.plot(n, noise**2 * leading["student"] / (2 * n * zero), color=look.THEORY, lw=0.7, ls=":")
    if name == "relu":
        axis.plot(
            n, noise**2 * leading["oracle"] / (2 * n * zero), color=look.THEORY, lw=0.7, ls=":"
        )
        axis.axhline(linear.linear_gap(base) / zero, color=look.THEORY, lw=0.7, ls="--")
        return
    for method, expected in reading.EXPECTED.items():
        values = np.array([expected(reading.at(base, int(m))) for m in n]) / zero
        axis.plot(
            n,
            np.where(np.isfinite(values), values, np.nan),
            color=look.THEORY,
            lw=0.7,
            ls="--" if method == "ridge" else "-",
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
                found = needs(name, method, a.runs)
                xs = sorted({x for x, _, _ in found})
                each = [np.array([n for at, n, _ in found if at == x]) for x in xs]
                means = [float(values.mean()) for values in each]
                half = [
                    1.96 * float(values.std(ddof=1)) / math.sqrt(len(values))
                    if len(values) > 1
                    else 0.0
                    for values in each
                ]
                style = {"color": look.COLOURS[COLOUR[method]], "marker": MARK[method], "ms": 4}
                axis.errorbar(xs, means, half, ls="none", capsize=2, label=WORDS[method], **style)
                settings = {_size(s, name): s for s in a.case.settings}
                expected = [reading.expected_need(method, settings[x], SHARE) for x in xs]
                axis.plot(
                    xs, expected, color=look.THEORY, lw=0.7, ls="--" if method == "ridge" else "-"
                )
                columns |= {
                    f"{name}: {method}, at": xs,
                    f"{name}: {method}, n": means,
                    f"{name}: {method}, expected": expected,
                }
            axis.set(
                xscale="log",
                yscale="log",
                xlabel=f"${name}$",
                title="$d = 8$" if name == "D" else "$D = 16$",
            )
            axis.set_xticks(xs, [f"{x:g}" for x in xs])
            axis.minorticks_off()
        axes[0].set_ylabel(f"$n$ for {SHARE:.0%} of the excess of saying 0")
        axes[0].set_ylim(40, 3e4)
        axes[0].legend(loc="upper left", ncols=2)
        return look.write(drawn, folder, "finite-samples-needs", columns)


def _size(setting: Setting, axis: str) -> float:
    return float(
        len(setting.teacher.options["selection"]) if axis == "D" else setting.teacher.options["dim"]
    )
