"""The figures of `teacher-models/limits`: the map of teachers and students, and every restart behind it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tutelage.figures import look
from tutelage.papers.teacher_models.limits import STUDENTS, TEACHERS, cell_name, floor
from tutelage.papers.teacher_models.limits_reading import Cell, Draw
from tutelage.study import Answered

LEAST = 1e-3  # of the colours; what is learned better than that is as good as learned


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Both figures, of the cells that were run."""
    cells = {a.case.name: a for a in answered if not a.case.control}
    found = {
        (teacher, student): (cells[name], Cell().draws(cells[name].runs))
        for teacher in TEACHERS
        for student in STUDENTS
        if (name := cell_name(teacher, student)) in cells
    }
    return _map(found, folder) + _restarts(found, folder) if found else []


def bound_of(a: Answered) -> float | None:
    """The mean over draws of the certified bound, where there is one above 0."""
    if not any(verdict.id.endswith("/floor") for verdict in a.verdicts):
        return None
    return float(np.mean([floor(setting) for setting in {s.seed: s for s in a.case.settings}.values()]))


def _map(found: dict[tuple[str, str], tuple[Answered, list[Draw]]], folder: Path) -> list[Path]:
    from matplotlib.colors import LogNorm

    rows, across = list(TEACHERS), list(STUDENTS)
    best = np.full((len(rows), len(across)), np.nan)
    columns: dict[str, list[Any]] = {name: [] for name in ("teacher", "student", "best", "median", "worst", "near", "error", "bound")}
    with look.figure(look.PAGE, 4.6) as (drawn, axis):
        for (teacher, student), (a, draws) in found.items():
            i, j, bound = rows.index(teacher), across.index(student), bound_of(a)
            best[i, j] = float(np.mean([d.best for d in draws]))
            middle, worst = (float(np.mean([of(d.restarts) for d in draws])) for of in (np.median, np.max))
            dark = best[i, j] < 0.05
            axis.text(j, i - 0.08, _short(best[i, j]), ha="center", va="bottom", fontsize=11, color="white" if dark else "black")
            axis.text(j, i + 0.02, f"median {_short(middle)}", ha="center", va="top", fontsize=6.5, color="white" if dark else "black")
            if bound is not None:
                axis.text(j, i + 0.25, f"proved: at least {_short(bound)}", ha="center", va="top", fontsize=6.5)
                axis.plot([j - 0.46, j + 0.46], [i + 0.46, i + 0.46], color=look.THEORY, lw=1.6)
            near = float(np.mean([d.near for d in draws]))
            row = (teacher, student, best[i, j], middle, worst, near, float(np.mean([d.error for d in draws])), bound)
            for name, value in zip(columns, row, strict=True):
                columns[name].append("" if value is None else value)
        image = axis.imshow(np.maximum(best, LEAST), cmap=look.HEAT, norm=LogNorm(LEAST, 1.0), aspect="auto")
        axis.set_xticks(range(len(across)), [STUDENTS[name][0] for name in across])
        axis.set_yticks(range(len(rows)), [TEACHERS[name][0] for name in rows])
        axis.tick_params(length=0, top=False)
        axis.set(xlabel="student", ylabel="teacher", title="relative excess, best of restarts, mean over draws of the teacher")
        axis.spines[:].set_visible(False)
        bar = drawn.colorbar(image, ax=axis, shrink=0.8, extend="min")
        bar.set_label(r"$E\|Y-f\|^2\,/\,E\|Y-EY\|^2$")
        bar.set_ticks([1e-3, 1e-2, 1e-1, 1], labels=["0.001", "0.01", "0.1", "1"])
        return look.write(drawn, folder, "limits-map", columns)


def _short(value: float) -> str:
    return f"{value:.2g}" if value < 0.0995 else f"{value:.3f}"


def _restarts(found: dict[tuple[str, str], tuple[Answered, list[Draw]]], folder: Path) -> list[Path]:
    """Every restart of every draw as a dot, a panel a teacher; black bars are the certified bounds of the draws."""
    shown = [teacher for teacher in TEACHERS if any(key[0] == teacher for key in found)]
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 2.9, ncols=len(shown), sharey=True, squeeze=False) as (drawn, axes):
        for axis, teacher in zip(axes[0], shown, strict=True):
            for j, student in enumerate(STUDENTS):
                if (teacher, student) not in found:
                    continue
                a, draws = found[teacher, student]
                for k, one in enumerate(draws):
                    at = j + 0.5 * ((k + 0.5) / len(draws) - 0.5)
                    axis.scatter(np.full(len(one.restarts), at), one.restarts, s=7, lw=0, alpha=0.7, color=look.COLOURS[j])
                    columns[f"{teacher}, {student}, draw {k}"] = one.restarts
                if bound_of(a) is not None:
                    by_seed = {s.seed: floor(s) for s in a.case.settings}
                    for k, bound in enumerate(by_seed.values()):
                        at = j + 0.5 * ((k + 0.5) / len(draws) - 0.5)
                        axis.plot([at - 0.08, at + 0.08], [bound, bound], color=look.THEORY, lw=1.2, zorder=3)
            axis.set(yscale="log", xlim=(-0.6, len(STUDENTS) - 0.4))
            axis.set_title(TEACHERS[teacher][0].replace(" (", "\n(").replace(" by ", "\nby ").replace(" of ", "\nof "))
            axis.set_xticks(range(len(STUDENTS)), list(STUDENTS), rotation=90)
        axes[0][0].set_ylabel("relative excess of each restart, held out")
        return look.write(drawn, folder, "limits-restarts", columns)
