"""The one place that defines how figures look, and how they are written: PNG, SVG, PDF and the CSV
of what they draw.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import matplotlib
import numpy as np
from jaxtyping import Float, Num

from tutelage.provenance import current_provenance
from tutelage.refuse import Refused

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tutelage.claims.verdict import Verdict

# Okabe & Ito's palette, told apart in all common forms of colour blindness; line styles tell the
# same story in grey.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")
STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
THEORY = "#000000"
HEAT = "cividis"
DIFFERENCE = "PuOr"
COLUMN = 3.4  # inches: one column of a two-column paper
PAGE = 7.0
DPI = 220
FORMATS = ("png", "svg", "pdf")  # what `write` writes beside the CSV
ENDINGS = (".png", ".svg", ".pdf")

_RC: dict[Any, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "savefig.dpi": DPI,
    "svg.fonttype": "none",
    "svg.hashsalt": "tutelage",
    # Letters as TrueType, which can be searched and edited, and which journals ask for
    "pdf.fonttype": 42,
}


@contextmanager
def figure(width: float, height: float, **grid: Any) -> Iterator[tuple[Figure, Any]]:
    """A figure with its axes in the house style, closed afterwards; drawn without a screen."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with matplotlib.rc_context(_RC):
        drawn, axes = plt.subplots(figsize=(width, height), **grid)
        try:
            yield drawn, axes
        finally:
            plt.close(drawn)


Line = Num[np.ndarray, "points"]  # steps are whole numbers
Column = Sequence[float] | Sequence[str] | Num[np.ndarray, "..."]  # of the CSV beside a figure


def geometric(seeds: Float[np.ndarray, "seeds points"]) -> Line:
    """The geometric mean over seeds: the middle of curves on a logarithmic axis."""
    return np.asarray(np.exp(np.log(seeds).mean(0)))


def mean(seeds: Float[np.ndarray, "seeds points"]) -> Line:
    return np.asarray(seeds.mean(0))


def band(
    axis: Any,
    x: Line,
    seeds: Float[np.ndarray, "seeds points"],
    number: int = 0,
    *,
    middle: Callable[[Float[np.ndarray, "seeds points"]], Line] = mean,
    **line: Any,
) -> tuple[Line, Line, Line]:
    """The middle of some seeds as a line in the house's `number`-th style, their range shaded;
    gives middle, least and most.
    """
    style = {"color": COLOURS[number % 6], "ls": STYLES[number % 6]} | line
    found, least, most = middle(seeds), seeds.min(0), seeds.max(0)
    axis.plot(x, found, **style)
    axis.fill_between(x, least, most, color=style["color"], alpha=0.2, lw=0)
    return found, least, most


def window(
    axis: Any, first: float, last: float, label: str = "", side: Literal["left", "right"] = "right"
) -> None:
    """Shades the stretch in which a slope or constant is read, and says so along its lower edge,
    beginning or ending with it.
    """
    axis.axvspan(first, last, color="0.92", lw=0, zorder=0)
    if label:
        words = {"fontsize": 6.5, "color": "0.35", "transform": axis.get_xaxis_transform()}
        axis.text(
            {"left": first, "right": last}[side], 0.02, f" {label} ", ha=side, va="bottom", **words
        )


def rate_line(
    axis: Any, first: float, last: float, constant: float, exponent: float, **line: Any
) -> None:
    """What theory predicts, constant·x^exponent from `first` to `last`: a thin black line, straight
    on log-log axes.
    """
    x = np.array([first, last])
    axis.plot(x, constant * x**exponent, **{"color": THEORY, "lw": 0.7, "zorder": 5} | line)


def said(verdict: Verdict, places: int = 3) -> str:
    """Measured with its interval, as a legend says it: `−1.000 [−1.004, −0.998]`; a dash where
    nothing could be read.
    """
    if verdict.measured is None or verdict.interval is None:
        return "–"
    value, low, high = (
        f"{number:.{places}f}".replace("-", "−") for number in (verdict.measured, *verdict.interval)
    )
    return f"{value} [{low}, {high}]"


def beside(
    drawn: Figure,
    axes: Sequence[Any],
    teacher: Float[np.ndarray, "D Q"],
    student: Float[np.ndarray, "D Q"],
    **bar: Any,
) -> tuple[Any, Any, Any]:
    """Heatmaps of the teacher, the student in the same colours, and student less teacher in colours
    that have a zero.
    """
    top, reach = (
        float(max(teacher.max(), student.max())),
        float(np.abs(student - teacher).max()) or 1e-12,
    )
    plain, signed = (
        {"cmap": HEAT, "vmin": 0.0, "vmax": top},
        {"cmap": DIFFERENCE, "vmin": -reach, "vmax": reach},
    )
    images = []
    for axis, matrix, style in zip(
        axes, (teacher, student, student - teacher), (plain, plain, signed), strict=True
    ):
        images.append(axis.imshow(matrix, interpolation="nearest", **style))
        drawn.colorbar(images[-1], ax=axis, **bar)
    return images[0], images[1], images[2]


def write(drawn: Figure, folder: Path, name: str, columns: Mapping[str, Column]) -> list[Path]:
    """The figure in every format of `FORMATS`, and name.csv with the numbers that it shows, a
    column a curve.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _lay_out(drawn)
    paths = [folder / f"{name}.{ending}" for ending in FORMATS]
    for path in paths:
        _print(drawn, path)
    return [*paths, _write_columns(folder / f"{name}.csv", columns)]


def save(drawn: Figure, path: Path) -> Path:
    """The figure alone, in the format that its path ends with: files beside it stay."""
    if path.suffix not in ENDINGS:
        raise Refused(f"A figure says by its ending what it is: {', '.join(ENDINGS)}. Got {path}.")
    if not os.path.isdir(path.parent):
        raise Refused(f"A figure is written into a folder that exists. Got {path}.")
    _lay_out(drawn)
    _print(drawn, path)
    return path


def _lay_out(drawn: Figure) -> None:
    """Once for all formats."""
    drawn.set_dpi(matplotlib.rcParams["savefig.dpi"])
    drawn.draw_without_rendering()
    drawn.set_layout_engine("none")


def _print(drawn: Figure, path: Path) -> None:
    """One file, with what made it in its metadata. Each canvas prints what is laid out; `savefig`
    would go through the whole figure twice a format.
    """
    from matplotlib.backends import backend_agg, backend_pdf, backend_svg

    made = current_provenance()
    runs = " ".join(made.identities)
    if path.suffix == ".png":
        texts = {"Software": made.software, "Command": made.command, "Runs": runs}
        backend_agg.FigureCanvasAgg(drawn).print_png(path, metadata=_given(texts))
    elif path.suffix == ".svg":
        texts = {"Creator": made.software, "Source": made.command, "Identifier": runs}
        backend_svg.FigureCanvasSVG(drawn).print_svg(path, metadata={"Date": None} | _given(texts))
    else:
        texts = {"Creator": made.software, "Subject": made.command, "Keywords": runs}
        backend_pdf.FigureCanvasPdf(drawn).print_pdf(
            path, metadata={"CreationDate": None} | _given(texts)
        )


def _given(texts: Mapping[str, str]) -> dict[str, str | None]:
    return {key: text for key, text in texts.items() if text}


def _write_columns(table: Path, columns: Mapping[str, Column]) -> Path:
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip_longest(*columns.values(), fillvalue=""))
    return table
