"""The figure of `teacher-models/inputs`: every law over its prediction, and the least cosine of
each.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tutelage.figures import look
from tutelage.papers.teacher_models.inputs.trainings import ACTIVATIONS, EXACT, INPUT_LAWS
from tutelage.papers.teacher_models.theory import slow_weights
from tutelage.studies.study import Answered

CAPTIONS = {
    "inputs-law": (
        "Left: every law of inputs over the counting law, against the step in plateaus. "
        "Right: the least cosine of W_V and V*."
    ),
}

GROUPS = (
    ("population, exact", EXACT),
    ("fixed samples: laws, identity", INPUT_LAWS),
    ("fixed samples: activations", ACTIVATIONS),
)


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """One figure of all cases that are no controls."""
    shown = [
        (i, a) for i, (_, names) in enumerate(GROUPS) for a in answered if a.case.name in names
    ]
    return _collapse(shown, folder) if shown else []


def _collapse(shown: Sequence[tuple[int, Answered]], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 3.4, ncols=2, width_ratios=(1.35, 1)) as (drawn, (left, right)):
        for i, a in shown:
            for run in a.runs:
                assert run.setting is not None
                late = run.steps >= 10
                time = run.steps[late] / slow_weights.plateau(run.setting)
                ratio = (
                    run.curves["training_risk"][late]
                    * run.time[late]
                    / slow_weights.counting_law(run.setting)
                )
                left.plot(time, ratio, color=look.COLOURS[i], ls=look.STYLES[i], lw=0.7, alpha=0.8)
                columns |= {
                    f"{a.case.name}, seed {run.setting.seed}: plateaus": time,
                    f"{a.case.name}, seed {run.setting.seed}: ratio": ratio,
                }
        for i, (label, _) in enumerate(GROUPS):
            left.plot([], [], color=look.COLOURS[i], ls=look.STYLES[i], label=label)
        left.axhline(1.0, color=look.THEORY, lw=0.7)
        left.set(
            xscale="log",
            yscale="log",
            xlabel="steps over plateau",
            ylabel=r"excess$\,\cdot\,4\eta T\;/\;\Sigma_i K_i(D-K_i)$",
            ylim=(0.85, 12),
        )
        left.set_yticks([1, 2, 4, 8], ["1", "2", "4", "8"])
        left.minorticks_off()
        left.legend(loc="upper right")
        for row, (i, a) in enumerate(shown):
            least = np.array([run.curves["cosine"][1:].min() for run in a.runs])
            right.plot(
                least, np.full(len(least), row), "o", ms=3.5, mfc="none", color=look.COLOURS[i]
            )
            columns[f"{a.case.name}: least cosine"] = least
        right.axvline(1.0, color=look.THEORY, lw=0.7)
        right.set_yticks(range(len(shown)), [a.case.label for _, a in shown], fontsize=6)
        right.invert_yaxis()
        right.set(xlabel=r"least cosine($W_V$, $V^*$), a seed each")
        return look.write(drawn, folder, "inputs-law", columns)
