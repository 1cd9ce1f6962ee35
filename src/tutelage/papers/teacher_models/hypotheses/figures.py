"""The figure of `teacher-models/hypotheses`: one teacher at step sizes inside and outside the
condition, and every constant at both.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from tutelage.claims import Constant
from tutelage.claims.claim import NotYet
from tutelage.figures import look
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.readings import read_late
from tutelage.run import Run
from tutelage.studies.study import Answered

CAPTIONS = {
    "hypotheses": (
        "Left: one teacher at step sizes inside and outside the theorem's condition, against "
        "ηT. Right: measured over predicted constants."
    ),
}

LABELS = {
    "excess-constant": r"excess$\,\cdot\,\eta T$",
    "value-constant": r"$\|W_V-V^*\|$",
    "attention-constant": r"$\|S-S^*\|$",
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """One teacher at step sizes inside and outside the theorem's condition, against ηT, and the
    constants of every run over what is predicted.
    """
    sweep = [a for a in answered if a.case.name == "step-sizes"]
    judged = [
        a
        for a in answered
        if any(isinstance(claim, Constant) for claim in a.case.claims) and not a.case.control
    ]
    if not sweep and not judged:
        return []
    columns: dict[str, look.Column] = {}
    with look.figure(look.PAGE, 2.9, ncols=2) as (drawn, (left, right)):
        for a in sweep:
            _curves(left, a, columns)
        left.set_visible(bool(sweep))
        _constants(right, judged, columns)
        return look.write(drawn, folder, "hypotheses", columns)


def _curves(axis: Axes, a: Answered, columns: dict[str, look.Column]) -> None:
    runs = [
        run
        for run in a.runs
        if run.setting is not None and run.setting.seed == a.case.settings[0].seed
    ]
    if ends := [end for run in a.runs for end in _read_in(run)]:
        look.window(axis, min(ends), max(ends), "read here")
    for i, run in enumerate(runs):
        assert run.setting is not None
        multiple = run.setting.rate / theory.theorem_rate(run.setting)
        time, excess = run.time[1:], run.curves["excess_risk"][1:]
        label = rf"${multiple:g}\,/(MD^{{5/2}})$"
        # Coarse steps as circles, the finest as a line: they would hide one another as lines.
        if i == 0:
            axis.plot(time, excess, color=look.COLOURS[0], label=label, ls="-", lw=1.0)
        else:
            some = slice(i % 6, None, 6)
            axis.plot(
                time[some],
                excess[some],
                color=look.COLOURS[i % 6],
                label=label,
                ls="",
                marker="o",
                ms=6.5 - 1.1 * i,
                mfc="none",
            )
        columns |= {f"{multiple:g}: time": time, f"{multiple:g}: excess": excess}
    longest = max(run.time[-1] for run in runs)
    tail = np.geomspace(longest / 100, longest, 2)
    axis.plot(
        tail,
        theory.counting_law(a.case.settings[0]) / tail,
        color=look.THEORY,
        lw=0.7,
        ls="--",
        label="counting law",
    )
    axis.set(
        xscale="log",
        yscale="log",
        xlabel=r"time $\eta T$",
        ylabel="excess risk",
        title="CNN, ReLU, $D=8$, $K=2$, $M=1$",
    )
    axis.set_ylim(bottom=axis.get_ylim()[0] / 3)  # room for what the window says
    axis.legend(title=r"step size $\eta$", title_fontsize=7, loc="lower left")


def _read_in(run: Run) -> tuple[float, ...]:
    """From where to where the limit of the excess is read, in ηT; nothing where the run is too
    short.
    """
    assert run.rate is not None
    try:
        first, last = read_late(run, theory.LAW["excess"]).span
    except NotYet:
        return ()
    return run.rate * first, run.rate * last


def _constants(axis: Axes, judged: Sequence[Answered], columns: dict[str, look.Column]) -> None:
    axis.axvspan(0.97, 1.03, color="0.9", lw=0)
    axis.vlines(1.0, -0.7, len(judged) - 0.4, color=look.THEORY, lw=0.7)  # not through the legend
    rows = np.arange(len(judged))[::-1]
    for i, (claim, label) in enumerate(LABELS.items()):
        shown: str | None = label  # once in the legend
        for row, a in zip(rows, judged, strict=True):
            _, verdict = a.find(claim)
            if verdict.measured is None or verdict.interval is None:
                continue
            assert verdict.predicted is not None
            at, low, high = (
                value / verdict.predicted for value in (verdict.measured, *verdict.interval)
            )
            y, colour = row + 0.22 * (1 - i), look.COLOURS[i]
            axis.plot([low, high], [y, y], color=colour, lw=1.2)
            axis.plot([at], [y], ls="", marker="osD"[i], ms=3, color=colour, label=shown)
            shown = None
            name = f"{a.case.name}: {claim}, measured, low, high over predicted"
            columns[name] = [at, low, high]
    names = [
        a.case.label.replace("1/(M D^5/2)", "$1/(MD^{5/2})$").replace("η = ", r"$\eta=$")
        for a in judged
    ]
    axis.set_yticks(rows, names, fontsize=6.5)
    axis.set(
        xlabel="measured / predicted",
        xlim=(0.95, 1.05),
        ylim=(-1.7, len(judged) - 0.4),
        title="constants; grey: ±3%",
    )
    if axis.get_legend_handles_labels()[0]:  # else every run was too short for a constant
        axis.legend(loc="lower center", fontsize=6, handletextpad=0.2, ncols=3, columnspacing=1.0)
