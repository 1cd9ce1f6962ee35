"""The one place that defines how figures look, and how they are written: PNG, SVG and the CSV of what they draw."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe & Ito's palette, told apart in all common forms of colour blindness; line styles tell the same story in grey.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")
STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
THEORY = "#000000"
HEAT = "cividis"
DIFFERENCE = "PuOr"
COLUMN = 3.4  # inches: one column of a two-column paper
PAGE = 7.0
DPI = 220

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


def write(drawn: Figure, folder: Path, name: str, columns: Mapping[str, Sequence[Any]]) -> list[Path]:
    """name.png, name.svg, and name.csv with the numbers that the figure shows, a column a curve."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn.draw_without_rendering()  # lays the figure out, once for all formats
    drawn.set_layout_engine("none")
    paths = [folder / f"{name}.{ending}" for ending in ("png", "svg")]
    for path in paths:
        drawn.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    table = folder / f"{name}.csv"
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip_longest(*columns.values(), fillvalue=""))
    return [*paths, table]
