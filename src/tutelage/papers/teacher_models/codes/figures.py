"""The figures of `teacher-models/codes`: the law for all kinds of codes, W_KQ beside W_svm, and
where the law ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tutelage.figures import look, windows
from tutelage.papers.teacher_models.codes.claims import WhereFound
from tutelage.papers.teacher_models.codes.kinds import KINDS
from tutelage.papers.teacher_models.codes.readings import found, increments
from tutelage.papers.teacher_models.theory import equivariance, max_margin
from tutelage.run import Run
from tutelage.studies.study import Answered

CAPTIONS = {
    "codes-law": (
        "Excess·ηT over ‖W_svm‖² for every kind of codes; right, every run at its last step."
    ),
    "codes-matrices": "The max-margin matrix W_svm, the increment of W_KQ, and their difference.",
    "codes-limits": (
        "Where the law ends: layers that see their tokens, lost tokens, and learned codes."
    ),
}

SHOWN_MATRICES = ("even-sinusoids", "gaussian-square")


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Every figure for which there are cases."""
    named = {a.case.name: a for a in answered}
    law = [
        named[kind.name] for kind in KINDS if kind.name in named and any(_kept(named[kind.name]))
    ]
    paths = _law(law, folder) if law else []
    if matrices := [named[name] for name in SHOWN_MATRICES if name in named]:
        paths += _matrices(matrices, folder)
    sampled = [
        named[name]
        for name in ("added", "no-codes", "concatenated", "learned-content")
        if name in named
    ]
    if (
        len(sampled) == 4
        and "lost-token" in named
        and "learned" in named
        and "orthonormal" in named
    ):
        paths += _limits(sampled, named, folder)
    return paths


def _kept(a: Answered) -> list[Run]:
    """The runs that have found their supports and have a prediction."""
    if any(verdict.predicted is None for verdict in a.verdicts):
        return []
    return [run for run in a.runs if found(run)]


def _read(a: Answered, name: str) -> list[windows.Read]:
    """What a claim of that name is made of, and the runs that it is read from."""
    return [
        (claim.of, _kept(a))
        for claim, _ in windows.named([a], name)
        if isinstance(claim, WhereFound)
    ]


def _law(law: Sequence[Answered], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 2.9, ncols=2, width_ratios=(3, 2)) as (drawn, (left, right)):
        read = [each for a in law for each in _read(a, "excess-constant")]
        if (window := windows.shared(read, windows.plateaus(max_margin.plateau))) is not None:
            look.window(left, *window, "constants are read here")
        left.axhspan(0.97, 1.03, color="0.82", lw=0, zorder=0.5)
        left.axhline(1.0, color=look.THEORY, lw=0.7)
        for i, a in enumerate(law):
            colour, style = look.COLOURS[i % 6], look.STYLES[i % 6 if i < 6 else 3 - i % 6]
            ends = []
            for k, run in enumerate(_kept(a)):
                assert run.setting is not None
                constant, x = (
                    max_margin.excess_constant(run.setting),
                    run.steps[1:] / max_margin.plateau(run.setting),
                )
                level = run.curves["excess_risk"][1:] * run.time[1:]
                left.plot(
                    x,
                    level / constant,
                    color=colour,
                    ls=style,
                    lw=0.8,
                    label=a.case.label if k == 0 else None,
                )
                ends.append((constant, level[-1]))
                columns |= {
                    f"{a.case.label}, {k}: step / plateau": x,
                    f"{a.case.label}, {k}: measured / predicted": level / constant,
                }
            right.plot(
                *zip(*ends, strict=True), ls="", marker="o", ms=3.5, color=colour, mfc="none"
            )
            columns |= {
                f"{a.case.label}: predicted": [e[0] for e in ends],
                f"{a.case.label}: measured at the end": [e[1] for e in ends],
            }
        left.set(
            xscale="log",
            xlabel="step / plateau",
            ylabel=r"excess$\,\cdot\,\eta T$ / $\|W_{\rm svm}\|^2$",
        )
        left.set(ylim=(0.9, 1.6), xlim=(3, None), title="Measured over predicted, one line per run")
        left.legend(loc="upper right")
        right.axline((10, 10), (100, 100), color=look.THEORY, lw=0.7, zorder=0)
        right.set(
            xscale="log",
            yscale="log",
            xlabel=r"predicted $\|W_{\rm svm}\|^2$",
            ylabel=r"measured excess$\,\cdot\,\eta T$",
        )
        right.set_title("Every run, at its last step")
        return look.write(drawn, folder, "codes-law", columns)


