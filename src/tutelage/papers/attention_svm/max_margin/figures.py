"""The figures of `attention-svm/max-margin`: the constant, the direction, and late switches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tutelage.figures import look
from tutelage.papers.attention_svm.setup import programme_of, sample_of
from tutelage.papers.attention_svm.theory.approach import miss_of_direction
from tutelage.run import Run
from tutelage.studies.study import Answered

CAPTIONS = {
    "law": (
        "Left: (L − L_α)·t over ‖W^mm‖² along gradient flow, one line per sample; grey, ±3%. "
        "Right: 1 − corr(W, W^mm) against log t; black, the closed form of each orthonormal "
        "sample."
    ),
    "switches": (
        "The number of sequences that do not attend to their best token, along flow from zero. "
        "On random tokens flow may sit at a selection that is not locally optimal for ten decades "
        "before it leaves."
    ),
}
SHOWN = ("sphere", "equal-scores", "orthonormal")


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Every figure for which there are cases."""
    named = {a.case.name: a for a in answered}
    shown = [named[name] for name in SHOWN if name in named]
    if not shown:
        return []
    paths = _law(shown, folder)
    return paths + (_switches(named["sphere"], folder) if "sphere" in named else [])


def _law(shown: Sequence[Answered], folder: Path) -> list[Path]:
    columns: dict[str, np.ndarray] = {}
    with look.figure(look.PAGE, 2.7, ncols=2) as (drawn, (left, right)):
        left.axhspan(0.97, 1.03, color="0.88", lw=0, zorder=0)
        left.axhline(1.0, color=look.THEORY, lw=0.7)
        for number, a in enumerate(shown):
            for k, run in enumerate(a.runs):
                style = {
                    "color": look.COLOURS[number],
                    "ls": look.STYLES[number],
                    "lw": 0.9,
                    "label": a.case.label if k == 0 else None,
                }
                name = f"{a.case.name} {_seed(run)}"
                left.plot(run.steps, run.curves["constant_ratio"], **style)
                late = run.steps >= 100
                log_time, miss = run.curves["log_time"][late], run.curves["direction_miss"][late]
                right.plot(log_time, miss, **style)
                columns |= {
                    f"{name}: t": run.steps.astype(float),
                    f"{name}: (L − L_α)·t/‖W^mm‖²": run.curves["constant_ratio"],
                    f"{name}: 1 − corr": run.curves["direction_miss"],
                }
                if a.case.name == "orthonormal":
                    right.plot(log_time, _predict(run, log_time), color=look.THEORY, lw=0.6)
        left.set(
            xscale="log",
            ylim=(0.95, 1.15),
            xlim=(1e3, None),
            xlabel="$t$",
            ylabel=r"$(L-L_\alpha)\,t\;/\;\|W^{mm}\|^2$",
        )
        left.legend(loc="upper right")
        guide = np.array([12.0, 36.0])
        for power, where in ((-1, 0.14), (-2, 0.14)):
            right.plot(guide, where * (guide / guide[0]) ** power, color="0.5", lw=0.7, ls=":")
            right.text(
                guide[1], where * 3.0**power, f" $\\log^{{{power}}}t$", fontsize=6.5, va="center"
            )
        right.set(
            xscale="log",
            yscale="log",
            xlim=(4.6, 48),
            xlabel=r"$\log t$",
            ylabel=r"$1-\mathrm{corr}(W,W^{mm})$",
        )
        right.set_xticks([5, 10, 20, 40], ["5", "10", "20", "40"])
        right.minorticks_off()
        return look.write(drawn, folder, "law", columns)


def _switches(a: Answered, folder: Path) -> list[Path]:
    columns: dict[str, np.ndarray] = {}
    with look.figure(look.COLUMN, 2.3) as (drawn, axis):
        for k, run in enumerate(a.runs[:6]):
            wrong = run.curves["wrong_selections"]
            # A little apart, so that lines at one height are seen.
            axis.step(
                run.steps,
                wrong + 0.08 * (k - 2.5),
                where="post",
                color=look.COLOURS[k % 6],
                lw=1.0,
                label=f"seed {_seed(run)}",
            )
            name = f"seed {_seed(run)}"
            columns |= {f"{name}: t": run.steps.astype(float), name: wrong}
        axis.set(
            xscale="log", xlabel="$t$", ylabel="sequences not at\ntheir best token", xlim=(1, None)
        )
        axis.yaxis.get_major_locator().set_params(integer=True)
        axis.legend(ncols=2, loc="upper right")
        return look.write(drawn, folder, "switches", columns)


def _predict(run: Run, log_time: np.ndarray) -> np.ndarray:
    assert run.setting is not None
    sample = sample_of(run.setting)
    return miss_of_direction(programme_of(sample, sample.best.tolist()), log_time)


def _seed(run: Run) -> int:
    return run.setting.seed if run.setting is not None else 0
