"""The figure of `in-context-autoregression/augmented`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tutelage.figures import look
from tutelage.papers.in_context_autoregression.theory.gradient_step import best_size, least_loss
from tutelage.studies.study import Answered

CAPTIONS = {
    "floor": (
        "Left: the size of the step over prefixes 1, …, N; black, 3/(2N + 3d − 2). Right: the loss "
        "per coordinate; black, its closed form; dotted, ¼. Orange, Haar matrices at one N."
    ),
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """The figure, where its cases are there."""
    named = {a.case.name: a for a in answered}
    if "lengths" not in named:
        return []
    return _floor(named["lengths"], named.get("haar"), folder)


def _floor(lengths: Answered, haar: Answered | None, folder: Path) -> list[Path]:
    shown = [(lengths, look.COLOURS[0], "independent angles")]
    shown += [] if haar is None else [(haar, look.COLOURS[1], "Haar matrices")]
    columns: dict[str, np.ndarray] = {}
    with look.figure(look.PAGE, 2.4, ncols=2) as (drawn, (left, right)):
        for a, colour, label in shown:
            settings = [run.setting for run in a.runs if run.setting is not None]
            n = np.array([s.teacher.options["prefixes"] for s in settings])
            size = np.array([run.curves["step_size"][-1] for run in a.runs])
            loss = np.array([run.curves["augmented_loss"][-1] for run in a.runs])
            style = {"ls": "", "marker": "o", "ms": 4, "color": colour, "label": label}
            left.plot(n, size, **style)
            right.plot(n, loss, **style)
            columns |= {f"{label}: N": n, f"{label}: x": size, f"{label}: loss": loss}
        dim = int(lengths.case.settings[0].teacher.options["dim"])
        every = np.unique(np.logspace(1, 3, 60).astype(int))
        left.plot(every, [best_size(dim, k) for k in every], color=look.THEORY, lw=0.8)
        right.plot(every, [least_loss(dim, k) for k in every], color=look.THEORY, lw=0.8)
        right.axhline(0.25, color="0.5", ls=":", lw=0.8)
        left.set(xscale="log", yscale="log", xlabel="$N$", ylabel="size $x$ of the step")
        right.set(xscale="log", ylim=(0, 0.7), xlabel="$N$", ylabel="loss per coordinate")
        left.legend()
        return look.write(drawn, folder, "floor", columns)
