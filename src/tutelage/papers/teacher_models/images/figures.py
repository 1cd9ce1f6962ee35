"""The figures of `teacher-models/images`: Fig. 4 and 5 of the paper, where patches are lost and
why, the kernels, the accuracies.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from tutelage.figures import look
from tutelage.papers.teacher_models.images import readings as read
from tutelage.papers.teacher_models.theory.bilinear import build_bilinear
from tutelage.studies.study import Answered

CAPTIONS = {
    "images-learning": (
        "Loss on test images and alignment with the network's kernels, over training."
    ),
    "images-attention": "Attention of the network and of its student, and their difference.",
    "images-background": (
        "How much of each patch was found: where it lies in the image, and against the "
        "variance of the patch."
    ),
    "images-kernels": (
        "Kernels of the network, of its student, and their difference, as 3×3 pixels."
    ),
    "images-accuracy": (
        "Test accuracy of the network, of the student in its place, and of both trained "
        "further; one point per seed."
    ),
}


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Every figure for which there are cases."""
    named = {a.case.name: a for a in answered}
    taught = [named[name] for name in ("relu", "leaky") if name in named]
    paths: list[Path] = []
    if taught:
        paths += _learning(taught, folder)
        paths += _attention(taught[0], folder)
        paths += _lost(taught[0], named.get("shuffled"), folder)
        paths += _kernels(taught[0], folder)
    return paths + (_accuracies(named["fine-tuned"], folder) if "fine-tuned" in named else [])


def _learning(taught: Sequence[Answered], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 2.3, ncols=2) as (drawn, (left, right)):
        for i, a in enumerate(taught):
            steps = a.runs[0].steps[1:]
            for axis, curve in ((left, "excess_risk"), (right, "cosine")):
                values, middle = (
                    np.stack([run.curves[curve][1:] for run in a.runs]),
                    look.geometric if axis is left else look.mean,
                )
                found = look.band(
                    axis,
                    steps,
                    values,
                    i,
                    middle=middle,
                    label=f"{a.case.label}, {len(a.runs)} seeds",
                )
                columns |= {f"{a.case.label}: step": steps}
                columns |= dict(
                    zip(
                        (f"{a.case.label}: {curve}, {word}" for word in ("mean", "min", "max")),
                        found,
                        strict=True,
                    )
                )
        left.set(
            xscale="log",
            yscale="log",
            xlabel="step",
            ylabel="loss on test images",
            title="Fig. 4a: the loss",
        )
        right.axhline(0.9, color=look.THEORY, lw=0.7)
        right.text(1.1, 0.905, "claim: above 0.9 at the end", fontsize=7, va="bottom")
        right.set(
            xscale="log",
            xlabel="step",
            ylabel=r"$\cos(W_V, V^*)$",
            title="Fig. 4b: alignment with the kernels",
            ylim=(None, 1.01),
        )
        left.legend()
        return look.write(drawn, folder, "images-learning", columns)


def _attention(a: Answered, folder: Path) -> list[Path]:
    run = a.runs[0]
    assert run.setting is not None
    teacher, student = (
        np.asarray(build_bilinear(run.setting).selection),
        np.asarray(run.student.attention()),
    )
    with look.figure(look.PAGE, 2.7, ncols=3) as (drawn, axes):
        images = look.beside(
            drawn, axes, teacher, student, orientation="horizontal", fraction=0.05, pad=0.04
        )
        for axis, image, title in zip(
            axes, images, ("teacher $S^*$", "student $S$ (Fig. 5)", "difference"), strict=True
        ):
            image.colorbar.ax.tick_params(labelsize=6)
            edges = np.arange(0, len(teacher), 9)
            axis.set(title=title, xlabel="query $i$", xticks=edges, yticks=edges)
            axis.tick_params(labelsize=6)
        axes[0].set_ylabel("patch $j$, in raster order")
        matrices: dict[str, Any] = {
            f"{name}, row by row, 81x81": m.ravel()
            for name, m in (("teacher", teacher), ("student", student))
        }
        return look.write(drawn, folder, "images-attention", matrices)


