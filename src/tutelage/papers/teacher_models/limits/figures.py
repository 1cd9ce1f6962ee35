"""The figures of `teacher-models/limits`: the map of teachers and students, and every restart
behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import LogNorm

from tutelage.claims.claim import NoPrediction
from tutelage.figures import look
from tutelage.papers.teacher_models.limits.cells import STUDENTS, TEACHERS, name_cell
from tutelage.papers.teacher_models.limits.claims import MEASURED
from tutelage.papers.teacher_models.limits.readings import by_seed, held_out
from tutelage.papers.teacher_models.theory.limits import floor
from tutelage.studies.study import Answered

CAPTIONS = {
    "limits-map": (
        "Relative excess that each student reaches on each teacher, the best of its restarts, "
        "beside certified bounds."
    ),
    "limits-restarts": (
        "Every restart of every draw as a dot, one panel per teacher; black bars are the "
        "certified bounds."
    ),
}

# Of the colours and of the axis; what is learned better than that is as good as learned.
LEAST = 1e-3

Cells = Mapping[tuple[str, str], Answered]


def draw(answered: Sequence[Answered], folder: Path) -> list[Path]:
    """Both figures, of the cells that were run."""
    named = {a.case.name: a for a in answered if not a.case.control}
    pairs = {
        (teacher, student): name_cell(teacher, student)
        for teacher in TEACHERS
        for student in STUDENTS
    }
    cells = {pair: named[name] for pair, name in pairs.items() if name in named}
    return _map(cells, folder) + _restarts(cells, folder) if cells else []


def floors(a: Answered) -> list[float]:
    """The certified bound of every draw, where there is one above 0."""
    if not any(claim.id == "floor" for claim in a.case.claims):
        return []
    try:
        return [floor(setting) for setting in {s.seed: s for s in a.case.settings}.values()]
    except NoPrediction:  # of other sizes than the study's own
        return []


def _map(cells: Cells, folder: Path) -> list[Path]:
    rows, across = list(TEACHERS), list(STUDENTS)
    shown = np.full((len(rows), len(across)), np.nan)
    columns: dict[str, list[Any]] = {
        name: [] for name in ("teacher", "student", *MEASURED, "bound")
    }
    with look.figure(look.PAGE, 5.2) as (drawn, axis):
        for (teacher, student), a in cells.items():
            i, j, bounds = rows.index(teacher), across.index(student), floors(a)
            found = {name: a.find(name)[1].measured for name in MEASURED}
            best, restarts = float(found["best"] or 0.0), len(by_seed(a.runs)[0])
            shown[i, j] = best
            ink: dict[str, Any] = {
                "ha": "center",
                "va": "center",
                "color": "white" if best < 0.05 else "black",
            }
            axis.text(
                j, i - 0.26, f"{_short(best)}{' †' if found['alone'] else ''}", fontsize=11, **ink
            )
            second, median = (_short(float(found[name] or 0.0)) for name in ("second", "median"))
            lines = [f"second best {second}"] if found["alone"] else []
            lines += [f"median {median}", f"near the best: {found['near']:.2g} of {restarts}"]
            lines += [f"proved: at least {_short(float(np.mean(bounds)))}"] if bounds else []
            for k, line in enumerate(lines):
                axis.text(j, i - 0.02 + 0.19 * k, line, fontsize=6.5, **ink)
            if bounds:
                axis.plot([j - 0.46, j + 0.46], [i + 0.47, i + 0.47], color=look.THEORY, lw=1.6)
            row = (
                teacher,
                student,
                *(found[name] for name in MEASURED),
                float(np.mean(bounds)) if bounds else "",
            )
            for name, value in zip(columns, row, strict=True):
                columns[name].append(value)
        image = axis.imshow(
            np.maximum(shown, LEAST), cmap=look.HEAT, norm=LogNorm(LEAST, 1.0), aspect="auto"
        )
        axis.set_xticks(range(len(across)), [STUDENTS[name].label for name in across])
        axis.set_yticks(range(len(rows)), [TEACHERS[name].label for name in rows])
        axis.tick_params(length=0)
        axis.set(
            xlabel="student",
            ylabel="teacher",
            title="relative excess: best of restarts, mean over draws of the teacher\n†: in some "
            "draw the best is one restart's alone",
        )
        axis.spines[:].set_visible(False)
        bar = drawn.colorbar(image, ax=axis, shrink=0.8, extend="min")
        bar.set_label(r"$E\|Y-f\|^2\,/\,E\|Y-EY\|^2$")
        bar.set_ticks([1e-3, 1e-2, 1e-1, 1], labels=["0.001", "0.01", "0.1", "1"])
        return look.write(drawn, folder, "limits-map", columns)


def _short(value: float) -> str:
    return f"{value:.3f}" if value >= 0.0095 else f"{value:.4f}" if value >= 5e-5 else "<.0001"


def _restarts(cells: Cells, folder: Path) -> list[Path]:
    """Every restart of every draw as a dot, a panel a teacher; black bars are the certified bounds
    of the draws.
    """
    shown = [teacher for teacher in TEACHERS if any(pair[0] == teacher for pair in cells)]
    columns: dict[str, Any] = {}
    with look.figure(look.PAGE, 3.0, ncols=len(shown), sharey=True, squeeze=False) as (drawn, axes):
        for axis, teacher in zip(axes[0], shown, strict=True):
            for j, student in enumerate(STUDENTS):
                if (teacher, student) not in cells:
                    continue
                a = cells[teacher, student]
                draws = [held_out(runs) for runs in by_seed(a.runs)]
                places = j + 0.6 * ((np.arange(len(draws)) + 0.5) / len(draws) - 0.5)
                for k, (at, ends) in enumerate(zip(places, draws, strict=True)):
                    below = ends < LEAST / 2  # a triangle at the edge: further down
                    for these, mark in ((~below, "o"), (below, "v")):
                        heights = np.maximum(ends[these], LEAST / 2)
                        axis.scatter(
                            np.full(len(heights), at),
                            heights,
                            s=8,
                            lw=0,
                            alpha=0.7,
                            color=look.COLOURS[j],
                            marker=mark,
                        )
                    columns[f"{teacher}, {student}, draw {k}"] = ends
                for at, bound in zip(places, floors(a), strict=False):
                    axis.plot(
                        [at - 0.1, at + 0.1], [bound, bound], color=look.THEORY, lw=1.2, zorder=3
                    )
            axis.set(yscale="log", xlim=(-0.6, len(STUDENTS) - 0.4), ylim=(LEAST / 2.5, 1.6))
            axis.set_title(
                TEACHERS[teacher]
                .label.replace(" (", "\n(")
                .replace(" by ", "\nby ")
                .replace(" of ", "\nof ")
            )
            axis.set_xticks(range(len(STUDENTS)), list(STUDENTS), rotation=90)
            axis.set_yticks([1e-3, 1e-2, 1e-1, 1], ["0.001", "0.01", "0.1", "1"])
        axes[0][0].set_ylabel("relative excess of each restart, held out")
        return look.write(drawn, folder, "limits-restarts", columns)
