"""The figure of `token-selection/lengths`: losses on other lengths, and their ratios."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tutelage.claims import Constant
from tutelage.claims.claim import value_at
from tutelage.figures import look
from tutelage.studies.study import Answered

CAPTIONS = {
    "lengths": (
        "Left: the loss on T′ tokens of a head that is trained on T of them; dotted, fixed codes "
        "on positions that training never had. Right: its ratio to the loss on T tokens, over "
        "the predicted limit; grey, ±3%."
    ),
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """The one figure, where there is a length to show."""
    shown = [a for a in answered if not a.case.control]
    unseen = [a for a in answered if a.case.name == "unseen-positions"]
    return _lengths(shown, unseen, folder) if shown else []


def _lengths(shown: Sequence[Answered], unseen: Sequence[Answered], folder: Path) -> list[Path]:
    columns: dict[str, np.ndarray] = {}
    with look.figure(look.PAGE, 2.6, ncols=2) as (drawn, (left, right)):
        right.axhspan(0.97, 1.03, color="0.88", lw=0, zorder=0)
        first = shown[0].runs[0]
        left.plot(first.time[1:], first.curves["excess_risk"][1:], color=look.THEORY, lw=0.8)
        left.text(first.time[-1] * 3, first.curves["excess_risk"][-1], "$T$", fontsize=7)
        for number, a in enumerate([*shown, *unseen]):
            (run,) = a.runs
            style = {"color": look.COLOURS[number], "ls": look.STYLES[number], "lw": 1.0}
            if a.case.control:
                style |= {"color": look.COLOURS[4], "ls": ":"}
            time, there = run.time[1:], run.curves["length_loss"][1:]
            left.plot(time, there, label=a.case.label, **style)
            columns |= {f"{a.case.name}: t": time, f"{a.case.name}: L on T′": there}
            if a.case.control:
                continue
            claim, _ = a.find("ratio")
            assert isinstance(claim, Constant)
            ratio = run.curves["length_ratio"][1:] / value_at(claim.value, run)
            right.plot(time, ratio, label=a.case.label, **style)
            columns[f"{a.case.name}: ratio over its limit"] = ratio
        left.set(xscale="log", yscale="log", xlabel="$t$", ylabel="loss on $T'$ tokens")
        left.legend(loc="lower left")
        right.set(
            xscale="log",
            xlim=(10, None),
            ylim=(0, 1.4),
            xlabel="$t$",
            ylabel=r"$L_{T'}/L_T$ over its limit",
        )
        right.legend(loc="lower right")
        return look.write(drawn, folder, "lengths", columns)
