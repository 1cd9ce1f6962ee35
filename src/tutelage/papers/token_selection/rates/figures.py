"""The figures of `token-selection/rates`: the constant, the logarithm that is not there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tutelage.figures import look
from tutelage.papers.token_selection.setup import predict_constant, sizes_of
from tutelage.papers.token_selection.theory.collapse import followed_loss
from tutelage.run import Run
from tutelage.studies.study import Answered

CAPTIONS = {
    "rates": (
        "Left: the loss over N/(4t), one line per size, fixed and fresh codes; black, the closed "
        "curve of the first size; grey, ±3%. With random signs (dotted) the loss comes to a floor. "
        "Right: the size of the local slope of L·t, beside that of log t: it falls about like 1/t, "
        "and not like 1/log t."
    ),
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """The one figure, where there is a case of the law."""
    shown = [a for a in answered if a.case.name.startswith(("fixed-T", "fresh-T"))]
    signs = [a for a in answered if a.case.name == "random-signs"]
    return _rates(shown, signs, folder) if shown else []


def _rates(shown: Sequence[Answered], signs: Sequence[Answered], folder: Path) -> list[Path]:
    columns: dict[str, np.ndarray] = {}
    kinds = list(dict.fromkeys(a.case.name.partition("-")[0] for a in shown))
    with look.figure(look.PAGE, 2.7, ncols=2) as (drawn, (left, right)):
        left.axhspan(0.97, 1.03, color="0.88", lw=0, zorder=0)
        for place, a in enumerate(shown):
            number = kinds.index(a.case.name.partition("-")[0])
            first = kinds[number] not in [b.case.name.partition("-")[0] for b in shown[:place]]
            label = f"{kinds[number]} codes" if first else None
            style = {"color": look.COLOURS[number], "ls": look.STYLES[number], "lw": 0.9}
            (run,) = a.runs
            time, ratio = _ratio(run)
            left.plot(time, ratio, label=label, **style)
            middle, slope = _slopes(time, ratio)
            right.plot(middle, np.abs(slope), label=label, **style)
            columns |= {f"{a.case.name}: t": time, f"{a.case.name}: 4Lt/N": ratio}
        time, _ = _ratio(shown[0].runs[0])
        sizes = sizes_of(shown[0].case.settings[0])
        late = time > 10
        closed = followed_loss(sizes, time[late]) * time[late] * 4 / sizes.modes
        left.plot(time[late], closed, color=look.THEORY, lw=0.6, label="closed curve")
        for a in signs:
            time, ratio = _ratio(a.runs[0])
            left.plot(time, ratio, color=look.COLOURS[4], ls=":", label="random signs, m = 64")
            columns |= {"random-signs: t": time, "random-signs: 4Lt/N": ratio}
        left.set(
            xscale="log",
            yscale="log",
            xlim=(3, None),
            ylim=(0.3, 30),
            xlabel="$t$",
            ylabel=r"$L\,t\;/\;(N/4)$",
        )
        left.set_yticks([0.3, 1, 3, 10, 30], ["0.3", "1", "3", "10", "30"])
        left.minorticks_off()
        left.legend(loc="upper right")
        times = np.logspace(2, 8, 50)
        right.plot(times, 1 / np.log(times), color="0.4", ls="--", lw=0.8)
        right.text(1e6, 0.12, r"$\log t / t$", fontsize=7, color="0.3")
        right.set(
            xscale="log",
            yscale="log",
            xlim=(1e2, 2e8),
            ylim=(1e-7, 1),
            xlabel="$t$",
            ylabel=r"$|$local slope of $L\,t\,|$",
        )
        right.legend(loc="lower left")
        return look.write(drawn, folder, "rates", columns)


def _ratio(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """t, and L·t over N/4."""
    assert run.setting is not None
    late = run.steps > 0
    time = run.time[late]
    return time, run.curves["excess_risk"][late] * time / predict_constant(run.setting)


def _slopes(time: np.ndarray, ratio: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Local slopes over a quarter of a decade, where neighbouring points are so far apart."""
    apart = 6
    middle = np.sqrt(time[apart:] * time[:-apart])
    slope = np.log(ratio[apart:] / ratio[:-apart]) / np.log(time[apart:] / time[:-apart])
    return middle, slope
