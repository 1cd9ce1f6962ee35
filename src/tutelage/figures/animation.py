"""The learning of one run as a moving picture: attention beside the teacher's, and the excess, over
log time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from tutelage.figures import look
from tutelage.refuse import Refused, positive, whole
from tutelage.run import Run

MATRIX = "attention_matrix"  # the measure that a run must have kept
ENDINGS = (".gif", ".mp4")
# Entries of S: a matrix of them is kept for every measured step, and more could not be told apart
# in the picture.
LARGEST = 2**16
LONGEST = 3_600  # frames
DPI = 110
GIF_FPS = 50  # a GIF counts in hundredths of a second, and players take one for ten


def check_film(path: Path, seconds: float, fps: int) -> None:
    """Refuses what could not be written, before any work."""
    if path.suffix not in ENDINGS:
        raise Refused(
            f"The ending of the file says what to write: {' or '.join(ENDINGS)}. Got {path}."
        )
    if not os.path.isdir(path.parent):
        raise Refused(f"The animation is written into a folder that exists. Got {path}.")
    positive("seconds", seconds, reason="the animation lasts that long")
    whole("fps", fps, least=1, reason="it is the number of frames per second")
    if path.suffix == ".gif" and fps > GIF_FPS:
        raise Refused(
            f"`fps` must be at most {GIF_FPS} in a GIF, which counts in hundredths of a second. "
            f"Got {fps}; or write an .mp4."
        )
    if seconds * fps > LONGEST:
        raise Refused(
            f"An animation has at most {LONGEST:,} frames. Got {seconds:g} seconds of {fps} frames."
        )
    if path.suffix == ".mp4" and not _ffmpeg():
        raise Refused(
            "An .mp4 is made by the program ffmpeg, which is not found here. Install it with "
            "your system's packages (`apt install ffmpeg`, "
            "`brew install ffmpeg`, `conda install ffmpeg`), or write a .gif, which needs "
            f"nothing. Got {path}."
        )


def frames_of(steps: Int[np.ndarray, "points"], frames: int) -> Int[np.ndarray, "frames"]:
    """Which measured point each frame shows: evenly in log time from the start, the last one
    measured by then; nothing is interpolated.
    """
    at = np.geomspace(1, max(int(steps[-1]), 1), max(frames - 1, 1)) * (1 + 1e-12)
    after = np.searchsorted(steps, at, side="right") - 1
    if frames > 1:
        after[-1] = len(steps) - 1
    return np.concatenate([[0], after])[:frames]


def film(
    run: Run,
    teacher: Float[np.ndarray, "D Q"],
    path: Path,
    *,
    seconds: float = 8.0,
    fps: int = 20,
    law: float | None = None,
    saw: Callable[[int, int], None] | None = None,
) -> int:
    """Writes the film of a run that measured `attention_matrix`, and gives the number of its
    frames.

    `law` is the predicted limit of excess·ηT, drawn as a line; `saw(frame, frames)` is told of
    every frame that is done.
    """
    from matplotlib.animation import FFMpegWriter, PillowWriter

    check_film(path, seconds, fps)
    attention = run.curves[MATRIX].reshape(len(run.steps), *teacher.shape)
    shown = frames_of(run.steps, max(2, round(seconds * fps)))
    writer: Any = PillowWriter(fps=fps) if path.suffix == ".gif" else FFMpegWriter(fps=fps)
    with look.figure(look.PAGE, 4.4, nrows=2, ncols=3, height_ratios=(1.25, 1)) as (drawn, axes):
        images = look.beside(drawn, axes[0], teacher, attention[-1], fraction=0.046, pad=0.04)
        furthest = float(np.abs(attention - teacher).max()) or 1e-12
        images[2].set_clim(
            -furthest, furthest
        )  # of the whole run, so that colours mean the same in every frame
        for axis, title in zip(axes[0], ("teacher $S^*$", "student $S$", "$S-S^*$"), strict=True):
            axis.set(title=title, xticks=[], yticks=[], xlabel="query")
            axis.spines[:].set_visible(True)
        axes[0, 0].set_ylabel("token")
        line, head = _excess(drawn, axes[1], run, law)
        words = drawn.suptitle(_words(run, len(run.steps) - 1, attention[-1] - teacher), fontsize=9)
        screen = _Screen(drawn, (images[1], images[2], words, line, head))
        with writer.saving(screen.figure, str(path), DPI):
            for frame, k in enumerate(shown):
                images[1].set_data(attention[k])
                images[2].set_data(attention[k] - teacher)
                words.set_text(_words(run, k, attention[k] - teacher))
                line.set_data(run.steps[1 : k + 1], run.curves["excess_risk"][1 : k + 1])
                head.set_data(
                    run.steps[k : k + 1] if k else [],
                    run.curves["excess_risk"][k : k + 1] if k else [],
                )
                screen.show()
                writer.grab_frame()
                if saw is not None:
                    saw(frame + 1, len(shown))
    return len(shown)


class _Screen:
    """A figure of nothing but pixels, which writers take frames from: what does not move is drawn
    once and not for every frame.
    """

    def __init__(self, drawn: Any, moving: tuple[Any, ...]) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        drawn.set_dpi(DPI)
        for artist in moving:
            artist.set_animated(True)
        self.drawn, self.moving, self.canvas = drawn, moving, FigureCanvasAgg(drawn)
        self.canvas.draw()
        drawn.set_layout_engine("none")
        self.still: Any = self.canvas.copy_from_bbox(drawn.bbox)
        self.figure = Figure(figsize=drawn.get_size_inches(), dpi=DPI)
        FigureCanvasAgg(self.figure)
        self.picture = self.figure.figimage(np.asarray(self.canvas.buffer_rgba()))

    def show(self) -> None:
        self.canvas.restore_region(self.still)
        for artist in self.moving:
            self.drawn.draw_artist(artist)
        self.picture.set_data(np.asarray(self.canvas.buffer_rgba()))


def _excess(drawn: Any, row: Any, run: Run, law: float | None) -> tuple[Any, Any]:
    """The lower panel, empty but for the prediction: axes that hold the whole curve, a line that
    grows and its head.
    """
    grid = row[0].get_gridspec()
    for axis in row:
        axis.remove()
    axis = drawn.add_subplot(grid[1, :])
    excess = run.curves["excess_risk"][1:]
    seen = excess[np.isfinite(excess) & (excess > 0)]
    if not len(seen):
        raise Refused(
            "The excess of this run is nowhere above zero, so that there is no curve to draw on "
            "a logarithmic axis."
        )
    if law is not None:
        look.rate_line(
            axis,
            1.0,
            float(run.steps[-1]),
            law / (run.rate or 1.0),
            -1.0,
            label="predicted limit, no fit",
        )
    (line,) = axis.plot([], [], color=look.COLOURS[0], label="gradient descent")
    (head,) = axis.plot([], [], ls="", marker="o", ms=4, color=look.COLOURS[4])
    axis.set(xscale="log", yscale="log", xlabel="step $T$", ylabel="excess risk")
    axis.set(
        xlim=(1, max(float(run.steps[-1]), 2.0)),
        ylim=(float(seen.min()) / 2, float(seen.max()) * 2),
    )
    axis.minorticks_off()  # they are most of what it costs to draw a frame
    axis.legend(loc="lower left")
    return line, head


def _words(run: Run, k: int, away: Float[np.ndarray, "D Q"]) -> str:
    return (
        rf"step {int(run.steps[k]):,} of {int(run.steps[-1]):,}     $\|S-S^*\|_F$ = "
        rf"{np.linalg.norm(away):.3f}"
    )


def _ffmpeg() -> bool:
    from matplotlib.animation import FFMpegWriter

    return bool(FFMpegWriter.isAvailable())
