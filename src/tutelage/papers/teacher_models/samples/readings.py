"""What `teacher-models/samples` reads off its runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tutelage.papers.teacher_models.theory.linear_baselines import samples_of, zero_excess
from tutelage.run import Run
from tutelage.settings import Setting


def setting_of(run: Run) -> Setting:
    assert run.setting is not None
    return run.setting


def last_excess(run: Run) -> float:
    return float(run.curves["excess_risk"][-1])


def relative_excess(run: Run) -> float:
    """The last excess over that of predicting zero."""
    return last_excess(run) / zero_excess(setting_of(run))


def saved_by_stopping(run: Run) -> float:
    """The least excess along the way over the last: what the best of all stops, told by the truth,
    would save.
    """
    return float(run.curves["excess_risk"].min()) / last_excess(run)


def with_count(runs: Sequence[Run], samples: int) -> list[Run]:
    """The runs with n samples, in the order of their seeds."""
    chosen = [run for run in runs if samples_of(setting_of(run)) == samples]
    return sorted(chosen, key=lambda run: setting_of(run).seed)


def each_at(samples: int, read: Callable[[Run], float]) -> Callable[[Sequence[Run]], list[float]]:
    """One number per run with n samples, as claims ask for it."""
    return lambda runs: [read(run) for run in with_count(runs, samples)]
