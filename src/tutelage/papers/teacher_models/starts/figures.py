"""The figures of `teacher-models/starts`: power laws beside exponentials, and random starts of
every scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from tutelage.claims.claim import NotYet
from tutelage.figures import look, windows
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.starts.patterns import DECAYS, POWER_LAWS, STARTS
from tutelage.papers.teacher_models.starts.readings import sixths
from tutelage.papers.teacher_models.starts.selections import SUPPORT, TOKENS
from tutelage.papers.teacher_models.theory import decay
from tutelage.run import Run
from tutelage.studies.study import Answered

CAPTIONS = {
    "starts-patterns": (
        "Left: zeros in S* give a power law, and a leak looks like one for long. Right: no "
        "zeros, over the first excess, against μηT."
    ),
    "starts-random": (
        "Excess and alignment from random starts of every scale; the range over seeds is shaded."
    ),
}

# Below 1 the curves lie on one another.
SHOWN = ("start-0.001", "start-1", "start-3", "start-10", "start-30")
LEAKS = "leak-late"
Style = str | tuple[int, tuple[int, ...]]  # a colour, or dashes


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Both figures, as far as there are cases for them."""
    laws = [a for a in answered if a.case.name in POWER_LAWS]
    decays = [a for a in answered if a.case.name in ("all-tokens", *DECAYS)]
    starts = [a for a in answered if a.case.name in SHOWN and a.case.name in STARTS]
    leaks = [a for a in answered if a.case.name == LEAKS]
    paths = _patterns(laws, leaks, decays, folder) if laws or decays else []
    return paths + (_starts(starts, folder) if starts else [])


def _patterns(
    laws: Sequence[Answered], leaks: Sequence[Answered], decays: Sequence[Answered], folder: Path
) -> list[Path]:
    """Left: zeros in S*, log-log, and a leak that looks like them for long. Right: no zeros, over
    the first excess, against μηT.
    """
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 3.1, ncols=2) as (drawn, (left, right)):
        if (
            read := windows.shared(windows.named(laws, "excess-constant"), windows.time)
        ) is not None:
            look.window(left, *read, "read here", side="left")
        for i, a in enumerate(laws):
            law = theory.counting_law(a.case.settings[0])
            _band(
                left,
                a,
                "excess over law",
                [run.curves["excess_risk"] * run.time / law for run in a.runs],
                columns,
                i,
            )
        for a in leaks:
            pooling = TOKENS * SUPPORT * (TOKENS - SUPPORT) / 4  # were nothing leaked
            curves = [run.curves["excess_risk"] * run.time / pooling for run in a.runs]
            _band(left, a, "excess over law", curves, columns, color="0.45", ls=(0, (1, 1)))
        left.axhline(1.0, color=look.THEORY, lw=0.7)
        left.set(
            xscale="log",
            yscale="log",
            ylim=(0.1, 30),
            xlabel=r"time $\eta T$",
            title="zeros in $S^*$, and a leak",
        )
        left.set_ylabel(r"excess$\,\cdot\,4\eta T\;/\;\Sigma_i K_i(D-K_i)$")
        left.legend(loc="upper right")
        ends = []
        for i, a in enumerate(decays):
            rates = [decay.decay(setting) for setting in a.case.settings]
            for n, (run, rate) in enumerate(zip(a.runs, rates, strict=True)):
                ends += [rate * at for at in _last_sixth(run)]
                kept = run.curves["excess_risk"] > 1e-25 * run.curves["excess_risk"][0]
                time, left_over = (
                    (rate * run.time)[kept],
                    (run.curves["excess_risk"] / run.curves["excess_risk"][0])[kept],
                )
                style = {
                    "color": look.COLOURS[i % 6],
                    "ls": look.STYLES[i % 6],
                    "label": a.case.label if n == 0 else None,
                }
                right.plot(time, left_over, **style)
                columns |= {
                    f"{a.case.name} {n}: mu eta T": time,
                    f"{a.case.name} {n}: excess over the first": left_over,
                }
        if ends:
            look.window(right, min(ends), max(ends), "read here", side="left")
        along = np.array([0.0, 26.0])
        right.plot(along, np.exp(-2 * along), color=look.THEORY, lw=0.7, label=r"$e^{-2\mu\eta T}$")
        right.set(
            yscale="log",
            xlim=(0, 30),
            ylim=(1e-25, 3),
            xlabel=r"time $\mu\,\eta T$",
            ylabel="excess over the first",
            title="no zeros in $S^*$",
        )
        right.legend(loc="upper right")
        return look.write(drawn, folder, "starts-patterns", columns)


def _last_sixth(run: Run) -> tuple[float, ...]:
    """From where to where its decay is read, in ηT; nothing where it has not fallen far enough."""
    try:
        return tuple(sixths(run)[1:])
    except NotYet:
        return ()


def _starts(starts: Sequence[Answered], folder: Path) -> list[Path]:
    """Excess and alignment from random starts, the range over seeds shaded."""
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 2.9, ncols=2) as (drawn, (left, right)):
        if (read := windows.shared(windows.named(starts, "excess-rate"), windows.time)) is not None:
            look.window(left, *read, "slopes are read here")
        for i, a in enumerate(starts):
            _band(left, a, "excess", [run.curves["excess_risk"] for run in a.runs], columns, i)
            _band(right, a, "cosine", [run.curves["cosine"] for run in a.runs], columns, i)
        time = np.geomspace(3.0, 6e4, 20)
        left.plot(
            time,
            theory.counting_law(starts[0].case.settings[0]) / time,
            color=look.THEORY,
            lw=0.7,
            label="counting law",
        )
        left.set(
            xscale="log",
            yscale="log",
            xlabel=r"time $\eta T$",
            ylabel="excess risk",
            title=r"random starts, entries $N(0,s^2)$",
        )
        left.legend(loc="lower left")
        right.axhline(1.0, color=look.THEORY, lw=0.7)
        right.set(
            xscale="log",
            xlim=(0.02, 100),
            ylim=(-0.3, 1.05),
            xlabel=r"time $\eta T$",
            ylabel=r"$\cos(W_V, V^*)$",
            title="alignment",
        )
        return look.write(drawn, folder, "starts-random", columns)


def _band(
    axis: Axes,
    a: Answered,
    what: str,
    curves: Sequence[Float[np.ndarray, "points"]],
    columns: dict[str, Any],
    i: int = 0,
    **style: Style,
) -> None:
    """Median over seeds, the range shaded."""
    shortest = min(len(curve) for curve in curves)
    time = a.runs[0].time[1:shortest]
    stacked = np.stack([curve[1:shortest] for curve in curves])
    found = look.band(
        axis,
        time,
        stacked,
        i,
        middle=lambda seeds: np.median(seeds, axis=0),
        label=a.case.label,
        **style,
    )
    name = f"{a.case.name} {what}"
    columns |= {f"{name}: time": time} | dict(
        zip((f"{name}: {word}" for word in ("median", "least", "most")), found, strict=True)
    )