def _lost(a: Answered, shuffled: Answered | None, folder: Path) -> list[Path]:
    """Left: how much of each patch was found, where it lies in the image. Right: the same against
    the signal of the patch.
    """
    columns: dict[str, Any] = {}
    cases = [a] + ([shuffled] if shuffled is not None else [])
    with look.figure(look.PAGE, 2.1, ncols=3, gridspec_kw={"width_ratios": (1, 1, 1.25)}) as (
        drawn,
        axes,
    ):
        for i, case in enumerate(cases):
            found, signal = _found(case)
            axes[2].plot(
                signal,
                found,
                ls="",
                marker="os"[i],
                ms=3,
                mfc="none",
                color=look.COLOURS[i],
                label=case.case.label,
            )
            columns |= {f"{case.case.label}: variance": signal, f"{case.case.label}: found": found}
        found, signal = _found(a)
        for axis, values, title in (
            (axes[0], signal, "signal: variance of a patch"),
            (axes[1], found, "found (1 is the teacher's)"),
        ):
            image = axis.imshow(
                values.reshape(9, 9),
                cmap=look.HEAT,
                vmin=0.0,
                vmax=float(values.max()),
                interpolation="nearest",
            )
            drawn.colorbar(image, ax=axis, fraction=0.046, pad=0.03).ax.tick_params(labelsize=6)
            axis.set(title=title, xticks=[], yticks=[])
        axes[2].axhline(1.0, color=look.THEORY, lw=0.7)
        axes[2].axhline(read.FOUND, color=look.THEORY, lw=0.7, ls=":")
        axes[2].text(
            0.02,
            read.FOUND + 0.02,
            "found above, lost below",
            fontsize=7,
            transform=axes[2].get_yaxis_transform(),
        )
        axes[2].set_xscale("symlog", linthresh=1e-4)
        axes[2].set(
            xlabel="variance of the patch",
            ylabel="found",
            title="background is lost, signal is found",
            xlim=(-2e-5, 4.0),
        )
        axes[2].set_xticks([0, 1e-4, 1e-2, 1], ["0", r"$10^{-4}$", r"$10^{-2}$", "1"])
        axes[2].legend(loc="center left", bbox_to_anchor=(0.0, 0.61))
        return look.write(drawn, folder, "images-background", columns)


def _found(a: Answered) -> tuple[Float[np.ndarray, "D"], Float[np.ndarray, "D"]]:
    """Recall and signal of each patch, means over seeds."""
    recalls, signals = [], []
    for run in a.runs:
        assert run.setting is not None
        recalls.append(
            read.recall(np.asarray(run.student.attention()), run.setting.teacher.options["support"])
        )
        signals.append(read.signal(run.setting))
    return np.mean(recalls, axis=0), np.mean(signals, axis=0)


def _kernels(a: Answered, folder: Path) -> list[Path]:
    run = a.runs[0]
    assert run.setting is not None
    teacher, student = np.asarray(build_bilinear(run.setting).value), np.asarray(run.student.value)
    reach = float(np.abs(teacher).max())
    # Three rows of kernels, with a pixel between neighbours.
    mosaic = np.full((11, 4 * len(teacher) - 1), np.nan)
    for top, kernels in ((0, teacher), (4, student), (8, student - teacher)):
        for i, kernel in enumerate(kernels):
            mosaic[top : top + 3, 4 * i : 4 * i + 3] = kernel.reshape(3, 3)
    with look.figure(look.PAGE, 1.7) as (drawn, axis):
        image = axis.imshow(
            mosaic, cmap=look.DIFFERENCE, vmin=-reach, vmax=reach, interpolation="nearest"
        )
        drawn.colorbar(image, ax=axis, fraction=0.015, pad=0.01).ax.tick_params(labelsize=6)
        axis.set(
            xticks=[], title="kernels: rows of $V^*$, of $W_V$ and of $W_V-V^*$, as 3×3 pixels"
        )
        axis.set_yticks([1, 5, 9], ["teacher", "student", "difference"])
        axis.tick_params(length=0)
        axis.spines[:].set_visible(False)
        columns: dict[str, Any] = {"teacher": teacher.ravel(), "student": student.ravel()}
        return look.write(drawn, folder, "images-kernels", columns)


def _accuracies(a: Answered, folder: Path) -> list[Path]:
    bars = (
        ("teacher (CNN)", read.TEACHER),
        ("student in the\nteacher's place", read.DISTILLED),
        ("teacher,\ntrained on", read.LONGER),
        ("student,\nlabels alone", read.FROM_LABELS),
        ("student,\nfine-tuned", read.TUNED),
    )
    columns: dict[str, Any] = {}
    with look.figure(look.COLUMN * 1.35, 2.5) as (drawn, axis):
        for i, (label, kind) in enumerate(bars):
            found = read.by_seed(a.runs, kind)
            values = 100 * np.array([found[seed] for seed in sorted(found)])
            axis.plot([i - 0.3, i + 0.3], [values.mean()] * 2, color=look.COLOURS[i % 6], lw=2)
            axis.plot(
                i + np.linspace(-0.15, 0.15, len(values)),
                values,
                ls="",
                marker="o",
                ms=3,
                mfc="none",
                color=look.COLOURS[i % 6],
            )
            axis.text(
                i, values.max() + 0.6, f"{values.mean():.1f}%", ha="center", va="bottom", fontsize=7
            )
            columns[label.replace("\n", " ")] = values
        low, high = axis.get_ylim()
        axis.set(
            ylabel="test accuracy, %",
            title="one point per seed, a bar at the mean",
            ylim=(low, high + 2),
        )
        axis.set_xticks(range(len(bars)), [label for label, _ in bars])
        axis.tick_params(axis="x", labelsize=6.5, length=0)
        return look.write(drawn, folder, "images-accuracy", columns)
