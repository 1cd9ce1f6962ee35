"""The figure of `group-sparse/full-attention`: the norms of all blocks along descent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tutelage.figures import look
from tutelage.studies.study import Answered

CAPTIONS = {
    "blocks": (
        "Norms of the blocks of W and of both parts of v along descent on fresh batches, one line "
        "per seed: sine codes on the left, unit codes on the right."
    ),
}
BLOCKS = {
    "code_block": "$W_{22}$",
    "value_block": "$W_{11}$",
    "cross_blocks": "$W_{12}, W_{21}$",
    "value_part": "$v_1$",
    "code_part": "$v_2$",
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """One panel for each kind of codes."""
    named = {a.case.name: a for a in answered}
    if not {"sine", "unit"} <= set(named):
        return []
    columns: dict[str, np.ndarray] = {}
    with look.figure(look.PAGE, 2.6, ncols=2) as (drawn, axes):
        for axis, codes in zip(axes, ("sine", "unit"), strict=True):
            for number, (block, label) in enumerate(BLOCKS.items()):
                for k, run in enumerate(named[codes].runs):
                    shown = label if k == 0 else None
                    axis.plot(
                        run.steps,
                        run.curves[block],
                        color=look.COLOURS[number],
                        lw=0.9,
                        label=shown,
                    )
                    columns |= {
                        f"{codes} {k}: step": run.steps.astype(float),
                        f"{codes} {k}: {block}": run.curves[block],
                    }
            axis.set(
                xscale="log",
                yscale="log",
                xlabel="step",
                ylabel=f"norm, {codes} codes",
                ylim=(2e-4, 30),
            )
        axes[0].legend(loc="lower right", ncols=2)
        return look.write(drawn, folder, "blocks", columns)
