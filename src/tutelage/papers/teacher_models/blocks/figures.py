"""The figures of `teacher-models/blocks`: Fig. 1's heatmaps, the law in N, and the excess beside
position-only attention.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tutelage.figures import look
from tutelage.papers.teacher_models.blocks.readings import (
    block_norms,
    mean_attention,
    movement,
    runs_of,
)
from tutelage.papers.teacher_models.theory.bilinear import build_bilinear
from tutelage.studies.study import Answered

CAPTIONS = {
    "blocks-heatmaps": (
        "How far each entry of W_V and W_KQ moved, with the blocks ruled off, and the "
        "attention beside the teacher's."
    ),
    "blocks-law-and-gap": (
        "Left: what batch noise moves in the other blocks, against N. Right: excess beside "
        "position-only attention."
    ),
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Every figure for which there are cases."""
    named = {a.case.name: a for a in answered}
    paths: list[Path] = []
    if forms := [named[name] for name in ("merged", "separate") if name in named]:
        paths += _heatmaps(forms, folder)
    if "batches" in named and "textbook" in named:
        paths += _law_and_gap(named, folder)
    return paths


def _heatmaps(forms: Sequence[Answered], folder: Path) -> list[Path]:
    """For each form: |W_V| and |W_KQ| as they moved, with the blocks ruled off, and the attention
    beside the teacher's.
    """
    columns: dict[str, Any] = {}
    with look.figure(
        look.PAGE,
        0.4 + 1.3 * len(forms),
        nrows=len(forms),
        ncols=5,
        squeeze=False,
        width_ratios=(1.3, 1, 1, 1, 1),
    ) as (
        drawn,
        axes,
    ):
        for row, a in zip(axes, forms, strict=True):
            setting, run = runs_of("content_attention", a.runs)[0]
            dim = setting.teacher.options["dim"]
            value, scores = movement(setting, run.student)
            # The codes are a random rotation; in their own basis the block (P, P) shows the
            # teacher's pattern.
            codes = np.asarray(run.student.codes)
            basis = np.block(
                [
                    [np.eye(dim), np.zeros((dim, codes.shape[1]))],
                    [np.zeros((codes.shape[0], dim)), codes],
                ]
            )
            teacher, student = (
                np.asarray(build_bilinear(setting).selection),
                mean_attention(setting, run.student),
            )
            moved = (np.abs(value @ basis), np.abs(basis.T @ scores @ basis))
            images = [
                axis.imshow(matrix, cmap=look.HEAT, interpolation="nearest", vmin=0.0)
                for axis, matrix in zip(row, moved, strict=False)
            ]
            for axis, image, shrink in zip(row, images, (0.28, 0.66), strict=False):
                drawn.colorbar(image, ax=axis, fraction=0.05, pad=0.03, shrink=shrink)
            images += look.beside(
                drawn, row[2:], teacher, student, fraction=0.05, pad=0.03, shrink=0.66
            )
            titles = (
                r"$|\Delta W_V|$, on $X$ | on $P$",
                r"$|\Delta W_{KQ}|$, $X$ | $P$",
                "teacher $S^*$",
                "attention, mean",
                "difference",
            )
            for axis, image, title in zip(row, images, titles, strict=True):
                image.colorbar.ax.tick_params(labelsize=5, length=1.5, pad=1)
                axis.set(xticks=[], yticks=[])
                axis.set_title(title, fontsize=7)
                matrix = np.asarray(image.get_array())
                columns[
                    f"{a.case.name}: {title}, row by row, {matrix.shape[0]}x{matrix.shape[1]}"
                ] = matrix.ravel()
            row[0].axvline(dim - 0.5, color="white", lw=0.8)
            row[1].axvline(dim - 0.5, color="white", lw=0.8)
            row[1].axhline(dim - 0.5, color="white", lw=0.8)
            row[0].set_ylabel(
                a.case.label.replace(", ", ",\n")
                .replace("W_KQ", "$W_{KQ}$")
                .replace("W_K and W_Q", "$W_K$, $W_Q$"),
                fontsize=7,
            )
        return look.write(drawn, folder, "blocks-heatmaps", columns)


def _law_and_gap(named: dict[str, Answered], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 2.6, ncols=2) as (drawn, (left, right)):
        words = {
            "VP": "$W_V$ on $P$",
            "XP": "$W_{KQ}$: $X$, $P$",
            "PX": "$W_{KQ}$: $P$, $X$",
            "XX": "$W_{KQ}$: $X$, $X$",
        }
        found: dict[int, list[dict[str, float]]] = {}
        for setting, run in runs_of("content_attention", named["batches"].runs):
            found.setdefault(setting.objective.options["batch"], []).append(
                block_norms(setting, run.student)
            )
        sizes = np.array(sorted(found), float)
        for i, (block, label) in enumerate(words.items()):
            mean = np.array(
                [np.exp(np.mean([np.log(n[block]) for n in found[int(size)]])) for size in sizes]
            )
            left.plot(
                sizes, mean, color=look.COLOURS[i], ls=look.STYLES[i], marker="o", ms=3, label=label
            )
            columns |= {"N": sizes, f"{block}: moved": mean}
            if block == "VP":
                left.plot(
                    sizes,
                    mean[0] * (sizes / sizes[0]) ** -0.5,
                    color=look.THEORY,
                    lw=0.7,
                    label="slope −½",
                )
        left.set(
            xscale="log",
            yscale="log",
            xlabel="batch $N$",
            ylabel="moved, Frobenius norm",
            title="What noise moves (identity)",
        )
        left.set_xticks(sizes, [f"{size:g}" for size in sizes])
        left.set_yticks([0.05, 0.1, 0.2, 0.5, 1.0, 2.0], ["0.05", "0.1", "0.2", "0.5", "1", "2"])
        left.minorticks_off()
        left.legend()
        for i, name in enumerate(("merged", "separate", "textbook")):
            if name not in named:
                continue
            for run in named[name].runs[:1]:
                right.plot(
                    run.steps[1:],
                    run.curves["excess_risk"][1:],
                    color=look.COLOURS[i],
                    ls=look.STYLES[i],
                    label=named[name].case.label,
                )
                columns |= {
                    f"{name}: step": run.steps[1:],
                    f"{name}: excess": run.curves["excess_risk"][1:],
                }
        _, position = runs_of("position_attention", named["merged"].runs)[0]
        right.plot(
            position.steps[1:],
            position.curves["excess_risk"][1:],
            color=look.THEORY,
            lw=0.8,
            label="position-only (2.4)",
        )
        right.set(
            xscale="log",
            yscale="log",
            xlabel="step $T$",
            ylabel="excess, held out",
            title="The gap to position-only (seed 0)",
        )
        right.legend()
        return look.write(drawn, folder, "blocks-law-and-gap", columns)
