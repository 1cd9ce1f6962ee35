"""`animate`: a stored run as a moving picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from tutelage.cli.options import Imports, StorePlace
from tutelage.refuse import Refused

if TYPE_CHECKING:
    import numpy as np

    from tutelage.run import Run
    from tutelage.settings import Setting


def animate(
    run: str,
    *,
    out: Path | None = None,
    store: StorePlace = "out",
    seconds: float = 8.0,
    fps: int = 20,
    imports: Imports = (),
) -> None:
    """Show how a stored run learned, over log time: its attention beside the teacher's, their
    difference, and the excess risk.

    A run that did not keep its attention is trained again from its setting, to the same numbers;
    nothing is stored.

    Parameters
    ----------
    run
        The run, by the beginning of its identity as `tutelage runs` lists it, or ID/STEPS; of
        several horizons the longest.
    out
        The file to write, .gif or .mp4 (which needs ffmpeg); by default the beginning of the
        identity with .gif, in this folder.
    seconds
        How long it lasts.
    fps
        How many frames per second.
    """
    from tutelage.cli.runs import choose_longest
    from tutelage.figures.animation import MATRIX, check_film, film
    from tutelage.plugins import import_all
    from tutelage.running.store import Damaged, load
    from tutelage.running.store.choosing import named
    from tutelage.studies.outputs import open_existing_store

    import_all(imports)
    if out is not None:
        check_film(out, seconds, fps)  # before the store is read
    stored = open_existing_store(store)
    entry = choose_longest(named(stored, [run]), run)
    target = out if out is not None else Path(f"{entry.identity[:8]}.gif")
    check_film(target, seconds, fps)
    try:
        setting = stored.setting(entry)
    except Damaged as damage:
        raise Refused(f"Only a complete run can be shown. Got {entry.name}: {damage}.") from None
    teacher = _find_selection(setting)
    with _Bar() as bar:
        kept = {MATRIX, "excess_risk"} <= set(setting.measures)
        shown = load(f"{stored.root}/{entry.name}") if kept else _train_again(setting, bar)
        frames = film(
            shown,
            teacher,
            target,
            seconds=seconds,
            fps=fps,
            law=_find_law(setting),
            saw=bar("drawing"),
        )
    print(f"{frames} frames of {entry.name}: {target}")


def _find_selection(setting: Setting) -> np.ndarray:
    """S*, where the student has an attention matrix that can be laid beside it."""
    import jax
    import numpy as np

    from tutelage.figures.animation import LARGEST
    from tutelage.problem.build import build_student, build_teacher
    from tutelage.students.base import BilinearStudent
    from tutelage.students.multi_head import MultiHeadPosition
    from tutelage.teachers.base import BilinearClass

    teacher, student = build_teacher(setting), build_student(setting)
    if not (
        isinstance(teacher, BilinearClass)
        and isinstance(student, BilinearStudent | MultiHeadPosition)
    ):
        raise Refused(
            "An animation lays the student's attention beside the teacher's S*, so that the "
            "teacher must select tokens and the student attend by position. Got the teacher "
            f"{setting.teacher.name!r} and the student {setting.student.name!r}."
        )
    shape, size = tuple(teacher.selection.shape), int(np.prod(teacher.selection.shape))
    if size > LARGEST:
        raise Refused(
            f"An animation keeps S at every measured step, and shows at most {LARGEST:,} entries "
            f"of it. Got {shape[0]:,} tokens × {shape[1]:,} queries; where columns of S* are "
            "alike, a run with `--set collapse=true` has the same curves and a small S."
        )
    if (theirs := jax.eval_shape(lambda: student.attention()).shape) != shape:
        raise Refused(
            f"An animation needs one attention matrix of the shape of S*, {shape}. Got a student "
            f"{setting.student.name!r} with {theirs}."
        )
    return np.asarray(teacher.selection)


def _train_again(setting: Setting, bar: _Bar) -> Run:
    """Trains a setting once more with the measures that are shown."""
    from tutelage.cli.programs import keep_programs
    from tutelage.figures.animation import MATRIX
    from tutelage.running.execute import execute
    from tutelage.training.effort import estimate_effort

    bar.say("This run did not keep its attention, so it is trained again from its setting.")
    keep_programs()
    show = bar("training")
    again = setting.change(measures=("excess_risk", MATRIX))
    whole = int(estimate_effort(setting.steps))
    (run,) = execute([again], watch=lambda _, step, curves: show(int(estimate_effort(step)), whole))
    if len(run.steps) < 2:
        raise Refused(f"A run without a measured step has nothing to show. {run.sentence}")
    return run


def _find_law(setting: Setting) -> float | None:
    """The limit of excess·ηT that some paper predicts for exactly this setting."""
    from tutelage.studies.discovery import papers

    found = (paper.predict_limit(setting) for paper in papers().values())
    return next((limit for limit in found if limit is not None), None)


class _Bar:
    """Progress on standard error: a bar on a terminal, plain lines elsewhere."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self.console = Console(stderr=True, highlight=False)
        columns = (
            TextColumn("{task.description:<9}"),
            BarColumn(bar_width=30),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeRemainingColumn(),
        )
        self.progress = Progress(*columns, console=self.console, transient=True)

    def __enter__(self) -> _Bar:
        if self.console.is_terminal:  # elsewhere a bar would leave an empty line when it stops
            self.progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.console.is_terminal:
            self.progress.stop()

    def say(self, sentence: str) -> None:
        self.console.print(f"tutelage: {sentence}", soft_wrap=True)

    def __call__(self, what: str) -> Callable[[int, int], None]:
        """A function of how much is done and of how much there is."""
        task = self.progress.add_task(what, total=None)
        return lambda done, total: self.progress.update(task, completed=done, total=total)
