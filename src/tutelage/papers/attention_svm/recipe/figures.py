"""The figure of `attention-svm/recipe`: direction and margin in both arithmetics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tutelage.figures import look
from tutelage.studies.study import Answered

CAPTIONS = {
    "stall": (
        "Normalised descent on W in plain double precision, as published, and in log domain. "
        "Left: 1 − corr(W, W^mm). Right: the smallest margin; dotted, −log 2.2·10⁻¹⁶ = 36. Lines "
        "are means over runs (geometric on the left), shaded from the least to the largest."
    ),
}
LABELS = {"recipe": "published recipe", "log-domain": "in log domain"}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """The figure, where its cases are there."""
    named = {a.case.name: a for a in answered}
    if not set(LABELS) <= set(named):
        return []
    columns: dict[str, np.ndarray] = {}
    with look.figure(look.PAGE, 2.4, ncols=2) as (drawn, (left, right)):
        for number, (name, label) in enumerate(LABELS.items()):
            runs = named[name].runs
            kept = runs[0].steps >= 10
            steps = runs[0].steps[kept]
            away, margin = (
                np.array([run.curves[curve][kept] for run in runs])
                for curve in ("direction_miss", "smallest_margin")
            )
            mean, *_ = look.band(left, steps, away, 1 - number, middle=look.geometric, label=label)
            height, *_ = look.band(right, steps, margin, 1 - number, label=label)
            columns |= {"k": steps, f"{label}: 1 - corr": mean, f"{label}: margin": height}
        left.set(
            xscale="log", yscale="log", xlabel="step $k$", ylabel=r"$1-\mathrm{corr}(W,W^{mm})$"
        )
        left.legend(loc="lower left")
        right.axhline(-np.log(np.finfo(float).eps), color=look.THEORY, ls=":", lw=0.9)
        right.set(xlabel="step $k$", ylabel="smallest margin")
        return look.write(drawn, folder, "stall", columns)
