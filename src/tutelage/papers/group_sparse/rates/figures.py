"""The figure of `group-sparse/rates`: both laws, and the control that leaves them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tutelage.figures import look
from tutelage.papers.group_sparse.readings import setting_of
from tutelage.papers.group_sparse.theory.laws import read_groups
from tutelage.studies.study import Answered

CAPTIONS = {
    "laws": (
        "Left: the risk along gradient flow; dashed with sine codes, dotted the control with a "
        "margin of 0.1, which falls like 1/t. Middle and right: the risk times t^{1/3} and the "
        "missed attention times t^{2/3}, over their predicted constants; grey, ±0.5%."
    ),
}
STYLES = {"unit": "-", "sine": "--"}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Risk and both levels against time, for the cases that there are."""
    named = {a.case.name: a for a in answered}
    shown = [named[name] for name in STYLES if name in named]
    if not shown:
        return []
    columns: dict[str, np.ndarray] = {}
    with look.figure(look.PAGE, 2.5, ncols=3) as (drawn, (left, middle, right)):
        for axis in (middle, right):
            axis.axhspan(0.995, 1.005, color="0.88", lw=0, zorder=0)
            axis.axhline(1.0, color=look.THEORY, lw=0.7)
        for a in shown:
            for number, run in enumerate(a.runs):
                groups = read_groups(setting_of(run))
                style = {
                    "color": look.COLOURS[number % len(look.COLOURS)],
                    "ls": STYLES[a.case.name],
                    "lw": 0.9,
                    "label": f"$D={groups}$" if a.case.name == shown[0].case.name else None,
                }
                left.plot(run.steps, run.curves["risk"], **style)
                middle.plot(run.steps, run.curves["risk_level"], **style)
                right.plot(run.steps, run.curves["missed_level"], **style)
                name = f"{a.case.name} D={groups}"
                columns |= {
                    f"{name}: t": run.steps.astype(float),
                    f"{name}: L": run.curves["risk"],
                    f"{name}: L·t^(1/3) over law": run.curves["risk_level"],
                    f"{name}: (1−s)·t^(2/3) over law": run.curves["missed_level"],
                }
        if "margin" in named:
            run = named["margin"].runs[0]
            left.plot(run.steps, run.curves["risk"], color="0.3", ls=":", lw=1.1)
            columns |= {"margin: t": run.steps.astype(float), "margin: L": run.curves["risk"]}
        left.set(xscale="log", yscale="log", xlabel="$t$", ylabel="risk $L$", ylim=(1e-6, 1))
        left.legend(loc="lower left")
        middle.set(ylabel=r"$L\,t^{1/3}\,a/c_0$")
        right.set(ylabel=r"$(1-s)\,t^{2/3}\,b/(D-1)$")
        for axis in (middle, right):
            axis.set(xscale="log", xlabel="$t$", xlim=(100, None), ylim=(0.98, 1.08))
        return look.write(drawn, folder, "laws", columns)