def _matrices(shown: Sequence[Answered], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    with look.figure(
        look.PAGE * 0.72, 1.75 * len(shown) + 0.2, nrows=len(shown), ncols=3, squeeze=False
    ) as (drawn, axes):
        for row, a in zip(axes, shown, strict=True):
            run = next((r for r in a.runs if found(r)), a.runs[0])
            assert run.setting is not None
            theirs, ours = max_margin.matrix(run.setting), increments(run)[-1]
            top = float(np.abs(theirs).max())
            for axis, matrix, title in zip(
                row,
                (theirs, ours, ours - theirs),
                (r"$W_{\rm svm}$", r"$\Delta W_{KQ}/\Delta\log t$", "difference"),
                strict=True,
            ):
                image = axis.imshow(
                    matrix, cmap=look.DIFFERENCE, vmin=-top, vmax=top, interpolation="nearest"
                )
                axis.set(xticks=[], yticks=[], title=title)
                columns[f"{a.case.label}: {title}, row by row"] = matrix.ravel()
            drawn.colorbar(image, ax=list(row), fraction=0.03, pad=0.02)
            row[0].set_ylabel(a.case.label.replace(", K", ",\nK"))
        return look.write(drawn, folder, "codes-matrices", columns)


def _limits(sampled: Sequence[Answered], named: dict[str, Answered], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 2.7, ncols=3) as (drawn, (left, middle, right)):
        for i, a in enumerate(sampled):
            steps, values = (
                a.runs[0].steps[1:],
                np.stack([r.curves["relative_excess"][1:] for r in a.runs]),
            )
            mean, _, _ = look.band(left, steps, values, i, label=a.case.label)
            columns |= {f"{a.case.label}: step": steps, f"{a.case.label}: relative excess": mean}
        setting = sampled[0].case.settings[0]
        bound = equivariance.floor(setting) / equivariance.silence(setting)
        left.axhline(bound, color=look.THEORY, lw=0.7)
        left.text(1.2, bound * 0.93, "floor without codes", fontsize=6, va="top")
        left.set(
            xscale="log",
            yscale="log",
            xlabel="step $T$",
            ylabel="excess / that of zero",
            title="Layers that see their tokens",
        )
        left.set_ylim(1e-5, 3)
        left.legend(loc="lower left")

        for i, run in enumerate(named["lost-token"].runs):
            lost = not found(run)
            colour, width = (look.COLOURS[4], 1.4) if lost else ("0.65", 0.7)
            middle.plot(
                run.steps[1:],
                run.curves["excess_risk"][1:],
                color=colour,
                lw=width,
                zorder=3 if lost else 2,
            )
            columns |= {
                f"lost-token, seed {i}: step": run.steps[1:],
                f"lost-token, seed {i}: excess": run.curves["excess_risk"][1:],
            }
        middle.plot([], [], color="0.65", lw=0.7, label="found its supports")
        middle.plot([], [], color=look.COLOURS[4], label="has not")
        middle.set(
            xscale="log",
            yscale="log",
            xlabel="step $T$",
            ylabel="excess risk",
            title="Twelve draws, $p=D$, $K=2$",
        )
        middle.legend(loc="lower left")

        if (
            window := windows.shared(
                windows.named([named["learned"]], "excess-bound"), windows.time
            )
        ) is not None:
            look.window(right, *window, "slope of learned")
        for i, (name, label) in enumerate((("orthonormal", "fixed"), ("learned", "learned"))):
            run = named[name].runs[0]
            time, value = run.time[1:], run.curves["excess_risk"][1:] * run.time[1:]
            right.plot(time, value, color=look.COLOURS[i], ls=look.STYLES[i], label=label)
            columns |= {f"{label}: time": time, f"{label}: excess times time": value}
        right.set(
            xscale="log",
            yscale="log",
            xlabel=r"time $\eta T$",
            ylabel=r"excess$\,\cdot\,\eta T$",
            title="Orthonormal at the start",
        )
        constant = max_margin.excess_constant(named["orthonormal"].case.settings[0])
        right.axhline(constant, color=look.THEORY, lw=0.7)
        right.text(
            0.98,
            constant * 0.85,
            r"$\|W_{\rm svm}\|^2$",
            ha="right",
            va="top",
            transform=right.get_yaxis_transform(),
        )
        right.set_ylim(bottom=right.get_ylim()[0] / 3)  # room for what the window says
        right.legend(loc="upper right")
        return look.write(drawn, folder, "codes-limits", columns)
