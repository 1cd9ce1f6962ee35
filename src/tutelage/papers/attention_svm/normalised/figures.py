"""The figure of `attention-svm/normalised`: correlations, excess and softmax of the runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tutelage.figures import look
from tutelage.papers.attention_svm.readings import final_programme
from tutelage.papers.attention_svm.setup import RATE
from tutelage.studies.study import Answered

CAPTIONS = {
    "descent": (
        "Left: mean correlation of W with W^mm of the selection it ends at, with that of the best "
        "tokens, and the mean largest softmax weight. Middle: 1 − corr, the middle half of the "
        "runs shaded; dotted, k^−2. Right: log excess against ηk/‖W^mm‖, one line per run; black, "
        "slope −1."
    ),
}
SHOWN_RUNS = 12


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """The figure, where its case is there."""
    named = {a.case.name: a for a in answered}
    if "published" not in named:
        return []
    runs = named["published"].runs
    steps = runs[0].steps[1:]
    own, best, top = (
        np.array([run.curves[name][1:] for run in runs])
        for name in ("direction_miss", "best_miss", "top_weight")
    )
    columns = {
        "k": steps,
        "mean correlation, own selection": 1 - own.mean(0),
        "mean correlation, best tokens": 1 - best.mean(0),
        "mean largest softmax weight": top.mean(0),
        "1 - corr, median": np.median(own, axis=0),
    }
    with look.figure(look.PAGE, 2.3, ncols=3) as (drawn, (left, middle, right)):
        names = ("own selection", "best tokens", "largest weight")
        for number, (name, curve) in enumerate(
            zip(names, (1 - own.mean(0), 1 - best.mean(0), top.mean(0)), strict=True)
        ):
            left.plot(steps, curve, color=look.COLOURS[number], ls=look.STYLES[number], label=name)
        left.set(xlim=(0, 1000), ylim=(0, 1.02), xlabel="step $k$", ylabel="mean over runs")
        left.legend(loc="lower right")
        low, mid, high = np.percentile(own, [25, 50, 75], axis=0)
        middle.fill_between(steps, low, high, color=look.COLOURS[0], alpha=0.2, lw=0)
        middle.plot(steps, mid, color=look.COLOURS[0])
        guide = np.array([300.0, float(steps[-1])])
        middle.plot(guide, 0.2 * (guide / 300) ** -2.0, color="0.4", ls=":", lw=0.9)
        middle.set(
            xscale="log", yscale="log", xlabel="step $k$", ylabel=r"$1-\mathrm{corr}(W,W^{mm})$"
        )
        for number, run in enumerate(runs[:SHOWN_RUNS]):
            scaled = RATE * run.steps / np.sqrt(final_programme(run).square)
            fall = run.curves["log_excess"]
            right.plot(scaled, fall, lw=0.7, color=look.COLOURS[number % 6], alpha=0.8)
            columns |= {f"run {number}: ηk/‖W^mm‖": scaled, f"run {number}: log excess": fall}
        far = max(float(line.get_xdata()[-1]) for line in right.get_lines())
        right.plot([0, far], [-3, -3 - far], color=look.THEORY, lw=0.9)
        right.set(xlabel=r"$\eta k/\|W^{mm}\|$", ylabel=r"$\log(L-L_\alpha)$")
        return look.write(drawn, folder, "descent", columns)
