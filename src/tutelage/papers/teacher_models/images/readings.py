"""What is read from the runs of `teacher-models/images`: how much of each patch attention found,
and accuracies in pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from tutelage.measures.bilinear import accuracy, teacher_accuracy
from tutelage.objectives.images import ImageLoss
from tutelage.problem.build import build
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.students.base import Student

Reading = Callable[[Sequence[Run]], Sequence[float]]  # one number per seed
FOUND = 0.5  # a patch is found when its own queries give it at least half of its weight 1/K


def signal(setting: Setting) -> Float[np.ndarray, "D"]:
    """The variance of each patch over the training images, summed over its pixels: 0 where all
    images are alike.
    """
    pixels = np.asarray(_build_objective(setting).train.pixels) / 255.0
    return pixels.var(0).sum(0)


def recall(attention: Float[np.ndarray, "D Q"], support: int) -> Float[np.ndarray, "D"]:
    """For each patch j, the mean over the queries i of its group of S_ji·K: 1 when attention is the
    teacher's, K/D when uniform.
    """
    groups = len(attention) // support
    blocks = attention.reshape(groups, support, groups, support)
    return support * np.stack([blocks[g, :, g, :].mean(1) for g in range(groups)]).ravel()


def separation(variance: Float[np.ndarray, "D"], found: Float[np.ndarray, "D"]) -> float:
    """P(variance of a found patch > variance of a lost one), ties half: 1 when the lost ones are
    those with the least signal.

    One half where nothing is lost, or nothing found: there is then nothing to tell apart.
    """
    kept, lost = variance[found >= FOUND], variance[found < FOUND]
    if not len(kept) or not len(lost):
        return 0.5
    return float(np.mean((kept[:, None] > lost) + 0.5 * (kept[:, None] == lost)))


def accuracies(run: Run) -> Mapping[str, Float[np.ndarray, "points"]]:
    """The share of the test images that the student tells rightly at the end, and that its teacher
    does, as curves that do not change.

    They are read once, after the run: on the way they would cost more than the training.
    """
    assert run.setting is not None
    found = _measure_accuracies(run.student, _build_objective(run.setting))
    return {
        name: np.full(len(run.steps), float(value))
        for name, value in zip(("accuracy", "teacher_accuracy"), found, strict=True)
    }


@eqx.filter_jit
def _measure_accuracies(
    student: Student, objective: ImageLoss
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    return accuracy(student, objective), teacher_accuracy(student, objective)


def _build_objective(setting: Setting) -> ImageLoss:
    objective = build(setting).objective
    assert isinstance(objective, ImageLoss)
    return objective


def derived(run: Run) -> Mapping[str, Float[np.ndarray, "points"]]:
    """Curves that the claims are about: one number per measured step, but for what is read from the
    student at the end.
    """
    assert run.setting is not None
    support = run.setting.teacher.options["support"]
    groups = run.curves["support_mass"].reshape(len(run.steps), -1, support).mean(2)
    inner, border = groups[:, 1:-1].mean(1), groups[:, [0, -1]].mean(1)
    told = accuracies(run)
    ranks = separation(signal(run.setting), recall(np.asarray(run.student.attention()), support))
    return {
        "relative_loss": run.curves["excess_risk"] / run.curves["excess_risk"][0],
        "inner_mass": inner,
        "border_gap": inner - border,
        "signal_ranks": np.full(len(run.steps), ranks),
        "accuracy_gap": told["accuracy"] - told["teacher_accuracy"],
        **told,
    }


def last(curve: str) -> Reading:
    """The last value of a curve, run by run."""
    return lambda runs: [float(run.curves[curve][-1]) for run in runs]


Kind = Callable[[Run], float | None]  # the accuracy of a run of this kind, None for other kinds


def _accuracy(student: str, start: str | None = None) -> Kind:
    def of(run: Run) -> float | None:
        assert run.setting is not None
        part = run.setting.student
        return (
            float(run.curves["accuracy"][-1])
            if part.name == student and part.options.get("start") == start
            else None
        )

    return of


def _teacher(run: Run) -> float | None:
    return float(run.curves["teacher_accuracy"][-1])


DISTILLED = _accuracy("position_attention")
FROM_LABELS = _accuracy("image_classifier", "fresh")
TUNED = _accuracy("image_classifier", "teacher")
LONGER = _accuracy("image_cnn")
TEACHER: Kind = _teacher


def by_seed(runs: Sequence[Run], kind: Kind) -> dict[int, float]:
    """Seed -> accuracy, of the runs of one kind."""
    return {
        run.setting.seed: found
        for run in runs
        if run.setting is not None and (found := kind(run)) is not None
    }


def difference(one: Kind, other: Kind) -> Reading:
    """The accuracy of one kind less that of the other, seed by seed."""

    def read(runs: Sequence[Run]) -> list[float]:
        first, second = by_seed(runs, one), by_seed(runs, other)
        return [first[seed] - second[seed] for seed in sorted(first)]

    return read
