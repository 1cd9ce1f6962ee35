"""What runs cost beside one another: multiplications, by the sizes of their parts and by their
steps. Estimates, to a factor of a few, and never more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from tutelage.problem.room import estimate_sizes
from tutelage.settings import Setting
from tutelage.studies.study import Case
from tutelage.training.effort import estimate_effort

# However little it computes, a step takes about as long as so many multiplications.
SMALLEST_STEP = 1000.0
MOST = 1e200  # a setting that is too large for any machine, and will be refused


@lru_cache(maxsize=2**16)
def weigh(setting: Setting) -> float:
    """What a run costs: what comes before its first step, such as labels, and its steps. A
    calculation has the former alone.
    """
    sizes = estimate_sizes(setting)
    if setting.calculation is not None:
        return min(MOST, max(SMALLEST_STEP, sizes.work))
    step = max(SMALLEST_STEP, sizes.student, sizes.work_per_step)
    return min(MOST, sizes.work + estimate_effort(setting.steps) * step)


def weigh_all(settings: Iterable[Setting]) -> float:
    """What several runs cost together."""
    return sum(map(weigh, settings))


def weigh_cases(cases: Sequence[Case]) -> float:
    """What all runs of some cases cost; a setting of two cases runs once."""
    return weigh_all({setting for case in cases for setting in case.settings})
