"""The figure of `attention-svm/factored`: the constant of flow, and the direction of descent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tutelage.figures import look
from tutelage.studies.study import Answered

CAPTIONS = {
    "factored": (
        "Left: (L − L_α)·2tτ over ‖W_⋆‖_nuc (1 + 1/τ + 2/τ²) along flow on K and Q, one line per "
        "sample; grey, ±1%. Middle: 1 − corr(KQᵀ, W_⋆) along the same flows. Right: the same for "
        "normalised descent, with the published ridge of 2.2·10⁻¹⁶ and without."
    ),
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """The figure, where its cases are there."""
    named = {a.case.name: a for a in answered}
    if not {"flow", "ridge", "plain"} <= set(named):
        return []
    columns: dict[str, np.ndarray] = {}
    flows = [name for name in ("flow", "small-start") if name in named]
    with look.figure(look.PAGE, 2.4, ncols=3) as (drawn, (left, middle, right)):
        left.axhspan(0.99, 1.01, color="0.88", lw=0, zorder=0)
        left.axhline(1.0, color=look.THEORY, lw=0.7)
        for number, name in enumerate(flows):
            for k, run in enumerate(named[name].runs):
                style = {
                    "color": look.COLOURS[number],
                    "ls": look.STYLES[number],
                    "lw": 0.9,
                    "label": named[name].case.label if k == 0 else None,
                }
                left.plot(run.steps, run.curves["factored_ratio"], **style)
                middle.plot(run.steps, run.curves["nuclear_miss"], **style)
                columns |= {
                    f"{name} {k}: log10 t": run.steps,
                    f"{name} {k}: ratio": run.curves["factored_ratio"],
                    f"{name} {k}: 1 - corr": run.curves["nuclear_miss"],
                }
        left.set(ylim=(0.9, 1.12), xlabel=r"$\log_{10}t$", ylabel="excess over its prediction")
        middle.legend(loc="upper right")
        middle.set(
            yscale="log", xlabel=r"$\log_{10}t$", ylabel=r"$1-\mathrm{corr}(KQ^\top,W_\star)$"
        )
        for number, way in enumerate(("ridge", "plain")):
            runs = named[way].runs
            seen = np.array([run.curves["nuclear_miss"][1:] for run in runs])
            steps = runs[0].steps[1:]
            look.band(
                right,
                steps,
                seen,
                number + 2,
                middle=look.geometric,
                label=("with the ridge", "without")[number],
            )
            columns |= {f"{way}: k": steps, f"{way}: 1 - corr": look.geometric(seen)}
        right.set(xscale="log", yscale="log", xlabel="step $k$")
        right.legend(loc="lower left")
        return look.write(drawn, folder, "factored", columns)
