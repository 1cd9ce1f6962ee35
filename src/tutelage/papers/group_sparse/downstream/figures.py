"""The figure of `group-sparse/downstream`: errors along a new task, and over D."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tutelage.figures import look
from tutelage.papers.group_sparse.readings import setting_of
from tutelage.papers.group_sparse.theory.laws import read_groups
from tutelage.run import Run
from tutelage.studies.study import Answered

CAPTIONS = {
    "downstream": (
        "Left: the error after n samples of a new task, means over seeds; full lines with frozen "
        "attention, dashed on all features. Right: the error after all samples against D, with "
        "standard deviations of seeds."
    ),
}
SHOWN = {"frozen": "-", "vectorised": "--"}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Both learners, where they are there."""
    named = {a.case.name: a for a in answered}
    if not set(SHOWN) <= set(named):
        return []
    columns: dict[str, np.ndarray] = {}
    with look.figure(look.PAGE, 2.6, ncols=2) as (drawn, (left, right)):
        for number, (name, style) in enumerate(SHOWN.items()):
            per_groups = _by_groups(named[name].runs)
            ends = []
            for k, (groups, runs) in enumerate(per_groups.items()):
                errors = np.array([run.curves["error"] for run in runs])
                label = f"$D={groups}$" if name == "frozen" else None
                left.plot(runs[0].steps, errors.mean(0), style, color=look.COLOURS[k], label=label)
                columns |= {
                    f"{name} D={groups}: n": runs[0].steps.astype(float),
                    f"{name} D={groups}: error": errors.mean(0),
                }
                ends.append((groups, errors[:, -1].mean(), errors[:, -1].std()))
            groups_axis, means, spreads = np.array(ends).T
            shown = {"color": look.COLOURS[number], "marker": "o", "ms": 3.0, "lw": 1.0}
            word = "frozen attention" if name == "frozen" else "all features"
            right.errorbar(groups_axis, means, spreads, label=word, **shown)
        left.set(xscale="log", yscale="log", xlabel="samples $n$", ylabel="error")
        left.legend(loc="lower left")
        right.set(xscale="log", yscale="log", xlabel="$D$", ylabel="error after all samples")
        shown_groups = list(_by_groups(named["frozen"].runs))
        right.set_xticks(shown_groups, [str(groups) for groups in shown_groups])
        right.minorticks_off()
        right.legend(loc="center right")
        return look.write(drawn, folder, "downstream", columns)


def _by_groups(runs: Sequence[Run]) -> dict[int, list[Run]]:
    found: dict[int, list[Run]] = {}
    for run in runs:
        found.setdefault(read_groups(setting_of(run)), []).append(run)
    return found
