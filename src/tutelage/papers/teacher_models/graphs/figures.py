"""The figures of `teacher-models/graphs`: every graph over its law, and what the student of the
karate club learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage.figures import look, windows
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.graphs.outside import learned
from tutelage.papers.teacher_models.theory import outside
from tutelage.papers.teacher_models.theory.bilinear import build_bilinear
from tutelage.studies.study import Answered

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CAPTIONS = {
    "graphs-law": "Every graph over its law, against ηT; the range over seeds is shaded.",
    "graphs-attention": (
        "The karate club, one row per normalisation: S*, what the student has in its place, "
        "and the difference."
    ),
}

SHOWN = ("karate", "karate-symmetric")


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Both figures, as far as there are cases for them."""
    inside, beyond = (
        [
            a
            for a in answered
            if not a.case.control and any(claim.id == name for claim in a.case.claims)
        ]
        for name in ("excess-constant", "gap-constant")
    )
    paths = _laws(inside, beyond, folder) if inside or beyond else []
    shown = [a for a in answered if a.case.name in SHOWN]
    return paths + (_attention(shown, folder) if shown else [])


def _laws(inside: Sequence[Answered], beyond: Sequence[Answered], folder: Path) -> list[Path]:
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 2.9, ncols=2) as (drawn, (left, right)):
        for i, a in enumerate(inside):
            _over(left, i, a, "excess_risk", theory.counting_law(a.case.settings[0]), columns)
        for i, a in enumerate(beyond):
            _over(
                right, i, a, "excess_over_gap", outside.rate_constant(a.case.settings[0]), columns
            )
        shown = (
            (
                left,
                0.8,
                "columns sum to 1",
                r"excess$\,\cdot\,4\eta T\;/\;\Sigma_i K_i(D-K_i)$",
                inside,
                "excess-constant",
            ),
            (
                right,
                0.2,
                "symmetric normalisation",
                r"(excess$\,-\,$gap)$\,\cdot\,\eta T\;/\;\Sigma_i A_i(D-A_i)$",
                beyond,
                "gap-constant",
            ),
        )
        for axis, least, title, label, cases, claim in shown:
            if (read := windows.shared(windows.named(cases, claim), windows.time)) is not None:
                look.window(axis, *read, "constants are read here")
            axis.axhline(1.0, color=look.THEORY, lw=0.7)
            axis.set(
                xscale="log",
                yscale="log",
                xlabel=r"time $\eta T$",
                ylabel=label,
                title=title,
                ylim=(least, 6),
            )
            ticks = [at for at in (0.25, 0.5, 1, 2, 4) if at >= least]
            axis.set_yticks(ticks, [f"{at:g}" for at in ticks])
            axis.minorticks_off()
            axis.legend(loc="upper right")
        right.axhline(0.25, color=look.THEORY, lw=0.7, ls=":")
        right.text(
            0.02,
            0.26,
            "the law of the class, one quarter",
            fontsize=7,
            va="bottom",
            transform=right.get_yaxis_transform(),
        )
        return look.write(drawn, folder, "graphs-law", columns)


def _over(axis: Axes, i: int, a: Answered, curve: str, law: float, columns: dict[str, Any]) -> None:
    """curve·ηT over its law from the tenth step on, the range over seeds shaded."""
    shortest = min(len(run.steps) for run in a.runs)
    late = a.runs[0].steps[:shortest] >= 10
    time = a.runs[0].time[:shortest][late]
    ratios = np.stack([run.curves[curve][:shortest][late] * time / law for run in a.runs])
    middle, _, _ = look.band(axis, time, ratios, i, label=a.case.label)
    columns |= {f"{a.case.label}: time": time, f"{a.case.label}: {curve} over law": middle}


def _attention(shown: Sequence[Answered], folder: Path) -> list[Path]:
    """One row per normalisation: S*, what the student has in its place (c S), the difference."""
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 2.35 * len(shown), nrows=len(shown), ncols=3, squeeze=False) as (
        drawn,
        axes,
    ):
        for row, a in zip(axes, shown, strict=True):
            run = a.runs[0]
            assert run.setting is not None
            teacher = np.asarray(build_bilinear(run.setting).selection)
            scale, attention = learned(run)
            student = scale * attention
            look.beside(drawn, row, teacher, student, shrink=0.85, format="%.2g")
            for axis, title in zip(
                row,
                (r"teacher $S^*$", rf"student $c\,S$, $c={scale:.4f}$", r"$c\,S-S^*$"),
                strict=True,
            ):
                axis.set(title=title, xlabel="node $i$ (query)")
                axis.spines[:].set_visible(True)
            row[0].set_ylabel(
                f"{a.case.label if 'symm' in a.case.label else a.case.label + ', columns'}\nnode "
                "$j$ (token)"
            )
            columns |= {
                f"{a.case.name}: teacher": teacher.ravel(),
                f"{a.case.name}: student": student.ravel(),
            }
        return look.write(drawn, folder, "graphs-attention", columns)
