"""How a cell of the map is read: the best of restarts for every draw of the teacher, judged on
inputs that chose nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from tutelage.numerics.streams import stream
from tutelage.objectives.minibatch import MinibatchRisk
from tutelage.objectives.sample import Sample, draw_sample
from tutelage.problem.build import build
from tutelage.run import Outcome, Run
from tutelage.settings import Part, Setting
from tutelage.students.base import Student

FRESH = 40_000  # inputs that neither trained a student nor chose among restarts
# Of the variance: a softmax meets zeros in the limit only, and a hundredth is what a short run may
# leave.
LEARNED = 0.01
NEAR = 1.1  # times the best: what counts as near it


@dataclass(frozen=True)
class Draw:
    """One draw of the teacher: the relative excess of its restarts on the held-out sample, and of
    the best of them on fresh inputs.
    """

    restarts: Float[np.ndarray, "restarts"]
    best: float
    error: float  # one standard error of `best`, over the fresh inputs
    gap: float  # `best` less the same on the training sample

    @property
    def near(self) -> int:
        """How many restarts came within 10% of the best, by the sample that chose it."""
        return int(np.sum(self.restarts <= NEAR * self.restarts.min()))

    @property
    def alone(self) -> bool:
        """Whether the best is one restart's luck: no other came near it, nor learned the
        teacher.
        """
        return self.near == 1 and bool(np.sort(self.restarts)[1] > LEARNED)


class Cell:
    """All draws of one teacher with one student. It remembers its last reading, which several
    claims share.
    """

    def __init__(self) -> None:
        self._last: tuple[tuple[Student, ...], list[Draw]] = ((), [])

    def draws(self, runs: Sequence[Run]) -> list[Draw]:
        """A reading of every seed."""
        students, known = tuple(run.student for run in runs), self._last
        if len(known[0]) != len(students) or any(
            one is not other for one, other in zip(known[0], students, strict=True)
        ):
            self._last = students, [read(restarts) for restarts in by_seed(runs)]
        return self._last[1]

    def values(self, of: Callable[[Draw], float]) -> Callable[[Sequence[Run]], list[float]]:
        """One number per draw, as claims ask for it."""
        return lambda runs: [of(draw) for draw in self.draws(runs)]


def read(runs: Sequence[Run]) -> Draw:
    """Restarts are told apart by the held-out sample alone; the best is then judged on fresh inputs
    and on the training sample.
    """
    setting = runs[0].setting
    assert setting is not None
    train, _, fresh = samples(setting.change(student="position_attention"))
    restarts = held_out(runs)
    student = runs[int(np.argmin(restarts))].student
    best, error = relative_excess(student, fresh)
    return Draw(restarts, best, error, best - relative_excess(student, train)[0])


def held_out(runs: Sequence[Run]) -> Float[np.ndarray, "restarts"]:
    """The relative excess at the end of each restart of one draw. A run that diverged is as bad as
    can be, and never the best.
    """
    setting = runs[0].setting
    assert setting is not None
    _, held, _ = samples(setting.change(student="position_attention"))
    ends = [
        run.curves["excess_risk"][-1] if run.outcome is not Outcome.DIVERGED else np.inf
        for run in runs
    ]
    return 2 * np.array(ends) / spread(held.labels)


def by_seed(runs: Sequence[Run]) -> list[list[Run]]:
    """The restarts of every draw of the teacher."""
    seeds: dict[int, list[Run]] = {}
    for run in runs:
        assert run.setting is not None
        seeds.setdefault(run.setting.seed, []).append(run)
    return list(seeds.values())


@lru_cache(maxsize=32)
def samples(setting: Setting) -> tuple[Sample, Sample, Sample]:
    """Training, held-out and fresh sample of a seed's teacher; the student plays no part."""
    problem = build(setting.change(optimiser=Part("gradient_descent")))
    assert isinstance(problem.objective, MinibatchRisk)
    fresh = draw_sample(
        problem.teacher, problem.inputs, FRESH, key=stream(setting.seed, "fresh"), noisy=False
    )
    return problem.objective.sample, problem.objective.held_out, fresh


def spread(labels: Float[Array, "n M Q"]) -> float:
    """mean ‖Y − Ȳ‖²."""
    Y = np.asarray(labels)
    return float(np.sum((Y - Y.mean(0)) ** 2, axis=(1, 2)).mean())


def relative_excess(student: Student, sample: Sample) -> tuple[float, float]:
    """mean ‖Y − f‖²/mean ‖Y − Ȳ‖² over a sample, and its standard error as a ratio of two means
    over the same inputs.
    """
    Y = np.asarray(sample.labels)
    left = 2 * np.asarray(_losses(student, sample))
    whole = np.sum((Y - Y.mean(0)) ** 2, axis=(1, 2))
    ratio = float(left.mean() / whole.mean())
    return ratio, float(np.std(left - ratio * whole, ddof=1) / (whole.mean() * np.sqrt(len(whole))))


@eqx.filter_jit
def _losses(student: Student, sample: Sample) -> Float[Array, "n"]:
    return sample.losses(student)
