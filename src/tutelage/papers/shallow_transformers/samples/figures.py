"""The figures of the study of samples: the sup error and the needed width against n."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator

from tutelage.figures import look
from tutelage.papers.shallow_transformers.readings import heads_of, samples_of
from tutelage.papers.shallow_transformers.samples.readings import LEVEL, needed, relative, sups
from tutelage.papers.shallow_transformers.theory.approximation import approximation_bound, sizes
from tutelage.studies.study import Answered

CAPTIONS = {
    "samples-sup": "The largest approximation error over n inputs, against n.",
    "samples-width": (
        "Relative loss against the width m (top), and the width that is needed against n (bottom)."
    ),
}

TITLES = {
    "approximation": "tokens within the unit ball",
    "heavy-tails": "Student-t tokens (control)",
    "width": "projected descent, step $1/\\sqrt{\\tau}$",
    "width-fast": "momentum",
    "foreign-labels": "control: foreign labels",
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """One figure for the sup errors and one for the widths, of those cases that were run."""
    errors = [a for a in answered if "approximation_sups" in a.runs[0].curves]
    widths = [a for a in answered if "approximation_sups" not in a.runs[0].curves]
    return [
        *(_errors(errors, folder) if errors else []),
        *(_widths(widths, folder) if widths else []),
    ]


def _errors(answered: Sequence[Answered], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 2.6, ncols=len(answered), squeeze=False) as (drawn, axes):
        for axis, a in zip(axes[0], answered, strict=True):
            n = np.array([x for x, _ in sups(a.runs[0])])
            found = np.array([[y for _, y in sups(run)] for run in a.runs])
            mean = np.exp(np.log(found).mean(0))
            lines = axis.plot(n, found.T, color=look.COLOURS[5], lw=0.5, alpha=0.6)
            lines[0].set_label("each seed")
            axis.plot(n, mean, color=look.COLOURS[0], marker="o", ms=3, label="mean over seeds")
            slow, fast = np.sqrt(np.log(n) / math.log(n[0])), (n / n[0]) ** 0.25
            axis.plot(
                n,
                mean[0] * slow,
                color=look.THEORY,
                ls="--",
                label="$\\sqrt{\\log n}$ through the first",
            )
            axis.plot(
                n,
                mean[0] * fast,
                color=look.COLOURS[4],
                ls=":",
                label="$n^{1/4}$ through the first",
            )
            columns |= {f"{a.case.name}: n": n, f"{a.case.name}: mean": mean}
            columns |= {f"{a.case.name}: seed {i}": line for i, line in enumerate(found)}
            if not a.case.control:
                s = sizes(a.case.settings[0])
                bound = np.array([approximation_bound(replace(s, n=int(k))) for k in n])
                axis.plot(n, bound, color=look.COLOURS[3], ls="-.", label="the bound")
                columns[f"{a.case.name}: bound"] = bound
            axis.set(xscale="log", yscale="log", xlabel="$n$", title=TITLES[a.case.name])
            axis.set_ylabel("sup of the approximation error" if axis is axes[0][0] else "")
        drawn.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=5)
        return look.write(drawn, folder, "samples-sup", columns)


def _widths(answered: Sequence[Answered], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 4.0, nrows=2, ncols=len(answered), squeeze=False) as (drawn, axes):
        for top, bottom, a in zip(axes[0], axes[1], answered, strict=True):
            found, m = needed(a.runs), sorted({heads_of(run) for run in a.runs})
            n = sorted({size for _, size in found})
            for number, size in enumerate(n):
                here = [run for run in a.runs if samples_of(run) == size]
                tried = sorted({heads_of(run) for run in here})
                loss = [
                    math.exp(np.mean([math.log(relative(r)) for r in here if heads_of(r) == width]))
                    for width in tried
                ]
                top.plot(
                    tried,
                    loss,
                    color=look.COLOURS[number],
                    ls=look.STYLES[number],
                    marker="o",
                    ms=2.5,
                    label=f"$n={size:,}$",
                )
                columns |= {
                    f"{a.case.name}: m at n = {size}": tried,
                    f"{a.case.name}: relative loss at n = {size}": loss,
                }
            top.axhline(LEVEL, color=look.THEORY, lw=0.6)
            top.set(xscale="log", yscale="log", xlabel="$m$", title=TITLES[a.case.name])
            top.legend(loc="upper right")
            seeds = sorted({seed for seed, _ in found})
            reached = [[min(found[seed, size], 2 * m[-1]) for size in n] for seed in seeds]
            mean = np.exp(np.log(reached).mean(0))
            for number, line in enumerate(reached):
                shift = 1.04 ** (
                    number - (len(seeds) - 1) / 2
                )  # so that seeds do not hide one another
                bottom.plot(
                    np.array(n) * shift,
                    line,
                    ls="",
                    marker="o",
                    mfc="none",
                    ms=3,
                    color=look.COLOURS[5],
                )
                columns[f"{a.case.name}: needed m, seed {seeds[number]}"] = line
            columns[f"{a.case.name}: n"] = n
            bottom.plot(n, mean, color=look.COLOURS[0], label="mean over seeds")
            bottom.plot(
                n,
                mean[0] * np.log(n) / math.log(n[0]),
                color=look.THEORY,
                ls="--",
                label="$\\log n$ through the first",
            )
            bottom.plot(
                n,
                mean[0] * np.array(n) / n[0],
                color=look.COLOURS[4],
                ls=":",
                label="$n$ through the first",
            )
            bottom.set(xscale="log", yscale="log", xlabel="$n$", ylim=(m[0] / 1.4, 3 * m[-1]))
            bottom.set_xticks(n, [f"{size:,}" for size in n])
            bottom.set_yticks([*m, 2 * m[-1]], [*(str(width) for width in m), "more"])
            bottom.minorticks_off()
            top.set_xticks(m, [str(width) for width in m])
            top.minorticks_off()
            low, high = top.get_ylim()
            low, high = max(low, 3e-5), max(high, 1.2)
            top.set_ylim(low, high * (high / low) ** 0.5)  # room for the legend above the level
            top.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if low > 0.01 else (1.0,)))
            top.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes[0][0].set_ylabel("min loss / $E[y^2]$")
        axes[1][0].set_ylabel("needed $m$")
        drawn.legend(*axes[1][0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return look.write(drawn, folder, "samples-width", columns)
