"""The figure of `attention-svm/local-optima`: where runs end, and which starts stay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tutelage.figures import look
from tutelage.studies.study import Answered

CAPTIONS = {
    "ends-and-starts": (
        "Left: runs from random starts by how many sequences end at another token than their "
        "best; every one of these ends is locally optimal. Right: the share of starts at R·W^mm "
        "that stay; orange, starts at selections that are not locally optimal."
    ),
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """The figure, where its cases are there."""
    named = {a.case.name: a for a in answered}
    far = [a for a in answered if a.case.name.startswith("R")]  # R5, R15, …
    if "random-starts" not in named or not far:
        return []
    wrong = np.array([run.curves["wrong_selections"][-1] for run in named["random-starts"].runs])
    counts = np.bincount(wrong.astype(int), minlength=3)
    lengths = [int(a.case.name[1:]) for a in far]
    stay = [1 - np.array([run.curves["left"][-1] for run in a.runs]) for a in far]
    with look.figure(look.PAGE, 2.3, ncols=2) as (drawn, (left, right)):
        left.bar(np.arange(len(counts)), counts, color=look.COLOURS[0], width=0.7)
        for at, count in enumerate(counts):
            left.text(at, count, f"{count}", ha="center", va="bottom", fontsize=7)
        left.set(xlabel="sequences that end at another token", ylabel="runs")
        left.set_xticks(np.arange(len(counts)))
        shares = [float(found.mean()) for found in stay]
        right.plot(lengths, shares, color=look.COLOURS[0], marker="o", ms=3.5, label="optimal")
        for length, found in zip(lengths, stay, strict=True):
            label = f"{int(found.sum())} of {len(found)}"
            right.annotate(
                label,
                (length, float(found.mean())),
                xytext=(0, -10),
                textcoords="offset points",
                ha="center",
                fontsize=6.5,
            )
        columns = {"R": np.array(lengths), "share that stays": np.array(shares)}
        if "not-optimal" in named:
            others = [1 - run.curves["left"][-1] for run in named["not-optimal"].runs]
            right.plot(
                [lengths[-1]],
                [np.mean(others)],
                color=look.COLOURS[1],
                marker="s",
                ls="",
                ms=4,
                label="not optimal",
            )
            columns["not optimal: share that stays"] = np.array([np.mean(others)])
        right.set(xscale="log", xlim=(2.5, 2500), ylim=(-0.05, 1.1))
        right.set(xlabel="$R$", ylabel="share of starts that stay")
        right.legend(loc="center left")
        columns |= {"wrong selections": np.arange(len(counts)), "runs": counts}
        return look.write(drawn, folder, "ends-and-starts", columns)
